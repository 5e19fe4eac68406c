"""Somebody asks how good a run is and how far that reaches, then watches what it has learnt to tell apart."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Route, expect

from tests.browser.steps import address, drawn, eventually, figure, has_address, link, press_tab, replay_of, tab, words

DRAWN = re.compile("[1-9]")


@pytest.mark.night
def test_scores_then_vectors(visit):
    page = visit(link(run="sort", tab="evaluation"))
    panel = page.locator("#pg-panel-evaluation")
    drawn(panel)
    rows = panel.locator("[data-block='table scores'] tbody tr")
    expect(rows).to_have_count(5)
    expect(rows.nth(2)).to_contain_text("sacrebleu nrefs:1")
    expect(panel.locator("[data-block='text scores-caption']")).to_contain_text("of 500 held-out sentences")
    expect(panel.locator("[data-block='later reach']")).to_have_attribute("aria-busy", "false")
    expect(panel.locator(".pg-progress")).to_have_count(0)
    expect(panel.locator("[data-block='figure reach'] .pg-caption")).to_contain_text("At lengths seen in training (4 to 16 tokens, framed)")
    figure(page, "reach")
    figure(page, "places")

    panel.locator("[data-block='choice split'] [data-value=harder]").click()
    has_address(page, split="harder")
    expect(panel.locator("[data-block='text scores-caption']")).to_contain_text("harder sentences")
    drawn(panel)
    mistake = panel.locator("[data-block='button look-0'] button")
    source = mistake.inner_text()
    mistake.click()
    has_address(page, text=source)
    expect(page.locator("#pg-sentence")).to_have_value(source)
    expect(page.locator("#pg-result .pg-verdict.wrong")).to_be_visible()

    vectors = tab(page, "embeddings")
    plane = figure(page, "plane")
    points = lambda name: plane.evaluate("(plot, name) => plot.data[1][name]", name)  # noqa: E731
    names, places = points("hovertext"), points("x")
    assert "<bos>" in "".join(names).replace("&lt;", "<").replace("&gt;", ">")
    replay = replay_of(page, frames=5)
    replay.fill("0")
    has_address(page, step="0")
    expect(vectors).to_have_attribute("data-step", "0")
    drawn(vectors)
    eventually(page, lambda: points("x"), lambda now: now != places)
    assert points("hovertext") == names
    vectors.locator("[data-block='choice what'] [data-value=memory]").click()
    has_address(page, what="memory")
    expect(vectors.locator("[data-block='choice token'] button").last).to_have_text("<eos>")
    drawn(vectors)
    vectors.locator("[data-block='choice token'] button").last.click()
    eventually(page, lambda: address(page).get("token"), lambda token: token is not None)
    expect(vectors.locator("[data-block='table nearest'] th").first).to_have_text(f"Nearest to <eos> (position {len(source) + 1})")


# Pairs of names on the plane that lie over one another, and names that lie over a point which is not theirs, by the boxes on the screen.
COVERED = """(plot) => {
  const boxes = (selector) => [...plot.querySelectorAll(selector)].map((one) => [one.textContent, one.getBoundingClientRect()]);
  const names = boxes(":is(.textpoint text, .annotation-text)").filter(([text, { width }]) => text && width);
  const dots = boxes(".points path.point"), after = (at) => names.slice(at + 1);
  const shared = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from]) > 3; // px: a box is higher than its letters
  const over = (a, b) => shared(a, b, "left", "right") && shared(a, b, "top", "bottom");
  const pairs = names.flatMap(([text, box], at) => after(at).filter(([, other]) => over(box, other)).map(([other]) => [text, other]));
  const on = names.flatMap(([text, box]) => dots.filter(([, dot]) => over(box, dot)).map(() => text));
  return { names: names.length, dots: dots.length, pairs, on };
}"""


@pytest.mark.night
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("what", ["src", "memory"])
def test_names_on_the_plane_cover_nothing(visit, width, what):
    page = visit(link(run="german_english", tab="embeddings", what=what), viewport={"width": width, "height": 900})
    drawn(page.locator("#pg-panel-embeddings"))
    found = figure(page, "plane").evaluate(COVERED)
    assert found["names"] > 10, found
    assert found["pairs"] == [], found
    assert found["on"] == [], found


@pytest.mark.night
def test_a_long_exam_shows_how_far_it_is_and_stops_when_the_tab_is_left(visit):
    half = [{"kind": "progress", "id": "progress", "done": 50, "all": 100, "label": words("evaluation.trying", tried=50, asked=100)}]
    endless = json.dumps({"step": 1, "uses": [], "more": True, "blocks": half})

    def answer(route: Route) -> None:
        route.fulfill(status=200, content_type="application/json", body=endless)

    page = visit(link(run="sort", tab="evaluation"), route=("**/panel/reach*", answer))
    bar = page.locator("#pg-panel-evaluation .pg-progress progress")
    expect(bar).to_have_attribute("value", "50")
    expect(page.locator("#pg-panel-evaluation .pg-progress")).to_have_text(words("evaluation.trying", tried=50, asked=100))
    later = page.locator("[data-block='later reach']")
    expect(later).to_have_attribute("aria-busy", "true")
    tab(page, "training")
    expect(later).to_have_attribute("data-asked", "")  # nobody asks any more
    page.unroute("**/panel/reach*")
    press_tab(page, "evaluation")
    expect(later).to_have_attribute("aria-busy", "false")
    expect(page.locator("#pg-figure-reach")).to_have_attribute("data-points", DRAWN)
