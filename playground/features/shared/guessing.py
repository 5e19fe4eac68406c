"""Guessing, for labs and lessons: a guess with its confidence, required before the result is shown; then the verdict on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from playground.cursor import choices
from playground.features.shared import blocks
from playground.features.shared.view import View
from playground.words import paragraph

SURE = choices("sure")  # percent
FIELDS = {"lab": ("guess", "sure"), "lesson": ("predicted", "certain")}  # cursor fields of the guess and its confidence
UNKNOWN = "unknown"  # the guess of a student who doesn't know
Say = Callable[..., str]  # of a lab or a lesson: (language, key, **values)


def build_question(view: View, say: Say, guesses: Sequence[str], about: tuple[str, str]) -> tuple[list[dict], str, str, bool]:
    """Returns (the question's blocks, the guess, its confidence, whether the answer may be shown). `about`: ("lab" or "lesson", its name).

    While a class guesses, the answer is hidden from everyone, and a guess may change until the question is closed.
    """
    fields = FIELDS[about[0]]
    guess = view.choice(fields[0], (UNKNOWN, *guesses))
    sure = view.choice(fields[1])
    if view.awaits and guess == UNKNOWN:
        guess = ""
    options = [{"value": value, "label": say(view.language, f"guess_{value}")} for value in guesses]
    question = [blocks.choice("guess", fields[0], view.say("lessons.guess"), options, guess)]
    answered = not view.awaits and (guess == UNKNOWN or bool(guess and sure))
    if guess and not answered:
        levels = [{"value": value, "label": view.say("lessons.percent", percent=value)} for value in SURE]
        question.append(blocks.choice("sure", fields[1], view.say("lessons.sure"), levels, sure))
    elif not guess and not view.awaits:
        question.append(blocks.button("unknown", "move", view.say("lessons.unknown"), to={fields[0]: UNKNOWN}))
    if view.awaits == "closed":
        question = lock_choices(question)
    return [*question, blocks.question("class", *about)], guess, sure, answered


def lock_choices(question: list[dict]) -> list[dict]:
    """Disables the guess once the answer is shown."""
    return [block | {"off": True} if block["kind"] == "choice" else block for block in question]


def build_verdict(
    view: View,
    say: Say,
    record_as: str,
    answer: str,
    numbers: Mapping[str, Any],
    guess: str,
    sure: str,
    more: str = "",
    *,
    also: Sequence[str] = (),
    is_open: bool = False,
) -> list[dict]:
    """Builds the verdict on a guess, and the reason; the browser counts it under `record_as` unless `sure` is empty. Guesses in `also` are
    right within the tolerance; no guess counts where the experiment leaves the question open."""
    right, has_guessed = guess in (answer, *also), guess != UNKNOWN
    sure = "" if is_open else sure
    key = "undecided" if is_open else "right" if guess == answer else "right_also" if right else "wrong"
    sentence = view.say(f"lessons.{key}", answer=say(view.language, f"guess_{answer}"))
    reason = say(view.language, f"why_{answer}", **numbers)
    return [
        blocks.text("verdict", paragraph((has_guessed and sentence, reason, more)), css="pg-cell"),
        blocks.record("record", record_as, int(sure) if has_guessed and sure else 0, right),
        blocks.calibration("calibration"),
    ]
