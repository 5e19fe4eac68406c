"""What a room fixes: it is checked when it is said, and then nothing else is trained there."""

from __future__ import annotations

import pytest

from playground.config import PARTS, Experiment
from playground.rooms import fixed
from playground.rooms.room import ticket_of
from playground.ui.links import LISTS
from tests.rooms.test_registry import ANNA, TEACHER, clock, code, refused, rooms, seen

__all__ = ["clock", "code", "rooms"]  # fixtures


def test_a_room_begins_free(rooms, code):
    assert seen(rooms, code, TEACHER)["fixed"] == {"settings": {}, "tasks": [], "labs": [], "controls": list(PARTS)}
    fixed.require_experiment({}, Experiment().with_(d_model=8, task="sort"), code)
    fixed.require_lab({}, "skip", code)


def test_what_the_teacher_fixes_is_told_to_everybody_and_lifted_again(rooms, code):
    rooms.join(code, ANNA)
    wanted = {"settings": {"d_model": 32.0, "task": "sort"}, "labs": ["skip"], "controls": []}
    rooms.fix(code, ticket_of(code, TEACHER), wanted, LISTS)
    told = {"settings": {"d_model": 32, "task": "sort"}, "tasks": [], "labs": ["skip"], "controls": []}
    assert seen(rooms, code, ANNA)["fixed"] == seen(rooms, code, TEACHER)["fixed"] == told
    rooms.fix(code, ticket_of(code, TEACHER), {}, LISTS)
    assert seen(rooms, code, ANNA)["fixed"]["settings"] == {}
    with refused("rooms.not_teacher"):
        rooms.fix(code, ticket_of(code, ANNA), {}, LISTS)


@pytest.mark.parametrize(
    ("wanted", "key"),
    [
        ([], "page.not_a_command"), ({"more": 1}, "page.not_a_command"), ({"settings": []}, "page.not_a_command"),
        ({"tasks": "sort"}, "page.not_a_command"), ({"labs": [1]}, "page.not_a_command"), ({"controls": ["all"]}, "page.not_a_command"),
        ({"settings": {"d_model": 7}}, "config.not_in_range"), ({"settings": {"nothing": 7}}, "config.unknown"),
        ({"tasks": ["knit"]}, "config.not_a_choice"), ({"labs": ["knit"]}, "config.not_a_choice"),
        ({"settings": {"task": "sort"}, "tasks": ["reverse"]}, "rooms.task_not_open"),
    ],
)  # fmt: skip
def test_what_can_not_be_fixed(wanted, key):
    with refused(key):
        fixed.made(wanted, LISTS)


def test_a_fixed_setting_has_one_value():
    held = fixed.made({"settings": {"d_model": 32, "bias": False}}, LISTS)
    fixed.require_experiment(held, Experiment().with_(d_model=32, bias=False, seed=7), "K7QFM")
    with refused("rooms.fixed") as told:
        fixed.require_experiment(held, Experiment().with_(d_model=32), "K7QFM")
    assert told.value.values == {"name": "bias", "value": "off", "code": "K7QFM"}


def test_only_open_tasks_are_trained_and_only_open_labs():
    held = fixed.made({"tasks": ["reverse", "sort"], "labs": ["skip"]}, LISTS)
    fixed.require_experiment(held, Experiment().with_(task="sort"), "K7QFM")
    with refused("rooms.task_not_today"):
        fixed.require_experiment(held, Experiment().with_(task="copy"), "K7QFM")
    fixed.require_lab(held, "skip", "K7QFM")
    with refused("rooms.lab_not_today"):
        fixed.require_lab(held, "no_ffn", "K7QFM")


@pytest.mark.parametrize("to", [{"task": "copy"}, {"lab": "no_ffn"}])
def test_nobody_is_sent_where_nothing_is_open(rooms, code, to):
    teacher = code, ticket_of(code, TEACHER)
    closed = {"tasks": ["sort"], "labs": ["skip"]}
    rooms.fix(*teacher, closed, LISTS)
    with refused("rooms.task_not_open" if "task" in to else "rooms.lab_not_open"):
        rooms.assign(*teacher, "", to, LISTS)
    rooms.fix(*teacher, {}, LISTS)
    rooms.assign(*teacher, "", to, LISTS)
    with refused("rooms.task_not_open" if "task" in to else "rooms.lab_not_open"):
        rooms.fix(*teacher, closed, LISTS)
