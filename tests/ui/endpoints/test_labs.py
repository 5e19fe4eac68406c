"""An experiment asked from a program: its arms are trained once, as many at a time as there is room for, and then it says its verdict."""

from __future__ import annotations

import pytest

from playground.config import Refusal
from playground.lessons.labs import get
from playground.ui.endpoints.caller import Caller
from playground.ui.endpoints.labs import lab
from tests.ui.test_actions import wait

OWNER = "a teacher of this file"


@pytest.fixture
def caller(site):
    yield Caller(site.runs, site.reader)
    for run in site.runs.mine(OWNER):
        site.runs.delete(run.id, OWNER)


@pytest.fixture
def quick(monkeypatch):
    """A lab of two arms, of which two steps are enough here."""
    asked = get("depth")
    monkeypatch.setitem(asked.base, "steps", 2)
    return asked


def test_asked_again_it_trains_nothing_anew_and_says_the_verdict(caller, quick):
    first = lab(caller, quick.name, [1, 2], OWNER)
    assert not first["done"]
    begun = {run.id for run in caller.runs.mine(OWNER)}
    assert len(begun) == 2 * len(quick.arms_of(1))
    for run in caller.runs.mine(OWNER):
        wait(run, "done")
    last = lab(caller, quick.name, [1, 2], OWNER)
    assert last["done"]
    assert last["answer"] in quick.guesses
    assert last["numbers"]["seeds"] == 2
    assert {run.id for run in caller.runs.mine(OWNER)} == begun


def test_more_seeds_than_there_is_room_for_wait(caller):
    said = lab(caller, "order", [1, 2, 3, 4, 5], OWNER)
    arms = len(get("order").arms_of(1))
    room = caller.runs.limits.runs_each // arms
    assert len(said["runs"]) == room < 5
    assert not said["done"]
    with pytest.raises(Refusal) as refused:
        lab(caller, "order", [6], OWNER)
    assert refused.value.key == "runs.too_many_yours"


def test_an_arm_that_failed_is_not_trained_for_ever(caller, quick):
    lab(caller, quick.name, [1], OWNER)
    run = caller.runs.mine(OWNER)[0]
    wait(run, "done")
    run.say("diverged")
    with pytest.raises(Refusal) as refused:
        lab(caller, quick.name, [1], OWNER)
    assert refused.value.key == "api.arm_ended"
