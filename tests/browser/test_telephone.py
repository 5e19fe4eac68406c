"""On a telephone: the settings open and close, every tab can be found, and every number of a run is read without scrolling sideways."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from playground.cursor import RUN_COLUMNS
from tests.browser.steps import drawn, eventually, link, words

PHONE = {"width": 390, "height": 844}
# The parts of a line of tabs that lie in sight and are not faded: the fade is 32 px wide.
IN_SIGHT = """(one) => {
  const strip = one.closest("[data-more]"), { left, right } = one.getBoundingClientRect();
  const around = strip.getBoundingClientRect(), more = strip.dataset.more.split(" ");
  return left >= around.left + (more.includes("left") ? 32 : -1) && right <= around.right - (more.includes("right") ? 32 : -1);
}"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["button", "Escape"])
def test_the_settings_close_and_the_focus_returns_to_their_button(visit, way):
    page = visit(link(), viewport=PHONE)
    opener, close = page.locator("#pg-drawer"), page.locator("#pg-drawer-close")
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    opener.click()
    expect(opener).to_have_attribute("aria-expanded", "true")
    expect(close).to_be_focused()
    expect(close).to_have_accessible_name(words("page.close"))
    page.locator("#pg-knobs").evaluate("drawer => drawer.scrollTo(0, 400)")
    expect(close).to_be_in_viewport()
    if way == "button":
        close.click()
    else:
        page.keyboard.press("Escape")
    expect(page.locator("#pg-train")).to_be_hidden()
    expect(opener).to_be_focused()
    expect(opener).to_have_attribute("aria-expanded", "false")


@pytest.mark.slow
def test_a_menu_in_the_settings_closes_before_they_do(visit):
    page = visit(link(), viewport=PHONE)
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    page.locator("#pg-drawer").click()
    page.locator("#preset input").click()
    expect(page.locator("#preset [role=listbox]")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#preset [role=listbox]")).to_be_hidden()
    expect(page.locator("#pg-train")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#pg-train")).to_be_hidden()


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["training", "attention", "embeddings", "interventions", "runs", "course"])
def test_the_open_tab_is_in_sight_and_a_line_that_goes_on_fades(visit, name, language):
    page = visit(link(tab=name, lang=language), viewport=PHONE)
    drawn(page.locator(f"#pg-panel-{name}"))
    lines = [line for line in page.locator("#pg-places .tab-wrapper").all() if line.is_visible()]
    assert len(lines) == 2
    for line in lines:
        chosen = line.locator("[role=tab][aria-selected=true]")
        eventually(page, lambda chosen=chosen: chosen.evaluate(IN_SIGHT), bool)
        more = line.evaluate("(line) => line.scrollWidth - line.clientWidth > 1")
        assert bool(line.get_attribute("data-more")) == more
        assert ("gradient" in line.evaluate("(line) => getComputedStyle(line).maskImage")) == more
        assert line.bounding_box()["x"] + line.bounding_box()["width"] <= 390


def in_sight(cells: Locator) -> list[bool]:
    """Of what stands in these cells: whether all of it lies in the window and in its box."""
    return cells.evaluate_all(
        """(cells) => cells.map((cell) => {
          const range = document.createRange();
          range.selectNodeContents(cell);
          const { left, right } = range.getBoundingClientRect();
          return left >= 0 && right <= innerWidth && cell.scrollWidth <= cell.clientWidth + 1;
        })"""
    )


@pytest.mark.slow
def test_every_number_of_a_run_is_in_sight_under_the_name_of_its_column(visit):
    page = visit(link(tab="runs", runs="sort,reverse"), viewport=PHONE)
    panel = page.locator("#pg-panel-runs")
    drawn(panel)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    numbers = panel.locator("tr[data-run=reverse] .number")
    assert in_sight(numbers) == [True] * (len(RUN_COLUMNS) - 1)
    labels = numbers.evaluate_all("(cells) => cells.map((cell) => cell.dataset.label)")
    assert labels == [words(f"compare.{name}") for name in RUN_COLUMNS if name != "name"]
    assert in_sight(panel.locator("tr[data-run=reverse] .pg-run-line")) == [True]
