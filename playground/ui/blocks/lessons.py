"""Blocks of labs and of the course. What somebody did and guessed is known to their browser only, which fills it in."""

from __future__ import annotations

from typing import Any, TypedDict

from playground.ui.blocks.kind import Value, kind


class LabCard(TypedDict):
    name: str
    title: str
    text: str
    minutes: str


class Card(LabCard, total=False):
    """A lab in a line; with a `thumbnail`, the lines of its result from 0 to 1, it has a picture, of which `axes` says what it shows."""

    thumbnail: list[list[float]]
    axes: str


@kind
def cards(id: str, title: str, cards: list[Card]):
    """Labs to choose from."""


@kind
def record(id: str, lab: str, sure: int, right: bool):
    """Nothing to see: the guess is counted, `sure` is in percent; at 0 it isn't counted."""


class Way(TypedDict):
    """Where something is to be seen: fields of the cursor, and what the way there is called."""

    label: str
    to: dict[str, str]


@kind
def check(
    id: str,
    lesson: str,
    asked: str,
    text: str,
    options: list[Value],
    value: str = "",
    right: str = "",
    why: str = "",
    way: Way | None = None,
):
    """A question of a lesson to be answered by choosing. `asked` is a hash of what is asked: an answer belongs to no other. Until it is
    answered (`value`) nobody is told which option is `right`, nor `why`."""


@kind
def answers(id: str, lesson: str):
    """Model answers, which the teacher of a room reads, and nobody else."""


@kind
def calibration(id: str):
    """How often guesses of which somebody was so sure were right."""


@kind
def question(id: str, field: str, name: str):
    """The question of a lab or a lesson (`field` of the cursor) as a class's: how it is put to the room, and what came of it. Nothing to
    see outside of a room."""


class LessonCard(TypedDict):
    name: str
    title: str
    text: str
    to: dict[str, str]
    minutes: str


@kind
def lessons(id: str, lessons: list[LessonCard]):
    """The list of lessons."""


class LessonStep(TypedDict):
    """Something to do: `knobs` are set and the cursor moves `to` where it can be done; `sees` is then brought into sight."""

    name: str
    text: str
    to: dict[str, str]
    knobs: dict[str, Any] | None
    sees: str | None


@kind
def steps(id: str, lesson: str, title: str, steps: list[LessonStep]):
    """What there is to do in a lesson."""


@kind
def points(id: str, title: str, points: list[str]):
    """A few sentences, each on its own."""


@kind
def notes(id: str, title: str, rows: list[tuple[str, str]], open: str):
    """What a teacher may want to know of the lesson `id`: (name, text) each; `open` names the way to it."""


@kind
def forget(id: str):
    """The button that forgets what the browser knows of the course and of all guesses."""


class Mistake(TypedDict):
    """A number that stands at another place, and what to say to whoever read that one."""

    value: float
    text: str


@kind
def tour(
    id: str,
    stop: str,
    place: str,
    title: str,
    text: str,
    formula: str,
    ask: str,
    answer: float | None,
    tolerance: float,
    right: str,
    where: str,
    mistakes: list[Mistake],
    previous: str,
    next: str,
    words: dict[str, str],
):
    """A stop of the tour: what happens there, and a number to read off. It is the `answer` up to the `tolerance`, and None where it is no
    number; `where` says where it stands. `previous` and `next` name the stops beside it."""
