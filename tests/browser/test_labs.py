"""A student opens a lab, guesses, sees what came out, changes it, and finds the guess kept in this browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from playground.lessons.labs import LABS
from playground.words import say
from tests.browser.steps import address, drawn, has_address, link, tab, words


@pytest.mark.night
def test_a_guess_and_its_answer(visit):
    page = visit(link({}))
    labs = tab(page, "labs")
    expect(labs.locator(".pg-card")).to_have_count(len(LABS))
    expect(labs.locator(".pg-calibration")).to_be_hidden()
    labs.locator(".pg-card[data-lab=softmax]").click()
    has_address(page, lab="softmax")
    expect(labs.locator(".pg-plot")).to_have_count(0)
    labs.locator("[data-block='choice guess'] button[data-value=vanishes]").click()
    expect(labs.locator(".pg-plot")).to_have_count(0)
    labs.locator("[data-block='choice sure'] button[data-value='95']").click()
    expect(labs.locator("[data-block='text verdict']")).to_contain_text(words("lessons.right"))
    drawn(labs)
    first = labs.locator("[data-block='figure scores'] .pg-plot").inner_text()
    labs.get_by_role("button", name="10", exact=True).click()
    has_address(page, set="factor=10.0")
    expect(labs.locator("[data-block='figure scores'] .pg-plot")).not_to_have_text(first, use_inner_text=True)
    labs.get_by_role("button", name=words("lessons.all")).click()
    expect(labs.locator(".pg-card")).to_have_count(len(LABS))
    assert not {"lab", "guess", "sure", "set"} & address(page).keys()
    expect(labs.locator(".pg-card[data-lab=softmax]")).to_contain_text(words("page.guess_was_right", percent=95))
    expect(labs.locator("[data-block='calibration calibration']")).to_have_text(words("page.calibration", percent=95, right=1, count=1))


@pytest.mark.night
def test_whoever_does_not_know_is_shown_and_counts_for_nothing(visit):
    page = visit(link({"lang": "zh", "tab": "labs", "lab": "softmax"}))
    labs = page.locator("#pg-panel-labs")
    labs.get_by_role("button", name=say("zh", "lessons.unknown")).click()
    expect(labs.locator("[data-block='text verdict']")).to_be_visible()
    labs.get_by_role("button", name=say("zh", "lessons.all")).click()
    expect(labs.locator(".pg-card")).to_have_count(len(LABS))
    expect(labs.locator(".pg-card small")).to_have_count(0)
