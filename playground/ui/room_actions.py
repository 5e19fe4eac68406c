"""Actions of a class, for ui/rooms.py: its experiment is dealt, each member's arm trained, the board shared; a question is asked and
guessed, closed, revealed and withdrawn, and its results read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from playground import cursor
from playground.config import Experiment, Refusal
from playground.features.board.class_board import class_name, name_empty_arms
from playground.features.lessons import room_result
from playground.features.shared import uploading
from playground.features.shared.queries.reader import Reader
from playground.features.shared.view import Screen, View
from playground.lessons.controlled import SMALL, ControlledExperiment
from playground.lessons.labs import get
from playground.rooms import activities, experiment, question
from playground.rooms.question import KIND, Question
from playground.rooms.registry import Rooms
from playground.rooms.room import Room, require_teacher
from playground.runs.registry import Runs
from playground.ui.boot import LISTS
from playground.ui.rights import MEMBER, TEACHER, Right
from playground.words import paragraph, say


class ActionRequest(Protocol):
    """The request of an action, see ui/rooms.py."""

    language: str
    token: str

    @property
    def key(self) -> tuple[str, str]: ...

    def value(self, name: str, *kinds: type) -> Any: ...


def actions(rooms: Rooms, runs: Runs) -> dict[str, tuple[Right, Callable[[ActionRequest], dict[str, Any]]]]:
    """Returns the right and the function of each action by name, as ui/rooms.py does."""

    def deal(call: ActionRequest) -> dict:
        """Deals an experiment with the teacher's settings, of which `arms` differ."""
        knobs, arms = call.value("knobs", dict), call.value("arms", list)
        if not all(isinstance(arm, dict) for arm in arms):
            raise Refusal("page.not_a_command")
        base_settings = {name: value for name, value in knobs.items() if value is not None}
        for arm in ({}, *arms):  # deleted sentences can't be dealt
            uploading.experiment_pairs(runs, Experiment().with_(**{**base_settings, **arm}), call.token)
        return _deal(rooms, call, base_settings, arms, call.value("order", str))

    def deal_lab(call: ActionRequest) -> dict:
        """Deals the arms of a lab."""
        lab = get(call.value("lab", str))
        if not isinstance(lab, ControlledExperiment) or lab.is_mystery:
            raise Refusal("page.not_a_command")
        arms = [dict(arm) for arm in lab.arms.values()]
        return _deal(rooms, call, {**SMALL, **lab.base}, arms, call.value("order", str), lab)

    def train(call: ActionRequest) -> dict:
        """Trains the caller's arm, with their own token; opens their run if it exists already."""
        name, (room, number) = call.value("activity", str), rooms.authenticate(*call.key)
        activity = activities.find_activity(room, name, experiment.KIND)
        settings = experiment.build_experiment(activity, number)
        if run := runs.find(activity["runs"].get(str(number), "")):
            return {"run": run.id, "tab": "training"}
        _wait_for_turn(runs, activity)
        pairs = uploading.dealt_pairs(runs, settings.data.own)
        run = runs.create(settings, call.token, pairs=pairs, sentences_shared=True)

        def record_run(room: Room, number: int) -> Room:
            current = activities.find_activity(room, name, experiment.KIND)
            if runs.find(current["runs"].get(str(number), "")):
                raise Refusal("rooms.trained_already")
            _wait_for_turn(runs, current)
            return activities.put_activity(room, name, experiment.set_run(current, number, run.id))

        try:
            rooms.change(*call.key, record_run)
        except Refusal:  # a concurrent call won, or the room has ended: leave no orphan run
            runs.delete(run.id, call.token)
            raise
        notice = say(call.language, "page.started", name=run.name)
        return {"run": run.id, "tab": "training", "carry": cursor.CARRIED, "other": True, "notice": notice}

    def share(call: ActionRequest) -> dict:
        """Shows the board to the members at any time, or only while the teacher does."""
        name, shared = call.value("activity", str), call.value("shared", bool)

        def set_shared(room: Room, number: int) -> Room:
            require_teacher(number)
            return activities.put_activity(room, name, {**activities.find_activity(room, name, experiment.KIND), "shared": shared})

        rooms.change(*call.key, set_shared)
        return {"done": True}

    return {"deal": (TEACHER, deal), "deal_lab": (TEACHER, deal_lab), "train": (MEMBER, train), "share_board": (TEACHER, share)}


