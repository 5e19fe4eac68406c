"""What labs and lessons have in common when they ask for a guess."""

from __future__ import annotations

import pytest

from playground.lessons.course import LESSONS
from playground.lessons.labs import LABS
from playground.ui.panels.lessons.guessing import UNKNOWN

QUESTIONS = {**LABS, **{lesson.name: lesson.question for lesson in LESSONS if lesson.question}}


@pytest.mark.parametrize("name", QUESTIONS)
def test_whoever_does_not_know_is_not_taken_to_have_guessed(name):
    assert UNKNOWN not in QUESTIONS[name].guesses
