"""Somebody asks what the heads do: reads their names, follows one token's lines, and adds up the products behind a score."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steps import decoder_rows, drawn, eventually, figure, has_address, link, words

HELLO, OLLEH = [*"hello", "<eos>"], decoder_rows("olleh")
# The products as they are drawn now, by dimension.
PRODUCTS = "plot => plot.data[2].y"


@pytest.mark.night
def test_names_lines_and_products(visit):
    page = visit(link(text="hello", tab="attention", layer=2, head=1))
    panel = page.locator("#pg-panel-attention")
    view = panel.locator("[data-block='choice view']")
    drawn(panel)
    expect(panel.locator(".pg-thumb small")).to_have_text([re.compile(r"unclear|[a-z<>, -]+ [01]\.\d\d")] * 8)
    expect(panel.locator(".pg-thumb[aria-pressed=true] small")).to_have_text(re.compile(r"alignment 0\.\d\d"))
    names = panel.locator("[data-block='table names'] tbody tr")
    expect(names).to_have_count(8)
    expect(names.nth(4)).to_contain_text(re.compile(r"2·1.*alignment 0\.\d\d"))

    view.locator("[data-value=lines]").click()
    has_address(page, view="lines")
    drawing = panel.locator(".pg-strands")
    expect(drawing.locator("text.query")).to_have_text(OLLEH)
    expect(drawing.locator("text.key")).to_have_text(HELLO)
    numbers = drawing.locator("text.number")
    expect(numbers).to_have_text([""] * 6)  # no row is chosen yet
    drawing.locator(".hit[data-side=query][data-at='3']").hover()
    expect(numbers).to_have_text([re.compile(r"^\d\.\d\d$")] * 6)
    assert sum(map(float, numbers.all_text_contents())) == pytest.approx(1, abs=0.04)
    expect(drawing.locator("text.query.on")).to_have_text([OLLEH[3]])
    expect(panel.locator("[data-role=query] .pg-chip.query")).to_have_text([OLLEH[3]])
    page.mouse.move(5, 5)
    expect(numbers).to_have_text([""] * 6)
    drawing.locator(".hit[data-side=query][data-at='3']").click()
    has_address(page, q="3", k=None)
    drawing.locator(".hit[data-side=key][data-at='1']").click()
    has_address(page, q="3", k="1")
    expect(drawing.locator("text.key.pinned")).to_have_text(["e"])
    expect(panel.locator(".pg-cell")).to_contain_text(
        words("page.cell", query_token=OLLEH[3], row=4, key_token="e", column=2, value="|").partition("|")[0]
    )
    weight = panel.locator(".pg-cell").inner_text().rstrip(".").split()[-1]

    view.locator("[data-value=product]").click()
    has_address(page, view="product", q="3", k="1")
    said = panel.locator("[data-block='text product-sum']")
    expect(said).to_contain_text(f"Softmax over the row: {weight}.")
    drawn(panel)
    plot = figure(page, "product")
    adds_up(page, plot, said)
    panel.locator("[data-block='slider key'] input").press("ArrowRight")
    has_address(page, q="3", k="2")
    expect(said).not_to_contain_text(weight)
    drawn(panel)
    adds_up(page, plot, said)

    view.locator("[data-value=rollout]").click()
    has_address(page, view="rollout")
    expect(panel.locator("[data-block='text rollout-about']")).to_have_text(words("heads.rollout_about"))
    for name in ("rollout", "attention"):
        expect(panel.locator(f"#pg-figure-{name} .xtick text")).to_have_text(HELLO)
    panel.locator("[data-block='choice measure'] [data-value=entropy]").click()
    has_address(page, measure="entropy")
    expect(panel.locator("#pg-figure-over-training .ytitle")).to_have_text(words("figures.head_entropy"))


def adds_up(page, plot, said) -> None:
    """Waits until the bars that are drawn add up to the sum that is told."""

    def both() -> tuple[float, float]:
        told = re.search(r"products (−?[\d.]+),", said.inner_text())
        return sum(plot.evaluate(PRODUCTS)), float(told[1].replace("−", "-"))

    eventually(page, both, lambda sums: sums[0] == pytest.approx(sums[1], abs=1e-3))
