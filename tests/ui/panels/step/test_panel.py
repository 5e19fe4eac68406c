"""One training step in slow motion: of paused, finished and shipped runs; and looking at it changes nothing."""

from __future__ import annotations

import re
import time

import pytest
import torch

from playground.cursor import choices
from playground.queries import training_step as queries
from playground.queries.training_step import Start, starting_point, training_step
from playground.words import LANGUAGES
from tests.ui.panels.looking import TINY as VARIANT
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


def test_the_stream_is_shown_in_encoder_and_decoder_on_one_scale(site):
    panel = site.panel("step", run="reverse", moment="stream", step=20)
    encoder, decoder = (block(panel, f"step-stream{of}")["figure"] for of in ("-encoder", ""))
    assert [figure["data"][0]["zmin"] for figure in (encoder, decoder)] == [0, 0]
    assert encoder["data"][0]["zmax"] == decoder["data"][0]["zmax"] > 0
    assert [figure["layout"]["shapes"][2]["visible"] for figure in (encoder, decoder)] == [False, True]
    chosen = site.panel("step", run="reverse", moment="stream", step=20, module=encoder["layout"]["meta"]["down"][0])
    assert block(chosen, "step-stream-encoder")["figure"]["layout"]["shapes"][2]["visible"]


def test_the_optimiser_takes_its_module_by_name_and_draws_it_once(site):
    panel = site.panel("step", run="reverse", moment="optimiser", step=20, lang="en")
    assert "step-parts" not in {one["id"] for one in blocks_of(panel["blocks"])}
    last = block(panel, "part")["options"][-1]
    there = site.panel("step", run="reverse", moment="optimiser", step=20, lang="en", module=last["value"])
    assert block(there, "parameter")["label"].endswith(last["label"])


@pytest.mark.parametrize(("run", "is_half"), [("reverse", True), ("german_english", False)])
def test_tokens_of_a_batch_can_be_read_on_their_cells(site, run, is_half):
    """On half of the page where they have room there, else on all of it."""
    panel = site.panel("step", run=run, moment="loss", step=20, width=1100)
    written = [text for line in block(panel, "step-losses")["figure"]["data"][0]["text"] for text in line]
    assert ("picture" in {one["id"] for one in blocks_of(panel["blocks"])}) == is_half
    assert sum("…" in text for text in written) < 0.25 * sum(map(bool, written))


def test_at_the_end_of_the_replay_it_says_which_step_is_shown(site):
    """The last step whose parameters were kept is not the last step: both are named. At a step of the replay nothing has to be said."""
    end = site.runs.find("reverse").steps
    panel = site.panel("step", run="reverse", lang="en")
    said = block(panel, "which")["text"]
    assert panel["step"] + 1 < end
    assert f"last step, {end}. Of the steps before it {panel['step']}" in said
    assert "last step" not in block(site.panel("step", run="reverse", step=panel["step"], lang="en"), "which")["text"]


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
    assert run.history.steps.column("loss", at, at + 1)[0] == taken.slow.loss


def test_without_the_optimisers_moments_it_is_the_step_of_a_fork(site, run):
    """From parameters that the replay kept: the batch and the loss of the run itself, and then what a fork makes of them."""
    at = max(step for step in run.replay.kept if 0 < step < run.checkpoint_step)
    taken = training_step(site.reader, site.runs, run, at)
    assert taken.start == Start(at, saved=False, exact=False)
    assert taken.recorded == taken.slow.loss == run.history.steps.column("loss", at, at + 1)[0]
    fork = site.runs.fork(run.id, at, MINE)
    site.act(MINE, "pause", fork.id)
    wait(fork, "paused")
    while fork.step == at:
        site.act(MINE, "step", fork.id)
        wait(fork, "paused")
    if fork.step == at + 1:  # it may have been faster than its pause
        assert all(torch.equal(tensor, taken.slow.after[name]) for name, tensor in fork.snapshot.parameters.items())
    assert fork.history.steps.column("loss", at, at + 1)[0] == taken.slow.loss
    site.runs.delete(fork.id, MINE)


def test_where_a_step_begins(site, run, monkeypatch):
    """The last save of a run that can go on; of one that has ended a step whose parameters were kept; a fresh start at 0."""
    assert starting_point(run, None) == Start(run.checkpoint_step, saved=True, exact=True)
    assert starting_point(run, 0) == Start(0, saved=False, exact=True)
    shipped = site.runs.get("reverse")
    last = starting_point(shipped, None)
    assert last == Start(max(step for step in shipped.replay.kept if step < shipped.steps), saved=False, exact=False)
    monkeypatch.setattr(run, "status", "training")
    monkeypatch.setattr(run, "checkpoint_step", None)
    for step in (1, 2, 3):
        monkeypatch.setattr(run, "step", step)
        assert starting_point(run, None).step in {0, 1, 2, 3, 4}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_step_that_is_too_dear_says_with_what_batch_it_would_not_be(site, language, monkeypatch):
    """Twice as much allows a batch twice as large; where one pair is too much no batch is small enough."""

    def told(most: float) -> tuple[str, int, int]:
        monkeypatch.setattr(queries, "MAX_OPERATIONS", most)
        answer = site.get("panel/step", run="sort", step=7, lang=language).json()
        found = re.search(r"(\d+)(?: \(now |（现在是 )(\d+)", answer["error"])
        return answer["key"], *(map(int, found.groups()) if found else (0, 0))

    assert told(1e5) == ("step.too_wide", 0, 0)
    size = site.runs.get("sort").experiment.training.batch_size
    few, more = told(5e7), told(1e8)
    assert few[::2] == more[::2] == ("step.too_dear", size)
    assert 1 <= few[1] < more[1] < size
    assert abs(more[1] - 2 * few[1]) <= 1


def test_the_panel_of_a_shared_embedding_has_every_part_once(site):
    """A shared matrix belongs to the first part that has it; one that owns nothing is not offered."""
    run = site.train(MINE, TINY | {"share_embeddings": "all", "bias": False, "task": "copy"})
    wait(run, "done")
    panel = site.panel("step", run=run.id, moment="gradient", step=0, module=0, grad_row=4, grad_col=1)
    sheet = block(panel, "sheet")
    assert len(block(panel, "step-parts")["figure"]["data"][0]["x"]) == 6  # and none for the target embedding and the projection
    total = sum(float(term["part"].replace("−", "-")) for term in sheet["terms"])
    assert total == pytest.approx(sheet["answer"], rel=1e-2)
    site.runs.delete(run.id, MINE)
