"""Knobs and the cursor's fields: the possible values of a setting, their names and the check of a value."""

import math
import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from playground.choices import BUGS
from playground.words import Refusal, known, named, say

T = TypeVar("T")


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


def label(name: str, language: str) -> str:
    return say(language, f"knobs.{name}.label")


def shown_value(name: str, value: Any, language: str) -> str:
    """Formats a knob's value for the page."""
    if isinstance(value, bool):
        return say(language, "page.on" if value else "page.off")
    if name == "task":
        return say(language, f"tasks.{value}.label")
    key = f"knobs.{name}.{as_text(value)}"
    if not known(language, key):
        return f"{value:g}" if isinstance(value, float) else str(value)
    return named(language, say(language, "lessons.kind_bug"), say(language, key)) if value in BUGS else say(language, key)


def shown_setting(name: str, value: Any, language: str) -> str:
    """Formats a knob with its value: “Heads 4”."""
    return f"{label(name, language)} {shown_value(name, value, language)}"


def _no_choice(name: str, value: Any, choices: Mapping | tuple) -> Refusal:
    return Refusal("config.not_a_choice", name=name, value=shortened(value), choices=", ".join(map(as_text, choices)))


# --- the cursor's fields ---

MAX_TEXT = 2000  # characters of a field
MAX_NAMED = 240  # characters of the choices that a refusal names
Lists = Mapping[str, Collection[str]]


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field. A change of a field in `reset_by` resets it. `carried`: kept when the user begins a new run that can read it. `personal`:
    the user's own answer, never part of a shared link. `entry`: a step of the browser's history, undone by Back. `local`: a display option
    that a visitor keeps while following another."""

    default: str = ""
    reset_by: tuple[str, ...] = ()
    carried: bool = False
    personal: bool = False
    entry: bool = False
    local: bool = False


@dataclass(frozen=True, kw_only=True)
class Text(Field):
    """Any text, or text that matches `pattern`, with an example for error messages."""

    pattern: str = ""
    example: str = ""

    def refusal(self, name: str, value: str, lists: Lists | None = None) -> Refusal | None:
        """Returns why the field can't hold `value`; None when it can."""
        if len(value) > MAX_TEXT:
            return Refusal("cursor.too_long", name=name, most=MAX_TEXT)
        if self.pattern and not re.fullmatch(self.pattern, value, re.ASCII):
            return Refusal("cursor.not_written_so", name=name, value=shortened(value), example=self.example)
        return None

    def read(self, value: str) -> str:
        """Returns `value`, or the default if it doesn't match the pattern."""
        return self.default if self.pattern and self.refusal("", value) else value


@dataclass(frozen=True, kw_only=True)
class Choice(Field):
    """One of `choices`; or of the list of that name, which another module provides (see ui/boot.py)."""

    choices: tuple[str, ...] | str

    def refusal(self, name: str, value: str, lists: Lists | None = None) -> Refusal | None:
        """Returns why the field can't hold `value`. Without `lists` any value of another module's list is accepted."""
        among = self.choices if isinstance(self.choices, tuple) else lists[self.choices] if lists is not None else (value,)
        offered = textwrap.shorten(", ".join(among), MAX_NAMED, placeholder=" …")
        return None if value in among else Refusal("config.not_a_choice", name=name, value=shortened(value), choices=offered)

    def read(self, value: str, among: Sequence[str]) -> str:
        """Returns `value` if it is `among` the offered ones, else the default; if that isn't offered, the first."""
        if value in among:
            return value
        return self.default if self.default in ("", *among) else among[0]


@dataclass(frozen=True, kw_only=True)
class Number(Field):
    """A number from `low` to `high`, both included; a whole one when `step` is."""

    low: float
    high: float
    step: float = 1

    def value(self, text: str) -> float | None:
        """Parses a number, without checking the bounds; None when the text is none."""
        form = r"\d{1,12}" if isinstance(self.step, int) else r"\d{1,12}(\.\d{1,12})?"
        return type(self.step)(text) if re.fullmatch(form, text, re.ASCII) else None

    def refusal(self, name: str, value: str, lists: Lists | None = None) -> Refusal | None:
        number = self.value(value)
        if number is not None and self.low <= number <= self.high:
            return None
        return Refusal("config.not_in_range", name=name, value=shortened(value), low=f"{self.low:.10g}", high=f"{self.high:.10g}")

    def read(self, text: str, most: float | None = None) -> Any:
        """Parses a number, or else the default, clamped to the bounds, of which `most` may lower the upper one; None without number and
        default."""
        number = self.value(text)
        number = self.value(self.default) if number is None else number
        return None if number is None else max(self.low, min(number, self.high if most is None else min(most, self.high)))
