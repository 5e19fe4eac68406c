"""Somebody switches a head off, finds out what each is worth, makes one step look elsewhere, and sends the link to a friend."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from tests.browser.steps import drawn, has_address, link, words


def sentence(panel: Locator, name: str) -> Locator:
    """The tokens of one line: "before", "after" or "reference"."""
    return panel.locator(f".pg-compare-line.{name} .pg-chip")


def test_a_head_is_switched_off(visit):
    page = visit(link(text="hello", tab="whatif"))
    panel = page.locator("#pg-panel-whatif")
    drawn(panel)
    expect(panel.locator(".pg-switch")).to_have_count(24)
    expect(panel.locator(".pg-switch[aria-pressed=true]")).to_have_count(0)
    for name in ("before", "after"):
        expect(sentence(panel, name)).to_have_text([*"olleh", "<eos>"])
        expect(panel.locator(f".pg-compare-line.{name} .pg-compare-name")).to_have_text(words(f"whatif.{name}"))
    expect(panel.locator("#pg-figure-importance-cross .bars .point")).to_have_count(8)  # comes by itself, a little later
    expect(panel.locator("[data-block='text importance-said']")).to_contain_text("heads cost nothing")

    switch = panel.locator("[data-ids='c1.3']")
    expect(switch).to_have_attribute("aria-label", "cross, layer 1, head 3")
    switch.click()
    has_address(page, off="c1.3")
    expect(switch).to_have_attribute("aria-pressed", "true")
    expect(switch).to_contain_text(words("whatif.is_off"))
    expect(switch).to_be_focused()
    expect(panel.locator("[data-block='text in-force']")).to_have_text("Changed: off: cross 1.3.")
    drawn(panel)
    expect(sentence(panel, "before")).to_have_text([*"olleh", "<eos>"])  # never overwritten
    expect(sentence(panel, "after")).not_to_have_text([*"olleh", "<eos>"])
    expect(panel.locator(".pg-compare-line.before .pg-chip.gone").first).to_be_visible()
    expect(panel.locator(".pg-compare-line.after .pg-verdict")).to_have_text(words("whatif.wrong"))
    expect(panel.locator("[data-block='text score-said']")).to_contain_text("The change costs")
    expect(page.locator("#pg-result .out .pg-chip")).to_have_text([*"olleh"])  # the model itself is as it was

    layer = panel.locator(".pg-switch-part.hue-cross .pg-switch-layer .pg-switch-all").first
    expect(layer).to_have_attribute("aria-pressed", "mixed")
    layer.click()
    has_address(page, off="c1.1_c1.2_c1.3_c1.4")
    panel.get_by_role("button", name=re.compile("^encoder: all heads")).click()
    expect(panel.locator(".pg-switch[aria-pressed=true]")).to_have_count(12)
    panel.locator(".pg-switch-none").click()
    has_address(page, off=None)
    expect(panel.locator(".pg-switch[aria-pressed=true]")).to_have_count(0)

    panel.locator("[data-block='choice memory'] [data-value=cut]").click()
    has_address(page, squeeze="cut")
    expect(panel.locator("[data-block='text squeezed']")).to_contain_text("language model")
    panel.get_by_role("button", name=words("whatif.undo")).click()
    has_address(page, squeeze=None)
    expect(sentence(panel, "after")).to_have_text([*"olleh", "<eos>"])


def test_one_step_looks_elsewhere_and_the_link_keeps_it(visit):
    page = visit(link(text="hello", tab="whatif", change="row", layer=2, head=3, q=1))
    panel = page.locator("#pg-panel-whatif")
    drawn(panel)
    bars = panel.locator(".pg-cell-bar")
    expect(bars).to_have_count(6)
    expect(panel.locator(".pg-cell-acts")).to_have_count(0)
    bars.first.click()
    has_address(page, k="0", q="1", layer="2", head="3")
    expect(bars.first).to_have_attribute("aria-pressed", "true")
    panel.get_by_role("button", name=words("whatif.row_only")).click()
    has_address(page, cells="k0-1")
    expect(bars.first).to_have_class(re.compile("given"))
    expect(bars.first).to_have_attribute("data-weight", "1.0000")
    expect(sentence(panel, "before")).to_have_text([*"olleh", "<eos>"])
    expect(sentence(panel, "after").nth(1)).not_to_have_text("l")
    expect(sentence(panel, "after").nth(1)).to_have_class(re.compile(r"\bnew\b"))
    expect(sentence(panel, "before").nth(1)).to_have_class(re.compile(r"\bgone\b"))
    expect(panel.locator("[data-block='figure row-top'] .pg-caption")).to_contain_text("Without the change it says “l”; with it")
    after = sentence(panel, "after").all_inner_texts()

    friend = visit(page.evaluate("location.search"))
    theirs = friend.locator("#pg-panel-whatif")
    drawn(theirs)
    expect(sentence(theirs, "after")).to_have_text(after)
    expect(theirs.locator(".pg-cell-bar").first).to_have_attribute("data-weight", "1.0000")

    panel.locator(".pg-cell-acts input[type=range]").fill("0.4")
    has_address(page, cells="k0-0.4")
    expect(bars.first).to_have_attribute("data-weight", "0.4000")
    bars.nth(3).click()
    panel.get_by_role("button", name=words("whatif.row_mask")).click()
    has_address(page, cells="k0-0.4_x3", k="3")
    expect(bars.nth(3)).to_have_attribute("data-weight", "0.0000")
    expect(bars.nth(3)).to_have_class(re.compile("masked"))
    expect(panel.locator(".pg-cells-legend")).to_contain_text("add up to 1.00")
    page.locator("#pg-sentence").fill("world")  # another sentence has other cells
    has_address(page, text="world", cells=None, q=None)
    expect(panel.locator("[data-block='text in-force']")).to_have_text(words("whatif.nothing_row"))
