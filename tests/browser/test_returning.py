"""Somebody goes back and forth, trains from where they are, and comes back another day."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ready
from tests.browser.steps import (
    SMALL,
    STEPS,
    about_the_run,
    address,
    has_address,
    has_status,
    link,
    press_tab,
    source,
    tab,
    train,
    type_sentence,
    words,
)


def is_at(page: Page, name: str, **more: str | None) -> None:
    has_address(page, tab=None if name == "training" else name, **more)
    expect(page.locator(f"#pg-tab-{name}-button")).to_have_attribute("aria-selected", "true")
    expect(page.locator(f"#pg-panel-{name}")).to_have_attribute("aria-busy", "false")


def past_the_map(page: Page, go: Callable[[], object]) -> None:
    """What the place opened with was on the way, and is skipped; but not by a machine so slow that there was time for a look at it."""
    go()
    page.wait_for_timeout(100)
    if address(page).get("tab") == "map":
        go()


@pytest.mark.night
def test_back_goes_back(visit):
    """Training, Attention, Masks; Back, Back: the page is where it was each time, and what was typed in between is no place."""
    page = visit(link())
    tab(page, "attention")
    type_sentence(page, "playground")
    page.locator(".pg-thumb").last.click()
    has_address(page, layer="2", head="4")
    tab(page, "masks")
    page.go_back()
    is_at(page, "attention", text="playground", layer="2", head="4")
    expect(source(page)).to_have_text([*"playground"])
    past_the_map(page, page.go_back)
    is_at(page, "training", run="reverse")
    past_the_map(page, page.go_forward)
    is_at(page, "attention", text="playground")
    page.locator("#pg-run").select_option("sort")
    is_at(page, "attention", run="sort")
    page.go_back()
    is_at(page, "attention", run="reverse", text="playground")


@pytest.mark.night
def test_training_keeps_what_somebody_looks_at(visit):
    """Tab, sentence, head and cell, as far as the new run can read them; whoever opens the page anew goes on with their own run."""
    page = visit(link(SMALL | {"steps": STEPS, "eval_every": 1000}))
    tab(page, "attention")
    type_sentence(page, "playground")
    page.locator(".pg-thumb").first.click()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowDown")
    has_address(page, layer="1", head="1", q="0")
    other = page.context.new_page()
    other.goto("")
    ready(other)
    expect(other.locator("#pg-run option").first).to_have_attribute("value", "german_english")

    press_tab(page, "training")
    run = train(page)
    is_at(page, "training", text="playground", layer="1", head="1", q="0", step=None)
    expect(source(page)).to_have_text([*"playground"])
    expect(other.locator("#pg-run option").first).to_have_attribute("value", run)

    other.goto("")  # another day
    ready(other)
    has_address(other, run=run)
    has_status(other, "training")
    page.locator("#pg-stop").click()
    has_status(page, "stopped")

    tab(page, "attention")
    page.locator(".pg-thumb").last.click()
    type_sentence(page, "Play!")  # of which it knows nothing but the small letters
    press_tab(page, "training")
    again = train(page)
    assert "text" not in address(page)
    has_address(page, layer="1", head="2", q=None)
    about_the_run(page)
    page.locator("#pg-delete").click()
    expect(page.locator("#pg-delete-no")).to_be_focused()
    page.locator("#pg-delete-no").click()
    expect(page.locator("#pg-dialog")).to_have_count(0)
    about_the_run(page)
    page.locator("#pg-delete").click()
    page.locator("#pg-delete-yes").click()
    has_address(page, run="german_english")
    expect(page.locator(f"#pg-run option[value='{again}']")).to_have_count(0)


@pytest.mark.night
def test_another_run_is_shown_with_ones_own_sentence_if_it_can_read_it(visit):
    page = visit(link(text="playground"))
    choose = page.locator("#pg-run").select_option
    choose("sort")
    has_address(page, run="sort", text="playground")
    expect(source(page)).to_have_text([*"playground"])
    choose("german_english")
    has_address(page, run="german_english", text=None)
    expect(source(page)).not_to_have_text([*"playground"])
    choose("reverse")
    has_address(page, run="reverse", text="playground")
    expect(source(page)).to_have_text([*"playground"])


@pytest.mark.night
def test_a_server_that_is_away_for_a_moment_takes_nobodys_run_away(visit):
    page = visit(link())
    page.route("**/run/sort?*", lambda route: route.abort("aborted"), times=1)
    page.locator("#pg-run").select_option("sort")
    expect(page.locator(".pg-notice.error")).to_contain_text(words("page.server_away"))
    ready(page)
    has_address(page, run="sort")
    expect(source(page)).not_to_have_count(0)


@pytest.mark.night
def test_back_leaves_a_place_at_once(visit):
    page = visit(link())
    expect(page.locator("body")).to_have_attribute("data-knobs", "ready")
    for place, first in (("use", "translate"), ("inside", "map")):
        entries = page.evaluate("history.length")
        page.locator(f"#pg-place-{place}-button").click()
        is_at(page, first)
        assert page.evaluate("history.length") == entries + 1
    page.locator("#pg-tab-positions-button").click()
    is_at(page, "positions")
    page.go_back()
    is_at(page, "translate")
    page.go_back()
    is_at(page, "training")


@pytest.mark.night
def test_who_comes_back_to_a_run_or_chooses_one_has_its_settings_at_the_left(visit):
    """Train would make the same again, until something is moved; a link with settings keeps its own."""
    page = visit(link(SMALL))
    same, width = page.locator("#pg-difference"), page.locator("#knob-d_model input[type=number]")
    run = train(page)
    has_status(page, "done")
    expect(page.locator(".pg-notice")).to_have_count(0)  # that it trains is to be seen
    page.goto("")  # another day
    ready(page)
    has_address(page, run=run)
    expect(same).to_have_text(words("page.difference_none"))
    expect(width).to_have_value("16")
    page.locator("#pg-run").select_option("sort")
    has_address(page, run="sort")
    expect(same).to_have_text(words("page.difference_none"))
    expect(width).not_to_have_value("16")
    type_sentence(page, "playground")
    page.locator("#pg-run").select_option(run)
    type_sentence(page, "hello")
    page.goto("")  # another day: the sentence is there that was typed last
    ready(page)
    has_address(page, run=run, text="hello")
    expect(source(page)).to_have_text([*"hello"])
    page.goto(link({"d_model": 24}, run=run))
    ready(page)
    expect(width).to_have_value("24")
    expect(same).to_contain_text("→ 24")
