"""What no rule of axe's sees: keys that are switched off, an end that is told, a focus in sight, pages in narrow windows."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from playground.ui.panels import TABS
from tests.browser.conftest import ready
from tests.browser.steps import ONE_SENTENCE, address, drawn, eventually, has_address, has_status, link, press_tab, train, words

HIDDEN = """() => {
  const one = document.activeElement, { left, right, top, bottom, width } = one.getBoundingClientRect();
  if (one === document.body || !width || one.closest("#pg-knobs")) return "";
  const at = document.elementFromPoint((left + right) / 2, Math.max(top, Math.min((top + bottom) / 2, innerHeight - 1)));
  return at && (one.contains(at) || at.contains(one) || at.closest("label")?.contains(one)) ? "" : one.outerHTML.slice(0, 120);
}"""


@pytest.mark.night
def test_keys_of_one_character_can_be_switched_off(visit):
    """The tick is kept in the browser; arrows and space go on, and P and the numbers mean nothing."""
    page = visit(link(tab="attention"))
    drawn(page.locator("#pg-panel-attention"))
    page.locator("#pg-help").click()
    page.locator("#pg-single-keys").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    ready(page)
    drawn(page.locator("#pg-panel-attention"))
    for key in ("3", "p", "?", "ArrowDown"):
        page.keyboard.press(key)
    has_address(page, q="0", head=None, present=None)
    expect(page.locator("#pg-dialog")).to_have_count(0)
    page.locator("#pg-help").click()
    page.locator("#pg-single-keys").check()
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("3")
    has_address(page, head="3")


@pytest.mark.night
def test_a_training_is_told_from_its_start_to_its_end_and_never_step_by_step(visit):
    page = visit(link(ONE_SENTENCE))
    told = page.locator("#pg-announced")
    expect(told).to_have_attribute("role", "status")
    expect(told).to_have_text("")
    page.evaluate("""() => {
      window.told = [];
      const place = document.getElementById("pg-announced");
      new MutationObserver(() => place.textContent && window.told.push(place.textContent)).observe(place, { childList: true });
      window.live = {};
      setInterval(() => {
        if (document.getElementById("pg-status").dataset.status !== "training") return;
        for (const place of ["#pg-result", "#pg-replay-step"]) {
          const found = (window.live[place] ??= []), now = document.querySelector(place).getAttribute("aria-live");
          if (!found.includes(now)) found.push(now);
        }
      }, 20);
    }""")
    train(page)
    has_status(page, "done")
    over = words("page.training_over", status="").strip()
    heard = eventually(page, lambda: page.evaluate("window.told"), lambda told: bool(told) and told[-1].startswith(over))
    page.wait_for_timeout(500)
    assert page.evaluate("window.told") == heard
    assert heard[0] == words("page.started", name=page.locator("#pg-run option:checked").inner_text())
    assert set(heard[1:-1]) <= {words("page.training_part", percent=percent) for percent in (25, 50, 75)}
    assert heard[-1] == words("page.training_over", status=page.locator("#pg-status").inner_text())
    assert len(heard) == len(set(heard))
    for place in ("#pg-result", "#pg-replay-step"):  # nothing else that is read aloud changed with every picture
        assert page.evaluate("place => window.live[place]", place) == ["off"]


@pytest.mark.night
def test_the_focus_is_never_behind_the_frame(visit):
    """Through a whole panel by Tab and back: what has the focus can be seen."""
    page = visit(link(tab="evaluation"), viewport={"width": 1280, "height": 600})
    panel = page.locator("#pg-panel-evaluation")
    drawn(panel)
    expect(panel.locator(".stale, [aria-busy=true]")).to_have_count(0)  # what takes longer than the rest pushes nothing down on the way
    for key, presses in (("Tab", 60), ("Shift+Tab", 60)):
        for _ in range(presses):
            page.keyboard.press(key)
            assert page.evaluate(HIDDEN) == ""


@pytest.mark.night
def test_nothing_sticks_out_of_a_window_that_is_enlarged_four_times(visit):
    width = 320
    page = visit(link(tab="board"), viewport={"width": width, "height": 512})  # which has a button in a room only

    def wide(page: Page) -> int:
        return page.evaluate("document.documentElement.scrollWidth")

    for tab in sorted(TABS, key=lambda name: name != "board"):
        if tab != "board":
            press_tab(page, tab)
        drawn(page.locator(f"#pg-panel-{tab}"))
        eventually(page, lambda: (address(page).get("tab"), wide(page)), lambda found: found[1] <= width)


@pytest.mark.night
def test_a_key_brings_runs_to_another_browser(visit):
    here, there = visit(link(ONE_SENTENCE)), visit(link())
    run = train(here)
    here.locator("#pg-help").click()
    here.locator("#pg-my-key").click()
    key = here.locator("#pg-key").input_value()
    there.locator("#pg-help").click()
    there.locator("#pg-my-key").click()
    there.locator("#pg-key-other").fill("no key")
    there.locator("#pg-key-use").click()
    expect(there.locator("#pg-key-said")).to_have_text(words("page.not_a_key"))
    there.locator("#pg-key-other").fill(f" {key} ")
    there.locator("#pg-key-use").click()
    expect(there.locator("#pg-dialog")).to_have_count(0)
    expect(there.locator(f"#pg-run optgroup option[value='{run}']")).to_have_count(1)
    there.reload()
    ready(there)
    expect(there.locator(f"#pg-run optgroup option[value='{run}']")).to_have_count(1)
