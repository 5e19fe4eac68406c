"""A room's activities by name: what a class does together, each a JSON object whose `kind` says what it is."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from playground.config import Refusal
from playground.rooms import answers, experiment, question
from playground.rooms.room import Member, Room, remove_from_assignment, require

Activity = Mapping[str, Any]
MAX_ACTIVITIES = 40  # per room; a teacher may delete finished ones


@dataclass(frozen=True)
class Kind:
    """The functions of one kind: `view(activity, room, number)` is the part that the holder of that number may see,
    `remove_member(activity, number)` the activity after that member left, `add_members(activity, room)` after members joined."""

    view: Callable[[Activity, Room, int], dict[str, Any]]
    remove_member: Callable[[Activity, int], Activity]
    add_members: Callable[[Activity, Room], Activity] = lambda activity, room: activity


KINDS: dict[str, Kind] = {
    question.KIND: Kind(question.view, question.remove_member),
    experiment.KIND: Kind(experiment.view, experiment.remove_member, experiment.deal),
    answers.PROGRESS: Kind(answers.view_progress, answers.remove_progress),
    answers.KIND: Kind(answers.view, answers.remove_member),
}


def view_activities(room: Room, number: int) -> dict[str, dict[str, Any]]:
    """Returns all activities of the room as the holder of this number may see them."""
    kinds = {name: KINDS[activity["kind"]] for name, activity in room.activities.items()}
    return {name: {"kind": activity["kind"], **kinds[name].view(activity, room, number)} for name, activity in room.activities.items()}


def add_members(room: Room) -> Room:
    """Returns the room with its current members entered in every activity."""
    changed = {name: KINDS[activity["kind"]].add_members(activity, room) for name, activity in room.activities.items()}
    return replace(room, activities=changed)


def remove_member(room: Room, number: int) -> Room:
    """Returns the room without a member and without anything the member did."""
    left = {name: KINDS[activity["kind"]].remove_member(activity, number) for name, activity in room.activities.items()}
    members = tuple(member for member in room.members if member.number != number)
    return replace(room, members=members, activities=left, now=remove_from_assignment(room.now, number))


def add_activity(room: Room, activity: Activity) -> Room:
    """Appends an activity under a new random name. Raises Refusal: too many."""
    if len(room.activities) >= MAX_ACTIVITIES:
        raise Refusal("rooms.too_many_activities", most=MAX_ACTIVITIES)
    return put_activity(room, secrets.token_hex(4), activity)


def find_activity(room: Room, name: str, kind: str) -> Activity:
    """Returns the activity of this name and kind. Raises Refusal when there is none."""
    activity = room.activities.get(name)
    if activity is None or activity["kind"] != kind:
        raise Refusal("rooms.no_activity")
    return activity


def put_activity(room: Room, name: str, activity: Activity) -> Room:
    """Returns the room with this activity stored under the name."""
    return replace(room, activities={**room.activities, name: activity})


def drop_activity(room: Room, name: str) -> Room:
    """Returns the room without this activity. Raises Refusal when there is none."""
    require(name in room.activities, "rooms.no_activity")
    return replace(room, activities={other: activity for other, activity in room.activities.items() if other != name})


def find_member(room: Room, number: int) -> Member:
    """Returns the member of this number. Raises Refusal when there is none."""
    member = room.member(number)
    require(member, "rooms.no_member")
    return member


def change_member(room: Room, number: int, **values: object) -> Room:
    """Returns the room with these fields of the member changed. Raises Refusal when there is none of this number."""
    changed = replace(find_member(room, number), **values)
    return replace(room, members=tuple(changed if member.number == number else member for member in room.members))
