"""Somebody comes to the page, looks at what is there, and trains a model of their own."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import ready
from tests.browser.steps import ONE_SENTENCE, SMALL, has_address, has_status, link, points, source, train, words


def test_first_look(page: Page):
    """Before any click: a sentence, its translation, its cross-attention with labels, and the curves of how the model got there."""
    sentence = page.locator("#pg-sentence").input_value()
    assert len(sentence) > 3
    assert source(page) == sentence
    written = page.locator("#pg-result .pg-tokens.out .pg-chip").all_inner_texts()
    assert "".join(written).removesuffix("<eos>") == sentence[::-1]
    expect(page.locator("#pg-result .pg-verdict.right")).to_be_visible()

    cross = page.locator("#pg-figure-learn-cross")
    expect(cross).to_have_attribute("data-points", re.compile("[1-9]"))
    labels = cross.locator(".xtick text").all_text_contents()
    assert labels == [*sentence, "<eos>"]
    assert cross.locator(".ytick text").all_text_contents() == [*sentence[::-1], "<eos>"]
    cells = page.evaluate("document.querySelector('#pg-figure-learn-cross').data[0].z")
    assert len(cells) == len(cells[0]) == len(sentence) + 1
    assert all(abs(sum(row) - 1) < 0.02 for row in cells)
    expect(page.locator("[data-block='figure learn-cross'] .pg-caption")).to_contain_text("Head")

    expect(page.locator("#pg-figure-loss")).to_have_attribute("data-points", re.compile("[1-9]"))
    assert points(page, "loss") > 100
    has_status(page, "done")
    expect(page.locator("#pg-run-note")).to_contain_text(words("page.note_shipped"))
    expect(page.locator("#pg-pause")).to_be_disabled()


def test_train_and_watch(visit):
    """Train is pressed, the curve grows, the sentence turns right, and it ends."""
    slow = {"optimiser": "adam", "schedule": "constant", "learning_rate": 1e-4, "warmup": 0}
    page = visit(link(ONE_SENTENCE | slow | {"steps": 300}))
    page.evaluate(
        """() => {
          window.watched = { points: [], right: [] };
          setInterval(() => {
            if (document.querySelector('#pg-status').dataset.status !== 'training') return;
            const note = (list, value) => list.at(-1) !== value && list.push(value);
            note(watched.points, Number(document.querySelector('#pg-figure-loss')?.dataset.points ?? 0));
            note(watched.right, document.querySelectorAll('.pg-probe-output .pg-chip.right').length);
          }, 20);
        }"""
    )
    run = train(page)
    has_address(page, run=run, tab=None)
    has_status(page, "done")
    expect(page.locator("#pg-panel-learn")).to_have_attribute("data-run", run)
    expect(page.locator("#pg-status")).to_contain_text("100.0 % right")

    probes = page.locator(".pg-probes tr")
    expect(probes).to_have_count(1)
    assert probes.locator(".pg-probe-output .pg-chip.right").all_inner_texts() == ["i", "want", "a", "beer", "<eos>"]
    assert "right" in probes.inner_text()
    expect(page.locator("#pg-figure-loss")).to_have_attribute("data-points", str(300 + 30))

    watched = page.evaluate("watched")
    grown = [count for count in watched["points"] if count]
    assert len(grown) >= 2, "the curve did not grow while the run trained"
    assert grown == sorted(grown)
    assert watched["right"][0] < watched["right"][-1] == 5, "the tokens did not turn right while the run trained"

    expect(page.locator("#pg-figure-learn-cross .xtick text")).to_have_text(["ich", "mochte", "ein", "bier", "<eos>"])
    assert page.locator("#pg-result .pg-tokens.out .pg-chip").all_inner_texts() == ["i", "want", "a", "beer"]
    assert page.locator("#pg-run option").first.get_attribute("value") == run


def test_pause_step_resume_stop(visit):
    """A run is stopped in its tracks, pushed one step, let go, and ended after a reload of the page, which it went on through."""
    page = visit(link(SMALL | {"steps": 5000, "validate_every": 1000}))
    run = train(page)
    has_status(page, "training")
    expect(page.locator("#pg-step")).to_be_disabled()
    page.locator("#pg-pause").click()
    has_status(page, "paused")
    paused = step(page)
    assert 0 < paused < 5000

    page.locator("#pg-step").click()
    expect(page.locator("#pg-status")).to_contain_text(f"paused at step {paused + 1:,} of 5,000")
    expect(page.locator("#pg-pause")).to_contain_text("Resume")

    page.locator("#pg-pause").click()
    has_status(page, "training")
    page.wait_for_function("step => Number(document.querySelector('#pg-status').dataset.step) > step", arg=paused + 5)
    page.reload()
    ready(page)
    has_status(page, "training")
    page.locator("#pg-stop").click()
    has_status(page, "stopped")
    stopped = step(page)
    assert paused + 5 < stopped < 5000
    expect(page.locator("#pg-stop")).to_be_disabled()
    assert page.locator("#pg-status").get_attribute("data-run") == run


def step(page: Page) -> int:
    return int(page.locator("#pg-status").get_attribute("data-step"))
