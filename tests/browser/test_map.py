"""Somebody opens a stage of the map, asks where one of its numbers comes from, and works it out alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.steps import drawn, drawn_from, eventually, figure, has_address, link, place_of, words

WEIGHTS = "decoder.1.cross_attention.weights"


def tile(panel: Locator, address: str) -> Locator:
    return panel.locator(f".pg-tile[data-address='{address}']")


def is_open(page: Page, panel: Locator, address: str) -> None:
    """This stage, and no other; the keyboard is on it, and the line above says where one is."""
    has_address(page, stage=address)
    expect(tile(panel, address)).to_have_attribute("aria-expanded", "true")
    expect(panel.locator(".pg-tile[aria-expanded=true]")).to_have_count(1)
    expect(panel.locator(".pg-open")).to_have_count(1)
    expect(tile(panel, address)).to_be_focused()
    drawn(panel)


@pytest.mark.night
def test_where_a_number_comes_from(visit):
    page = visit(link(text="hello", tab="map"))
    panel = page.locator("#pg-panel-map")
    drawn(panel)
    here = panel.locator(".pg-here .pg-path")
    expect(here).to_have_text(re.compile(rf"^{words('map.whole')} · step \d+$"))
    expect(panel.locator(".pg-open")).to_be_hidden()

    tile(panel, "src.embedding").click()
    is_open(page, panel, "src.embedding")
    expect(here).to_contain_text("Encoder › input › embedding")
    expect(panel.locator("[data-block='text shape']")).to_contain_text("(S, D) = (6, 64)")
    expect(panel.locator(".pg-code mark")).to_have_text(re.compile(r"^\s+x = embedding\(tokens\)[^\n]*$"))

    page.keyboard.press("ArrowRight")  # from an open stage: to the next that is computed
    is_open(page, panel, "src.scaled")
    page.keyboard.press("Escape")
    has_address(page, stage=None)
    expect(panel.locator(".pg-open")).to_be_hidden()
    expect(tile(panel, "src.scaled")).to_be_focused()
    page.keyboard.press("ArrowLeft")  # while none is open: only the eye moves
    expect(tile(panel, "src.embedding")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(tile(panel, "encoder.0.self_attention.k")).to_be_focused()
    page.keyboard.press("Enter")
    is_open(page, panel, "encoder.0.self_attention.k")

    tile(panel, WEIGHTS).click()
    is_open(page, panel, WEIGHTS)
    expect(panel.locator("[data-block='text invite']")).to_have_text(words("map.invite"))
    page.mouse.click(*place_of(page, "stage", 3, 1))
    has_address(page, row="1", col="3")
    sheet = panel.locator(".pg-sheet")
    expect(sheet.locator("h3")).to_have_text(words("map.sheet_title", cell=words("map.cell", row="o → l", column="l")))
    expect(sheet.locator(".pg-terms tbody tr")).to_have_count(6)
    weight = eventually(page, lambda: drawn_from(page, "stage"), lambda trace: len(trace["z"]) == 6)["z"][1][3]
    answer = sheet.locator(".pg-answer")
    expect(answer).to_have_text(re.compile(r"0\.\d+"))
    right = answer.inner_text()
    assert abs(float(right) - weight) < 1e-4

    sheet.get_by_role("button", name=words("map.sheet_hide")).click()
    has_address(page, hide="on")
    expect(answer).to_have_text("?")
    guess = sheet.locator(".pg-guess")
    expect(guess).to_be_focused()
    eventually(page, lambda: drawn_from(page, "stage")["z"][1][3], lambda value: value is None)
    expect(panel.locator(".pg-open")).not_to_contain_text(right)
    for said, typed in (("higher", f"{weight - 0.1}"), ("lower", f"{weight + 0.1}"), ("no_number", "much"), ("right", f"{weight:.3f}")):
        guess.fill(typed)
        guess.press("Enter")
        expect(sheet.locator(".pg-said")).to_have_text(words(f"map.sheet_{said}"))
    sheet.get_by_role("button", name=words("map.sheet_show")).click()
    has_address(page, hide=None)
    expect(answer).to_have_text(right)
    expect(sheet.get_by_role("button", name=words("map.sheet_hide"))).to_be_focused()

    score = sheet.locator(".pg-terms tbody tr").nth(3).locator(".pg-walk")
    expect(score).to_have_text("s[3, 2, 4]")
    score.click()  # the way back through the model
    has_address(page, stage="decoder.1.cross_attention.masked", row="1", col="3", head="3")
    drawn(panel)
    expect(sheet.locator(".pg-sums .last")).to_contain_text(words("map.why_open"))
    figure(page, "stage")

    column = panel.locator("[data-block='pick pick'] select").nth(1)
    column.focus()
    page.keyboard.press("ArrowDown")
    has_address(page, row="1", col="4")
    drawn(panel)
    expect(column).to_be_focused()

    panel.locator("#pg-seed").fill("12")
    expect(panel.locator("#pg-paper")).to_have_attribute("href", re.compile("worksheet.*seed=12&kind=cross&key=0"))


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1100, 800), (390, 844)])
@pytest.mark.night
def test_the_calculation_is_in_sight_and_its_reasons_are_lines(visit, width, height):
    """Beside the matrix where there is room, else scrolled to; and no reason stands in a column of single words."""
    page = visit(link(text="playground", tab="map", stage=WEIGHTS), viewport={"width": width, "height": height})
    panel = page.locator("#pg-panel-map")
    drawn(panel)
    page.mouse.click(*place_of(page, "stage", 2, 1))
    has_address(page, row="1", col="2")
    sheet, picture = panel.locator(".pg-sheet"), panel.locator("#pg-figure-stage")
    eventually(page, lambda: sheet.locator("h3").bounding_box() or {"y": -1}, lambda box: 0 < box["y"] < height - 60)
    if width >= 1100:
        assert sheet.bounding_box()["x"] >= picture.bounding_box()["x"] + picture.bounding_box()["width"]
    widths = [reason.bounding_box()["width"] for reason in sheet.locator(".pg-why").all()]
    assert min(widths) > 200, widths


LARGE, SMALL = (1440, 900), (1366, 768)


@pytest.mark.parametrize(
    ("stage", "width", "height"),
    [
        (WEIGHTS, *LARGE), ("encoder.0.self_attention.scores", *SMALL),
        ("encoder.0.feed_forward.hidden", *LARGE), ("probabilities", *SMALL),
    ],
)  # fmt: skip
@pytest.mark.night
def test_a_click_on_a_cell_moves_nothing_that_stood_there(visit, stage, width, height):
    """Neither the picture, nor the page under it: the room for the calculation is there before."""
    page = visit(link(text="playground", tab="map", stage=stage), viewport={"width": width, "height": height})
    panel = page.locator("#pg-panel-map")
    drawn(panel)
    x, y = place_of(page, "stage", 2, 1)  # once all has come to rest
    page.mouse.click(x, y)
    has_address(page, row="1", col="2")
    drawn(panel)
    expect(panel.locator(".pg-sheet")).to_be_in_viewport(ratio=1)
    assert place_of(page, "stage", 2, 1) == pytest.approx((x, y), abs=1)
