"""Guessing: what somebody expects and how sure they are, asked before anything is shown; then what came of it. For labs and lessons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from playground.cursor import choices
from playground.ui import blocks
from playground.ui.view import View
from playground.words import paragraph

SURE = choices("sure")  # percent
FIELDS = {"lab": ("guess", "sure"), "lesson": ("predicted", "certain")}  # of the cursor, for what was guessed and how sure somebody is
UNKNOWN = "unknown"  # the guess of somebody who doesn't know
Say = Callable[..., str]  # of a lab or a lesson: (language, key, **values)


def ask(view: View, say: Say, guesses: Sequence[str], about: tuple[str, str]) -> tuple[list[dict], str, str, bool]:
    """(what asks, the guess, how sure, whether the answer may be shown). `about` is the lab or the lesson: ("lab", its name).

    While a class guesses, its answer is shown to nobody, and a guess can become another until the question is closed.
    """
    fields = FIELDS[about[0]]
    guess = view.choice(fields[0], (UNKNOWN, *guesses))
    sure = view.choice(fields[1])
    if view.awaits and guess == UNKNOWN:
        guess = ""
    options = [{"value": value, "label": say(view.language, f"guess_{value}")} for value in guesses]
    asking = [blocks.choice("guess", fields[0], view.say("lessons.guess"), options, guess)]
    answered = not view.awaits and (guess == UNKNOWN or bool(guess and sure))
    if guess and not answered:
        shares = [{"value": value, "label": view.say("lessons.percent", percent=value)} for value in SURE]
        asking.append(blocks.choice("sure", fields[1], view.say("lessons.sure"), shares, sure))
    elif not guess and not view.awaits:
        asking.append(blocks.button("unknown", "move", view.say("lessons.unknown"), to={fields[0]: UNKNOWN}))
    if view.awaits == "closed":
        asking = locked(asking)
    return [*asking, blocks.question("class", *about)], guess, sure, answered


def locked(asking: list[dict]) -> list[dict]:
    """What asked, once the answer is there: the guess is seen and can't be another any more."""
    return [block | {"off": True} if block["kind"] == "choice" else block for block in asking]


def verdict(
    view: View,
    say: Say,
    kept_as: str,
    answer: str,
    numbers: Mapping[str, Any],
    guess: str,
    sure: str,
    more: str = "",
    *,
    also: Sequence[str] = (),
    is_open: bool = False,
) -> list[dict]:
    """What came of a guess, and why; counted in the browser under a name unless `sure` is empty. Guesses that are `also` right are within
    the tolerance; where the experiment leaves the question open, no guess counts."""
    right, knows = guess in (answer, *also), guess != UNKNOWN
    sure = "" if is_open else sure
    key = "undecided" if is_open else "right" if guess == answer else "right_also" if right else "wrong"
    said = view.say(f"lessons.{key}", answer=say(view.language, f"guess_{answer}"))
    why = say(view.language, f"why_{answer}", **numbers)
    return [
        blocks.text("verdict", paragraph((knows and said, why, more)), css="pg-cell"),
        blocks.record("record", kept_as, int(sure) if knows and sure else 0, right),
        blocks.calibration("calibration"),
    ]
