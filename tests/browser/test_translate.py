"""Somebody translates while the model still learns: every way of decoding, a word it has never seen, and step by step."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steps import (
    SMALL,
    STEPS,
    drawn,
    eventually,
    figure,
    has_address,
    has_status,
    link,
    number,
    press_tab,
    source,
    tab,
    train,
    type_sentence,
    words,
)


@pytest.mark.night
def test_translate_while_training(visit):
    page = visit(link(SMALL | {"steps": STEPS, "eval_every": 1000}))
    train(page)
    has_status(page, "training")
    status = page.locator("#pg-status")
    begun = number(status, "data-step")
    panel = tab(page, "translate")
    lines = panel.locator("[data-block='chips candidates'] .pg-chipline")

    type_sentence(page, "hello")
    expect(source(page)).to_have_text([*"hello"])
    expect(panel).to_contain_text("olleh")
    expect(lines).to_have_count(0)  # source, output and reference stand above

    panel.locator("[data-value=beam]").click()
    has_address(page, method="beam", text="hello")
    expect(lines).to_have_count(4)
    drawn(panel)  # and what is read at one stroke is of one answer, whatever the run does meanwhile
    labels = lines.locator(".pg-label").all_inner_texts()
    scores = [float(re.search(r"score (−?[\d.]+)", label)[1].replace("−", "-")) for label in labels]
    assert scores == sorted(scores, reverse=True)
    width = panel.locator("[data-block='slider beam'] input")
    width.fill("2")
    has_address(page, beam="2")
    expect(lines).to_have_count(2)

    panel.locator("[data-value=sample]").click()
    expect(lines).to_have_count(1)
    panel.locator("[data-block='button draw'] button").click()
    has_address(page, method="sample", draw="2")

    panel.locator("[data-value=greedy]").click()
    has_address(page, method=None)
    type_sentence(page, "hé9lo")
    expect(panel.locator("[data-block='text unknown']")).to_have_text(words("page.unknown_words", words="é, 9"))
    expect(page.locator("#pg-result .pg-chip.unknown")).to_have_text(["é", "9"])
    expect(panel).to_contain_text(words("page.no_reference"))

    type_sentence(page, "abcd")
    expect(source(page)).to_have_text([*"abcd"])
    title = panel.locator("[data-block='figure likely'] h3")
    expect(title).to_contain_text(re.compile(r"Step \d+: the five most likely tokens"))
    figure(page, "likely")
    bars = panel.locator("#pg-figure-likely .yaxislayer-above .ytick, #pg-figure-likely .ytick")
    expect(bars).to_have_count(5)
    expect(figure(page, "looks").locator(".xtick text")).to_have_text([*"abcd", "<eos>"])
    panel.locator("[data-block='slider at'] input").fill("1")
    has_address(page, q="1")
    expect(title).to_contain_text("Step 2:")

    has_status(page, "training")
    eventually(page, lambda: number(status, "data-step"), lambda step: step > begun + 10)
    press_tab(page, "training")
    page.locator("#pg-stop").click()
    has_status(page, "stopped")
