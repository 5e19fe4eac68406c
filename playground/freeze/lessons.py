"""What is asked beforehand of lessons and labs: every text, every guess, and what came of it wherever nothing has to be trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from playground.cursor import choices
from playground.freeze.grids import Axis
from playground.lessons.controlled import ControlledExperiment
from playground.lessons.course import LESSONS
from playground.lessons.labs import LABS
from playground.ui.panels.lessons.guessing import UNKNOWN


def lessons() -> Axis:
    """The list and every lesson, as students and as teachers read them, and as somebody sees them who has guessed."""
    read = [(name, notes, "", "") for name in ("", *(lesson.name for lesson in LESSONS)) for notes in ("", "on")]
    asked = [lesson for lesson in LESSONS if lesson.question]
    guessed = [(lesson.name, "", *guess) for lesson in asked for guess in _guesses(lesson.question.guesses, "certain")]
    return Axis(("lesson", "notes", "predicted", "certain"), (*read, *guessed))


def labs() -> Axis:
    """The list, every question, and the answers of the labs that train nothing."""
    asked = [("", "", ""), *((name, "", "") for name in LABS)]
    instant = [lab for lab in LABS.values() if not isinstance(lab, ControlledExperiment)]
    answered = [(lab.name, *guess) for lab in instant for guess in _guesses(lab.guesses, "sure")]
    return Axis(("lab", "guess", "sure"), (*asked, *answered))


def _guesses(offered: Sequence[str], sure: str) -> Iterator[tuple[str, str]]:
    """(a guess, how sure): nobody's, and each before and after somebody said how sure."""
    yield UNKNOWN, ""
    for guess in offered:
        yield from ((guess, percent) for percent in ("", *choices(sure)))
