"""Terms in the page's texts explain themselves, to a mouse, to a keyboard and to a finger; and all of them can be read in a list."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from playground.words import LANGUAGES, say
from playground.words.glossary import glossary, names
from tests.browser.steps import drawn, has_address, link

SIZE = {"width": 390, "height": 844}
LAB = {"tab": "labs", "lab": "softmax", "guess": "unknown"}


def told(language: str, name: str) -> str:
    return say(language, f"glossary.{name}.text")


def term(page: Page, language: str, name: str, block: str = "text question") -> Locator:
    """The place of a term in one text of a panel."""
    forms = next(one["forms"] for one in glossary(language)["terms"] if one["id"] == name)
    found = page.locator(f"#pg-panel-labs [data-block='{block}'] .pg-term")
    at = next(at for at, text in enumerate(found.all_text_contents()) if text.lower() in [form.lower() for form in forms])
    return found.nth(at)


def opened(page: Page) -> Locator:
    """The tooltip, once the lab is drawn."""
    drawn(page.locator("#pg-panel-labs"))
    return page.locator("#pg-tip")


@pytest.mark.night
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_term_explains_itself(visit, language):
    page = visit(link({**LAB, "lang": language}))
    tip = opened(page)
    places = page.locator("#pg-panel-labs [data-block='text question'] .pg-term")
    assert len(set(places.all_text_contents())) == places.count() >= 3  # each term once
    assert page.locator("#pg-panel-labs [data-block='text question']").text_content() == say(language, "lab_softmax.question")
    expect(page.locator(":is(h1, h2, h3, button, summary, code, td, th, svg, .pg-heading) .pg-term")).to_have_count(0)
    expect(tip).to_have_count(0)

    softmax, attention = term(page, language, "softmax"), term(page, language, "attention")
    softmax.hover()
    expect(tip).to_be_visible()
    expect(tip).to_contain_text(told(language, "softmax"))
    tip.hover()  # who reads it may point at it
    page.wait_for_timeout(400)
    expect(tip).to_be_visible()
    page.mouse.move(5, 5)
    expect(tip).to_be_hidden()

    attention.focus()
    expect(tip).to_contain_text(told(language, "attention"))
    expect(attention).to_have_attribute("aria-describedby", "pg-tip")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    expect(attention).to_be_focused()
    page.keyboard.press("Enter")
    expect(tip).to_be_visible()
    page.keyboard.press("Tab")
    expect(tip).not_to_contain_text(told(language, "attention"))


@pytest.mark.night
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_finger_on_a_small_screen(visit, language):
    page = visit(link({**LAB, "lang": language}), viewport=SIZE, has_touch=True, color_scheme="dark")
    tip = opened(page)
    places = page.locator("#pg-panel-labs [data-block='text question'] .pg-term")
    for at in range(places.count()):
        places.nth(at).tap()
        expect(tip).to_be_visible()
        box = tip.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= SIZE["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= SIZE["width"]
        page.locator("#pg-panel-labs h3").first.tap()
        expect(tip).to_be_hidden()


@pytest.mark.night
def test_it_stays_while_the_panel_is_drawn_anew(visit):
    page = visit(link(LAB))
    tip = opened(page)
    term(page, "en", "softmax").hover()
    expect(tip).to_be_visible()
    term(page, "en", "softmax").evaluate("element => (window.pgKept = element)")
    page.evaluate("for (let times = 0; times < 3; times++) document.body.classList.toggle('pg-nothing')")  # as the theme does
    page.wait_for_timeout(500)
    drawn(page.locator("#pg-panel-labs"))
    assert page.evaluate("window.pgKept.isConnected")
    expect(tip).to_be_visible()


@pytest.mark.night
def test_all_terms_in_a_list(visit):
    page = visit(link({"lang": "en"}))
    page.keyboard.press("?")
    page.locator("#pg-glossary").click()
    has_address(page, glossary="all")
    dialog = page.locator("#pg-dialog")
    expect(dialog.locator("dt")).to_have_count(len(names()))
    expect(dialog).to_contain_text(told("en", "warmup"))
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    has_address(page, glossary=None)

    page = visit(link({"glossary": "softmax", "lang": "zh"}), viewport=SIZE)
    expect(page.locator("#pg-term-softmax dd")).to_have_text(told("zh", "softmax"))
    expect(page.locator("#pg-term-softmax")).to_be_in_viewport()
