"""One training step in slow motion: of paused, finished and shipped runs; and looking at it changes nothing."""

from __future__ import annotations

import re

import pytest
import torch

from playground.cursor import choices
from playground.queries import training_step as queries
from playground.queries.training_step import Start, starting_point, training_step
from tests.runs.tiny import wait
from tests.ui.panels.looking import TINY, block, ids

KNOBS = TINY | {"batch_size": 16, "eval_every": 4}
MINE = "s" * 32
CELL = {"line": 0, "place": 1, "logit": 5, "module": 0, "grad_row": 4, "grad_col": 2}


@pytest.fixture(scope="module")
def run(site):
    """Paused after a few steps."""
    run = site.train(MINE, KNOBS | {"steps": 100_000})
    wait(lambda: run.step >= 3)
    pause(site, run)
    yield run
    site.runs.delete(run.id, MINE)


def pause(site, run) -> None:
    site.act(MINE, "pause", run.id)
    wait(lambda: run.status == "paused")


def make_step(site, run) -> None:
    before = run.step
    site.act(MINE, "step", run.id)
    wait(lambda: run.step > before and run.status == "paused")


def same(parameters, others) -> bool:
    return all(torch.equal(tensor, others[name]) for name, tensor in parameters.items())


def loss(run, at: int) -> float:
    return run.history.steps.column("loss", at, at + 1)[0]


def test_the_step_shown_is_the_step_that_the_run_makes_next(site, run):
    """Every moment and its numbers are looked at; then the owner presses "One step"."""
    before = {name: tensor.clone() for name, tensor in run.snapshot.parameters.items()}
    version, at = run.version, run.step
    for moment in choices("moment"):
        for cell in ({}, CELL):
            panel = site.panel("step", run=run.id, moment=moment, **cell)
            assert (panel["step"], block(panel, "moment")["value"]) == (at, moment)
            assert ("sheet" in ids(panel)) == (moment != "after")
    assert (run.version, run.step, run.status) == (version, at, "paused")
    assert same(before, run.snapshot.parameters)
    taken = training_step(site.reader, site.runs, run, None)
    assert (taken.start.exact, taken.recorded) == (True, None)
    make_step(site, run)
    assert run.step == taken.slow.number
    assert same(run.snapshot.parameters, taken.slow.after)
    assert loss(run, at) == taken.slow.loss


def test_without_the_optimisers_moments_it_is_the_step_of_a_fork(site, run):
    """From parameters that the replay has: the batch and the loss of the run itself, and then what a fork makes of them."""
    at = max(step for step in run.replay.kept if 0 < step < run.checkpoint_step)
    taken = training_step(site.reader, site.runs, run, at)
    assert taken.start == Start(at, saved=False, exact=False)
    assert taken.recorded == taken.slow.loss == loss(run, at)
    fork = site.runs.fork(run.id, at, MINE)
    pause(site, fork)
    while fork.step == at:
        make_step(site, fork)
    assert fork.step > at + 1 or same(fork.snapshot.parameters, taken.slow.after)  # it may have been faster than its pause
    assert loss(fork, at) == taken.slow.loss
    site.runs.delete(fork.id, MINE)


def test_where_a_step_begins(site, run, monkeypatch):
    """The last save of a run that can go on; of one that has ended a step whose parameters are there, which is said; a fresh start at 0."""
    assert starting_point(run, None) == Start(run.checkpoint_step, saved=True, exact=True)
    assert starting_point(run, 0) == Start(0, saved=False, exact=True)
    shipped = site.runs.get("reverse")
    last = max(step for step in shipped.replay.kept if step < shipped.steps)
    assert starting_point(shipped, None) == Start(last, saved=False, exact=False)
    panel = site.panel("step", run="reverse", lang="en")
    assert panel["step"] == last
    assert f"last step, {shipped.steps}. Of the steps before it {last}" in block(panel, "which")["text"]
    assert "last step" not in block(site.panel("step", run="reverse", step=last, lang="en"), "which")["text"]


def test_a_step_that_is_too_dear_says_with_what_batch_it_would_not_be(site, monkeypatch):
    """Twice as much allows a batch twice as large; where one pair is too much no batch is small enough."""
    size, batches = site.runs.get("sort").experiment.training.batch_size, []
    for most, key in ((1e5, "step.too_wide"), (5e7, "step.too_dear"), (1e8, "step.too_dear")):
        monkeypatch.setattr(queries, "MAX_OPERATIONS", most)
        for language in ("en", "zh"):
            answer = site.get("panel/step", run="sort", step=7, lang=language).json()
            assert answer["key"] == key
            numbers = re.search(r"(\d+)(?: \(now |（现在是 )(\d+)", answer["error"])
            assert bool(numbers) == (key == "step.too_dear")
            batches += [(int(numbers[1]), int(numbers[2]))] if numbers else []
    (few, now), _, (more, _), _ = batches
    assert batches == [(few, size), (few, size), (more, size), (more, size)]
    assert 1 <= few < more < now
    assert abs(more - 2 * few) <= 1
