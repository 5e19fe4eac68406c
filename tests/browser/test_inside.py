"""Somebody looks at all heads at once, and finds picture, arithmetic and code of every part in one screen, and pictures on a telephone."""

from __future__ import annotations

from itertools import product

import pytest
from playwright.sync_api import expect

from tests.browser.steps import drawn, eventually, has_address, link, press_tab
from tests.browser.test_figure import part

SIZES = [(1440, 900), (1366, 768)]
PARTS = (
    "src.ids", "encoder.self_attention", "decoder.self_attention", "decoder.cross_attention", "encoder.feed_forward", "probabilities",
)  # fmt: skip
WIDE = ("encoder.feed_forward",)  # a matrix four times as wide: what is said of it stands below it
# Where the picture ends, where the first sentence does, and where three lines of the code do, which scrolls in its own place.
BOTTOM = """panel => Object.fromEntries(["figure", "text", "code"].map((kind) => {
  const found = [...panel.querySelectorAll(`.pg-open .pg-${kind}, .large-small .pg-${kind}`)].filter((one) => one.offsetParent);
  const element = kind === "figure" ? found[0].querySelector(".pg-plot") : found[0];
  const { top, bottom } = (kind === "code" ? element.querySelector("pre") : element).getBoundingClientRect();
  return [kind, kind === "code" ? Math.min(bottom, top + 60) : bottom];
}))"""

TOP = "(one) => one.getBoundingClientRect().top + scrollY"  # at once: between two questions the page may scroll


@pytest.mark.night
def test_all_heads_are_one_stop_and_a_head_opens_large(visit):
    page = visit(link(run="reverse", text="hello", tab="attention", view="all"))
    panel = page.locator("#pg-panel-attention")
    heads = panel.locator(".pg-model-head")
    expect(heads).to_have_count(24)
    expect(panel.locator(".pg-model-grids")).to_have_count(1)
    height = panel.locator(".pg-modelview").bounding_box()["height"]
    heads.nth(0).hover()
    expect(panel.locator(".pg-model-said")).to_contain_text("layer 1")
    assert panel.locator(".pg-modelview").bounding_box()["height"] == height  # nothing changes its size by itself
    panel.locator("[data-value=all]").focus()
    for _ in range(3):  # what the decoder is fed, the terms of the caption, the heads
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches('.pg-model-head')")
    expect(page.locator(".pg-model-head[tabindex='0']")).to_have_count(1)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(panel.locator("[data-head='encoder.2.2']")).to_be_focused()
    page.keyboard.press("Enter")
    has_address(page, part="encoder", layer="2", head="2")
    drawn(panel)
    expect(panel.locator("[data-block='figure attention'] h3")).to_contain_text("layer 2, head 2")


@pytest.mark.night
def test_a_part_is_one_screen(visit):
    page = visit(link(tab="attention"))
    for (width, height), name in product(SIZES, PARTS):
        page.set_viewport_size({"width": width, "height": height})
        part(page, name).click()
        tab = "attention" if name.endswith("attention") else "map"
        has_address(page, tab=tab)
        panel = page.locator(f"#pg-panel-{tab}")
        drawn(panel)
        page.wait_for_timeout(900)  # the page scrolls smoothly
        found = panel.evaluate(BOTTOM)
        seen = {"figure": found["figure"]} if name in WIDE else found
        assert all(0 < bottom <= height for bottom in seen.values()), (height, name, found)


@pytest.mark.night
def test_on_a_telephone_the_picture_begins_in_the_first_screen(visit):
    page = visit(link(), viewport={"width": 390, "height": 844})
    for tab, picture in {"masks": "figure mask-own", "interventions": "switches heads", "evaluation": "figure reach"}.items():
        press_tab(page, tab)
        drawn(page.locator(f"#pg-panel-{tab}"))
        shown = page.locator(f"#pg-panel-{tab} [data-block='{picture}'] :is(.pg-plot, canvas)").first
        expect(shown).to_be_visible()
        assert shown.evaluate(TOP) < 844 - 52 - 60, tab  # above the bar at the bottom; enough is seen


@pytest.mark.night
def test_the_replay_bar_is_not_clipped(visit):
    page = visit(link(tab="map"))
    for width in (820, 1001, 1100):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("() => new Promise(requestAnimationFrame)")
        box = page.locator("#pg-fork").bounding_box()
        assert box["x"] + box["width"] <= width


@pytest.mark.night
@pytest.mark.parametrize("place", ["inside", "use"])
def test_a_picture_that_was_left_is_as_large_as_before(visit, place):
    page = visit("")
    panel = page.locator("#pg-panel-training")
    drawn(panel)
    plot = panel.locator(".pg-plot").first
    before = plot.bounding_box()
    page.locator(f"#pg-place-{place}-button").click()
    drawn(page.locator(f"#pg-panel-{'map' if place == 'inside' else 'translate'}"))
    times = int(panel.get_attribute("data-drawn"))
    page.locator("#pg-place-train-button").click()
    eventually(page, lambda: int(panel.get_attribute("data-drawn")), lambda now: now > times)
    assert plot.bounding_box() == before
