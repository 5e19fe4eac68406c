"""The page for everyone: in Chinese, in the dark, on a telephone, without a mouse."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ready
from tests.browser.steps import (
    ONE_SENTENCE,
    SMALL,
    STEPS,
    drawn,
    eventually,
    figure,
    has_address,
    has_status,
    link,
    number,
    place_of,
    replay_of,
    seen,
    tab,
    train,
    words,
)

TABS = ("training", "translate", "attention", "masks", "positions", "data")
WITHOUT_A_NAME = """
() => [...document.querySelectorAll(':is(#pg-head, .pg-stage, .pg-buttons, .pg-panel) :is(button, input, select)')]
  .filter((control) => control.offsetParent && !(control.textContent.trim() || control.ariaLabel || control.labels?.length))
  .map((control) => control.outerHTML.slice(0, 80))
"""
HAN = re.compile("[\u4e00-\u9fff]")


@pytest.mark.night
def test_chinese(visit):
    """A Chinese browser is met in Chinese, controls and captions and sentences of errors; one click says it all in English."""
    page = visit(locale="zh-CN")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    for place in (
        "#pg-train",
        "#pg-status",
        "#pg-run-note",
        "#pg-replay-now",
        "#knob-d_model",
        "#pg-tab-training-button",
        "#pg-difference",
    ):
        expect(page.locator(place)).to_have_text(HAN)
    figure = page.locator("[data-block='figure learn-cross']")
    expect(figure.locator(".pg-caption")).to_have_text(HAN)
    expect(figure.locator(".xtitle")).to_have_text(HAN)
    page.locator("#pg-sentence").fill(" ")
    expect(page.locator("#pg-result .pg-error")).to_have_text(HAN)
    page.locator("#pg-sentence").fill("")
    expect(page.locator("#pg-result .pg-verdict")).to_have_text(HAN)
    page.locator("#pg-language").click()
    expect(page.locator("#pg-train")).to_have_text("Train a new model")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.locator("#pg-tab-training-button")).to_have_text(words("page.tab_training"))
    for place in ("#pg-status", "#pg-run-note", "#pg-replay-now", "#knob-d_model", "#pg-difference", "[data-block='figure learn-cross']"):
        expect(page.locator(place)).not_to_have_text(HAN)
    page.locator("#pg-language").click()
    expect(page.locator("#pg-train")).to_have_text(HAN)
    has_address(page, lang="zh")


@pytest.mark.night
def test_dark(visit):
    """In the dark the page is dark, its figures are, and nothing is written dark on dark."""
    page = visit(link(tab="attention"), color_scheme="dark")
    expect(page.locator("body")).to_have_class(re.compile("dark"))
    eventually(page, lambda: brightness(page, "body", "backgroundColor"), lambda light: light < 60)
    for place in ("#pg-head h1", "#pg-sentence", ".pg-caption", "#pg-run", ".pg-chip"):
        eventually(page, lambda place=place: (place, brightness(page, place, "color")), lambda found: found[1] > 130)
    expect(page.locator("#pg-figure-attention .xtick text").first).to_be_visible()
    eventually(page, lambda: brightness(page, "#pg-figure-attention .xtick text", "fill"), lambda light: light > 130)


def brightness(page: Page, place: str, what: str) -> float:
    """0 black to 255 white, of a computed colour."""
    red, green, blue = map(float, re.findall(r"[\d.]+", page.locator(place).first.evaluate(f"e => getComputedStyle(e).{what}"))[:3])
    return 0.3 * red + 0.59 * green + 0.11 * blue


@pytest.mark.night
def test_telephone(visit):
    """390 pixels: nothing sticks out sideways in any tab, the controls fold away, and a model is trained."""
    page = visit(link(ONE_SENTENCE), viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    for name in TABS:
        tab(page, name)
        eventually(page, lambda name=name: (name, page.evaluate("document.documentElement.scrollWidth")), lambda found: found[1] <= 390)
    tab(page, "training")
    expect(page.locator("#pg-figure-learn-cross .xtick text").first).to_be_in_viewport()
    eventually(page, lambda: page.locator("#pg-figure-learn-cross").bounding_box()["width"], lambda width: 300 < width <= 390)
    expect(page.locator("#pg-train")).not_to_be_in_viewport()
    page.locator("#pg-drawer").click()
    expect(page.locator("#pg-train")).to_be_in_viewport()
    train(page)
    has_status(page, "done")
    expect(page.locator("#pg-train")).not_to_be_in_viewport()
    expect(page.locator("#pg-result .pg-verdict.right")).to_be_visible()


@pytest.mark.night
def test_keyboard(visit):
    """Space plays to the end, arrows move, numbers choose heads, ? helps; every control is reached and named; typing stays typing."""
    page = visit(link(tab="attention"))
    replay, played = replay_of(page, frames=4), seen(page, "#pg-replay-play", "aria-label")
    page.evaluate("document.activeElement.blur()")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(replay).to_have_value(str(number(replay, "max") - 3))
    page.keyboard.press("Space")
    eventually(page, played, lambda said: said == [words("page.replay_pause"), words("page.replay_play")])
    has_address(page, step=None)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    has_address(page, step=None)
    page.keyboard.press("3")
    has_address(page, head="3", layer="1")
    expect(page.locator(".pg-thumb[aria-pressed=true]")).to_have_attribute("aria-label", re.compile("^3 .*layer 1, head 3$"))
    page.keyboard.press("ArrowDown")
    has_address(page, q="0")
    page.keyboard.press("ArrowDown")
    has_address(page, q="1")
    expect(page.locator("#pg-panel-attention .pg-cell")).to_contain_text("(row 2)")
    page.keyboard.press("?")
    expect(page.locator("#pg-dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#pg-dialog")).to_have_count(0)

    page.locator("#pg-sentence").focus()
    page.locator("#pg-sentence").fill("")
    page.keyboard.type("1 ?")
    has_address(page, text="1 ?", head="3")
    expect(page.locator("#pg-dialog")).to_have_count(0)
    drawn(page.locator("#pg-panel-attention"))
    assert page.evaluate(WITHOUT_A_NAME) == []
    assert (
        page.locator("#pg-head button, .pg-stage button, .pg-panel button").evaluate_all("all => all.filter((one) => one.tabIndex < 0)")
        == []
    )


@pytest.mark.night
def test_slow_line(visit):
    """The page's own script comes long after Gradio: until then nothing is to be seen or pressed, and the link's settings are not lost."""
    held = []

    def meet(page: Page) -> None:
        expect(page.locator("#knob-d_model input[type=number]")).to_have_value("16")
        expect(page.locator("#pg-train")).to_be_hidden()
        eventually(page, lambda: held, bool)[0].continue_()
        ready(page)

    page = visit(link(SMALL), meet=meet, route=("**/main.js", lambda route: held.append(route)))
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    tab(page, "masks")
    has_address(page, tab="masks", d_model="16", run="reverse")


@pytest.mark.night
def test_the_sentence_stays_in_sight(visit):
    """Sentence and replay are above every picture, also when the page is scrolled; zoom is kept while new numbers come."""
    page = visit(link(SMALL | {"steps": STEPS, "eval_every": 1000}))
    train(page)
    has_status(page, "training")
    curve, panel = figure(page, "loss"), page.locator("#pg-panel-training")

    def steps_in_sight() -> list[float]:
        return curve.evaluate("plot => plot._fullLayout.xaxis.range")

    eventually(page, steps_in_sight, lambda range: range[1] == STEPS)
    middle = curve.evaluate("plot => { const { yaxis } = plot._fullLayout; return yaxis.p2d(yaxis._length / 2) }")
    left, y = place_of(page, "loss", STEPS / 100, middle)
    right, _ = place_of(page, "loss", STEPS / 2, middle)
    page.mouse.move(left, y)
    page.mouse.down()
    page.mouse.move(right, y, steps=3)
    page.mouse.up()
    zoomed = eventually(page, steps_in_sight, lambda range: range[1] < STEPS)
    points, drawings = number(curve, "data-points"), number(panel, "data-drawn")
    eventually(page, lambda: number(curve, "data-points"), lambda now: now > points + 20)  # numbers have come
    eventually(page, lambda: number(panel, "data-drawn"), lambda now: now > drawings + 2)  # and after them the whole panel anew
    assert steps_in_sight() == zoomed
    page.locator("#pg-stop").click()
    has_status(page, "stopped")
    page.mouse.move(800, 500)
    page.mouse.wheel(0, 700)
    eventually(page, lambda: page.evaluate("scrollY"), lambda down: down > 300)
    expect(page.locator("#pg-sentence")).to_be_in_viewport()
    expect(page.locator("#pg-replay")).to_be_in_viewport()
