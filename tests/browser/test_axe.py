"""Nothing on the page breaks a rule of WCAG 2.2 A or AA that axe-core can check: every tab of every place with all that folds out of it,
what opens over the page, a lab, a lesson; on a desk in the light, and on a telephone in the dark. What only a desk has in the dark, see
test_contrast.py."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from playground.ui.panels import TABS
from tests.browser import axe
from tests.browser.conftest import ready
from tests.browser.steps import about_the_run, drawn, link, press_tab

RUN = {"run": "german_english"}
DIALOGS = {"share": ["#pg-share"], "help": ["#pg-help"], "key": ["#pg-help", "#pg-my-key"]}
UNFOLD = "all => all.forEach((one) => (one.open = true))"
# More to see of a tab than its first view: {name: what its link says}.
VIEWS = {
    "map, one part": {"tab": "map", "stage": "decoder.1.cross_attention.weights", "row": 1, "col": 2},
    "a lab": {"tab": "labs", "lab": "order"},
    "a lesson": {"tab": "course", "lesson": "attention"},
    "presented": {"tab": "attention", "present": 1},
}


def unfolded(page: Page, tab: str) -> None:
    """All tables, code and controls of a tab, opened."""
    panel = page.locator(f"#pg-panel-{tab}")
    drawn(panel)
    expect(panel.locator(".stale, [aria-busy=true]")).to_have_count(0)  # what takes longer than the rest is there too
    page.locator(f"#pg-panel-{tab} details").evaluate_all(UNFOLD)


def knobs(page: Page) -> None:
    """All settings, wherever they are folded away."""
    if page.locator("#pg-drawer").is_visible():
        page.locator("#pg-drawer").click()
    for more in page.locator("#pg-knobs .pg-more > button").all():
        more.click()


def pasted(page: Page) -> None:
    """Own sentences, read."""
    press_tab(page, "data")
    page.locator("#pg-ways button").nth(1).click()
    page.locator("#pg-paste textarea").fill("\n".join(f"word {n}\tWort {n}" for n in range(40)))
    page.locator("#pg-read").click()
    expect(page.locator("#pg-reading table").first).to_be_visible()


def dialog(page: Page, *presses: str) -> None:
    for press in presses:
        page.locator(press).click()
    expect(page.locator("#pg-dialog")).to_be_visible()


def closed(page: Page) -> None:
    page.keyboard.press("Escape")
    expect(page.locator("#pg-dialog")).to_have_count(0)


def owner(page: Page) -> None:
    """A run of one's own, with what its owner can do."""
    about_the_run(page)
    page.locator("#pg-mine").click()
    expect(page.locator("#pg-notices .pg-notice")).to_be_visible()
    page.reload()
    ready(page)
    about_the_run(page)
    expect(page.locator("#pg-rename")).to_be_visible()


def pages(page: Page, theme: str) -> Iterator[tuple[str, str | None]]:
    """Brings up one state of the page after another; says what it is called, and where it differs from the one before if not all over."""

    def goto(tab: str, **more: object) -> None:
        page.goto(link(**RUN | {"text": "der Mann sieht die Frau", "__theme": theme, "tab": tab} | more))
        ready(page)
        unfolded(page, tab)

    goto("training")
    for tab in (tab for tab in TABS if tab != "board"):  # which is there in a room, see test_class_board.py
        press_tab(page, tab)
        unfolded(page, tab)
        yield tab, None if tab == "training" else f"#pg-panel-{tab}"
        page.locator(f"#pg-panel-{tab}").evaluate("one => one.replaceChildren()")  # axe walks through what is hidden as well
    for name, view in VIEWS.items():
        goto(**view)
        yield name, None
    goto("training")
    for name, presses in DIALOGS.items():
        dialog(page, *presses)
        yield name, "#pg-dialog"
        closed(page)
    about_the_run(page)
    yield "about the run", "#pg-frame"
    about_the_run(page)
    pasted(page)
    yield "own sentences", "#pg-panel-data"
    press_tab(page, "training")
    knobs(page)
    yield "knobs", "#pg-knobs"
    goto("training")
    owner(page)
    yield "owner", None
    for what in ("rename", "delete"):
        dialog(page, f"#pg-{what}")
        yield what, "#pg-dialog"
        closed(page)
        about_the_run(page)
    goto("training", glossary="all")
    yield "glossary", "#pg-dialog"


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
@pytest.mark.night
def test_nothing_breaks_a_rule(visit, theme, width):
    axe.source()
    page = visit(link(**RUN), viewport={"width": width, "height": 900})
    found = []
    for name, place in pages(page, theme):
        found += [f"{name}: {' | '.join(fault)}" for fault in axe.faults(page, place=place)]
    assert not found, "\n".join(found)
