"""Somebody comes to the page, looks at what is there, and trains a model of their own."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ready
from tests.browser.steps import (
    ONE_SENTENCE,
    SMALL,
    STEPS,
    decoder_rows,
    drawn,
    drawn_from,
    eventually,
    figure,
    has_address,
    has_status,
    link,
    number,
    output,
    source,
    train,
    words,
)


def test_first_look(page: Page):
    """Before any click: a sentence, its translation, its cross-attention with labels, and the curves of how the model got there."""
    assert page.locator("#pg-sentence").input_value() == "wir glauben , dass die Ärztin die Frau findet"
    sentence = ["wir", "glauben", ",", "dass", "die", "Ärztin", "die", "Frau", "findet"]
    translation = ["we", "believe", "that", "the", "doctor", "finds", "the", "woman"]
    expect(source(page)).to_have_text(sentence)
    expect(output(page)).to_have_text(translation)
    expect(page.locator("#pg-result .pg-verdict.right")).to_be_visible()

    cross = figure(page, "learn-cross")
    expect(cross.locator(".xtick text")).to_have_text([*sentence, "<eos>"])
    assert cross.evaluate("plot => plot.layout.meta.rows") == decoder_rows(translation)
    drawn(page.locator("#pg-panel-training"))
    cells = drawn_from(page, "learn-cross")["z"]
    assert (len(cells), len(cells[0])) == (len(translation) + 1, len(sentence) + 1)
    assert all(abs(sum(row) - 1) < 0.02 for row in cells)
    caption = page.locator("[data-block='figure learn-cross'] .pg-caption")
    expect(caption).to_contain_text("To output “finds”, this head attends most to “findet”")

    eventually(page, lambda: number(page.locator("#pg-figure-loss"), "data-points"), lambda points: points > 40)
    has_status(page, "done")
    expect(page.locator("#pg-run-note")).to_contain_text(words("page.note_shipped"))
    expect(page.locator("#pg-pause")).to_be_disabled()


@pytest.mark.night
def test_train_and_watch(visit):
    """Train is pressed, the curve grows, the sentence turns right, and it ends."""
    slow = {"optimiser": "adam", "schedule": "constant", "learning_rate": 1e-4, "warmup": 0}
    page = visit(link(ONE_SENTENCE | slow | {"steps": 900}))
    page.evaluate(
        """() => {
          window.watched = { points: [], right: [], tops: [] };
          setInterval(() => {
            const { status, run } = document.querySelector('#pg-status').dataset;
            if (status !== 'training') return;
            const note = (list, value) => list.at(-1) !== value && list.push(value);
            const plot = document.querySelector('#pg-figure-loss');
            const drawn = Number(plot?.dataset.points), before = watched.points.at(-1) ?? 0; // by the pen
            if (plot?.layout?.uirevision === run && drawn > before) watched.points.push(drawn);
            note(watched.tops, Math.round(document.querySelector('#pg-figure-loss').getBoundingClientRect().top + scrollY));
            note(watched.right, document.querySelectorAll('.pg-probes:not(.stale) .pg-probe-output .pg-chip.right').length);
          }, 20);
        }"""
    )
    run = train(page)
    has_address(page, run=run, tab=None)
    has_status(page, "done")
    expect(page.locator("#pg-panel-training")).to_have_attribute("data-run", run)
    expect(page.locator("#pg-status")).to_contain_text("exact match 100.0 %")

    probes = page.locator(".pg-probes tr")
    expect(probes).to_have_count(1)
    expect(probes.locator(".pg-probe-output .pg-chip.right")).to_have_text(["i", "want", "a", "beer", "<eos>"])
    expect(probes).to_contain_text("correct")
    expect(page.locator("#pg-figure-loss")).to_have_attribute("data-points", str(900 + 90))

    watched = page.evaluate("watched")
    assert len(watched["points"]) >= 2, "the curve did not grow while the run trained"
    assert watched["right"][0] < watched["right"][-1] == 5, "the tokens did not turn right while the run trained"

    end = page.locator("#pg-figure-loss").evaluate("(plot) => Math.round(plot.getBoundingClientRect().top + scrollY)")
    assert max(*watched["tops"], end) - min(*watched["tops"], end) <= 2, "what is said at the end moves nothing"

    expect(page.locator("#pg-figure-learn-cross .xtick text")).to_have_text(["ich", "mochte", "ein", "bier", "<eos>"])
    expect(output(page)).to_have_text(["i", "want", "a", "beer"])
    expect(page.locator("#pg-run option").first).to_have_attribute("value", run)


@pytest.mark.night
def test_pause_step_resume_stop(visit):
    """A run is stopped in its tracks, pushed one step, let go, and ended after a reload of the page, which it went on through."""
    page = visit(link(SMALL | {"steps": STEPS, "eval_every": 1000}))
    status = page.locator("#pg-status")
    run = train(page)
    has_status(page, "training")
    expect(page.locator("#pg-step")).to_be_disabled()
    page.locator("#pg-pause").click()
    has_status(page, "paused")
    paused = number(status, "data-step")
    assert 0 < paused < STEPS

    page.locator("#pg-step").click()
    expect(status).to_contain_text(f"paused at step {paused + 1:,} of {STEPS:,}")
    expect(page.locator("#pg-pause")).to_have_attribute("aria-label", "Resume")

    page.locator("#pg-pause").click()
    has_status(page, "training")
    eventually(page, lambda: number(status, "data-step"), lambda step: step > paused + 5)
    page.reload()
    ready(page)
    has_status(page, "training")
    page.locator("#pg-stop").click()
    has_status(page, "stopped")
    assert paused + 5 < number(status, "data-step") < STEPS
    expect(page.locator("#pg-stop")).to_be_disabled()
    expect(status).to_have_attribute("data-run", run)
