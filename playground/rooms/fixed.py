"""Restrictions of a room for its class: fixed settings, open tasks and labs, and which controls are shown.

As a room stores them: {"settings": {knob: value}, "tasks": those that may be trained, "labs": those that are open, "controls": the groups
of knobs that are shown}. A missing part restricts nothing; {} leaves everything free.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.config import PARTS, Experiment, Refusal, as_text, check
from playground.cursor import check as check_field
from playground.fields import Lists

GROUPS = tuple(PARTS)  # groups of knobs, as on the page
Fixed = Mapping[str, Any]


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


def view(fixed: Fixed) -> dict[str, Any]:
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
