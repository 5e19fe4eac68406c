"""How many runs a class may have: the usual number, what a teacher sets within what the server allows, and what counts."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from playground.rooms.run_limits import USUAL, RunLimits, Tally
from playground.runs.limits import Limits
from tests.rooms.group import ANNA, TEACHER, Group, refused


def run(id: str, owner: str = "anna", unfinished: bool = True) -> SimpleNamespace:
    return SimpleNamespace(id=id, owner=owner, unfinished=unfinished)


class Runs:
    """The runs of a room of these limits."""

    def __init__(self, group: Group, **limits: int) -> None:
        group.rooms.limit(*group.key(TEACHER), limits)
        self.room, self.runs = group.room(), {}
        self.tally = Tally(group.rooms.run_limits, self.runs.get)

    def begin(self, *new: SimpleNamespace) -> None:
        with self.tally.beginning(self.room, new[0].owner, list(new)):
            self.runs.update({one.id: one for one in new})


def test_each_student_has_so_many_at_once_and_in_all(group):
    runs = Runs(group, each_at_once=2, each_kept=3)
    runs.begin(run("1"), run("2"))
    with refused("rooms.each_at_once"):
        runs.begin(run("3"))
    runs.begin(run("3", "ben"))
    runs.runs["1"].unfinished = False
    runs.begin(run("4"))
    runs.runs["2"].unfinished = False
    with refused("rooms.each_kept"):
        runs.begin(run("5"))
    del runs.runs["1"]
    runs.begin(run("5"))


@pytest.mark.parametrize(
    ("limits", "before", "new", "key"),
    [
        ({"room_kept": 2}, [run("1", unfinished=False), run("2", unfinished=False)], [run("3", "ben", False)], "rooms.room_kept"),
        ({}, [], [run(str(n)) for n in range(7)], "rooms.each_at_once"),
        ({"room_at_once": 1}, [run("1")], [run("2", "ben")], "rooms.room_at_once"),
        ({"each_at_once": 1, "room_at_once": 1}, [run("1")], [run("2", unfinished=False)], ""),  # a copy of what has ended
    ],
)
def test_what_counts(group, limits, before, new, key):
    runs = Runs(group, **limits)
    for one in before:
        runs.begin(one)
    if not key:
        runs.begin(*new)
        return
    with refused(key) as refusal:
        runs.begin(*new)
    assert refusal.value.values == {"most": limits.get(key[6:], USUAL[key[6:]]), "code": group.code}


def test_a_run_takes_a_place_while_it_is_made_and_none_when_that_fails(group):
    runs = Runs(group, room_at_once=1, room_kept=2)
    with pytest.raises(OSError), runs.tally.beginning(runs.room, "anna", [run("1")]):
        raise OSError
    with runs.tally.beginning(runs.room, "anna", [run("1")]), refused("rooms.room_at_once"):
        runs.begin(run("2", "ben"))
    with runs.tally.beginning(runs.room, "anna", [run("1", unfinished=False), run("2", unfinished=False)]), refused("rooms.room_kept"):
        runs.begin(run("3", "ben", unfinished=False))
    runs.begin(run("4"))


@pytest.mark.parametrize(
    ("wanted", "key"),
    [
        *(({"each_at_once": value}, "rooms.bad_limit") for value in (0, 1000, "9", True, 1.5)),
        *((one, "page.not_a_command") for one in ({"more": 1}, [])),
    ],
    ids=str,
)
def test_a_limit_that_the_server_can_not_allow_is_refused(group, wanted, key):
    with refused(key):
        group.rooms.limit(*group.key(TEACHER), wanted)
    group.rooms.limit(*group.key(TEACHER), {"each_at_once": 1, "room_kept": group.rooms.run_limits.most["room_kept"]})


def test_a_server_that_allows_less_is_heeded_and_the_teacher_alone_sees_it(group):
    limits = RunLimits(Limits(runs_each=2, runs_unfinished=10, runs_kept=15))
    assert limits.seen(group.room()) == {"each_at_once": [2, 2], "each_kept": [15, 15], "room_at_once": [10, 10], "room_kept": [15, 15]}
    group.join(ANNA)
    assert "limits" not in group.view(ANNA)
    assert {name: value for name, (value, _) in group.view(TEACHER)["limits"].items()} == USUAL
