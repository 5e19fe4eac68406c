"""Who is dealt which arm: evenly, the same every time however late they come, and nobody's arm ever changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.rooms import experiment
from playground.rooms.room import TEACHER
from tests.rooms.group import refused, room_of

THREE = [{"learning_rate": rate} for rate in (0.01, 0.02, 0.05)]


def made(numbers: Iterable[int] = (), arms: object = THREE, order: str = "together", **base: object) -> dict:
    return experiment.made(base, arms, order, room_of(*numbers))


@given(st.integers(2, 8), st.lists(st.integers(1, 40), max_size=4))
def test_every_block_of_numbers_has_each_arm_once_however_late_they_come(count, times):
    whole = made(range(1, 41), arms=[{"steps": 100 * (1 + n)} for n in range(count)])
    late = {**whole, "dealt": {}}
    for last in (*sorted(times), 40):
        late = experiment.joined(late, room_of(*range(1, last + 1)))
    assert late["dealt"] == whole["dealt"]
    blocks = [[late["dealt"][str(n)] for n in range(first, first + count)] for first in range(1, 41 - count, count)]
    assert {tuple(sorted(block)) for block in blocks} == {tuple(range(count))}
    assert len(set(map(tuple, blocks))) > 1, "each block is drawn anew"


@given(st.randoms(use_true_random=False))
def test_arms_stay_even_while_members_come_and_go(luck):
    """Those that are present differ by one at most once as many have come as have gone, and nobody's arm changes."""
    present, last = list(range(1, 10)), 9
    activity = made(present)
    for _ in range(40):
        before = dict(activity["dealt"])
        gone = luck.choice(present)
        present.remove(gone)
        activity = experiment.without(activity, gone)
        last += 1
        present.append(last)
        activity = experiment.joined(activity, room_of(*present))
        assert {number: before[number] for number in map(str, present[:-1])}.items() <= activity["dealt"].items()
        counts = Counter(activity["dealt"].values())
        assert max(counts.values()) - min(counts.values()) <= 1
        assert set(activity["dealt"]) == set(map(str, present))


def test_every_member_trains_their_arm_with_a_seed_of_their_own():
    activity = made(range(1, 7), steps=200)
    experiments = [experiment.experiment_of(activity, number) for number in range(1, 7)]
    assert [one.training.seed for one in experiments] == list(range(1, 7))
    assert {one.training.steps for one in experiments} == {200}
    assert [one.training.learning_rate for one in experiments] == [THREE[arm]["learning_rate"] for arm in activity["dealt"].values()]
    with refused("rooms.no_arm"):
        experiment.experiment_of(activity, TEACHER)
    arms = made(arms=[{}, {"n_heads": 1}, {"learning_rate": 0.02}], n_heads=2, learning_rate=0.01)["arms"]  # each has all that differs
    assert arms == [{"n_heads": 2, "learning_rate": 0.01}, {"n_heads": 1, "learning_rate": 0.01}, {"n_heads": 2, "learning_rate": 0.02}]


@pytest.mark.parametrize(
    ("arms", "order", "base", "key"),
    [
        (THREE[:1], "together", {}, "rooms.bad_arms"), ([{"steps": steps} for steps in range(100, 109)], "together", {}, "rooms.bad_arms"),
        (THREE, "at once", {}, "rooms.bad_arms"), ([{"seed": 1}, {"seed": 2}], "together", {}, "rooms.seed_is_dealt"),
        ([{"learning_rate": 0.01}, {"learning_rate": "0.010"}], "together", {}, "rooms.same_arms"),
        ([{"learning_rate": 1e9}, {}], "together", {}, "config.not_in_range"),
        ([{"learning_rate": [1]}, {}], "together", {}, "config.not_in_range"), ([{"nothing": 1}, {}], "together", {}, "config.unknown"),
        ([{"self": 1}, {}], "together", {}, "config.unknown"), (THREE, "together", {"self": 1}, "config.unknown"),
        (THREE, "together", {"task": {"x": 1}}, "config.not_a_choice"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_experiment_is_refused(arms, order, base, key):
    with refused(key):
        experiment.made(base, arms, order, room_of(1))


def test_members_see_their_own_arm_and_run_and_the_board_while_it_is_shown():
    activity = experiment.began(experiment.began(made([1, 2]), 1, "run-of-one"), 2, "run-of-two")
    room = room_of(1, 2, 3)
    common = {"order": "together", "shared": False, "board": False}
    assert experiment.seen(activity, room, 1) == common | {"arm": THREE[activity["dealt"]["1"]], "run": "run-of-one"}
    assert experiment.seen(activity, room, 3) == common | {"arm": None, "run": ""}
    assert experiment.seen(activity, room, TEACHER) == common | {
        "board": True, "arms": THREE, "dealt": activity["dealt"], "runs": {"1": "run-of-one", "2": "run-of-two"},
    }  # fmt: skip
    for shared, tab, boards in ((False, "", [True, False]), (False, experiment.BOARD, [True, True]), (True, "", [True, True])):
        looked_at = replace(room, cursor={"tab": tab})
        assert [experiment.shows_board({**activity, "shared": shared}, looked_at, number) for number in (TEACHER, 1)] == boards
