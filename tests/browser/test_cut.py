"""At every usual width, in both languages: no text is cut off, nothing in the frame lies over something else, and the verdict is seen."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.cut import faults
from tests.browser.steps import drawn, eventually, has_status, link, words

SIZES = [(1440, 900), (1366, 768), (1024, 768), (910, 700), (820, 1180), (390, 844)]
TABS = ["training", "map", "attention", "translate", "evaluation", "runs", "course"]
PHONE = {"width": 390, "height": 844}


@pytest.mark.slow
@pytest.mark.parametrize(("tab", "language"), [*((tab, "en") for tab in TABS), ("training", "zh"), ("map", "zh"), ("course", "zh")])
def test_nothing_is_cut_off(visit, tab, language):
    page = visit(link(tab=tab, lang=language))
    drawn(page.locator(f"#pg-panel-{tab}"))
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("() => new Promise(requestAnimationFrame)")
        assert eventually(page, lambda: faults(page), lambda found: not found) == []


def in_sight(page: Page, selector: str) -> bool:
    inside = "(one) => { const { left, right } = one.getBoundingClientRect(); return left >= 0 && right <= innerWidth; }"
    return page.locator(selector).evaluate(inside)


@pytest.mark.slow
@pytest.mark.parametrize("width", [1440, 1366, 390])
def test_the_verdict_is_in_sight_and_says_what_is_wrong(visit, width):
    page = visit(link(run="german_english", step="10"), viewport={"width": width, "height": 844})
    verdict = page.locator("#pg-result .pg-verdict.wrong")
    expect(verdict).to_be_visible()
    wrong = page.locator("#pg-result .out .pg-chip.wrong").first.inner_text()
    expect(verdict).to_contain_text(f"“{wrong}”")
    assert in_sight(page, "#pg-result .pg-verdict")
    page.locator("#pg-result").evaluate("(line) => { line.scrollLeft = line.scrollWidth; }")
    assert in_sight(page, "#pg-result .pg-verdict"), "also when the line is scrolled"


@pytest.mark.slow
def test_a_telephone_trains_at_once_and_stops(visit):
    page = visit(link(steps=2000), viewport=PHONE)
    button = page.locator("#pg-train-now")
    expect(button).to_have_text(words("page.train_now"))
    button.click()
    expect(button).to_have_text(words("page.stop_now"))
    button.click()
    has_status(page, "stopped")
    expect(button).to_have_text(words("page.train_now"))


@pytest.mark.slow
def test_the_help_of_a_knob_covers_no_other(visit):
    page = visit(viewport={"width": 1366, "height": 768})
    page.locator("#knob-d_model [data-testid=block-info]").hover()
    shown = page.locator("#knob-d_model .info-text")
    expect(shown).to_be_visible()
    column, box = page.locator("#pg-knobs").bounding_box(), shown.bounding_box()
    assert box["x"] >= column["x"] + column["width"]
    assert box["y"] + box["height"] <= 768


@pytest.mark.slow
def test_unknown_words_have_ways_out(visit):
    page = visit(link(run="german_english", text="die Frau liebt den Konig"))
    expect(page.locator("#pg-unknown")).to_contain_text("Konig")
    page.locator("#pg-known-words").click()
    expect(page.locator("#pg-panel-embeddings")).to_be_visible()
    page.locator("#pg-unknown .pg-instead", has_text="König").first.click()
    expect(page.locator("#pg-sentence")).to_have_value("die Frau liebt den König")
    expect(page.locator("#pg-unknown")).to_be_hidden()


# Tokens that are seen in part: those of the first line that end beyond their box.
IN_PART = """(line) => [...line.children].map((one) => one.getBoundingClientRect()).filter(({ top, right }) =>
  top < line.getBoundingClientRect().bottom && right > line.getBoundingClientRect().right + 1).length"""


@pytest.mark.slow
def test_where_a_sentence_has_no_room_its_last_tokens_are_left_out_whole(visit):
    page = visit(link(run="german_english"), viewport={"width": 1440, "height": 900})
    result = page.locator("#pg-result")
    expect(result).to_have_attribute("data-cut", "")
    assert result.locator(".pg-tokens").first.evaluate(IN_PART) == 0
    page.locator("#pg-sentence").fill("die Frau findet die Ärztin")
    expect(result).not_to_have_attribute("data-cut", "")
