"""Grids of lessons and labs: every text, every guess, and the result wherever it takes no training.

There is one grid per lesson or lab with a question, so that its file is small and its answers share their texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from playground.cursor import choices
from playground.features.shared.labs import UNKNOWN
from playground.freeze.grids import Axis, Grid, axis
from playground.lessons.controlled import ControlledExperiment
from playground.lessons.course import LESSONS
from playground.lessons.labs import LABS


def lessons() -> list[Grid]:
    """Returns grids of the list and every lesson: for students, with teachers' notes, and after each guess."""
    questions = {lesson.name: lesson.question.guesses for lesson in LESSONS if lesson.question}
    read = [axis("lesson", ["", *(lesson.name for lesson in LESSONS if lesson.name not in questions)]), axis("notes", ["", "on"])]
    fields = ("notes", "predicted", "certain")
    guessed = [
        [axis("lesson", [name]), Axis(fields, (("on", "", ""), *(("", *guess) for guess in _guesses(guesses, "certain"))))]
        for name, guesses in questions.items()
    ]
    return [read, *guessed]


def labs() -> list[Grid]:
    """Returns grids of the list, every question, and the results of labs that train nothing."""
    instant = {name: lab.guesses for name, lab in LABS.items() if not isinstance(lab, ControlledExperiment)}
    texts = [axis("lab", ["", *(name for name in LABS if name not in instant)])]
    return [texts, *([axis("lab", [name]), Axis(("guess", "sure"), tuple(_guesses(guesses, "sure")))] for name, guesses in instant.items())]


def _guesses(offered: Sequence[str], sure: str) -> Iterator[tuple[str, str]]:
    """Yields (a guess, how sure): none, UNKNOWN, and each guess without and with every certainty."""
    yield "", ""
    yield UNKNOWN, ""
    for guess in offered:
        yield from ((guess, percent) for percent in ("", *choices(sure)))
