"""Students break a model on purpose, or leave a part out, train both side by side, and look into what became of them."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from playground.lessons.bugs import bug_of
from playground.lessons.labs import LABS
from playground.words import say
from tests.browser.steps import address, drawn, has_address, has_status, link, tab, words

LONG = 120_000  # milliseconds: models are trained here, on a busy machine


def guess(page, value, sure="75"):
    labs = page.locator("#pg-panel-labs")
    labs.locator(f"[data-block='choice guess'] button[data-value={value}]").click()
    labs.locator(f"[data-block='choice sure'] button[data-value='{sure}']").click()
    return labs


def trained(labs):
    """Presses the button of an experiment and waits for its verdict."""
    labs.locator("[data-block='button train'] button").click()
    expect(labs.locator("[data-block='progress progress']")).to_be_visible()
    expect(labs.locator("[data-block='text verdict']")).to_be_visible(timeout=LONG)


@pytest.mark.night
def test_a_leak_is_trained_seen_and_opened(visit):
    page = visit(link({"tab": "labs"}))
    page.locator(".pg-card[data-lab=bug_shift]").click()
    labs = guess(page, "lies")
    expect(labs.locator(".pg-plot")).to_have_count(0)
    trained(labs)
    expect(labs.locator("[data-block='text verdict']")).to_contain_text(words("lessons.right"))
    drawn(labs)
    rows = labs.locator("[data-block='table ends-table'] tbody tr")
    expect(rows.nth(1)).to_contain_text("100.0")  # tokens
    expect(rows.nth(1).locator("td").nth(2)).to_have_text("0.0 %")  # sentences
    arms = address(page)["arms"].split(".")
    labs.get_by_role("button", name=words("lessons.look", arm=LABS["bug_shift"].say("en", "name_broken"))).click()
    has_address(page, run=arms[1], tab=None)
    expect(page.locator("#pg-status")).to_have_attribute("data-run", arms[1])
    tab(page, "map")
    expect(page.locator("#pg-panel-map .pg-error")).to_contain_text(words("knobs.variant.unshifted"))
    page.reload()
    expect(page.locator("body")).to_have_attribute("data-playground", "ready")
    labs = tab(page, "labs")
    expect(labs.locator("[data-block='text verdict']")).to_be_visible()


@pytest.mark.night
def test_a_mystery_in_chinese_keeps_its_secret_until_the_guess(visit):
    page = visit(link({"lang": "zh", "tab": "labs", "lab": "mystery"}))
    labs = page.locator("#pg-panel-labs")
    number = labs.locator("[data-block='choice number'] button")
    number.nth(3).click()
    has_address(page, toss="4")
    labs.locator("[data-block='button train'] button").click()
    expect(labs.locator("[data-block='progress progress']")).to_be_visible()
    expect(labs.locator("[data-block='table ends-table'] tbody tr")).to_have_count(2, timeout=LONG)
    expect(labs.locator("[data-block='progress progress']")).to_be_hidden()
    expect(labs.locator("[data-block='text verdict']")).to_have_count(0)  # nothing is said before somebody guesses
    arms = address(page)["arms"]
    labs.get_by_role("button", name=say("zh", "lessons.all")).click()
    labs.locator(".pg-card[data-lab=mystery]").click()
    assert address(page)["arms"] == arms
    expect(number.nth(3)).to_have_attribute("aria-pressed", "true")  # whoever comes back finds the same one
    guess(page, bug_of(4))
    expect(labs.locator("[data-block='text verdict']")).to_contain_text(say("zh", "lessons.right"))
    number.nth(4).click()
    has_address(page, toss="5", arms=None)
    expect(labs.locator("[data-block='text verdict']")).to_have_count(0)


@pytest.mark.night
def test_a_bench_is_trained_and_kept(visit):
    page = visit(link({"tab": "labs", "lab": "no_ffn"}))
    labs = guess(page, "without")
    trained(labs)
    expect(labs.locator("[data-block='text verdict']")).to_contain_text(words("lessons.one_seed"))
    expect(labs.get_by_role("button", name=words("lessons.another_seed", seed=2))).to_be_visible()
    labs.get_by_role("button", name=words("lessons.all")).click()
    expect(labs.locator(".pg-card[data-lab=no_ffn] small")).to_have_count(1)
    labs.locator(".pg-card[data-lab=no_ffn]").click()
    assert len(address(page)["arms"].split(".")) == 2  # what was trained is still there
    shared = visit(link({"tab": "labs", "lab": "no_ffn", "arms": address(page)["arms"]}), viewport={"width": 390, "height": 800})
    expect(shared.locator("#pg-panel-labs .pg-plot")).to_have_count(0)
    labs = guess(shared, "same")
    expect(labs.locator("[data-block='text verdict']")).to_be_visible()
    drawn(labs)
    assert shared.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.night
def test_an_experiment_that_is_left_and_stopped(visit):
    page = visit(link({"tab": "labs", "lab": "skip"}))
    labs = guess(page, "same")
    labs.locator("[data-block='button train'] button").click()
    expect(labs.locator("[data-block='progress progress']")).to_be_visible()
    arms = address(page)["arms"].split(".")
    labs.locator("[data-block='button look-with'] button").click()
    has_address(page, run=arms[0], tab=None)
    page.locator("#pg-run-buttons button").nth(2).click()  # stop
    has_status(page, "stopped", "done")
