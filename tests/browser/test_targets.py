"""What can be pressed is large enough (WCAG 2.2, 2.5.8: 24 by 24 px, or that much room); nothing moves for those who want no motion."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from playground.ui.panels import PLACES
from tests.browser.steps import drawn, link, press_tab

SIZES = [(390, 844), (1280, 900)]
# Targets below 24 px whose circle of 24 px meets another target, or the circle of another small one. A link in a line of text is excepted,
# and of an input its label counts.
CROWDED = """() => {
  const LEAST = 24;
  const all = "button, a[href], input, select, textarea, summary, [role=tab], [role=button], [role=slider], [role=option]";
  const isSeen = (one, { width, height, left, top }) => {
    if (!width || !height || getComputedStyle(one).visibility === "hidden" || one.closest("[inert]")) return false;
    const at = document.elementFromPoint(left + width / 2, top + height / 2);
    return Boolean(at) && (one.contains(at) || at.contains(one));
  };
  const inText = (one) => getComputedStyle(one).display === "inline" && one.parentElement.textContent.trim() !== one.textContent.trim();
  const found = new Map();
  for (let top = 0; top < document.documentElement.scrollHeight; top += innerHeight / 2) {
    scrollTo(0, top);
    for (const one of document.querySelectorAll(all)) {
      if (found.has(one) || inText(one) || !isSeen(one, one.getBoundingClientRect())) continue;
      const label = one.matches("input") && one.closest("label"), box = label && label.clientWidth ? label : one;
      const { left, width, height, top: shown } = box.getBoundingClientRect(), y = shown + scrollY;
      const middle = { x: left + width / 2, y: y + height / 2 }, isFixed = Boolean(one.closest("#pg-frame, #pg-knobs"));
      const small = width < LEAST - 0.5 || height < LEAST - 0.5;
      found.set(one, { one, left, top: y, right: left + width, bottom: y + height, ...middle, isFixed, small });
    }
  }
  scrollTo(0, 0);
  const boxes = [...found.values()], clamp = (value, low, high) => Math.max(low, Math.min(value, high));
  const far = ({ x, y }, { left, right, top, bottom }) => Math.hypot(x - clamp(x, left, right), y - clamp(y, top, bottom));
  const isApart = (here, there) => here.isFixed !== there.isFixed || here.one.contains(there.one) || there.one.contains(here.one);
  const meets = (here, there) => !isApart(here, there) && (
    far(here, there) < LEAST / 2 - 0.5 || (there.small && Math.hypot(here.x - there.x, here.y - there.y) < LEAST - 0.5)
  );
  const sizeOf = ({ left, right, top, bottom }) => `${Math.round(right - left)} by ${Math.round(bottom - top)}`;
  const told = (target) => `${sizeOf(target)}: ${target.one.outerHTML.slice(0, 99)}`;
  return boxes.filter((here) => here.small && boxes.some((there) => there !== here && meets(here, there))).map(told);
}"""
MOVING = """() => document.getAnimations().filter((one) => one.playState === "running")
  .map((one) => `${one.animationName ?? one.transitionProperty} of ${one.effect.target?.outerHTML.slice(0, 80)}`)"""


def first_tabs(page: Page) -> Iterator[str]:
    """Shows every place, one after the other."""
    for tab, *_ in PLACES.values():
        press_tab(page, tab)
        drawn(page.locator(f"#pg-panel-{tab}"))
        yield tab


@pytest.mark.night
@pytest.mark.parametrize("size", SIZES, ids=["telephone", "screen"])
def test_targets_are_large_enough_or_have_room(visit, size):
    page = visit(link(), viewport={"width": size[0], "height": size[1]})
    found = {tab: page.evaluate(CROWDED) for tab in first_tabs(page)}
    assert not any(found.values()), found
    page.evaluate("""() => document.querySelector("main").insertAdjacentHTML("afterbegin", '<p style="position: relative; z-index: 99">' +
      '<button style="width: 12px; height: 12px; padding: 0"></button>'.repeat(2) + "</p>")""")
    assert len(page.evaluate(CROWDED)) >= 2  # such as these are found


@pytest.mark.night
def test_nothing_moves_for_those_who_want_no_motion(visit):
    page = visit(link(), reduced_motion="reduce")
    drawn(page.locator("#pg-panel-training"))
    page.evaluate("""() => {
      window.moving = new Set();
      const look = () => {
        const running = document.getAnimations().filter((one) => one.playState === "running");
        for (const one of running) window.moving.add(one.animationName ?? one.transitionProperty);
        requestAnimationFrame(look);
      };
      look();
    }""")
    back = page.locator("#pg-replay-back")
    for tab in first_tabs(page):
        if back.is_visible():
            back.click()
            drawn(page.locator(f"#pg-panel-{tab}"))
        page.keyboard.press("Tab")
        page.wait_for_timeout(400)
        assert (tab, page.evaluate("[...window.moving]")) == (tab, [])
        assert (tab, page.evaluate(MOVING)) == (tab, [])
