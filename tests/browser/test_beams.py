"""Somebody wonders why beam search misses the right answer, and what the model would say if it had begun otherwise."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.steps import drawn, figure, has_address, link, words

# A held-out sentence, and a step of the replay at which the model is half taught.
SOURCE, RIGHT, STEP = "wir glauben , dass die Ärztin die Frau findet", "we believe that the doctor finds the woman", "79"


@pytest.mark.night
def test_the_tree_the_verdict_and_another_beginning(visit):
    page = visit(link(run="german_english", text=SOURCE, step=STEP, tab="translate", method="beam", beam="3", penalty="0.6"))
    panel = page.locator("#pg-panel-translate")
    drawn(panel)
    lines = panel.locator("[data-block='chips candidates'] .pg-chipline")
    expect(lines).to_have_count(3)
    verdict = panel.locator("[data-block='text beam-verdict']")
    expect(verdict).to_contain_text(f"error: the reference “{RIGHT}”")
    expect(verdict).to_contain_text("was pruned at step")

    tree = figure(page, "tree")
    expect(tree.locator(".legendtext").get_by_text(words("figures.tree_pruned"), exact=True)).to_be_visible()
    expect(tree.locator(".legendtext").get_by_text(words("figures.tree_lost"), exact=True)).to_be_visible()
    pruned = tree.locator(".scatterlayer .trace").nth(7).locator("text")  # the nodes that were pruned, each with its score
    expect(pruned.first).to_be_visible()
    expect(pruned.first).to_contain_text("−")
    expect(panel.locator("[data-block='figure tree'] .pg-caption")).to_contain_text("^0.6 = ")
    expect(page.locator("#pg-result")).to_have_attribute("data-said", words("page.greedy_line"))  # the line above is decoded otherwise

    panel.locator("[data-block='field prefix'] input").fill("she")
    has_address(page, prefix="she")
    given = panel.locator("[data-block='chips candidates'] .pg-chip.given")
    expect(given).to_have_text(["she"] * 3)  # each of the three begins so
    expect(verdict).to_have_count(0)
    expect(panel.locator("[data-block='text verdict']")).to_have_text(words("decoding.no_verdict"))
    expect(panel.locator("[data-block='text given']")).to_have_text(words("decoding.given", text="she"))

    panel.locator("[data-block='choice cache'] [data-value=off]").click()
    has_address(page, cache="off")
    expect(panel.locator("[data-block='text saved']")).to_contain_text(words("decoding.same"))
    expect(panel.locator("[data-block='table work'] tbody tr")).to_have_count(2)
    expect(given).to_have_text(["she"] * 3)

    panel.locator("[data-block='field prefix'] input").fill(" ".join(RIGHT.split()[:5]))
    expect(given).to_have_text(RIGHT.split()[:5] * 3)
    expect(verdict).to_be_visible()  # this is how the right answer begins
