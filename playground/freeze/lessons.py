"""What is asked beforehand of lessons and labs: every text, every guess, and what came of it wherever nothing has to be trained.

There is a grid for each that is answered, so that its file is small and its answers share their texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from playground.cursor import choices
from playground.freeze.grids import Axis, Grid, axis
from playground.lessons.controlled import ControlledExperiment
from playground.lessons.course import LESSONS
from playground.lessons.labs import LABS
from playground.ui.panels.lessons.guessing import UNKNOWN


def lessons() -> list[Grid]:
    """The list and every lesson, as students and as teachers read them, and as somebody sees them who has guessed."""
    asked = {lesson.name: lesson.question.guesses for lesson in LESSONS if lesson.question}
    read = [axis("lesson", ["", *(lesson.name for lesson in LESSONS if lesson.name not in asked)]), axis("notes", ["", "on"])]
    fields = ("notes", "predicted", "certain")
    guessed = [
        [axis("lesson", [name]), Axis(fields, (("on", "", ""), *(("", *guess) for guess in _guesses(guesses, "certain"))))]
        for name, guesses in asked.items()
    ]
    return [read, *guessed]


def labs() -> list[Grid]:
    """The list, every question, and the answers of the labs that train nothing."""
    instant = {name: lab.guesses for name, lab in LABS.items() if not isinstance(lab, ControlledExperiment)}
    asked = [axis("lab", ["", *(name for name in LABS if name not in instant)])]
    return [asked, *([axis("lab", [name]), Axis(("guess", "sure"), tuple(_guesses(guesses, "sure")))] for name, guesses in instant.items())]


def _guesses(offered: Sequence[str], sure: str) -> Iterator[tuple[str, str]]:
    """(a guess, how sure): none yet, nobody's, and each before and after somebody said how sure."""
    yield "", ""
    yield UNKNOWN, ""
    for guess in offered:
        yield from ((guess, percent) for percent in ("", *choices(sure)))
