"""On a telephone: the settings open and close, every tab can be found, and every number of a run is read without scrolling sideways."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from playground.cursor import RUN_COLUMNS
from playground.words import say
from tests.browser.steps import drawn, eventually, link, press_tab, words

PHONE = {"width": 390, "height": 844}
# Of a line of tabs: whether it lies in the window, whether the tab that is open lies where the line is not faded, and whether it fades, and
# says so, just where it goes on.
LINE = """(line) => {
  const open = line.querySelector("[role=tab][aria-selected=true]").getBoundingClientRect(), around = line.getBoundingClientRect();
  const more = (line.dataset.more ?? "").split(" "), edge = (side) => more.includes(side) ? 32 : -1; // px of a fade; a browser rounds
  const goesOn = line.scrollWidth - line.clientWidth > 1, fades = getComputedStyle(line).maskImage.includes("gradient");
  return {
    in_window: around.left >= 0 && around.right <= innerWidth, fades: [fades, Boolean(line.dataset.more)].every((one) => one === goesOn),
    in_sight: open.left >= around.left + edge("left") && open.right <= around.right - edge("right"),
  };
}"""
COMES_LATE = """(line) => {
  const around = line.parentElement;
  line.remove();
  for (const name of ["more", "shown"]) delete line.dataset[name];
  setTimeout(() => around.append(line));
}"""
SHOWN_LATE = """(line) => {
  line.hidden = true;
  for (const name of ["more", "shown"]) delete line.dataset[name];
  setTimeout(() => (line.hidden = false), 100);
}"""
# A name is the language's once that has come, which is longer or shorter.
RENAMED = """(line) => {
  const [name] = [...line.querySelectorAll("[role=tab]")].at(-1).childNodes;
  name.data = name.data.trim().length > 20 ? "tab" : "a tab of a long name ".repeat(3);
}"""
IN_ORDER = {"in_window": True, "fades": True, "in_sight": True}


# Of the head of the settings: whether all along it lies over what scrolls under it, on a ground that nothing shows through.
COVERS = """(head) => {
  const { left, right, top, height } = head.getBoundingClientRect(), ground = head.closest("#pg-drawer-top");
  const at = [0.1, 0.5, 0.9].map((part) => document.elementFromPoint(left + part * (right - left), top + height / 2));
  return at.every((one) => ground.contains(one)) && !/rgba|transparent/.test(getComputedStyle(ground).backgroundColor);
}"""


@pytest.mark.night
def test_a_lab_begins_high_on_the_screen(visit):
    """What stands in the frame about another run and its sentence says nothing there, and a telephone has no room for its empty place."""
    page = visit(link(tab="labs"), viewport=PHONE)
    drawn(page.locator("#pg-panel-labs"))
    assert page.locator("#pg-panel-labs .pg-block").first.bounding_box()["y"] < 120
    press_tab(page, "course")
    expect(page.locator("#pg-sentence")).to_be_visible()


@pytest.mark.night
@pytest.mark.parametrize(("way", "language", "scheme"), [("button", "en", "light"), ("Escape", "zh", "dark")])
def test_the_settings_close_and_the_focus_returns_to_their_button(visit, way, language, scheme):
    page = visit(link(lang=language), viewport=PHONE, color_scheme=scheme)
    opener, close = page.locator("#pg-drawer"), page.locator("#pg-drawer-close")
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    opener.click()
    expect(opener).to_have_attribute("aria-expanded", "true")
    expect(close).to_be_focused()
    expect(close).to_have_accessible_name(say(language, "page.close"))
    page.locator("#pg-knobs").evaluate("drawer => drawer.scrollTo(0, 400)")
    expect(close).to_be_in_viewport()
    assert page.locator("#pg-drawer-head").evaluate(COVERS), "what scrolls under the head is not seen through it"
    if way == "button":
        close.click()
    else:
        page.keyboard.press("Escape")
    expect(page.locator("#pg-train")).to_be_hidden()
    expect(opener).to_be_focused()
    expect(opener).to_have_attribute("aria-expanded", "false")


@pytest.mark.night
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


@pytest.mark.night
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_open_tab_is_in_sight_and_a_line_that_goes_on_fades(visit, language):
    page = visit(link(lang=language), viewport=PHONE)
    lines = page.locator("#pg-frame .tab-wrapper:visible")

    def in_order():
        eventually(page, lambda: [line.evaluate(LINE) for line in lines.all()], lambda found: found == [IN_ORDER] * 2)

    for name in ("training", "attention", "embeddings", "interventions", "runs", "course"):
        press_tab(page, name)
        drawn(page.locator(f"#pg-panel-{name}"))
        in_order()
        for line in lines.all():  # at times it comes to stand in the frame when all else is there
            line.evaluate(COMES_LATE)
        in_order()
    for change in (RENAMED, SHOWN_LATE, RENAMED):
        lines.last.evaluate(change)
        in_order()


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


@pytest.mark.night
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
