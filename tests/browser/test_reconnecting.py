"""A page whose line is gone for a moment, and two pages of one visitor: each shows what is, and nothing is there twice or missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ready
from tests.browser.line import Line
from tests.browser.server import Server
from tests.browser.steps import SMALL, STEPS, eventually, has_status, link, number, tab, train
from tests.browser.test_rooms import come

__all__ = ["come"]  # a fixture
AWAY = 2000  # milliseconds
STEPS_DRAWN = "plot => plot.data[0].x"


@pytest.fixture
def line(server: Server) -> Iterator[Line]:
    line = Line(server.port)
    yield line
    line.close()


def step_of(page: Page) -> int:
    return number(page.locator("#pg-status"), "data-step")


@pytest.mark.fault("the line of a browser gone while its run trains", "no step is there twice, none is missing")
@pytest.mark.night
def test_a_line_that_was_gone_leaves_no_gap_in_the_curve(come: Callable[..., Page], line: Line):
    page = come(link(SMALL | {"steps": STEPS, "eval_every": 1000}), base_url=line.url)
    run = train(page)
    eventually(page, lambda: step_of(page), lambda step: step > 0)
    line.cut()
    page.wait_for_timeout(AWAY)  # what has come is drawn
    before = step_of(page)
    page.wait_for_timeout(AWAY)
    assert step_of(page) == before
    line.mend()
    eventually(page, lambda: step_of(page), lambda step: step > before + 10)
    page.locator("#pg-stop").click()
    has_status(page, "stopped")
    loss = page.locator("#pg-figure-loss")
    expect(loss.locator(".pg-pen")).to_have_count(0)
    shown = loss.evaluate(STEPS_DRAWN)
    assert shown == [*range(1, step_of(page) + 1)]
    page.goto(link(run=run))  # a page that was never away
    ready(page)
    tab(page, "training")
    assert loss.evaluate(STEPS_DRAWN) == shown


@pytest.mark.fault("two tabs of one visitor that train at the same time", "each shows its own; what one stops has stopped in the other")
@pytest.mark.night
def test_two_tabs_train_at_once(come: Callable[..., Page]):
    page = come(link(SMALL | {"steps": STEPS, "eval_every": 1000}))
    other = page.context.new_page()
    other.goto(link(SMALL | {"steps": STEPS, "eval_every": 1000}))
    ready(other)
    mine, others = train(page), train(other)
    assert mine != others
    for one in (page, other):
        has_status(one, "training")
        for run in (mine, others):
            expect(one.locator(f"#pg-run option[value='{run}']")).to_have_count(1)
    page.locator("#pg-run").select_option(others)
    has_status(page, "training")
    page.locator("#pg-stop").click()
    for one in (page, other):
        has_status(one, "stopped")
    other.locator("#pg-run").select_option(mine)
    has_status(other, "training")
    other.locator("#pg-stop").click()
    has_status(other, "stopped")
