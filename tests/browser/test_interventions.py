"""Somebody switches heads off, finds out what each is worth, makes one step look elsewhere, and sends the link to a friend with a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.steps import drawn, figure, has_address, link, words

WORD = [*"remrofsnart", "<eos>"]


def sentence(panel: Locator, name: str) -> Locator:
    """The tokens of one line: "before", "after" or "reference"."""
    return panel.locator(f".pg-compare-line.{name} .pg-chip")


@pytest.mark.night
def test_heads_are_switched_off(visit):
    page = visit(link(text="transformer", tab="interventions"))
    panel = page.locator("#pg-panel-interventions")
    drawn(panel)
    off = panel.locator(".pg-switch[aria-pressed=true]")
    expect(panel.locator(".pg-switch")).to_have_count(24)
    expect(off).to_have_count(0)
    for name in ("before", "after"):
        expect(sentence(panel, name)).to_have_text(WORD)
        expect(panel.locator(f".pg-compare-line.{name} .pg-compare-name")).to_have_text(words(f"interventions.{name}"))
    expect(panel.locator("[data-block='text importance-said']")).to_contain_text("with one head switched off at a time")
    expect(figure(page, "importance-cross").locator(".bars .point")).to_have_count(8)

    switch = panel.locator("[data-ids='c1.3']")
    expect(switch).to_have_attribute(
        "aria-label", words("interventions.head_long", part=words("interventions.part_cross"), layer=1, head=3)
    )
    switch.press("Enter")  # by keyboard
    has_address(page, off="c1.3")
    expect(switch).to_have_attribute("aria-pressed", "true")
    expect(switch).to_contain_text(words("interventions.is_off"))
    expect(panel.locator("[data-block='text in-force']")).to_have_text("Changed: off: cross-attention 1.3.")
    expect(sentence(panel, "before")).to_have_text(WORD)  # never overwritten
    expect(sentence(panel, "after")).not_to_have_text(WORD)
    expect(panel.locator(".pg-compare-line.before .pg-chip.gone").first).to_be_visible()
    expect(panel.locator(".pg-compare-line.after .pg-chip.new").first).to_be_visible()
    expect(panel.locator(".pg-compare-line.after .pg-verdict")).to_have_text(words("interventions.wrong"))
    expect(panel.locator("[data-block='text score-said']")).to_contain_text("The change costs")
    expect(page.locator("#pg-result .out .pg-chip")).to_have_text(WORD[:-1])  # the model itself is as it was
    expect(switch).to_be_focused()

    layer = panel.locator(".pg-switch-part.hue-cross .pg-switch-layer .pg-switch-all").first
    expect(layer).to_have_attribute("aria-pressed", "mixed")
    layer.click()
    has_address(page, off="c1.1_c1.2_c1.3_c1.4")
    panel.get_by_role("button", name=words("interventions.all_part", part=words("interventions.part_encoder"))).click()
    expect(off).to_have_count(12)
    panel.locator(".pg-switch-none").click()
    has_address(page, off=None)
    expect(off).to_have_count(0)

    panel.locator("[data-block='choice memory'] [data-value=cut]").click()
    has_address(page, squeeze="cut")
    expect(panel.locator("[data-block='text squeezed']")).to_contain_text("language model")
    panel.get_by_role("button", name=words("interventions.undo")).click()
    has_address(page, squeeze=None)
    expect(sentence(panel, "after")).to_have_text(WORD)


@pytest.mark.night
def test_one_step_looks_elsewhere_and_the_link_keeps_it(visit):
    page = visit(link(text="attention", tab="interventions", change="row", layer=2, head=3, q=1))
    panel = page.locator("#pg-panel-interventions")
    drawn(panel)
    bars, acts = panel.locator(".pg-cell-bar"), panel.locator(".pg-cell-acts")
    expect(bars).to_have_count(10)
    expect(acts).to_have_count(0)
    bars.first.click()
    has_address(page, k="0", q="1", layer="2", head="3")
    only = acts.get_by_role("button", name=words("interventions.row_only"))
    only.press("Enter")
    has_address(page, cells="c2.3_q1_k0-1")
    expect(bars.first).to_have_class(re.compile("given"))
    expect(bars.first).to_have_attribute("data-weight", "1.0000")
    expect(only).to_be_focused()
    expect(sentence(panel, "before")).to_have_text([*"noitnetta", "<eos>"])
    expect(sentence(panel, "after").nth(1)).not_to_have_text("o")
    expect(sentence(panel, "after").nth(1)).to_have_class(re.compile(r"\bnew\b"))
    expect(sentence(panel, "before").nth(1)).to_have_class(re.compile(r"\bgone\b"))
    expect(panel.locator("[data-block='figure row-top'] .pg-caption")).to_contain_text("Without the change the output is “o”; with it")

    sentence(panel, "after").nth(3).click()  # a look at another step leaves the change where it is
    has_address(page, q="3", cells="c2.3_q1_k0-1")
    expect(bars.first).not_to_have_class(re.compile("given"))
    expect(panel.locator("[data-block='text in-force']")).to_contain_text("step 2 of cross-attention head 2.3")
    panel.get_by_role("button", name=words("interventions.row_there")).click()
    has_address(page, q="1")
    expect(bars.first).to_have_class(re.compile("given"))

    friend = visit(page.evaluate("location.search"), viewport={"width": 390, "height": 844}, has_touch=True)
    theirs = friend.locator("#pg-panel-interventions")
    drawn(theirs)
    expect(sentence(theirs, "after")).to_have_text(sentence(panel, "after").all_inner_texts())
    expect(theirs.locator(".pg-cell-bar").first).to_have_attribute("data-weight", "1.0000")
    theirs.locator(".pg-cell-bar").nth(3).tap()
    theirs.get_by_role("button", name=words("interventions.row_mask")).tap()
    has_address(friend, cells="c2.3_q1_k0-1_x3")

    acts.locator("input[type=range]").fill("0.4")
    has_address(page, cells="c2.3_q1_k0-0.4")
    expect(bars.first).to_have_attribute("data-weight", "0.4000")
    expect(only).to_have_attribute("aria-pressed", "false")
    bars.nth(3).click()
    has_address(page, k="3")
    acts.get_by_role("button", name=words("interventions.row_mask")).click()
    has_address(page, cells="c2.3_q1_k0-0.4_x3")
    expect(bars.nth(3)).to_have_attribute("data-weight", "0.0000")
    expect(bars.nth(3)).to_have_class(re.compile("masked"))
    expect(panel.locator(".pg-cells-legend")).to_contain_text(words("interventions.row_sum", sum="1.00"))
    page.locator("#pg-sentence").fill("world")  # another sentence has other cells
    has_address(page, text="world", cells=None, q=None)
    expect(panel.locator("[data-block='text in-force']")).to_have_text(words("interventions.nothing_row"))
