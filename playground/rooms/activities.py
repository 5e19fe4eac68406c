"""What a class does together: a room's activities by name, each a JSON object that says under `kind` what it is."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from playground.config import Refusal
from playground.rooms import answers, assignment, experiment, progress, question
from playground.rooms.room import Room

Activity = Mapping[str, Any]
MAX_ACTIVITIES = 40  # of one room; a teacher may delete what is done


@dataclass(frozen=True)
class Kind:
    """How activities of one kind are told: `seen(activity, room, number)` is what the holder of that number sees of one,
    `without(activity, number)` is what stays of it when that member has gone, and `joined(activity, room)` what it is when one has come."""

    seen: Callable[[Activity, Room, int], dict[str, Any]]
    without: Callable[[Activity, int], Activity]
    joined: Callable[[Activity, Room], Activity] = lambda activity, room: activity


KINDS: dict[str, Kind] = {
    question.KIND: Kind(question.seen, question.without),
    experiment.KIND: Kind(experiment.seen, experiment.without, experiment.joined),
    progress.KIND: Kind(progress.seen, progress.without),
    answers.KIND: Kind(answers.seen, answers.without),
}


def seen(room: Room, number: int) -> dict[str, dict[str, Any]]:
    """All activities of the room, as the holder of this number sees them."""
    return {name: {"kind": one["kind"], **KINDS[one["kind"]].seen(one, room, number)} for name, one in room.activities.items()}


def joined(room: Room) -> Room:
    """The room in which every activity knows who is in."""
    return replace(room, activities={name: KINDS[one["kind"]].joined(one, room) for name, one in room.activities.items()})


def without(room: Room, number: int) -> Room:
    """The room in which nothing is left of what a member did."""
    left = {name: KINDS[one["kind"]].without(one, number) for name, one in room.activities.items()}
    members, now = tuple(one for one in room.members if one.number != number), assignment.without(room.now, number)
    return replace(room, members=members, activities=left, now=now)


def added(room: Room, activity: Activity) -> Room:
    """The room with one more activity, as the last, under a name of its own. Raises Refusal: too many."""
    if len(room.activities) >= MAX_ACTIVITIES:
        raise Refusal("rooms.too_many_activities", most=MAX_ACTIVITIES)
    return changed(room, secrets.token_hex(4), activity)


def found(room: Room, name: str, kind: str) -> Activity:
    """Raises Refusal when there is none of this kind under the name."""
    activity = room.activities.get(name)
    if activity is None or activity["kind"] != kind:
        raise Refusal("rooms.no_activity")
    return activity


def changed(room: Room, name: str, activity: Activity) -> Room:
    """The room with this activity instead of the one of the same name."""
    return replace(room, activities={**room.activities, name: activity})


def dropped(room: Room, name: str) -> Room:
    """The room without this activity."""
    return replace(room, activities={other: one for other, one in room.activities.items() if other != name})
