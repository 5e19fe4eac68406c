"""The kinds of fields that the cursor has: what each can hold, and why a value is refused."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.config import Refusal

MAX_TEXT = 2000  # characters of a field
Lists = Mapping[str, Collection[str]]


@dataclass(frozen=True, kw_only=True)
class Field:
    """`reset_by` are the fields whose change lets go of this one; what is `carried` stays with whoever begins a new run that can read it.
    What is `personal` is somebody's own answer: no link to give away carries it. An `entry` is where somebody goes: the browser's Back
    returns from it. What is `local` is how one visitor sees the page: who follows another keeps theirs."""

    default: str = ""
    reset_by: tuple[str, ...] = ()
    carried: bool = False
    personal: bool = False
    entry: bool = False
    local: bool = False


@dataclass(frozen=True, kw_only=True)
class Text(Field):
    """Any text, or text of the form that `pattern` gives, with an example of it for people."""

    pattern: str = ""
    example: str = ""

    def refusal(self, name: str, value: str, lists: Lists | None = None) -> Refusal | None:
        """Why the field can't hold `value`; None when it can."""
        if len(value) > MAX_TEXT:
            return Refusal("cursor.too_long", name=name, most=MAX_TEXT)
        if self.pattern and not re.fullmatch(self.pattern, value, re.ASCII):
            return Refusal("cursor.not_written_so", name=name, value=short(value), example=self.example)
        return None

    def read(self, value: str) -> str:
        """`value`; where it must have a form and hasn't, the default."""
        return self.default if self.pattern and self.refusal("", value) else value


@dataclass(frozen=True, kw_only=True)
class Choice(Field):
    """One of `choices`; or of the list of that name, which belongs to another part of the project (see ui/links.py)."""

    choices: tuple[str, ...] | str

    def refusal(self, name: str, value: str, lists: Lists | None = None) -> Refusal | None:
        """The same. Without `lists` nothing is known of choices that another part has."""
        among = self.choices if isinstance(self.choices, tuple) else lists[self.choices] if lists is not None else (value,)
        return None if value in among else Refusal("config.not_a_choice", name=name, value=short(value), choices=", ".join(among))

    def read(self, value: str, among: Sequence[str]) -> str:
        """`value` if it is one of `among`, else the default; where that isn't offered, the first that is."""
        if value in among:
            return value
        return self.default if self.default in ("", *among) else among[0]


@dataclass(frozen=True, kw_only=True)
class Number(Field):
    """From `low` to `high`, both included; a whole number when `step` is one."""

    low: float
    high: float
    step: float = 1

    def value(self, text: str) -> float | None:
        """The number that a text says, wherever it lies; None when it says none."""
        form = r"\d{1,12}" if isinstance(self.step, int) else r"\d{1,12}(\.\d{1,12})?"
        return type(self.step)(text) if re.fullmatch(form, text, re.ASCII) else None

    def refusal(self, name: str, value: str, lists: Lists | None = None) -> Refusal | None:
        number = self.value(value)
        if number is not None and self.low <= number <= self.high:
            return None
        return Refusal("config.not_in_range", name=name, value=short(value), low=f"{self.low:.10g}", high=f"{self.high:.10g}")

    def read(self, text: str, most: float | None = None) -> Any:
        """The number of a text, or of the default where it says none, brought into the bounds, of which `most` may lower the upper one;
        None when there is no default either."""
        number = self.value(text)
        number = self.value(self.default) if number is None else number
        return None if number is None else max(self.low, min(number, self.high if most is None else min(most, self.high)))


def short(value: str) -> str:
    """A foreign value, cut so that it can stand in a sentence."""
    return value if len(value) <= 40 else value[:39] + "…"
