"""Members of a room begin and change only what it allows, and its teacher is not bound."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from playground.config import Experiment
from playground.rooms import experiment
from playground.rooms.rules import RoomRules
from playground.ui.links import LISTS
from tests.rooms.group import ANNA, BEN, TEACHER, refused

SORT = Experiment().with_(task="sort", d_model=32, bias=False)


def run_of(wanted: Experiment) -> SimpleNamespace:
    return SimpleNamespace(id="run", owner="anna", unfinished=True, experiment=wanted)


@pytest.fixture
def rules(pair) -> RoomRules:
    """Of a room in which sorting by a width is fixed and one lab open."""
    pair.rooms.fix(*pair.key(TEACHER), {"settings": {"d_model": 32, "bias": False}, "tasks": ["sort"], "labs": ["skip"]}, LISTS)
    return RoomRules(pair.rooms, SimpleNamespace(find={}.get))


@pytest.mark.parametrize(
    ("wanted", "lab", "key"),
    [
        (SORT, "", ""), (SORT.with_(seed=7), "", ""), (SORT.with_(d_model=16), "skip", ""), (SORT.with_(d_model=16), "", "rooms.fixed"),
        (SORT.with_(bias=True), "", "rooms.fixed"), (SORT.with_(task="copy"), "", "rooms.task_not_today"),
        (SORT, "no_ffn", "rooms.lab_not_today"),
    ],
)  # fmt: skip
def test_a_member_begins_what_the_room_allows(pair, rules, wanted, lab, key):
    for token in (TEACHER, "z" * 32, *([] if key else [ANNA])):
        with rules.beginning([run_of(wanted)], token, lab):
            pass
    if key:
        with refused(key) as refusal, rules.beginning([run_of(wanted)], ANNA, lab):
            pass
        assert not wanted.model.bias or refusal.value.values == {"name": "bias", "value": "off", "code": pair.code}
    pair.rooms.fix(*pair.key(TEACHER), {}, LISTS)
    with rules.beginning([run_of(wanted)], ANNA, lab):
        pass


def test_what_was_dealt_is_allowed_to_its_member_alone(pair, rules):
    arms = [{"learning_rate": 0.01}, {"learning_rate": 0.02}]
    pair.change(TEACHER, "arms", lambda room, number: experiment.made({"task": "copy"}, arms, "together", room))
    dealt = experiment.experiment_of(pair.room().activities["arms"], 1)
    with rules.beginning([run_of(dealt)], ANNA):
        pass
    with refused("rooms.fixed"), rules.beginning([run_of(dealt)], BEN):
        pass


def test_a_fixed_knob_is_not_moved_and_runs_that_are_looked_at_are_shared(pair, rules):
    with refused("rooms.fixed"):
        rules.changing(ANNA, "d_model", 16)
    for token, knob, value in ((ANNA, "d_model", 32), (ANNA, "learning_rate", 0.1), (TEACHER, "d_model", 16)):
        rules.changing(token, knob, value)
    assert [rules.in_room(token) for token in (ANNA, TEACHER, "z" * 32)] == [True, False, False]
    run = run_of(SORT)
    assert not rules.shared(run)
    pair.rooms.point(*pair.key(TEACHER), {"run": run.id}, LISTS | {"run": [run.id]})
    assert (rules.shared(run), rules.awaited(run)) == (True, False)

    async def awaited() -> bool:
        with pair.rooms.hub.listen(pair.code, 1):
            return rules.awaited(run)

    assert asyncio.run(awaited())
