"""Somebody finds their way through the model by the paper's figure beside it, with the mouse and with the keyboard alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.steps import drawn, eventually, has_address, link


def part(page: Page, name: str) -> Locator:
    return page.locator(f"#pg-figure .part[data-part='{name}']")


def lit(page: Page, *names: str) -> None:
    """Waits until these parts are lit and no others."""
    found = page.locator("#pg-figure .part[aria-current=true]")
    eventually(page, lambda: found.evaluate_all("all => all.map((one) => one.dataset.part)"), lambda now: now == list(names))


@pytest.mark.night
def test_the_figure_leads_everywhere_and_says_where_one_is(visit):
    page = visit(link(run="reverse", text="hello", tab="attention"))
    lit(page, "decoder.cross_attention")
    part(page, "encoder.self_attention").click()
    has_address(page, tab="attention", part="encoder")
    lit(page, "encoder.self_attention")
    part(page, "decoder.self_attention.mask").click()
    has_address(page, tab="masks", mask="target")
    lit(page, "decoder.self_attention.mask")
    part(page, "probabilities").click()
    has_address(page, tab="map", stage="probabilities")
    panel = page.locator("#pg-panel-map")
    drawn(panel)
    expect(panel.locator(".pg-tile[aria-expanded=true]")).to_have_attribute("data-address", "probabilities")
    lit(page, "probabilities")

    expect(page.locator("#pg-figure [tabindex='0']")).to_have_count(1)  # one stop, and arrows inside
    part(page, "probabilities").focus()
    page.keyboard.press("ArrowDown")
    expect(part(page, "logits")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(part(page, "decoder.feed_forward.norm")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(part(page, "memory")).to_be_focused()
    has_address(page, tab="map", stage="probabilities", step=None)  # only the eye moves, and not the replay
    page.keyboard.press("Enter")
    has_address(page, stage="memory")
    lit(page, "memory")
    for press in ("ArrowDown", "ArrowDown"):
        page.keyboard.press(press)
    expect(part(page, "encoder.feed_forward")).to_be_focused()
    page.keyboard.press(" ")
    has_address(page, stage="encoder.0.feed_forward.activated")
    lit(page, "encoder.feed_forward")

    page.locator("#pg-tab-positions-button").click()  # whoever moves the cursor, the figure follows
    lit(page, "src.positions", "tgt.positions")
    page.locator("#pg-place-train-button").click()
    expect(page.locator("#pg-figure")).to_be_hidden()


@pytest.mark.night
def test_the_whole_model_fits_in_the_window(visit):
    page = visit(link(run="reverse", text="hello", tab="map"), viewport={"width": 1440, "height": 900})
    drawn(page.locator("#pg-panel-map"))
    grid = page.locator(".pg-map-grid").bounding_box()
    assert grid["height"] <= 605
    assert page.locator("#pg-figure svg[role=group]").bounding_box()["height"] + 120 <= 768  # a projector's window, under the frame
    assert page.evaluate("document.documentElement.scrollWidth") <= 1440


@pytest.mark.night
def test_on_a_phone_it_is_behind_a_button(visit):
    page = visit(link(run="reverse", text="hello", tab="attention"), viewport={"width": 390, "height": 844})
    expect(part(page, "memory")).to_be_hidden()
    page.locator("#pg-figure summary").click()
    part(page, "memory").click()
    has_address(page, tab="map", stage="memory")
    expect(part(page, "memory")).to_be_hidden()
