"""The kinds of the cursor's fields: their possible values, and the reason when a value is refused."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.config import Refusal
from playground.knobs import shortened

MAX_TEXT = 2000  # characters of a field
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
        return None if value in among else Refusal("config.not_a_choice", name=name, value=shortened(value), choices=", ".join(among))

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
