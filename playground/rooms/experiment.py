"""An experiment of a class: its arms are dealt to whoever is in the room, and each member trains one run of it.

As an activity it is {"kind", "base": every knob, "arms": the knobs in which each arm differs, "order", "draw": what the deal is drawn from,
"dealt": {number: arm}, "runs": {number: run id}, "shared": whether members see the board, "lab": of which lab the arms are, "first": the
arms that are dealt before others}. Numbers of members are text there, as JSON has them. An older one has neither "lab" nor "first".
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from playground.config import Experiment, Refusal, limits
from playground.rooms.room import TEACHER, Room

KIND = "experiment"
LEAST_ARMS, MOST_ARMS = 2, 8
ORDERS = ("together", "in_turn")  # all train at once, or one after the other
BOARD = "board"  # the tab on which the runs of a class are seen
Activity = Mapping[str, Any]


def made(
    base: Mapping[str, Any], arms: Sequence[Mapping[str, Any]], order: str, room: Room, lab: str = "", first: Sequence[int] = ()
) -> dict[str, Any]:
    """A new experiment, dealt to all who are in. Raises Refusal: a setting there is not, too few arms or too many, two that are alike, or
    arms that differ in their seed, which every member has of their own."""
    if order not in ORDERS or not LEAST_ARMS <= len(arms) <= MOST_ARMS:
        raise Refusal("rooms.bad_arms", least=LEAST_ARMS, most=MOST_ARMS)
    for name in [*base, *(name for arm in arms for name in arm)]:
        limits(name)
    start = Experiment().with_(**base)
    experiments = [start.with_(**arm) for arm in arms]
    knobs = {name for experiment in experiments for name in experiment.difference(start)}
    if "seed" in knobs:
        raise Refusal("rooms.seed_is_dealt")
    if len({tuple(experiment.flat().items()) for experiment in experiments}) < len(arms):
        raise Refusal("rooms.same_arms")
    named = [{name: value for name, value in experiment.flat().items() if name in knobs} for experiment in experiments]
    draw = secrets.token_hex(4)
    new = {"kind": KIND, "base": start.flat(), "arms": named, "order": order, "draw": draw, "dealt": {}, "runs": {}, "shared": False}
    return joined(new | {"lab": lab, "first": list(first)}, room)


def joined(activity: Activity, room: Room) -> dict[str, Any]:
    """The experiment with an arm for everybody who is in; who has one keeps it.

    A new member takes the arm that the fewest of those present have. Among several, it is the next one of a permutation: there is one for
    each block of as many numbers as there are arms, so that without leavers every block has each arm once. In each of them the arms that a
    lab decides by come before the others: a small class has them all.
    """
    dealt, count = dict(activity["dealt"]), len(activity["arms"])
    for number in sorted(member.number for member in room.members if str(member.number) not in dealt):
        order = list(range(count))
        random.Random(f"{activity['draw']} {(number - 1) // count}").shuffle(order)
        order.sort(key=lambda arm: arm not in activity.get("first", ()))
        held = list(dealt.values())
        dealt[str(number)] = min(order, key=held.count)  # the first of the least
    return {**activity, "dealt": dealt}


def unheld(activity: Activity) -> list[int]:
    """The arms that no member has."""
    return [arm for arm in range(len(activity["arms"])) if arm not in activity["dealt"].values()]


def without(activity: Activity, number: int) -> dict[str, Any]:
    """The experiment once a member has gone: their run is theirs alone again."""
    left = {name: {key: value for key, value in activity[name].items() if key != str(number)} for name in ("dealt", "runs")}
    return {**activity, **left}


def experiment_of(activity: Activity, number: int) -> Experiment:
    """What this member trains: their arm, with their number as its seed. Raises Refusal for somebody who has none, such as the teacher."""
    if str(number) not in activity["dealt"]:
        raise Refusal("rooms.no_arm")
    return Experiment().with_(**{**activity["base"], **activity["arms"][activity["dealt"][str(number)]], "seed": number})


def began(activity: Activity, number: int, run: str) -> dict[str, Any]:
    """The experiment in which this member's run is that one."""
    return {**activity, "runs": {**activity["runs"], str(number): run}}


def shows_board(activity: Activity, room: Room, number: int) -> bool:
    """Whether the holder of this number may see all runs: the teacher, and members while the teacher shows them or has shared them."""
    return number == TEACHER or activity["shared"] or room.cursor.get("tab") == BOARD


def seen(activity: Activity, room: Room, number: int) -> dict[str, Any]:
    """For the teacher how it was dealt; for a member their own arm and their own run, and nobody else's."""
    common = {"order": activity["order"], "shared": activity["shared"], "board": shows_board(activity, room, number)}
    common["lab"] = activity.get("lab", "")
    if number == TEACHER:
        return common | {"arms": activity["arms"], "dealt": activity["dealt"], "runs": activity["runs"]}
    arm = activity["dealt"].get(str(number))
    own = None if arm is None else activity["arms"][arm]
    return common | {"arm": own, "at": arm, "run": activity["runs"].get(str(number), "")}
