"""Knobs: the possible values of a setting, the check of a value, and the error when it is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from playground.words import ENGLISH, listed, say

T = TypeVar("T")


class Refusal(Exception):
    """A request that can't be fulfilled: `key` names the sentence in words/, `values` fill it in.

    The sentence says what is wrong, where, and what to do. `str(refusal)` is English; `say(language)` is any language. A value that is a
    list is formatted as one in that language.
    """

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key, values)
        self.key, self.values = key, values

    def __reduce__(self) -> tuple:
        """Pickles the values by name, for other processes."""
        return partial(type(self), self.key, **self.values), ()

    def say(self, language: str) -> str:
        values = {name: listed(language, value) if isinstance(value, (list, tuple)) else value for name, value in self.values.items()}
        return say(language, self.key, **values)

    def __str__(self) -> str:
        return self.say(ENGLISH)


@dataclass(frozen=True)
class Knob:
    """The possible values of a field: `choices`, or numbers from `low` to `high`. Whole numbers must be a multiple of `step` above `low`.
    Other numbers are continuous; their `step` is only the control's.

    `live` knobs may change during training. `first` ones are always visible, others on demand. `typed` numbers need a text box, as a
    slider would be too coarse. `text` is free (an id), and checked where it is used.
    """

    low: float | None = None
    high: float | None = None
    step: float | None = None
    choices: tuple = ()
    live: bool = False
    first: bool = False
    typed: bool = False
    text: bool = False


def fit(knob: Knob, name: str, kind: type, value: Any) -> Any:
    """Returns `value` as a value of the knob `name`, a `kind` if it is a number. Raises Refusal with knob, value and possible values.

    Accepts text (from links and the command line) and near-misses of a browser (64.0 for 64). Never accepts NaN, infinity, a number out of
    range, a whole number between two steps, or a choice that is not offered.
    """
    if knob.text:
        if not isinstance(value, str) or len(value) > 64:
            raise Refusal("config.not_text", name=name)
        return value
    if knob.choices:
        for choice in knob.choices:
            if (type(value) is type(choice) and value == choice) or as_text(choice) == as_text(value):
                return choice
        raise _no_choice(name, value, knob.choices)
    try:
        number = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or not knob.low <= number <= knob.high:
        raise Refusal("config.not_in_range", name=name, value=shortened(value), low=as_text(knob.low), high=as_text(knob.high))
    if kind is not int:
        return number
    steps = (number - knob.low) / knob.step
    if steps != round(steps):
        below = int(knob.low + math.floor(steps) * knob.step)
        raise Refusal("config.off_step", name=name, value=shortened(value), below=below, above=int(below + knob.step))
    return int(number)


def declared(name: str, table: Mapping[str, T], choice: str) -> T:
    """Returns the table's entry for a choice of the knob `name`. Raises Refusal when there is none."""
    if choice not in table:
        raise _no_choice(name, choice, table)
    return table[choice]


def as_text(value: Any) -> str:
    """Formats a knob's value as in a link: on/off for booleans, the shortest number otherwise."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(value)


def shortened(value: Any) -> str:
    """Shortens a foreign value for an error message."""
    text = as_text(value) if isinstance(value, (bool, int, float, str)) else type(value).__name__
    return text if len(text) <= 40 else text[:39] + "…"


def _no_choice(name: str, value: Any, choices: Mapping | tuple) -> Refusal:
    return Refusal("config.not_a_choice", name=name, value=shortened(value), choices=", ".join(map(as_text, choices)))
