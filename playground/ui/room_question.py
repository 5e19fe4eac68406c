"""The class's guess: a question is put to a room, answered, closed, revealed and taken back; what came of it is read. For ui/rooms.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from playground.config import Refusal
from playground.queries.reader import Reader
from playground.rooms import activities, question
from playground.rooms.question import KIND, Question
from playground.rooms.registry import Rooms
from playground.rooms.room import Room
from playground.runs.registry import Runs
from playground.ui.class_board import class_name
from playground.ui.links import LISTS
from playground.ui.panels.lessons import room_result
from playground.ui.view import Screen, View

PLACE = {"lab": ("lab", "toss", "arms"), "lesson": ("lesson", "run", "step", "text")}  # fields of the cursor that say what is asked
Key = tuple[str, str]  # the room's code and a ticket


class Questions:
    """The questions of all rooms. Every call raises Refusal for who may not, and for a question that is gone."""

    def __init__(self, rooms: Rooms, runs: Runs, reader: Reader) -> None:
        self._rooms, self._runs, self._reader = rooms, runs, reader

    def ask(self, key: Key, about: str, cursor: Mapping[str, str]) -> None:
        """Puts the question on screen, of a "lab" or a "lesson", to the room; `cursor` is where the teacher looks."""
        if not cursor.get(about) or about not in PLACE:
            raise Refusal("rooms.no_question")
        place = {name: cursor[name] for name in PLACE[about] if cursor.get(name)}
        offered = room_result.options(place)
        self._rooms.change(*key, lambda room, number: activities.add_activity(room, question.ask(room, number, place, offered, LISTS)))

    def answer(self, key: Key, name: str, guess: str, sure: str) -> None:
        self._change(key, name, lambda one, room, number: question.guess(one, number, guess, sure))

    def close(self, key: Key, name: str) -> None:
        self._change(key, name, question.close)

    def reveal(self, key: Key, name: str, cursor: Mapping[str, str], token: str) -> None:
        """With what the experiment says by now; the runs of its arms are those that the teacher looks at."""
        view = self._rooms.view(*key)
        question.require_teacher(view["number"])
        place = _found(view["activities"], name)["place"]
        try:
            looked_at = {"run": cursor.get("run", ""), **({"arms": cursor["arms"]} if cursor.get("arms") else {})}
            parameters = {**place, **looked_at} if "lab" in place else place
            answer = room_result.right_answer(View(self._runs, self._reader, parameters, token), place)
        except Refusal:  # a run that is deleted by now, or knows the answer only later
            answer = ""
        self._change(key, name, lambda one, room, number: question.reveal(one, room, number, answer))

    def read(self, key: Key, name: str, parameters: Mapping[str, str]) -> dict[str, Any]:
        """What a revealed question has to show: made of what this member may see, and nothing else."""
        seen = self._rooms.view(*key)["activities"]
        found = _found(seen, name)
        if found["state"] != "revealed":
            raise Refusal("rooms.not_revealed")
        questions = [one for one in seen.values() if one["kind"] == KIND]
        screen = Screen(parameters)
        return {"of": class_name(screen, key[0]), "blocks": room_result.result(screen, found, questions)}

    def _change(self, key: Key, name: str, make: Callable[[Question, Room, int], Question]) -> None:
        def change(room: Room, number: int) -> Room:
            return activities.put_activity(room, name, make(activities.find_activity(room, name, KIND), room, number))

        self._rooms.change(*key, change)


def _found(seen: Mapping[str, Any], name: str) -> dict[str, Any]:
    if seen.get(name, {}).get("kind") != KIND:
        raise Refusal("rooms.no_activity")
    return seen[name]
