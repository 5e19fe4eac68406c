"""Somebody cuts the memory of a run while it trains, and sees that nothing reaches the encoder any more."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steps import SMALL, STEPS, drawn, drawn_from, eventually, figure, has_status, link, press_tab, train, words


@pytest.mark.night
def test_the_memory_is_cut_and_the_encoder_gets_nothing(visit):
    """A shipped run tells what it can; then a run of one's own is cut off live, and its curve falls to 0."""
    page = visit(link(SMALL | {"steps": STEPS, "eval_every": 1000}, run="reverse", tab="diagnostics"))
    panel = page.locator("#pg-panel-diagnostics")
    drawn(panel)
    expect(panel.locator("[data-block='text no-curves']")).to_have_count(0)
    figure(page, "reaching")
    expect(panel.locator("[data-block='table three'] tbody tr").nth(2).locator("td").first).to_have_text("0")
    figure(page, "parts-now")
    assert len(drawn_from(page, "parts-now")["y"]) == 13
    knob = panel.locator("[data-block='choice live'] button")
    expect(knob.nth(2)).to_be_disabled()

    train(page)
    press_tab(page, "diagnostics")
    has_status(page, "training")
    figure(page, "reaching")
    eventually(page, lambda: drawn_from(page, "reaching")["customdata"][-1], lambda last: last != "0")
    expect(knob.nth(2)).to_be_enabled()
    knob.nth(2).click()
    expect(panel.locator("[data-block='figure reaching'] .pg-caption")).to_contain_text("After step")
    eventually(page, lambda: drawn_from(page, "reaching")["customdata"][-1], lambda last: last == "0")
    expect(panel.locator("[data-block='figure reaching'] .pg-caption")).to_contain_text(re.compile("exactly 0 arrives"))
    expect(panel.locator("[data-block='choice live'] [aria-pressed='true']")).to_have_text(words("diagnostics.memory_cut"))

    page.locator("#pg-stop").click()
    has_status(page, "stopped")
