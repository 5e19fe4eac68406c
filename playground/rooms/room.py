"""A room: one JSON object, replaced whole at every change.

Tokens are never stored. A ticket is derived from a token and the room's code and opens this room only; the room stores the ticket's digest.
So nothing in two rooms shows that the same person was in both.

The teacher sets restrictions, the current task, and limits on runs. Restrictions are {"settings": {knob: value}, "tasks": those that may be
trained, "labs": those that are open, "controls": the groups of knobs that are shown}; a missing part restricts nothing, {} leaves
everything free. The task is {"text", "to": {"lesson", "lab" or "task": its name} or {}, "done": numbers of members}; {} is no task. Limits
are {name in USUAL: number}: of unfinished runs at once (waiting, training or paused) and of those kept in all, per student and for the
whole room.
"""

from __future__ import annotations

import hmac
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from playground.config import PARTS, Experiment, Refusal, as_text, check
from playground.cursor import check as check_field
from playground.knobs import Lists
from playground.runs.identity import owner_of
from playground.runs.limits import Limits

VERSION = 2
ADDED = ("fixed", "now", "limits")  # fields that version 2 added to version 1
ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # without characters that are mistaken for others on a projected page
CODE = 5  # characters of a code: 33 million of them
NAME = 24  # characters of a nickname
MAX_MEMBERS = 60
MAX_DAYS = 180
GROUPS = tuple(PARTS)  # groups of knobs, as on the page
PLACES, TEXT = ("lesson", "lab", "task"), 200  # to which a task may link, and characters of its line
# Thirty students on two cores: each may have two runs under way, or the arms of a lab while others read; none is deleted in a lesson.
USUAL = {"each_at_once": 5, "each_kept": 20, "room_at_once": 60, "room_kept": 400}
Fixed = Mapping[str, Any]
Assignment = Mapping[str, Any]
TEACHER = 0  # the number of the member who opened the room; others count from 1


@dataclass(frozen=True)
class Member:
    """A member of a room. `number` is never reused in a room; `nickname` is "" if none was entered; `owner` is the digest of the member's
    ticket."""

    number: int
    owner: str
    nickname: str = ""
    hidden: bool = False  # by the teacher: shown by number instead of name


@dataclass(frozen=True)
class Room:
    """A room, see the module. `opened` and `ends` are seconds since 1970; `activities` are the class's activities by name."""

    code: str
    owner: str
    language: str
    opened: float
    ends: float
    members: tuple[Member, ...] = ()
    last_number: int = 0
    cursor: Mapping[str, str] = field(default_factory=dict)  # the teacher's
    activities: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)  # for the class
    now: Mapping[str, Any] = field(default_factory=dict)  # the current task
    limits: Mapping[str, Any] = field(default_factory=dict)  # on runs, if the teacher has set them

    def number_of(self, ticket: str) -> int | None:
        """Returns the ticket holder's number: TEACHER, a member's, or None for an unknown ticket. Compares in constant time."""
        digest = owner_of(ticket).encode() if ticket else b""
        known = ((self.owner, TEACHER), *((member.owner, member.number) for member in self.members))
        return next((number for owner, number in known if hmac.compare_digest(owner.encode(), digest)), None)

    def member(self, number: int) -> Member | None:
        return next((member for member in self.members if member.number == number), None)


def require(condition: object, key: str, **values: object) -> None:
    """Raises Refusal unless the condition is true."""
    if not condition:
        raise Refusal(key, **values)


def require_teacher(number: int) -> None:
    """Raises Refusal for a member's number."""
    require(number == TEACHER, "rooms.not_teacher")


def ticket_of(code: str, token: str) -> str:
    """Derives the ticket that opens the room `code` to the token's holder; "" without a token."""
    return owner_of(f"{code} {token}") if token else ""


def clean_line(text: str, most: int) -> str:
    """Returns one line of at most `most` characters, without invisible and control characters."""
    whole = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())
    return " ".join("".join(c if c.isprintable() else " " for c in whole).split())[:most].strip()


def clean_code(code: str) -> str:
    """Normalises a typed code: upper case, no spaces."""
    return "".join(code[:40].upper().split())


def to_json(room: Room) -> dict[str, Any]:
    return {"version": VERSION, **asdict(room)}


def from_json(stored: Any) -> Room:
    """Parses the output of `to_json`. Raises ValueError for anything else."""
    if isinstance(stored, dict) and stored.get("version") == 1:
        stored = {name: {} for name in ADDED} | stored | {"version": VERSION}
    if not isinstance(stored, dict) or stored.get("version") != VERSION or not isinstance(stored.get("members"), list):
        raise ValueError("no room of this version")
    members = tuple(_build(Member, member) for member in stored["members"])
    return _build(Room, {name: value for name, value in stored.items() if name != "version"} | {"members": members})


KINDS = {"str": str, "int": int, "float": (int, float), "bool": bool, "tuple": tuple, "Mapping": dict}


def _build(kind: type, values: Any) -> Any:
    """Builds a `kind` from values whose types match its fields. Raises ValueError."""
    if not isinstance(values, dict) or values.keys() != {each.name for each in fields(kind)}:
        raise ValueError(f"no {kind.__name__}")
    for each in fields(kind):
        if not isinstance(values[each.name], KINDS[each.type.partition("[")[0]]):
            raise ValueError(f"{each.name} is no {each.type}")
    return kind(**values)


