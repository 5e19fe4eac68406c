"""Somebody takes one training step apart: from the loss of a token to the parameter that moved, on a screen and on a telephone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from playground.words import say
from tests.browser.steps import SMALL, STEPS, drawn, figure, has_address, has_status, link, place_of, press_tab, train, words

PHONE = {"width": 390, "height": 844}
PICTURES = {
    "loss": "losses", "logits": "logits", "stream": "stream", "scores": "scores", "gradient": "parameter", "optimiser": "parameter",
    "after": "changes",
}  # fmt: skip


# Whether something lies over the first line of an element.
COVERED = """element => {
  const { x, y } = element.getBoundingClientRect();
  return !element.contains(document.elementFromPoint(x + 2, y + 8));
}"""


def value(text: str) -> float:
    """The first number of a text."""
    return float(re.search(r"−?\d[\d.]*(e−?\d+)?", text)[0].replace("−", "-"))


def goes_on(page: Page, language: str) -> None:
    """Through all seven moments by the button that stays in sight, from the end of each to the beginning of the next, and round again."""
    panel = page.locator("#pg-panel-step")
    about, onward = panel.locator("[data-block='text moment-about']"), panel.locator("[data-block='button next'] button")
    page.evaluate("scrollTo(0, 0)")
    for moment, picture in (*PICTURES.items(), ("loss", "losses")):
        has_address(page, moment=None if moment == "loss" else moment)
        drawn(panel)
        expect(about).to_have_text(say(language, f"step.about_{moment}"))
        expect(about).to_be_in_viewport(ratio=1)
        assert about.evaluate(COVERED) is False
        figure(page, f"step-{picture}")
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        expect(onward).to_be_in_viewport()
        onward.press("Enter")
    expect(onward).to_be_focused()


@pytest.mark.night
def test_a_step_is_taken_apart_down_to_one_number(visit):
    page = visit(link(tab="training", step=0))
    page.locator("[data-block='button slow'] button").click()
    has_address(page, tab="step")
    panel = page.locator("#pg-panel-step")
    drawn(panel)
    expect(panel.locator("[data-block='text which']")).to_contain_text(words("step.exact_made", recorded="").partition(".")[0][:40])
    page.mouse.click(*place_of(page, "step-losses", 3, 2))
    has_address(page, line="2", place="3")
    sheet = panel.locator("[data-block='sheet sheet']")
    expect(sheet.locator("h3")).to_contain_text("(row 3, place 4)")
    goes_on(page, "en")

    # a picture that is still unfolding can be clicked
    panel.locator("[data-block='choice moment'] [data-value='gradient']").click()
    page.mouse.click(*place_of(page, "step-parts", drawn_x(page), 6))  # the first decoder layer's self-attention
    has_address(page, module="6")
    panel.locator("[data-value='decoder.0.self_attention.W_v.weight'], [data-value='decoder.0.self_attention.W_o.weight']").last.click()
    drawn(panel)
    page.mouse.click(*place_of(page, "step-parameter", 5, 7))
    has_address(page, grad_row="7", grad_col="5")
    expect(sheet.locator("h3")).to_contain_text("W_o.weight[8, 6]")
    terms = sheet.locator(".pg-terms tbody tr .pg-part").all_text_contents()
    assert sum(map(value, terms)) == pytest.approx(value(sheet.locator(".pg-equals").text_content()), rel=1e-2)


def drawn_x(page: Page) -> float:
    """Where the dot of part 6 stands."""
    return figure(page, "step-parts").evaluate("plot => plot.data[0].x[6]")


@pytest.mark.night
@pytest.mark.parametrize("language", ["en", "zh"])
def test_on_a_telephone_nothing_is_wider_than_the_screen(visit, language):
    page = visit(link(tab="step", lang=language), viewport=PHONE)
    goes_on(page, language)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.night
def test_the_next_step_is_shown_before_it_is_made(visit):
    """A run of one's own, paused: the step that is shown is the one that the button makes, and then the one after it."""
    page = visit(link(SMALL | {"steps": STEPS, "eval_every": 1000}, tab="training", lang="zh"))
    train(page)
    has_status(page, "training")
    page.locator("#pg-pause").click()
    has_status(page, "paused")
    press_tab(page, "step")
    panel = page.locator("#pg-panel-step")
    drawn(panel)
    head, which = panel.locator("[data-block='text head']"), panel.locator("[data-block='text which']")
    expect(which).to_have_text(say("zh", "step.exact_next"))
    number = int(value(head.text_content().replace(",", "")))
    page.locator("#pg-step").click()
    expect(head).to_contain_text(f"第 {number + 1:,} 步")
    expect(which).to_have_text(say("zh", "step.exact_next"))
    page.locator("#pg-stop").click()
    has_status(page, "stopped")


MOVED = """() => {
  window.moved = [];
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (frames, about) {
    if (frames[0].maskPosition && this.closest("#pg-panel-step")) window.moved.push(frames[0].maskPosition);
    return animate.call(this, frames, about);
  };
}"""


@pytest.mark.night
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_picture_unfolds_in_the_way_its_numbers_go(visit, motion):
    """The forward pass from the left, the backward pass from the right, along the stream upwards; nobody who wants no motion sees any."""
    page = visit(link(tab="step"), reduced_motion=motion)
    panel, moments = page.locator("#pg-panel-step"), [*PICTURES][1:]
    drawn(panel)
    page.evaluate(MOVED)
    for moment in moments:
        count = panel.get_attribute("data-drawn")
        panel.locator("[data-block='button next'] button").click()
        has_address(page, moment=moment)
        expect(panel).not_to_have_attribute("data-drawn", count)
        drawn(panel)
    assert page.evaluate("window.moved") == (["right", "bottom", "right", "right", "left"] if motion == "no-preference" else [])
