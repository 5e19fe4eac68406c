"""What a room fixes: checked when it is fixed, and then nothing else is trained there."""

from __future__ import annotations

import json

import pytest

from playground.config import PARTS
from playground.rooms import fixed
from playground.ui.links import LISTS
from tests.rooms.group import ANNA, TEACHER, refused


def test_what_the_teacher_fixes_is_shown_to_everybody_and_lifted_again(pair):
    free = {"settings": {}, "tasks": [], "labs": [], "controls": list(PARTS)}
    wanted = {"settings": {"d_model": 32.0, "task": "sort"}, "tasks": ["sort", "sort"], "labs": ["skip"], "controls": []}
    checked = wanted | {"settings": {"d_model": 32, "task": "sort"}, "tasks": ["sort"]}
    for asked, seen in (
        ({"controls": list(PARTS)}, free),
        (wanted, checked),
        ({"controls": ["model"]}, free | {"controls": ["model"]}),
        ({}, free),
    ):
        pair.rooms.fix(*pair.key(TEACHER), asked, LISTS)
        assert pair.view(ANNA)["fixed"] == pair.view(TEACHER)["fixed"] == seen
        assert json.dumps(pair.view(ANNA)["fixed"]) == json.dumps(seen), "32, not 32.0"


@pytest.mark.parametrize(
    ("wanted", "key"),
    [
        ([], "page.not_a_command"), ({"more": 1}, "page.not_a_command"), ({"settings": []}, "page.not_a_command"),
        ({"tasks": "sort"}, "page.not_a_command"), ({"labs": [1]}, "page.not_a_command"), ({"controls": ["all"]}, "page.not_a_command"),
        ({"settings": {"d_model": 7}}, "config.not_in_range"), ({"settings": {"nothing": 7}}, "config.unknown"),
        ({"tasks": ["knit"]}, "config.not_a_choice"), ({"labs": ["knit"]}, "config.not_a_choice"),
        ({"settings": {"task": "sort"}, "tasks": ["reverse"]}, "rooms.task_not_open"),
    ],
    ids=str,
)  # fmt: skip
def test_what_can_not_be_fixed(wanted, key):
    with refused(key):
        fixed.made(wanted, LISTS)


@pytest.mark.parametrize("closed", [{"tasks": ["sort"], "labs": ["skip"]}, {"settings": {"task": "sort"}, "labs": ["skip"]}], ids=str)
@pytest.mark.parametrize(("to", "key"), [({"task": "copy"}, "rooms.task_not_open"), ({"lab": "no_ffn"}, "rooms.lab_not_open")])
def test_nobody_is_sent_where_nothing_is_open(group, closed, to, key):
    teacher = group.key(TEACHER)
    group.rooms.fix(*teacher, closed, LISTS)
    for open_to in ({"task": "sort"}, {"lab": "skip"}, {"lesson": "attention"}):
        group.rooms.assign(*teacher, "", open_to, LISTS)
    with refused(key):
        group.rooms.assign(*teacher, "", to, LISTS)
    group.rooms.fix(*teacher, {}, LISTS)
    group.rooms.assign(*teacher, "", to, LISTS)
    with refused(key):
        group.rooms.fix(*teacher, closed, LISTS)
