"""What is asked beforehand."""

from __future__ import annotations

import pytest

from playground.freeze.plan import STEPS, heads, plan, refused, steps_of
from playground.runs.disk.folder import Folder
from playground.ui.panels import PANELS
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
def test_every_head_and_nobodys_choice(run, part):
    found = heads(run, part)
    assert found[0] == (part, "", "")
    assert len(set(found)) == len(found) == 1 + 2 * run.experiment.model.n_heads


def test_only_panels_that_there_are_and_no_field_on_two_axes(run):
    for name, axes in plan(run, ["abc"]).items():
        assert name in PANELS
        fields = [field for one in axes for field in one.fields]
        assert len(set(fields)) == len(fields)
        assert all(len(value) == len(one.fields) for one in axes for value in one.values)


def test_what_is_read_and_no_axis_needs_a_server_but_a_pin_does_not(run):
    axes = plan(run, ["abc"])["attention"]
    assert refused(axes, {"step", "text", "part", "view", "q", "k"}) == ["view"]
