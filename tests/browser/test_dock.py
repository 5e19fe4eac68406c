"""A link with a lesson docks it, whoever follows it: at the right of any tab, on a telephone as a line that opens."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from playground.lessons.course import LESSONS
from tests.browser.conftest import ready
from tests.browser.steps import has_address, link, tab, words

FIRST = LESSONS[1]  # after the tour
TELEPHONE = {"width": 390, "height": 844}


@pytest.mark.night
def test_a_link_with_a_lesson_docks_it_for_whoever_has_never_been_here(visit):
    page = visit(link(tab="attention", lesson=FIRST.name))
    dock = page.locator("#pg-lesson-bar")
    expect(dock.locator("h3").first).to_have_text(FIRST.say("en", "title"))
    expect(dock.locator("ol li")).to_have_count(len(FIRST.steps))
    box = dock.bounding_box()
    assert (box["x"] > 900, box["y"] < 200) == (True, True)
    page.reload()
    ready(page)
    expect(dock).to_be_visible()
    tab(page, "masks")
    page.go_back()
    has_address(page, tab="attention", lesson=FIRST.name)
    expect(dock).to_be_visible()
    dock.get_by_role("button", name=words("page.course_leave")).click()
    has_address(page, lesson=None)
    page.reload()
    ready(page)
    expect(dock).to_be_hidden()


@pytest.mark.night
def test_on_a_telephone_a_lesson_is_a_line_that_opens(visit):
    page = visit(link(tab="attention", lesson=FIRST.name), viewport=TELEPHONE)
    dock, steps = page.locator("#pg-dock"), page.locator("#pg-lesson-bar ol")
    expect(dock).to_be_visible()
    assert dock.bounding_box()["height"] < 60
    expect(steps).to_be_hidden()
    page.get_by_role("button", name=words("page.course_unfold")).click()
    expect(steps).to_be_visible()
    page.get_by_role("button", name=words("page.course_fold")).click()
    expect(steps).to_be_hidden()


@pytest.mark.night
def test_whoever_is_stuck_is_told_where_the_next_step_is_done(visit):
    page = visit(link(tab="masks", lesson=FIRST.name))
    hint = page.locator(".pg-lesson-hint")
    expect(hint).to_have_count(0)
    expect(hint).to_contain_text(words("page.tab_course"), timeout=30_000)
    hint.get_by_role("button", name=words("page.course_go")).click()
    has_address(page, tab="course", lesson=FIRST.name)