def check_fixed(wanted: Any, lists: Lists) -> dict[str, Any]:
    """Validates requested restrictions; parts that restrict nothing are left out. Raises Refusal for invalid ones."""
    require(isinstance(wanted, dict) and wanted.keys() <= {"settings", "tasks", "labs", "controls"}, "page.not_a_command")
    settings, controls = wanted.get("settings", {}), _names(wanted, "controls", GROUPS)
    require(isinstance(settings, dict) and set(controls) <= set(GROUPS), "page.not_a_command")
    parts = {
        "settings": {name: check(name, value) for name, value in settings.items()},
        "tasks": [check("task", task) for task in _names(wanted, "tasks")],
        "labs": _names(wanted, "labs"),
    }
    for lab in parts["labs"]:
        check_field("lab", lab, lists)
    task = parts["settings"].get("task")
    require(not task or not parts["tasks"] or task in parts["tasks"], "rooms.task_not_open", task=task)
    return {name: part for name, part in parts.items() if part} | ({} if set(controls) == set(GROUPS) else {"controls": controls})


def view_fixed(fixed: Fixed) -> dict[str, Any]:
    """Returns all parts, with defaults for missing ones, for the page."""
    return {"settings": {}, "tasks": [], "labs": [], "controls": list(GROUPS)} | dict(fixed)


def require_experiment(fixed: Fixed, experiment: Experiment, code: str) -> None:
    """Raises Refusal for settings that the room `code` doesn't allow."""
    flat = experiment.flat()
    for name in fixed.get("settings", {}):
        require_setting(fixed, name, flat[name], code)
    if flat["task"] not in fixed.get("tasks", (flat["task"],)):
        raise Refusal("rooms.task_not_today", name="task", code=code, choices=", ".join(fixed["tasks"]))


def require_setting(fixed: Fixed, name: str, value: Any, code: str) -> None:
    """Raises Refusal for a value other than the one the room `code` has fixed."""
    fixed_value = fixed.get("settings", {}).get(name, value)
    if value != fixed_value:
        raise Refusal("rooms.fixed", name=name, value=as_text(fixed_value), code=code)


def require_open(fixed: Fixed, to: Mapping[str, str]) -> None:
    """Raises Refusal when the class is sent to a lab or a task that is not open to it."""
    if (lab := to.get("lab")) is not None:
        require(lab in fixed.get("labs", (lab,)), "rooms.lab_not_open")
    if (task := to.get("task")) is not None:
        is_open = fixed.get("settings", {}).get("task", task) == task and task in fixed.get("tasks", (task,))
        require(is_open, "rooms.task_not_open", task=task)


def _names(wanted: Mapping[str, Any], part: str, default: tuple[str, ...] = ()) -> list[str]:
    """Returns a part that must be a list of names, without duplicates."""
    names = wanted.get(part, list(default))
    require(isinstance(names, list) and all(isinstance(name, str) for name in names), "page.not_a_command")
    return list(dict.fromkeys(names))


def make_assignment(text: str, to: Mapping[str, str], lists: Lists) -> dict[str, Any]:
    """Returns a new task, done by no member; {} without text and place. Raises Refusal for an unknown place."""
    require(len(to) <= 1 and set(to) <= set(PLACES) and to.get("task") != "own", "rooms.no_place")
    for name, value in to.items():
        require(isinstance(value, str), "rooms.no_place")
        check(name, value) if name == "task" else check_field(name, value, lists)
    line = clean_line(text, TEXT)
    return {"text": line, "to": dict(to), "done": []} if line or to else {}


def mark_done(assignment: Assignment, number: int, done: bool) -> dict[str, Any]:
    """Returns the task with this member marked as done or not done. Raises Refusal: there is no task, or the number is the teacher's."""
    require(assignment and number != TEACHER, "rooms.nothing_to_do")
    numbers = [other for other in assignment["done"] if other != number]
    return {**assignment, "done": sorted([*numbers, number]) if done else numbers}


def remove_from_assignment(assignment: Assignment, number: int) -> Assignment:
    """Returns the task without a member who left."""
    return {**assignment, "done": [other for other in assignment["done"] if other != number]} if assignment else assignment


def view_assignment(room: Room, number: int) -> dict[str, Any] | None:
    """Returns the task as the holder of this number may see it: with the count of members done, not their numbers; None without a task."""
    if not room.now:
        return None
    done = room.now["done"]
    return {"text": room.now["text"], "to": room.now["to"], "done": len(done), "joined": len(room.members), "mine": number in done}


class RunLimits:
    """The limits a teacher may set on this server."""

    def __init__(self, limits: Limits) -> None:
        at_once, in_all = limits.runs_unfinished, limits.runs_kept
        self.most = {"each_at_once": limits.runs_each, "each_kept": in_all, "room_at_once": at_once, "room_kept": in_all}

    def check_limits(self, wanted: Any) -> dict[str, int]:
        """Validates the limits a teacher asks for. Raises Refusal for one above the server's own."""
        require(isinstance(wanted, dict) and wanted.keys() <= USUAL.keys(), "page.not_a_command")
        for name, value in wanted.items():
            require(type(value) is int and 1 <= value <= self.most[name], "rooms.bad_limit", most=self.most[name])
        return dict(wanted)

    def limits_of(self, room: Room) -> dict[str, int]:
        """Returns the limits in force in this room: the teacher's, else the usual ones, each at most the server's."""
        return {name: min(room.limits.get(name, usual), self.most[name]) for name, usual in USUAL.items()}

    def view(self, room: Room) -> dict[str, list[int]]:
        """Returns [limit, its maximum] of each limit, for the teacher."""
        return {name: [value, self.most[name]] for name, value in self.limits_of(room).items()}
