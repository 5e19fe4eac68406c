"""Who is dealt which arm: evenly, the same every time, whoever comes late, and nobody's arm ever changes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from playground.rooms import activities, experiment
from playground.rooms.registry import DAY, Rooms
from playground.rooms.room import TEACHER, Member, Room, ticket_of
from tests.rooms.test_registry import refused
from tests.thoroughness import every_case

THREE = [{"learning_rate": rate} for rate in (0.01, 0.02, 0.05)]
OWNER, ANNA, BEN = "a" * 32, "b" * 32, "c" * 32


def room_of(numbers: Iterable[int]) -> Room:
    members = tuple(Member(number, f"owner {number}") for number in numbers)
    return Room("ABCDE", "owner", "en", 0.0, 1.0, members, max((member.number for member in members), default=0))


def made(numbers: Iterable[int] = (), arms: object = THREE, order: str = "together", **base: object) -> dict:
    return experiment.made(base, arms, order, room_of(numbers))


def test_every_block_of_numbers_has_each_arm_once():
    dealt = made(range(1, 31))["dealt"]
    for first in range(1, 31, 3):
        assert {dealt[str(number)] for number in range(first, first + 3)} == {0, 1, 2}
    orders = {tuple(dealt[str(number)] for number in range(first, first + 3)) for first in range(1, 31, 3)}
    assert len(orders) > 1, "the arms are drawn, and not in the order of their numbers"


def test_late_comers_are_dealt_what_they_would_have_been_dealt_at_once():
    whole = made(range(1, 11))
    late = {**whole, "dealt": {}}
    for count in range(1, 11):
        late = experiment.joined(late, room_of(range(1, count + 1)))
    assert late["dealt"] == whole["dealt"]


@pytest.mark.parametrize("seed", range(5))
def test_arms_stay_even_while_members_come_and_go(seed):
    """Those that are present differ by one at most once as many have come as have gone, and nobody's arm changes."""
    luck, present, last = random.Random(seed), list(range(1, 10)), 9
    activity = made(present)
    for _ in range(40):
        before = dict(activity["dealt"])
        gone = luck.choice(present)
        present.remove(gone)
        activity = experiment.without(activity, gone)
        last += 1
        present.append(last)
        activity = experiment.joined(activity, room_of(present))
        assert {number: before[number] for number in map(str, present[:-1])}.items() <= activity["dealt"].items()
        counts = Counter(activity["dealt"].values())
        assert max(counts.values()) - min(counts.values()) <= 1
        assert set(activity["dealt"]) == set(map(str, present))


def test_every_member_trains_their_arm_with_a_seed_of_their_own():
    activity = made(range(1, 7), steps=200)
    experiments = [experiment.experiment_of(activity, number) for number in range(1, 7)]
    assert [one.training.seed for one in experiments] == list(range(1, 7))
    assert {one.training.steps for one in experiments} == {200}
    assert Counter(one.training.learning_rate for one in experiments) == {0.01: 2, 0.02: 2, 0.05: 2}
    with refused("rooms.no_arm"):
        experiment.experiment_of(activity, TEACHER)


def test_every_arm_says_all_that_differs():
    arms = made(arms=[{}, {"n_heads": 1}, {"learning_rate": 0.02}], n_heads=2, learning_rate=0.01)["arms"]
    assert arms == [{"n_heads": 2, "learning_rate": 0.01}, {"n_heads": 1, "learning_rate": 0.01}, {"n_heads": 2, "learning_rate": 0.02}]


@every_case(
    ("arms", "order", "base", "key"),
    [
        (THREE[:1], "together", {}, "rooms.bad_arms"),
        ([], "together", {}, "rooms.bad_arms"),
        ([{"steps": steps} for steps in range(100, 109)], "together", {}, "rooms.bad_arms"),
        (THREE, "at once", {}, "rooms.bad_arms"),
        ([{"learning_rate": 0.01}, {"learning_rate": "0.010"}], "together", {}, "rooms.same_arms"),
        ([{"seed": 1}, {"seed": 2}], "together", {}, "rooms.seed_is_dealt"),
        ([{"learning_rate": 1e9}, {}], "together", {}, "config.not_in_range"),
        ([{"learning_rate": [1]}, {}], "together", {}, "config.not_in_range"),
        ([{"nothing": 1}, {}], "together", {}, "config.unknown"),
        ([{"self": 1}, {}], "together", {}, "config.unknown"),
        (THREE, "together", {"self": 1}, "config.unknown"),
        (THREE, "together", {"task": {"x": 1}}, "config.not_a_choice"),
    ],
)
def test_what_is_no_experiment_is_refused(arms, order, base, key):
    with refused(key):
        experiment.made(base, arms, order, room_of([1]))


def test_a_member_sees_their_own_arm_and_run_and_nobody_elses():
    activity = experiment.began(experiment.began(made([1, 2]), 1, "run-of-one"), 2, "run-of-two")
    room = room_of([1, 2])
    seen = experiment.seen(activity, room, 1)
    assert (seen["run"], seen["arm"]) == ("run-of-one", activity["arms"][activity["dealt"]["1"]])
    assert "run-of-two" not in str(seen)
    assert experiment.seen(activity, room, TEACHER)["runs"] == {"1": "run-of-one", "2": "run-of-two"}


def test_members_see_the_board_while_it_is_shown_or_when_it_is_shared():
    activity, room = made([1]), room_of([1])
    shown = replace(room, cursor={"tab": experiment.BOARD})
    assert [experiment.shows_board(activity, room, number) for number in (TEACHER, 1)] == [True, False]
    assert experiment.shows_board(activity, shown, 1)
    assert experiment.shows_board({**activity, "shared": True}, room, 1)


def test_an_experiment_survives_a_restart_and_a_late_comer_and_forgets_who_leaves(tmp_path: Path):
    rooms = Rooms(tmp_path, clock := lambda: 1_000_000_000.0)
    code = rooms.open(OWNER, "en", clock() + DAY).code
    rooms.join(code, ANNA, "Anna")
    keys = {token: (code, ticket_of(code, token)) for token in (OWNER, ANNA, BEN)}
    rooms.change(*keys[OWNER], lambda room, number: activities.added(room, experiment.made({}, THREE, "together", room)))
    name = next(iter(rooms.inside(*keys[OWNER])[0].activities))
    rooms.change(*keys[ANNA], lambda room, n: activities.changed(room, name, experiment.began(room.activities[name], n, "the-run")))
    before = rooms.inside(*keys[OWNER])[0].activities

    again = Rooms(tmp_path, clock)
    assert again.inside(*keys[OWNER])[0].activities == before
    again.join(code, BEN)
    assert again.view(*keys[BEN])["activities"][name]["arm"] in THREE
    again.leave(*keys[ANNA])
    left = again.inside(*keys[OWNER])[0].activities[name]
    assert (list(left["dealt"]), left["runs"]) == (["2"], {})
