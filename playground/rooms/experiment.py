"""An experiment of a class: its arms are dealt to the members of the room, and each member trains one run.

As an activity it is {"kind", "base": every knob, "arms": the knobs in which each arm differs, "order", "draw": the seed of the deal,
"dealt": {number: arm}, "runs": {number: run id}, "shared": whether members see the board, "lab": the lab that defines the arms, "first":
the arms to deal before the rest}. Numbers of members are strings there, as JSON keys must be. Older rooms have neither "lab" nor "first".
"""

import random
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from playground.config import Experiment, Refusal, limits
from playground.rooms.room import TEACHER, Room

KIND = "experiment"
LEAST_ARMS, MOST_ARMS = 2, 8
MIN_RUNS = 2  # ended runs of each arm before a verdict
ORDERS = ("together", "in_turn")  # all train at once, or one after the other
BOARD = "board"  # the tab that shows the runs of a class
Activity = Mapping[str, Any]


def create(
    base: Mapping[str, Any], arms: Sequence[Mapping[str, Any]], order: str, room: Room, lab: str = "", first: Sequence[int] = ()
) -> dict[str, Any]:
    """Returns a new experiment, dealt to all members. Raises Refusal: an unknown setting, too few or too many arms, two equal arms, or arms
    that differ in their seed, which is each member's number."""
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
    return deal(new | {"lab": lab, "first": list(first)}, room)


def deal(activity: Activity, room: Room) -> dict[str, Any]:
    """Deals an arm to every member without one.

    A new member gets the arm that the fewest members have. Ties are broken by a random permutation per block of as many member numbers as
    there are arms, so that every block has each arm once if no member leaves. In each permutation the arms in "first" come before the
    rest: a small class has them all.
    """
    dealt, count = dict(activity["dealt"]), len(activity["arms"])
    for number in sorted(member.number for member in room.members if str(member.number) not in dealt):
        order = list(range(count))
        random.Random(f"{activity['draw']} {(number - 1) // count}").shuffle(order)
        order.sort(key=lambda arm: arm not in activity.get("first", ()))
        held = list(dealt.values())
        dealt[str(number)] = min(order, key=held.count)  # the first of the least
    return {**activity, "dealt": dealt}


def free_arms(activity: Activity) -> list[int]:
    """Returns the arms that no member has."""
    return [arm for arm in range(len(activity["arms"])) if arm not in activity["dealt"].values()]


def remove_member(activity: Activity, number: int) -> dict[str, Any]:
    """Returns the experiment without the arm and the run of a member who left; the run itself stays theirs."""
    left = {name: {key: value for key, value in activity[name].items() if key != str(number)} for name in ("dealt", "runs")}
    return {**activity, **left}


def build_experiment(activity: Activity, number: int) -> Experiment:
    """Builds the settings this member trains: their arm, with their number as the seed. Raises Refusal for a number without an arm."""
    if str(number) not in activity["dealt"]:
        raise Refusal("rooms.no_arm")
    return Experiment().with_(**{**activity["base"], **activity["arms"][activity["dealt"][str(number)]], "seed": number})


def set_run(activity: Activity, number: int, run: str) -> dict[str, Any]:
    """Returns the experiment with `run` entered as this member's run."""
    return {**activity, "runs": {**activity["runs"], str(number): run}}


def shows_board(activity: Activity, room: Room, number: int) -> bool:
    """Returns whether the holder of this number may see all runs: the teacher; members while the teacher shows or has shared the board."""
    return number == TEACHER or activity["shared"] or room.cursor.get("tab") == BOARD


def view(activity: Activity, room: Room, number: int) -> dict[str, Any]:
    """Returns the whole deal for the teacher; for a member their own arm and run only."""
    common = {"order": activity["order"], "shared": activity["shared"], "board": shows_board(activity, room, number)}
    common["lab"] = activity.get("lab", "")
    if number == TEACHER:
        return common | {"arms": activity["arms"], "dealt": activity["dealt"], "runs": activity["runs"]}
    arm = activity["dealt"].get(str(number))
    own = None if arm is None else activity["arms"][arm]
    return common | {"arm": own, "at": arm, "run": activity["runs"].get(str(number), "")}
