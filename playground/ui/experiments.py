"""The experiment of a class, as actions of ui/rooms.py: it is dealt, each member trains their arm, the board is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from playground import cursor
from playground.config import Experiment, Refusal
from playground.lessons.controlled import SMALL, ControlledExperiment
from playground.lessons.labs import get
from playground.rooms import activities, experiment
from playground.rooms.registry import Rooms
from playground.rooms.room import Room, require_teacher
from playground.runs.registry import Runs
from playground.ui.class_board import unheld
from playground.ui.upload import uploading
from playground.words import paragraph, say


class Asked(Protocol):
    """Who asks for what, see ui/rooms.py."""

    language: str
    token: str

    @property
    def key(self) -> tuple[str, str]: ...

    def value(self, name: str, *kinds: type) -> Any: ...


def actions(rooms: Rooms, runs: Runs) -> dict[str, Callable[[Asked], dict[str, Any]]]:
    """By their names, as ui/rooms.py has its own."""

    def deal(asked: Asked) -> dict:
        """An experiment of the teacher's settings, of which `arms` differ."""
        base, arms = asked.value("knobs", dict), asked.value("arms", list)
        if not all(isinstance(arm, dict) for arm in arms):
            raise Refusal("page.not_a_command")
        known = {name: value for name, value in base.items() if value is not None}
        for arm in ({}, *arms):  # sentences that are no longer kept can't be dealt
            uploading.pairs(runs, Experiment().with_(**{**known, **arm}), asked.token)
        return _dealt(rooms, asked, known, arms, asked.value("order", str))

    def deal_lab(asked: Asked) -> dict:
        """The arms of a lab."""
        lab = get(asked.value("lab", str))
        if not isinstance(lab, ControlledExperiment) or lab.is_mystery:
            raise Refusal("page.not_a_command")
        arms = [dict(arm) for arm in lab.arms.values()]
        return _dealt(rooms, asked, {**SMALL, **lab.base}, arms, asked.value("order", str), lab)

    def train(asked: Asked) -> dict:
        """The caller's run of the experiment, made with their own token. Who has one is led to it."""
        name, (room, number) = asked.value("activity", str), rooms.authenticate(*asked.key)
        activity = activities.find_activity(room, name, experiment.KIND)
        wanted = experiment.build_experiment(activity, number)
        if run := runs.find(activity["runs"].get(str(number), "")):
            return {"run": run.id, "tab": "training"}
        _wait_for_turn(runs, activity)
        pairs = uploading.dealt(runs, wanted.data.own)
        run = runs.create(wanted, asked.token, pairs=pairs, sentences_shared=True)

        def begun(room: Room, number: int) -> Room:
            now = activities.find_activity(room, name, experiment.KIND)
            if runs.find(now["runs"].get(str(number), "")):
                raise Refusal("rooms.trained_already")
            _wait_for_turn(runs, now)
            return activities.put_activity(room, name, experiment.set_run(now, number, run.id))

        try:
            rooms.change(*asked.key, begun)
        except Refusal:  # somebody was faster, or the room is over: no run is left that nobody asked for
            runs.delete(run.id, asked.token)
            raise
        notice = say(asked.language, "page.started", name=run.name)
        return {"run": run.id, "tab": "training", "carry": cursor.CARRIED, "other": True, "notice": notice}

    def share(asked: Asked) -> dict:
        """Members may see the board from now on, or only while the teacher shows it."""
        name, shared = asked.value("activity", str), asked.value("shared", bool)

        def make(room: Room, number: int) -> Room:
            require_teacher(number)
            return activities.put_activity(room, name, {**activities.find_activity(room, name, experiment.KIND), "shared": shared})

        rooms.change(*asked.key, make)
        return {"done": True}

    return {"deal": deal, "deal_lab": deal_lab, "train": train, "share_board": share}


def _dealt(
    rooms: Rooms, asked: Asked, base: dict[str, Any], arms: list[dict[str, Any]], order: str, lab: ControlledExperiment | None = None
) -> dict:
    whose = {"lab": lab.name, "first": [list(lab.arms).index(arm) for arm in lab.decisive]} if lab else {}

    def make(room: Room, number: int) -> Room:
        require_teacher(number)
        return activities.add_activity(room, experiment.create(base, arms, order, room, **whose))

    name, activity = list(rooms.change(*asked.key, make).activities.items())[-1]
    said = [say(asked.language, "page.room_dealt", arms=len(arms)), unheld(asked.language, activity)]
    return {"activity": name, "notice": paragraph(said)}


def _wait_for_turn(runs: Runs, activity: activities.Activity) -> None:
    """Raises Refusal while another run of an experiment trains whose runs train one after the other."""
    if activity["order"] == "in_turn" and any(run and run.working for run in (runs.find(id) for id in activity["runs"].values())):
        raise Refusal("rooms.not_your_turn")
