"""The Course and Labs tabs, the questions at the end of a lesson, and the guesses of a class.

Their blocks. A visitor's progress and guesses are known only to their browser, which fills them in.
"""

from typing import Any, TypedDict

from playground.features.shared.blocks.kind import Value, kind


class LabCard(TypedDict):
    name: str
    title: str
    text: str
    minutes: str


class Card(LabCard, total=False):
    """A lab in a line; its picture is the `thumbnail`, the lines of its result from 0 to 1, described by `axes`; `go` labels its button."""

    thumbnail: list[list[float]]
    axes: str
    go: str


@kind
def cards(id: str, title: str, cards: list[Card]):
    """Labs to choose from."""


class Link(TypedDict):
    """A link: fields of the cursor, the link's label, the block (kind and id) to bring into sight there, and what it bears out."""

    label: str
    to: dict[str, str]
    shows: str
    reason: str


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
    way: Link | None = None,
):
    """A multiple-choice question of a lesson. `asked` is a hash of its content: a stored answer belongs to no other. Until it is answered
    (`value`) and graded, `right` and `why` are withheld."""


@kind
def answers(id: str, lesson: str):
    """Model answers, for the teacher of a room only."""


class LessonCard(TypedDict):
    name: str
    title: str
    text: str
    to: dict[str, str]
    minutes: str
    number: int


@kind
def glimpse(id: str, title: str, label: str, wait: str, to: dict[str, str], shows: str):
    """The picture beside a lesson, and the way to it: of the panel at `to`, the first block of the kind or id `shows`. `title`: its tab."""


@kind
def lessons(id: str, lessons: list[LessonCard]):
    """The list of lessons."""


class LessonStep(TypedDict):
    """A task: `knobs` are set and the cursor moves `to` its place; `sees` is then scrolled into view."""

    name: str
    text: str
    to: dict[str, str]
    knobs: dict[str, Any] | None
    sees: str | None


@kind
def steps(id: str, lesson: str, title: str, steps: list[LessonStep]):
    """The tasks of a lesson."""


@kind
def points(id: str, title: str, points: list[str]):
    """A few sentences, each on its own."""


@kind
def notes(id: str, title: str, rows: list[tuple[str, str]], open: str):
    """Notes for a teacher on the lesson `id`: (name, text) each; `open` labels the link to it."""


@kind
def forget(id: str):
    """The button that deletes the browser's data on the course and all guesses."""


@kind
def handin(id: str, label: str, about: str):
    """The button that shows the visitor's result as a code signed by the server."""
