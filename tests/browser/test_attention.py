"""Somebody looks at who looks at whom: by pointing, by clicking, by choosing heads."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.steps import decoder_rows, drawn, drawn_from, has_address, link, point_at, tab, words

HELLO = "hello"
OLLEH = decoder_rows(HELLO[::-1])


def lit(page: Page, how: str) -> Locator:
    """The tokens that are lit up below the large picture."""
    return page.locator(f"#pg-panel-attention [data-block='chips tokens'] .pg-chip.{how}")


@pytest.mark.night
def test_point_click_and_choose(visit):
    """A hover names the pair and its weight, a click pins the cell in the address, thumbnails choose heads, masked cells are hatched."""
    page = visit(link(text=HELLO, tab="attention"))
    panel = page.locator("#pg-panel-attention")
    expect(panel.locator("#pg-figure-attention .xtick text")).to_have_text([*HELLO, "<eos>"])
    table = drawn_from(page, "attention")["z"]
    q, k = max(((q, k) for q in range(5) for k in range(5)), key=lambda at: table[at[0]][at[1]])

    names = re.compile(rf"query {OLLEH[q]}, key {HELLO[k]}.*attention weight {table[q][k]:.3f}")
    at = point_at(page, "attention", k, q, names)
    expect(lit(page, "query")).to_have_text([OLLEH[q]])
    expect(lit(page, "key")).to_have_text([HELLO[k]])

    page.mouse.click(*at)
    has_address(page, q=str(q), k=str(k))
    pinned = words("page.cell", query_token=OLLEH[q], row=q + 1, key_token=HELLO[k], column=k + 1, value="|").partition("|")[0]
    expect(panel.locator(".pg-cell")).to_contain_text(pinned)
    drawn(panel)
    elsewhere = 0 if q else 4
    point_at(page, "attention", 0 if k else 4, elsewhere, f"query {OLLEH[elsewhere]}, key")
    expect(lit(page, "query")).to_have_text([OLLEH[elsewhere]])
    page.mouse.move(5, 5)
    expect(lit(page, "query")).to_have_text([OLLEH[q]])  # the pinned token is lit again when the pointer has gone

    thumbnails = panel.locator(".pg-thumb")
    expect(thumbnails).to_have_count(2 * 4)
    title = panel.locator("[data-block='figure attention'] h3")
    chosen = panel.locator(".pg-thumb[aria-pressed=true]")
    other = panel.locator(".pg-thumb[aria-pressed=false]").first
    layer, head = (int(other.get_attribute(f"data-{name}")) + 1 for name in ("layer", "head"))
    was = title.inner_text()  # settled: nothing has moved since the panel was drawn
    other.hover()
    expect(title).to_have_text(words("page.head_title", part=words("page.part_cross"), layer=layer, head=head))
    page.mouse.move(5, 5)
    expect(title).to_have_text(was)
    other.click()
    has_address(page, layer=str(layer), head=str(head), q=str(q), k=str(k))
    expect(title).to_have_text(words("page.head_title", part=words("page.part_cross"), layer=layer, head=head))
    expect(chosen).to_have_attribute("aria-label", re.compile(f"^{head} .*layer {layer}, head {head}$"))
    expect(panel.locator(".pg-cell")).to_contain_text(pinned)

    drawn(panel)
    page.mouse.click(*point_at(page, "attention", k, q, f"query {OLLEH[q]}, key {HELLO[k]}"))
    has_address(page, q=None, k=None)
    expect(panel.locator(".pg-cell")).to_have_count(0)


@pytest.mark.night
def test_masked_is_not_small(visit):
    """In the decoder the future is hatched, says so, and has no number. The mask and the pinned token are the same in every tab."""
    page = visit(link(text=HELLO, tab="attention"))
    panel = page.locator("#pg-panel-attention")
    panel.locator("[data-value=decoder]").click()
    has_address(page, part="decoder")
    expect(panel.locator("#pg-figure-attention .xtick text").first).to_have_text("<bos>")
    drawn(panel)
    table = drawn_from(page, "attention")["z"]
    assert all((table[q][k] is None) == (k > q) for q in range(6) for k in range(6))
    bars = panel.locator("#pg-figure-attention .barlayer .bar path, #pg-figure-attention .barlayer .point path")
    expect(bars).to_have_count(5)  # one stretch a row, but the last
    for bar in range(5):
        expect(bars.nth(bar)).to_have_attribute("style", re.compile(r"url\("))  # masked cells are drawn with a pattern
    page.mouse.click(*point_at(page, "attention", 4, 1, "masked"))
    has_address(page, q="1", k="4")
    expect(panel.locator(".pg-cell")).to_contain_text(words("page.cell_masked"))
    drawn(panel)
    colours = panel.locator(".pg-thumb canvas").first.evaluate(
        """canvas => {
          const size = canvas.width / 6, data = canvas.getContext('2d').getImageData(4 * size, size, size, size).data;
          return new Set(Array.from({ length: data.length / 4 }, (_, at) => data.slice(4 * at, 4 * at + 3).join())).size;
        }"""
    )
    assert colours > 1, "a masked cell of a thumbnail is hatched, not plain"
    picture = panel.locator("[data-block='figure attention']")
    picture.get_by_text("as a table").click()
    rows = picture.locator("details table tr")
    expect(rows.nth(1).locator("td")).to_have_text([re.compile(r"^\d\.\d{3}$"), *["masked"] * 5])
    expect(rows.nth(6).locator("td")).to_have_text([re.compile(r"^\d\.\d{3}$")] * 6)

    expect(tab(page, "translate").locator("[data-block='figure likely'] h3")).to_contain_text("Step 2")
    masks = tab(page, "masks")
    expect(masks.locator("[data-block^='figure mask-']")).to_have_count(3)
    masks.locator("[data-value=target]").click()
    expect(masks.locator("[data-block='code source'] summary")).to_contain_text("target_mask")
    positions = tab(page, "positions")
    positions.locator("[data-value=shift]").click()
    expect(positions.locator("[data-block='code source'] summary")).to_contain_text("rotation")
    has_address(page, q="1", k="4", pos="shift", mask="target", tab="positions")
