"""Somebody wonders why a model that is nearly always right writes nonsense, and corrects one of its tokens."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.steps import address, drawn, figure, has_address, link, words

LONG = "abcdefghijklmnopqrst"  # longer than any word in training


@pytest.mark.night
def test_forced_free_and_one_correction(visit):
    page = visit(link(text=LONG, tab="teacher_forcing"))
    panel = page.locator("#pg-panel-teacher_forcing")
    drawn(panel)
    lanes = panel.locator(".pg-lane")
    expect(lanes).to_have_count(2)
    expect(panel.locator("[data-block='text caption']")).to_contain_text("First difference at step 1")
    expect(panel.locator(".pg-parts td.parted")).to_have_text(words("teacher_forcing.parts_here"))
    free = panel.locator("tbody").nth(1)
    wrote = free.locator("tr.says .pg-chip")
    expect(wrote.first).to_have_class("pg-chip wrong")
    before = wrote.all_inner_texts()

    panel.locator("[data-block='choice fix'] button", has_text=LONG[-1]).last.click()
    expect(lanes).to_have_count(3)
    expect(lanes.nth(2)).to_contain_text(words("teacher_forcing.corrected"))
    expect(panel.locator("tbody").nth(2).locator("tr.says .pg-chip.fixed")).to_have_text(LONG[-1])
    expect(wrote).to_have_text(before)  # what it wrote by itself stays as it was
    assert "fix=0%3A" in page.evaluate("location.search")

    panel.locator("thead button").nth(3).click()
    has_address(page, q="3")
    expect(panel.locator("[data-block='figure likely-free'] h3")).to_contain_text("step 4")
    lens = figure(page, "lens")
    expect(lens.locator(".annotation-text").first).to_be_visible()
    expect(panel.locator("[data-block='figure lens'] .pg-caption")).to_contain_text("layer")
    again = visit(page.evaluate("location.search"))
    expect(again.locator("#pg-panel-teacher_forcing .pg-lane")).to_have_count(3)


@pytest.mark.night
def test_it_opens_on_a_sentence_that_goes_wrong_unless_somebody_chose_one(visit):
    page = visit(link(tab="teacher_forcing"))
    panel = page.locator("#pg-panel-teacher_forcing")
    expect(panel.locator(".pg-parts td.parted")).to_have_text(words("teacher_forcing.parts_here"))
    drawn(panel)
    assert address(page)["text"] == page.locator("#pg-sentence").input_value()
    chosen = visit(link(tab="teacher_forcing", text="hello"))
    drawn(chosen.locator("#pg-panel-teacher_forcing"))
    has_address(chosen, text="hello")
