"""One training step in slow motion: of paused, finished and shipped runs; and looking at it changes nothing."""

from __future__ import annotations

import time

import pytest
import torch

from playground.cursor import choices
from playground.queries.training_step import training_step
from playground.words import LANGUAGES
from tests.ui.panels.test_translate_variants import TINY as VARIANT
from tests.ui.test_routes import blocks_of

TINY = VARIANT | {"variant": "none", "steps": 8, "eval_every": 4, "batch_size": 16}
MINE, THEIRS = "s" * 32, "t" * 32


def wait(run, status: str) -> None:
    end = time.monotonic() + 60
    while run.status != status:
        assert time.monotonic() < end, (run.status, run.message)
        time.sleep(0.02)


@pytest.fixture(scope="module")
def run(site):
    """Paused after a few steps."""
    run = site.train(MINE, TINY | {"steps": 5000})
    while run.step < 3:
        time.sleep(0.005)
    site.act(MINE, "pause", run.id)
    wait(run, "paused")
    yield run
    site.runs.delete(run.id, MINE)


def block(panel: dict, id: str) -> dict:
    return next(block for block in blocks_of(panel["blocks"]) if block["id"] == id)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_shipped_run_has_every_moment(site, language):
    for moment in choices("moment"):
        panel = site.panel("step", run="reverse", moment=moment, step=20, lang=language)
        assert block(panel, "moment")["value"] == moment
        assert {"sides", "source"} <= {one["id"] for one in blocks_of(panel["blocks"])}


def test_the_step_shown_is_the_step_that_the_run_makes_next(site, run):
    """Somebody else looks, at every moment and at its numbers; then the owner presses "One step"."""
    before = {name: tensor.clone() for name, tensor in run.snapshot.parameters.items()}
    version, at = run.version, run.step
    for moment in choices("moment"):
        for cell in ({}, {"line": 0, "place": 1, "logit": 5, "module": 0, "grad_row": 4, "grad_col": 2}):
            panel = site.panel("step", run=run.id, moment=moment, **cell)
            assert panel["step"] == at
            assert ("sheet" in {one["id"] for one in blocks_of(panel["blocks"])}) == (moment != "after")
    assert (run.version, run.step, run.status) == (version, at, "paused")
    assert all(torch.equal(tensor, run.snapshot.parameters[name]) for name, tensor in before.items())
    taken = training_step(site.reader, site.runs, run, None)
    assert taken.start.exact
    assert taken.recorded is None
    site.act(MINE, "step", run.id)
    while run.step == at or run.status != "paused":
        time.sleep(0.02)
    assert run.step == taken.slow.number
    assert all(torch.equal(tensor, taken.slow.after[name]) for name, tensor in run.snapshot.parameters.items())
    assert run.history.steps.column("loss", at, at + 1)[0] == pytest.approx(taken.slow.loss, rel=1e-6)
