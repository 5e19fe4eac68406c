"""The class's guess, for ui/rooms.py: asks a room a question, takes guesses, closes, reveals and withdraws it; reads the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from playground.config import Refusal
from playground.features.board.class_board import class_name
from playground.features.lessons import room_result
from playground.features.shared.queries.reader import Reader
from playground.features.shared.view import Screen, View
from playground.rooms import activities, question
from playground.rooms.question import KIND, Question
from playground.rooms.registry import Rooms
from playground.rooms.room import Room
from playground.runs.registry import Runs
from playground.ui.links import LISTS

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
