"""One training step in slow motion: of paused, finished and shipped runs; and looking at it changes nothing."""

import re

import numpy as np
import pytest

from playground.cursor import choices
from playground.features.step import query as queries
from playground.features.step.batch import losses
from playground.features.step.query import Start, starting_point, training_step
from playground.words import say
from tests.runs.tiny import at_step, same_parameters, wait
from tests.ui.looking import TINY, block, figures, ids

KNOBS = TINY | {"batch_size": 16, "eval_every": 4}
MINE = "s" * 32
CELL = {"line": 0, "place": 1, "logit": 5, "module": 0, "grad_row": 4, "grad_col": 2}


@pytest.fixture(scope="module")
def run(site):
    """Paused after a few steps."""
    run = at_step(site.train(MINE, KNOBS | {"steps": 100_000}), 3)
    pause(site, run)
    return run


def pause(site, run) -> None:
    site.act(MINE, "pause", run.id)
    wait(lambda: run.status == "paused")


def make_step(site, run) -> None:
    before = run.step
    site.act(MINE, "step", run.id)
    wait(lambda: run.step > before and run.status == "paused")


def loss(run, at: int) -> float:
    return run.history.steps.column("loss", at, at + 1)[0]


def test_the_step_shown_is_the_step_that_the_run_makes_next(site, run):
    before = {name: tensor.clone() for name, tensor in run.snapshot.parameters.items()}
    version, at = run.touch(), run.step  # a status is seen before its version: touch waits for it
    for moment in choices("moment"):
        for cell in ({}, CELL):
            panel = site.panel("step", run=run.id, moment=moment, **cell)
            assert (panel["step"], block(panel, "moment")["value"]) == (at, moment)
            assert ("sheet" in ids(panel)) == (moment != "after")
            assert say("en", f"step.about_{moment}") in figures(panel)[0]["caption"]
    assert (run.version, run.step, run.status) == (version, at, "paused")
    assert same_parameters(before, run.snapshot.parameters)
    taken = training_step(site.reader, site.runs, run, None)
    assert (taken.start.exact, taken.recorded) == (True, None)
    make_step(site, run)
    assert run.step == taken.slow.number
    assert same_parameters(run.snapshot.parameters, taken.slow.after)
    assert loss(run, at) == taken.slow.loss


def test_without_the_optimisers_moments_it_is_the_step_of_a_fork(site, run):
    at = max(step for step in run.replay.parameters_by_step if 0 < step < run.checkpoint_step)
    taken = training_step(site.reader, site.runs, run, at)
    assert taken.start == Start(at, saved=False, exact=False)
    assert starting_point(run, 0) == Start(0, saved=False, exact=True)
    last = max(step for step in site.runs.get("reverse").replay.parameters_by_step if step < site.runs.get("reverse").steps)
    assert site.panel("step", run="reverse")["step"] == last
    assert taken.recorded == loss(run, at) == pytest.approx(taken.slow.loss, abs=1e-4)  # its parameters are kept rounded
    fork = site.runs.fork(run.id, at, MINE)
    pause(site, fork)
    while fork.step == at:
        make_step(site, fork)
    assert fork.step > at + 1 or same_parameters(fork.snapshot.parameters, taken.slow.after)  # it may have been faster than its pause
    assert loss(fork, at) == taken.slow.loss


def test_of_the_losses_the_chosen_row_and_large_values_are_spelt():
    figure = losses([[1, 2], [3, 40]], [["a", "b"], ["c", "d"]], [["b", "a"], ["d", "c"]], np.ones((2, 2)), at=[0, 1], most=40)
    assert figure["data"][0]["text"] == [["a", "b"], ["", "d"]]


def test_a_step_that_is_too_dear_says_with_what_batch_it_would_not_be(site, monkeypatch):
    size, batches = site.runs.get("sort").experiment.training.batch_size, []
    for most, key in ((1e5, "step.too_wide"), (5e7, "step.too_dear"), (1e8, "step.too_dear")):
        monkeypatch.setattr(queries, "MAX_OPERATIONS", most)
        answer = site.get("panel/step", run="sort", step=7).json()
        assert answer["key"] == key
        numbers = re.search(r"(\d+) \(now (\d+)", answer["error"])
        batches += [(int(numbers[1]), int(numbers[2]))] if key == "step.too_dear" else []
    (few, now), (more, still) = batches
    assert now == still == size > more > few >= 1
    assert abs(more - 2 * few) <= 1
