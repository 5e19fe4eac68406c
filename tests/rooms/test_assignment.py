"""What there is to do now: one line of text, a place that exists, and a count without names; and what a room fixes: checked at once."""

from __future__ import annotations

import json

import pytest

from playground.config import PARTS
from playground.rooms import fixed
from playground.ui.links import LISTS
from tests.rooms.group import ANNA, BEN, TEACHER, Group, refused


def assign(group: Group, text: str, **to: str) -> None:
    group.rooms.assign(*group.key(TEACHER), text, to, LISTS)


def test_a_class_ticks_off_what_there_is_to_do(pair):
    with refused("rooms.nothing_to_do"):
        pair.rooms.tick(*pair.key(ANNA), True)
    for text in (" Sort\nfive letters", "Something new"):  # which is not done
        assign(pair, text, task="sort")
        counts = []
        for token, done in ((BEN, True), (BEN, True), (ANNA, True), (BEN, False)):
            pair.rooms.tick(*pair.key(token), done)
            views = [pair.view(who)["now"] for who in (TEACHER, ANNA, BEN)]
            counts.append((views[0]["done"], *(view["mine"] for view in views)))
            common = {"text": " ".join(text.split()), "to": {"task": "sort"}, "done": views[0]["done"], "joined": 2, "mine": False}
            assert [view | {"mine": False} for view in views] == [common] * 3
        assert counts == [(1, False, False, True), (1, False, False, True), (2, False, True, True), (1, False, True, False)]
    with refused("rooms.nothing_to_do"):
        pair.rooms.tick(*pair.key(TEACHER), True)
    assign(pair, " \n ")
    assert pair.view(ANNA)["now"] is None


@pytest.mark.parametrize(
    ("to", "key"),
    [
        *((to, "rooms.no_place") for to in ({"task": "own"}, {"tab": "map"}, {"lab": "skip", "task": "sort"}, {"lab": 5})),
        *(({name: "knit"}, "config.not_a_choice") for name in ("task", "lab", "lesson")),
    ],
    ids=str,
)
def test_the_class_is_sent_only_to_a_lesson_a_lab_or_a_task(group, to, key):
    with refused(key):
        assign(group, "go", **to)


def test_what_the_teacher_fixes_is_shown_to_everybody_and_lifted_again(pair):
    free = {"settings": {}, "tasks": [], "labs": [], "controls": list(PARTS)}
    wanted = {"settings": {"d_model": 32.0, "task": "sort"}, "tasks": ["sort", "sort"], "labs": ["skip"], "controls": []}
    checked = wanted | {"settings": {"d_model": 32, "task": "sort"}, "tasks": ["sort"]}
    for one, seen in ((wanted, checked), ({"controls": ["model"]}, free | {"controls": ["model"]}), ({}, free)):
        pair.rooms.fix(*pair.key(TEACHER), one, LISTS)
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
    group.rooms.fix(*group.key(TEACHER), closed, LISTS)
    for open_to in ({"task": "sort"}, {"lab": "skip"}, {"lesson": "attention"}):
        assign(group, "", **open_to)
    with refused(key):
        assign(group, "", **to)
    group.rooms.fix(*group.key(TEACHER), {}, LISTS)
    assign(group, "", **to)
    with refused(key):
        group.rooms.fix(*group.key(TEACHER), closed, LISTS)
