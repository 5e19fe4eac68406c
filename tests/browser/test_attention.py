"""Somebody looks at who looks at whom: by pointing, by clicking, by choosing heads."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.steps import has_address, link, tab, words

HELLO = "hello"


def cell(page: Page, q: int, k: int, figure: str = "attention") -> tuple[float, float]:
    """The middle of a cell of the large picture, in pixels of the window."""
    place = page.locator(f"#pg-figure-{figure}")
    place.scroll_into_view_if_needed()
    x, y = place.evaluate(
        """(plot, [q, k]) => {
          const { xaxis, yaxis } = plot._fullLayout, box = plot.getBoundingClientRect();
          return [box.x + xaxis._offset + xaxis.d2p(k), box.y + yaxis._offset + yaxis.d2p(q)];
        }""",
        [q, k],
    )
    return x, y


def weights(page: Page, figure: str = "attention") -> list[list[float | None]]:
    return page.locator(f"#pg-figure-{figure}").evaluate("plot => plot.data[0].z")


def lit(page: Page, how: str) -> list[str]:
    """The tokens that are lit up below the large picture."""
    return page.locator(f"#pg-panel-attention [data-block='chips tokens'] .pg-chip.{how}").all_inner_texts()


def test_point_click_and_choose(visit):
    """A hover names the pair and its weight, a click pins the cell in the address, thumbnails choose heads, masked cells are hatched."""
    page = visit(link(text=HELLO, tab="attention"))
    panel = page.locator("#pg-panel-attention")
    expect(panel.locator("#pg-figure-attention .xtick text")).to_have_text([*HELLO, "<eos>"])
    table = weights(page)
    q, k = max(((q, k) for q in range(5) for k in range(5)), key=lambda at: table[at[0]][at[1]])

    page.mouse.move(*cell(page, q, k))
    hover = page.locator("#pg-figure-attention .hoverlayer .hovertext")
    expect(hover).to_have_text(re.compile(rf"{HELLO[::-1][q]} asks, {HELLO[k]} answers.*weight {table[q][k]:.3f}"))
    assert lit(page, "asks") == [HELLO[::-1][q]]
    assert lit(page, "answers") == [HELLO[k]]

    page.mouse.click(*cell(page, q, k))
    has_address(page, q=str(q), k=str(k))
    pinned = f"“{HELLO[::-1][q]}” (row {q + 1}) looks at “{HELLO[k]}” (column {k + 1}) with weight"
    expect(panel.locator(".pg-cell")).to_contain_text(pinned)
    page.mouse.move(*cell(page, 0 if q else 4, 0 if k else 4))
    page.mouse.move(5, 5)
    assert lit(page, "asks") == [HELLO[::-1][q]], "the pinned token stays lit when the pointer has gone"

    thumbnails = panel.locator(".pg-thumb")
    expect(thumbnails).to_have_count(2 * 4)
    title = panel.locator("[data-block='figure attention'] h3")
    chosen = panel.locator(".pg-thumb[aria-pressed=true]")
    other = panel.locator(".pg-thumb[aria-pressed=false]").first
    layer, head = (int(other.get_attribute(f"data-{name}")) + 1 for name in ("layer", "head"))
    was = title.inner_text()
    other.hover()
    expect(title).to_have_text(f"cross attention · layer {layer}, head {head}")
    page.mouse.move(5, 5)
    expect(title).to_have_text(was)
    other.click()
    has_address(page, layer=str(layer), head=str(head), q=str(q), k=str(k))
    expect(title).to_have_text(f"cross attention · layer {layer}, head {head}")
    expect(chosen).to_have_attribute("aria-label", f"layer {layer}, head {head}")
    expect(panel.locator(".pg-cell")).to_contain_text(pinned)

    page.mouse.click(*cell(page, q, k))
    has_address(page, q=None, k=None)
    expect(panel.locator(".pg-cell")).to_have_count(0)


def test_masked_is_not_small(visit):
    """In the decoder the future is hatched, says so, and has no number. The mask and the pinned token are the same in every tab."""
    page = visit(link(text=HELLO, tab="attention"))
    panel = page.locator("#pg-panel-attention")
    panel.locator("[data-value=decoder]").click()
    has_address(page, part="decoder")
    expect(panel.locator("#pg-figure-attention .xtick text").first).to_have_text("<bos>")
    table = weights(page)
    assert all((table[q][k] is None) == (k > q) for q in range(6) for k in range(6))
    bars = panel.locator("#pg-figure-attention .barlayer .bar path, #pg-figure-attention .barlayer .point path")
    expect(bars).to_have_count(5)  # one stretch a row, but the last
    assert all("url(" in bar.get_attribute("style") for bar in bars.all()), "masked cells are drawn with a pattern"
    page.mouse.move(*cell(page, 1, 4))
    expect(panel.locator(".hoverlayer .hovertext")).to_contain_text("masked")
    page.mouse.click(*cell(page, 1, 4))
    has_address(page, q="1", k="4")
    expect(panel.locator(".pg-cell")).to_contain_text(words("page.cell_masked"))
    colours = panel.locator(".pg-thumb canvas").first.evaluate(
        """canvas => {
          const size = canvas.width / 6, data = canvas.getContext('2d').getImageData(4 * size, size, size, size).data;
          return new Set(Array.from({ length: data.length / 4 }, (_, at) => data.slice(4 * at, 4 * at + 3).join())).size;
        }"""
    )
    assert colours > 1, "a masked cell of a thumbnail is hatched, not plain"
    panel.get_by_text("as a table").click()
    rows = panel.locator("[data-block='figure attention'] details table tr")
    assert rows.nth(1).locator("td").all_inner_texts()[1:] == ["masked"] * 5
    assert "masked" not in rows.nth(6).inner_text()

    expect(tab(page, "Translate").locator("[data-block='figure likely'] h3")).to_contain_text("Step 2")
    masks = tab(page, "Masks")
    expect(masks.locator("[data-block^='figure mask-']")).to_have_count(3)
    masks.locator("[data-value=causal]").click()
    expect(masks.locator("[data-block='code source'] summary")).to_contain_text("causal_mask")
    positions = tab(page, "Positions")
    positions.locator("[data-value=shift]").click()
    expect(positions.locator("[data-block='code source'] summary")).to_contain_text("rotation")
    has_address(page, q="1", k="4", pos="shift", mask="causal", tab="positions")
