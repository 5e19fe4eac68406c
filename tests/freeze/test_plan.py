"""What is asked beforehand."""

from __future__ import annotations

import itertools

import pytest

from playground.cursor import FIELDS
from playground.freeze.grids import outside, size
from playground.freeze.plan import STEPS, Places, heads, plan, steps_of
from playground.runs.disk.folder import Folder
from playground.ui.panels import PANELS, TABS
from tests.browser.server import ROOT


@pytest.fixture(scope="module")
def run():
    return Folder(ROOT / "checkpoints" / "reverse").run


FIRST = Places("sentence 0", ("encoder.0.self_attention.weights", "memory"), queries=4, keys=4)


def test_steps_are_kept_ones_from_the_first_on_and_every_head_is_there(run):
    steps = steps_of(run)
    assert len(steps) == STEPS
    assert steps == sorted(set(steps))
    assert steps[0] == run.replay.parameter_steps[0]
    assert set(steps) < set(run.replay.parameter_steps)
    assert run.step not in steps, "the newest is asked for without a step"
    for part in ("encoder", "decoder", "cross"):
        assert len(set(heads(run, part))) == len(heads(run, part)) == 2 * run.experiment.model.n_heads


def question(places) -> frozenset:
    """What is asked, whichever grid asks it, without fields that have their defaults."""
    pairs = [(field, value) for fields, values in places for field, value in zip(fields, values, strict=True)]
    return frozenset((field, value) for field, value in pairs if field not in FIELDS or value != FIELDS[field].default)


@pytest.mark.parametrize("count", [1, 20])
def test_every_tab_of_one_run_is_asked_about_and_nothing_twice(run, count):
    whole = plan(run, [f"sentence {n}" for n in range(count)], FIRST)
    assert set(TABS) - set(whole) == {"runs", "board"}, "which show several runs"
    assert set(whole) <= set(PANELS)
    splits = {one.fields[0]: {values[0] for values in one.values} for one in whole["data"][0]}["split"]
    assert len(splits) > 1, "the splits of the data"
    assert "file" not in splits, "a frozen page takes no files"
    for name, grids in whole.items():
        assert all(map(size, grids))
        for grid in grids:
            fields = [field for one in grid for field in one.fields]
            assert len(set(fields)) == len(fields), "no field is on two axes"
        axes = [[[(one.fields, values) for values in one.values] for one in grid] for grid in grids]
        questions = [question(places) for grid in axes for places in itertools.product(*grid)]
        assert len(set(questions)) == len(questions), name


def test_what_is_read_and_no_axis_needs_a_server_but_a_pin_does_not(run):
    general, *_, cells = plan(run, ["abc"], FIRST)["attention"]
    assert outside(general, {"step", "text", "part", "view", "q", "k"}) == (["view"], ["k", "q"])
    assert outside(cells, {"step", "text", "part", "view", "q", "k"}) == (["part", "step", "view"], [])
