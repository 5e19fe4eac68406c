"""The teacher's settings for a class, as a room stores them: restrictions, the current task, and limits on runs.

Restrictions are {"settings": {knob: value}, "tasks": those that may be trained, "labs": those that are open, "controls": the groups of
knobs that are shown}; a missing part restricts nothing, {} leaves everything free. The task is {"text", "to": {"lesson", "lab" or "task":
its name} or {}, "done": numbers of members}; {} is no task. Limits are {name in USUAL: number}: of unfinished runs at once (waiting,
training or paused) and of those kept in all, per student and for the whole room.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.config import PARTS, Experiment, Refusal, as_text, check
from playground.cursor import check as check_field
from playground.knobs import Lists
from playground.rooms.room import TEACHER, Room, clean_line
from playground.runs.limits import Limits

GROUPS = tuple(PARTS)  # groups of knobs, as on the page
PLACES, TEXT = ("lesson", "lab", "task"), 200  # to which a task may link, and characters of its line
# Thirty students on two cores: each may have two runs under way, or the arms of a lab while others read; none is deleted in a lesson.
USUAL = {"each_at_once": 5, "each_kept": 20, "room_at_once": 60, "room_kept": 400}
Fixed = Mapping[str, Any]
Assignment = Mapping[str, Any]


def check_fixed(wanted: Any, lists: Lists) -> dict[str, Any]:
    """Validates requested restrictions; parts that restrict nothing are left out. Raises Refusal for invalid ones."""
    if not isinstance(wanted, dict) or not wanted.keys() <= {"settings", "tasks", "labs", "controls"}:
        raise Refusal("page.not_a_command")
    settings, controls = wanted.get("settings", {}), _names(wanted, "controls", GROUPS)
    if not isinstance(settings, dict):
        raise Refusal("page.not_a_command")
    parts = {
        "settings": {name: check(name, value) for name, value in settings.items()},
        "tasks": [check("task", task) for task in _names(wanted, "tasks")],
        "labs": _names(wanted, "labs"),
    }
    for lab in parts["labs"]:
        check_field("lab", lab, lists)
    for group in controls:
        if group not in GROUPS:
            raise Refusal("page.not_a_command")
    task = parts["settings"].get("task")
    if task and parts["tasks"] and task not in parts["tasks"]:
        raise Refusal("rooms.task_not_open", task=task)
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


def require_lab(fixed: Fixed, lab: str, code: str) -> None:
    """Raises Refusal for a lab that is not open in the room `code`."""
    if lab not in fixed.get("labs", (lab,)):
        raise Refusal("rooms.lab_not_today", code=code)


def require_open(fixed: Fixed, to: Mapping[str, str]) -> None:
    """Raises Refusal when the class is sent to a lab or a task that is not open to it."""
    if "lab" in to and to["lab"] not in fixed.get("labs", (to["lab"],)):
        raise Refusal("rooms.lab_not_open")
    if "task" in to:
        fixed_task = fixed.get("settings", {}).get("task", to["task"])
        if to["task"] != fixed_task or to["task"] not in fixed.get("tasks", (to["task"],)):
            raise Refusal("rooms.task_not_open", task=to["task"])


def _names(wanted: Mapping[str, Any], part: str, default: tuple[str, ...] = ()) -> list[str]:
    """Returns a part that must be a list of names, without duplicates."""
    names = wanted.get(part, list(default))
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Refusal("page.not_a_command")
    return list(dict.fromkeys(names))


def make_assignment(text: str, to: Mapping[str, str], lists: Lists) -> dict[str, Any]:
    """Returns a new task, done by no member; {} without text and place. Raises Refusal for an unknown place."""
    if len(to) > 1 or not set(to) <= set(PLACES) or to.get("task") == "own":
        raise Refusal("rooms.no_place")
    for name, value in to.items():
        if not isinstance(value, str):
            raise Refusal("rooms.no_place")
        check(name, value) if name == "task" else check_field(name, value, lists)
    line = clean_line(text, TEXT)
    return {"text": line, "to": dict(to), "done": []} if line or to else {}


def mark_done(assignment: Assignment, number: int, done: bool) -> dict[str, Any]:
    """Returns the task with this member marked as done or not done. Raises Refusal: there is no task, or the number is the teacher's."""
    if not assignment or number == TEACHER:
        raise Refusal("rooms.nothing_to_do")
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
        if not isinstance(wanted, dict) or not wanted.keys() <= USUAL.keys():
            raise Refusal("page.not_a_command")
        for name, value in wanted.items():
            if type(value) is not int or not 1 <= value <= self.most[name]:
                raise Refusal("rooms.bad_limit", most=self.most[name])
        return dict(wanted)

    def limits_of(self, room: Room) -> dict[str, int]:
        """Returns the limits in force in this room: the teacher's, else the usual ones, each at most the server's."""
        return {name: min(room.limits.get(name, usual), self.most[name]) for name, usual in USUAL.items()}

    def view(self, room: Room) -> dict[str, list[int]]:
        """Returns [limit, its maximum] of each limit, for the teacher."""
        return {name: [value, self.most[name]] for name, value in self.limits_of(room).items()}
