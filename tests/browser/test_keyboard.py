"""Somebody without a mouse comes to the sentence and to the picture, sets a knob, and pins a cell."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from playground.words import say
from tests.browser.steps import drawn, eventually, has_address, link, words

STOPS = 35  # to the first picture without a shortcut: one for each group, and one for each knob in sight


def focused(page: Page, script: str) -> object:
    return page.evaluate(f"(element => {script})(document.activeElement)")


@pytest.mark.night
def test_shortcuts_lead_to_the_sentence_and_to_the_picture(visit):
    page = visit(link(run="german_english", tab="attention"))
    drawn(page.locator("#pg-panel-attention"))
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name=words("page.skip_sentence"))).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#pg-sentence")).to_be_focused()
    page.locator("#pg-skip a").nth(1).press("Enter")
    plot = page.locator("#pg-panel-attention .pg-plot").first
    expect(plot).to_be_focused()
    expect(plot.locator(".pg-cell-frame")).to_be_visible()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    has_address(page, q="1", k="2")
    expect(page.locator("[data-block='text attention-cell']")).to_contain_text(words("figures.rows_cross")[:5], ignore_case=True)


@pytest.mark.night
def test_a_group_is_one_stop_and_a_choice_keeps_the_focus(visit):
    page = visit(link(tab="attention"))
    drawn(page.locator("#pg-panel-attention"))
    stops, places = 0, []
    while stops < STOPS and "pg-plot" not in places:
        page.keyboard.press("Tab")
        stops += 1
        places.append(focused(page, "element.classList[0] ?? element.id"))
    assert "pg-plot" in places, places
    part = page.locator("[data-block='choice part'] button")
    part.nth(2).focus()
    page.keyboard.press("ArrowLeft")
    expect(part.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    has_address(page, part="decoder")
    eventually(page, lambda: focused(page, "element.dataset.value"), lambda value: value == "decoder")


# What Tab stops at in a place, by the part of the page in which it stands.
PARTS = "#pg-skip, .pg-run, #pg-place-tabs, #pg-tools, .pg-stage, #pg-inner-tabs, #pg-replay-bar, #pg-knobs, .pg-panel"


@pytest.mark.night
def test_tab_goes_through_the_page_in_the_order_in_which_it_is_seen(visit):
    """The title row, the sentence, the tabs of the place and the replay, then what stands below; and a link past it all to the places."""
    page = visit(link(tab="training"))
    drawn(page.locator("#pg-panel-training"))
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    parts = []
    for _ in range(STOPS):
        page.keyboard.press("Tab")
        part = focused(page, f"(part => part?.id || part?.classList[0])(element.closest('{PARTS}'))")
        parts += [part] if part not in parts else []
    frame = ["pg-skip", "pg-run", "pg-place-tabs", "pg-tools", "pg-stage", "pg-inner-tabs", "pg-replay-bar"]
    assert parts == [*frame, "pg-knobs", "pg-panel-training"][: len(parts)]
    page.locator("#pg-skip a").nth(2).press("Enter")
    expect(page.locator("#pg-place-train-button")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#pg-place-inside-button")).to_be_focused()
    expect(page.locator("#pg-tab-map-button")).to_be_visible()
    expect(page.locator("#pg-tab-training-button")).to_be_hidden()


@pytest.mark.night
def test_a_menu_that_is_left_is_closed(visit):
    page = visit(link(lang="en"))
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    menu, lists = page.get_by_role("combobox", name=say("en", "knobs.task.label")), page.get_by_role("listbox")
    page.locator("#preset input").focus()
    page.keyboard.press("Tab")
    expect(menu).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(lists).to_have_count(1)
    page.keyboard.press("Tab")
    expect(lists).to_have_count(0)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(menu).to_be_focused()
    expect(lists).to_have_count(0)


@pytest.mark.night
def test_who_only_passes_the_menu_of_tasks_changes_nothing(visit):
    """Gradio tells of input also when a menu is left: the steps of a run that are not the task's usual ones stay."""
    page = visit(link(run="sort"))
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    steps, same = page.locator("#knob-steps input"), page.locator("#pg-difference")
    expect(steps).to_have_value("400")
    page.locator("#knob-task input").focus()
    with page.expect_event("requestfinished", lambda asked: asked.method == "POST"):  # what Gradio makes of it
        page.keyboard.press("Tab")
    page.locator("#knob-task input").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    page.wait_for_timeout(500)
    expect(steps).to_have_value("400")
    expect(same).to_have_text(words("page.difference_none"))


