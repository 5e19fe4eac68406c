"""Nothing on the page is unreadable, too small to press, too faint or against a rule of WCAG 2.2: every tab of every place with all that
folds out of it, and what opens over the page; on three sizes, light and dark, in both languages."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from playground.features.registry import PLACES
from tests.browser.audit import CROWDED, audit
from tests.browser.conftest import ready
from tests.browser.steps import about_the_run, drawn, eventually, link, press_tab

SIZES = ((390, 844), (1366, 768), (1920, 1080))
RUN = {"run": "german_english", "text": "der Mann sieht die Frau"}
# More to see of a place than the first view of its tabs.
VIEWS = {
    "train": ({"glossary": "all"}, {"api": 1}),
    "inside": ({"tab": "map", "stage": "decoder.1.cross_attention.weights", "row": 1, "col": 2}, {"tab": "attention", "present": 1}),
    "use": (), "lessons": ({"tab": "labs", "lab": "order"}, {"tab": "course", "lesson": "attention"}),
    "compare": ({"tab": "runs", "runs": "sort,reverse"},),
}  # fmt: skip
DIALOGS = (("#pg-share",), ("#pg-help",), ("#pg-help", "#pg-my-key"))
CASES = [(place, at, n) for at, place in enumerate(VIEWS) for n in range(len(SIZES))]


def unfolded(page: Page, tab: str) -> None:
    """All tables, code and controls of a tab, opened."""
    panel = page.locator(f"#pg-panel-{tab}")
    drawn(panel)
    expect(panel.locator(".stale, [aria-busy=true]")).to_have_count(0)  # what takes longer than the rest is there too
    panel.locator("details").evaluate_all("all => all.forEach((one) => (one.open = true))")


def dialogs(page: Page) -> Iterator[str]:
    """Yields the dialogs that open over the page, the settings, and the acts of a run's owner."""
    for presses in DIALOGS:
        for press in presses:
            page.locator(press).click()
        expect(page.locator("#pg-dialog")).to_be_visible()
        yield f"dialog {presses[-1]}"
        page.keyboard.press("Escape")
        expect(page.locator("#pg-dialog")).to_have_count(0)
    about_the_run(page)
    page.locator("#pg-mine").click()
    expect(page.locator("#pg-notices .pg-notice")).to_be_visible()
    page.reload()
    ready(page)
    about_the_run(page)
    expect(page.locator("#pg-rename")).to_be_visible()
    yield "a run of one's own"
    page.locator("#pg-delete").click()
    yield "dialog delete"
    page.keyboard.press("Escape")
    if page.locator("#pg-drawer").is_visible():
        page.locator("#pg-drawer").click()
    for more in page.locator("#pg-knobs .pg-more > button").all():
        more.click()
    page.locator("#pg-knobs").evaluate("one => one.scrollTo(0, 0)")  # what the row above covers is no fault
    yield "all settings"


def views(page: Page, place: str, **more: object) -> Iterator[tuple[str, str | None]]:
    """Brings up one state of a place after another: (its name, where it differs from the one before if not all over)."""
    tabs = [tab for tab in PLACES[place] if tab != "board"]  # which is there in a room
    page.goto(link(**RUN, tab=tabs[0], **more))
    ready(page)
    for tab in tabs:
        press_tab(page, tab)
        unfolded(page, tab)
        yield tab, None if tab == tabs[0] else f"#pg-panel-{tab}"
        page.locator(f"#pg-panel-{tab}").evaluate("one => one.replaceChildren()")  # axe walks through what is hidden as well
    for view in VIEWS[place]:
        page.goto(link(**RUN | more | view))
        ready(page)
        if "tab" in view:
            unfolded(page, view["tab"])
        yield str(view), None
    if place == "train":
        page.goto(link(**RUN, **more))
        ready(page)
        yield from ((name, None) for name in dialogs(page))


def faults_of(page: Page, states: Iterator[tuple[str, str | None]]) -> list[str]:
    return [f"{name}: {fault}" for name, where in states for fault in audit(page, where)]


@pytest.mark.night
@pytest.mark.parametrize(("place", "at", "n"), CASES, ids=[f"{place}-{SIZES[n][0]}" for place, _, n in CASES])
def test_nothing_is_wrong_at_any_place_of_any_size(visit: Callable[..., Page], place: str, at: int, n: int):
    """Light and dark, English and Chinese alternate, so that every place has both of each."""
    width, height = SIZES[n]
    page = visit(link(**RUN), viewport={"width": width, "height": height})
    theme, lang = ("light", "dark")[(at + n) % 2], ("en", "zh")[(at + n // 2) % 2]
    faults = faults_of(page, views(page, place, __theme=theme, lang=lang))
    assert not faults, "\n".join(faults)


def test_nothing_is_wrong_with_the_first_page(visit: Callable[..., Page]):
    page = visit(link(**RUN), viewport={"width": 1366, "height": 768})
    unfolded(page, "training")
    assert audit(page) == []
    page.evaluate("""() => document.querySelector("main").insertAdjacentHTML("afterbegin", '<p style="position: relative; z-index: 99">' +
      '<button style="width: 12px; height: 12px; padding: 0"></button>'.repeat(2) + "</p>")""")
    assert len(page.evaluate(CROWDED)) >= 2  # such as these are found


@pytest.mark.night
def test_every_tab_fits_into_a_window_that_is_enlarged_four_times(visit: Callable[..., Page]):
    page = visit(link(), viewport={"width": 320, "height": 512})
    for tab in (tab for tabs in PLACES.values() for tab in tabs if tab != "board"):
        press_tab(page, tab)
        drawn(page.locator(f"#pg-panel-{tab}"))
        eventually(page, lambda tab=tab: (tab, page.evaluate("document.documentElement.scrollWidth")), lambda width: width[1] <= 320)
