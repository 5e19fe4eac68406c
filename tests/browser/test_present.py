"""A teacher shows one picture to a hall: it fills the screen, arrows play the replay, Q gives everybody the link, Escape goes back."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.steps import address, drawn, eventually, has_address, link

SIZE = {"width": 1920, "height": 1080}
NOT_WHOLE = """() => {
  const [frame, picture] = ["#pg-frame", ".pg-presented"].map((one) => document.querySelector(one).getBoundingClientRect());
  const parts = [...document.querySelectorAll("#pg-result :is(.pg-verdict, .out .pg-chip), #pg-sentence, #pg-run, #pg-present-leave")];
  const outside = parts.filter((one) => {
    const { left, right, top, bottom, width } = one.getBoundingClientRect();
    const at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return !width || left < 0 || right > innerWidth || bottom > frame.bottom + 1 || top < 0 || !(one.contains(at) || at?.contains(one));
  });
  return [...outside.map((one) => one.textContent || one.id), ...(picture.top < frame.bottom - 1 ? ["the picture"] : [])];
}"""
LONG = "wir glauben , dass die Ärztin die Frau findet"


@pytest.mark.night
def test_one_picture_fills_the_screen(visit):
    page = visit(link(run="german_english", tab="attention"), viewport=SIZE)
    panel = page.locator("#pg-panel-attention")
    drawn(panel)
    before = panel.locator(".pg-plot .xaxislayer-above text, .pg-plot .xtick text").first.bounding_box()["height"]
    page.keyboard.press("p")
    has_address(page, present="1")
    plot = panel.locator(".pg-presented .pg-plot")
    eventually(page, lambda: plot.bounding_box()["height"], lambda height: height > 0.75 * SIZE["height"])
    assert plot.bounding_box()["width"] > 0.9 * SIZE["width"]
    caption = panel.locator(".pg-presented > .pg-caption").bounding_box()
    across = plot.locator(".plot .hm, .heatmaplayer").first.bounding_box()
    assert caption["x"] > across["x"] + across["width"]  # beside the matrix, not below it
    assert across["height"] > 0.7 * SIZE["height"]
    expect(page.locator("#pg-present-keys")).to_have_count(0, timeout=15_000)
    assert plot.locator(".xaxislayer-above text, .xtick text").first.bounding_box()["height"] > 1.3 * before
    expect(page.locator("#pg-run")).to_be_visible()
    expect(page.locator("#pg-sentence")).to_be_visible()
    assert page.locator("#pg-frame").bounding_box()["height"] < 125
    heads = panel.locator("[data-block='heads heads']")
    expect(heads).to_be_visible()  # all of them beside the picture, between what it says and its legend
    expect(heads.locator(".pg-thumb")).to_have_count(4)
    beside = eventually(page, heads.bounding_box, lambda box: box["y"] > caption["y"] + caption["height"])
    assert beside["x"] > across["x"] + across["width"]
    assert beside["y"] + beside["height"] < plot.locator(".legend").bounding_box()["y"]
    for hidden in ("#pg-knobs", "#pg-share", "[data-block='code source']", "#pg-place-tabs [role=tab] >> nth=0"):
        expect(page.locator(hidden)).to_be_hidden()
    page.keyboard.press("ArrowLeft")
    eventually(page, lambda: "step" in address(page), bool)
    page.keyboard.press("q")
    code = page.locator("#pg-qr")
    eventually(page, lambda: code.bounding_box()["height"], lambda height: height > 0.85 * SIZE["height"])
    expect(page.locator(".pg-only-here")).to_be_visible()  # the story's server listens at 127.0.0.1
    assert "present" not in page.locator("#pg-link").input_value()
    page.keyboard.press("Escape")
    expect(code).to_have_count(0)
    has_address(page, present="1")
    page.keyboard.press("Escape")
    has_address(page, present=None)
    expect(page.locator("#pg-share")).to_be_visible()


@pytest.mark.night
@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (1366, 768), (1024, 768)])
def test_the_output_and_its_verdict_are_whole(visit, width, height):
    page = visit(link(run="german_english", tab="attention", text=LONG, present="1"), viewport={"width": width, "height": height})
    drawn(page.locator("#pg-panel-attention"))
    expect(page.locator("#pg-result .pg-verdict")).to_be_visible()
    assert eventually(page, lambda: page.evaluate(NOT_WHOLE), lambda found: not found) == []
