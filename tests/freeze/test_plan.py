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


def test_steps_are_kept_ones_from_the_first_on_and_none_twice(run):
    steps = steps_of(run)
    assert len(steps) == STEPS
    assert steps == sorted(set(steps))
    assert steps[0] == run.replay.parameter_steps[0]
    assert set(steps) < set(run.replay.parameter_steps)
    assert run.step not in steps  # which is the newest: it is asked for without a step


@pytest.mark.parametrize("part", ["encoder", "decoder", "cross"])
def test_every_head(run, part):
    found = heads(run, part)
    assert len(set(found)) == len(found) == 2 * run.experiment.model.n_heads


FIRST = Places("abc", ("encoder.0.self_attention.weights", "memory"), queries=4, keys=4)


def test_only_panels_that_there_are_and_no_field_on_two_axes(run):
    for name, grids in plan(run, ["abc"], FIRST).items():
        assert name in PANELS
        for grid in grids:
            fields = [field for one in grid for field in one.fields]
            assert len(set(fields)) == len(fields)
            assert all(len(value) == len(one.fields) for one in grid for value in one.values)


@pytest.mark.parametrize("count", [1, 20])
def test_nothing_is_asked_twice(run, count):
    first = Places("sentence 0", ("memory",), queries=4, keys=4)
    for name, grids in plan(run, [f"sentence {n}" for n in range(count)], first).items():
        assert all(map(size, grids))
        asked = [question(places) for grid in grids for places in itertools.product(*map(said, grid))]
        assert len(set(asked)) == len(asked), name


def said(one):
    """What an axis says at each of its places."""
    return [list(zip(one.fields, values, strict=True)) for values in one.values]


def question(places):
    """What is asked, whichever grid asks it: fields that say nothing else than their defaults don't count."""
    return frozenset((field, value) for place in places for field, value in place if field not in FIELDS or value != FIELDS[field].default)


def test_every_tab_of_one_run_is_frozen(run):
    assert set(TABS) - set(plan(run, ["abc"], FIRST)) == {"runs", "board"}  # which show several


def test_what_is_read_and_no_axis_needs_a_server_but_a_pin_does_not(run):
    general, *_, cells = plan(run, ["abc"], FIRST)["attention"]
    assert outside(general, {"step", "text", "part", "view", "q", "k"}) == (["view"], ["k", "q"])
    assert outside(cells, {"step", "text", "part", "view", "q", "k"}) == (["part", "step", "view"], [])