def _deal(
    rooms: Rooms, call: ActionRequest, base: dict[str, Any], arms: list[dict[str, Any]], order: str, lab: ControlledExperiment | None = None
) -> dict:
    lab_fields = {"lab": lab.name, "first": [list(lab.arms).index(arm) for arm in lab.decisive]} if lab else {}

    def add(room: Room, number: int) -> Room:
        require_teacher(number)
        return activities.add_activity(room, experiment.create(base, arms, order, room, **lab_fields))

    name, activity = list(rooms.change(*call.key, add).activities.items())[-1]
    sentences = [say(call.language, "page.room_dealt", arms=len(arms)), name_empty_arms(call.language, activity)]
    return {"activity": name, "notice": paragraph(sentences)}


def _wait_for_turn(runs: Runs, activity: activities.Activity) -> None:
    """Raises Refusal while another run of an experiment trained in turn is at work."""
    if activity["order"] == "in_turn" and any(run and run.working for run in (runs.find(id) for id in activity["runs"].values())):
        raise Refusal("rooms.not_your_turn")


PLACE = {"lab": ("lab", "toss", "arms"), "lesson": ("lesson", "run", "step", "text")}  # fields of the cursor that identify the question
Key = tuple[str, str]  # the room's code and a ticket


class Questions:
    """The questions of all rooms. Methods raise Refusal without the right, and for a missing question."""

    def __init__(self, rooms: Rooms, runs: Runs, reader: Reader) -> None:
        self._rooms, self._runs, self._reader = rooms, runs, reader

    def ask(self, key: Key, about: str, cursor: Mapping[str, str]) -> None:
        """Asks the room the question on screen, of a "lab" or a "lesson"; `cursor` is the teacher's."""
        if not cursor.get(about) or about not in PLACE:
            raise Refusal("rooms.no_question")
        place = {name: cursor[name] for name in PLACE[about] if cursor.get(name)}
        offered = room_result.list_guesses(place)
        self._rooms.change(*key, lambda room, number: activities.add_activity(room, question.ask(room, number, place, offered, LISTS)))

    def answer(self, key: Key, name: str, guess: str, sure: str) -> None:
        self._change(key, name, lambda asked_question, room, number: question.guess(asked_question, number, guess, sure))

    def close(self, key: Key, name: str) -> None:
        self._change(key, name, question.close)

    def reveal(self, key: Key, name: str, cursor: Mapping[str, str], token: str) -> None:
        """Reveals the answer that the experiment gives by now, from the arms' runs at the teacher's cursor."""
        view = self._rooms.view(*key)
        question.require_teacher(view["number"])
        place = _find_question(view["activities"], name)["place"]
        try:
            teacher_fields = {"run": cursor.get("run", ""), **({"arms": cursor["arms"]} if cursor.get("arms") else {})}
            parameters = {**place, **teacher_fields} if "lab" in place else place
            answer = room_result.find_right_answer(View(self._runs, self._reader, parameters, token), place)
        except Refusal:  # a run was deleted, or doesn't know the answer yet
            answer = ""
        self._change(key, name, lambda asked_question, room, number: question.reveal(asked_question, room, number, answer))

    def read(self, key: Key, name: str, parameters: Mapping[str, str]) -> dict[str, Any]:
        """Returns the blocks of a revealed question, from the data that this member may see only."""
        activities_seen = self._rooms.view(*key)["activities"]
        revealed = _find_question(activities_seen, name)
        if revealed["state"] != "revealed":
            raise Refusal("rooms.not_revealed")
        questions = [activity for activity in activities_seen.values() if activity["kind"] == KIND]
        screen = Screen(parameters)
        return {"of": class_name(screen, key[0]), "blocks": room_result.build_result(screen, revealed, questions)}

    def _change(self, key: Key, name: str, make: Callable[[Question, Room, int], Question]) -> None:
        def change(room: Room, number: int) -> Room:
            return activities.put_activity(room, name, make(activities.find_activity(room, name, KIND), room, number))

        self._rooms.change(*key, change)


def _find_question(room_activities: Mapping[str, Any], name: str) -> dict[str, Any]:
    if room_activities.get(name, {}).get("kind") != KIND:
        raise Refusal("rooms.no_activity")
    return room_activities[name]