@pytest.mark.night
def test_what_is_chosen_by_keys_keeps_the_focus(visit):
    page = visit(link(tab="attention"))
    runs, more = page.locator("#pg-run"), page.locator("#pg-run-more")
    runs.focus()
    for key, run in (("ArrowDown", "sort"), ("ArrowUp", "reverse")):
        page.keyboard.press(key)
        has_address(page, run=run, q=None)  # the arrow moved nothing in the picture
        drawn(page.locator("#pg-panel-attention"))
        expect(runs).to_be_focused()
    more.press("Enter")
    page.locator("#pg-mine").focus()
    page.keyboard.press("Escape")
    expect(more).to_be_focused()
    more.press("Enter")
    page.locator("#pg-mine").press("Enter")
    eventually(page, lambda: page.locator("#pg-run").input_value(), lambda run: run != "reverse")
    expect(more).to_be_focused()


@pytest.mark.night
def test_what_is_drawn_anew_takes_no_focus_from_who_has_left_it(visit):
    """A control that has the focus has it still when its picture is drawn for another sentence; one that was left before that has not."""
    page = visit(link(run="german_english", tab="attention"))
    thumb, panel, examples = page.locator(".pg-thumb").nth(1), page.locator("#pg-panel-attention"), page.locator("#pg-examples")
    for at, leaves in enumerate((False, True), 2):
        drawn(panel)
        thumb.evaluate("thumb => { thumb.focus(); thumb.dataset.before = 1; }")
        if leaves:
            page.evaluate("document.activeElement.blur()")
        examples.evaluate(f"list => {{ list.selectedIndex = {at}; list.dispatchEvent(new Event('change')); }}")
        expect(page.locator(".pg-thumb[data-before]")).to_have_count(0)  # drawn anew
        drawn(panel)
        assert focused(page, "element.classList.contains('pg-thumb')") != leaves
    page.keyboard.press("ArrowDown")
    has_address(page, q="0")  # the next key is for the picture


@pytest.mark.night
def test_the_menu_of_a_run_stays_open_when_the_list_of_runs_comes_late(visit):
    """Somebody opens the menu while the header still waits for the runs, or another tab trains: it is theirs until they leave it."""
    page = visit(link(tab="attention"))
    held: list[Route] = []
    page.route("**/runs?*", lambda route: held.append(route), times=1)
    page.locator("#pg-run").select_option("sort")
    eventually(page, lambda: len(held), bool)
    page.locator("#pg-run-more").press("Enter")
    page.locator("#pg-mine").focus()
    page.evaluate("document.getElementById('pg-run-about').dataset.before = 'yes'")
    held[0].continue_()
    expect(page.locator("#pg-run-about:not([data-before])")).to_be_attached()  # drawn anew
    expect(page.locator("#pg-mine")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#pg-mine")).to_be_hidden()
    expect(page.locator("#pg-run-more")).to_be_focused()


@pytest.mark.night
def test_tab_before_the_scripts_are_there_meets_the_shortcuts(visit):
    """Somebody presses Tab and Enter at once; the scripts come later, and the sentence has the focus then."""
    held: list[Route] = []

    def meet(page: Page) -> None:
        expect(page.locator("#pg-skip a").first).to_be_attached()
        page.keyboard.press("Tab")
        assert page.locator("body[data-playground]").count() == 0
        expect(page.get_by_role("link", name=words("page.skip_sentence"))).to_be_focused()
        page.keyboard.press("Enter")
        for route in held:
            route.continue_()

    page = visit("", meet=meet, route=("**/main.js", lambda route: held.append(route)))
    expect(page.locator("#pg-sentence")).to_be_focused()
