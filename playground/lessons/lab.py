"""Labs: a question, a guess, an experiment, and an answer computed from what came out. Declared once, for page, command line and tests.

A lab says no sentence itself: its words are the area `lab_<name>` (see playground/words): `title`, `question`, `short` (the question in one
line), `about`, `guess_<answer>`, `why_<answer>`, for each exhibit `show_<exhibit>` and `caption_<exhibit>`, and `name_<label>` for labels
that are words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from playground.config import Refusal
from playground.words import known, say

Value = float | int | str


@dataclass(frozen=True)
class Control:
    """A setting that a student changes. The first of the choices is where it begins unless `default` says otherwise."""

    name: str
    choices: tuple[Value, ...]
    default: Value

    def check(self, value: Any) -> Value:
        """The choice that `value`, perhaps as text, means. Raises Refusal."""
        for choice in self.choices:
            if str(choice) == str(value):
                return choice
        raise Refusal("config.not_a_choice", name=self.name, value=str(value)[:40], choices=", ".join(map(str, self.choices)))


@dataclass(frozen=True)
class Grid:
    """A tensor with a name for every row and column, (R, C); what is masked is hatched, and NaN is a cell without a number."""

    name: str
    values: np.ndarray
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    scale: str = "signed"  # as in figures/tensor.py: "signed", "probability" or "plain"
    hue: str = "encoder"  # "encoder", "decoder" or "cross"
    mask: np.ndarray | None = None  # True where a query may look
    digits: int = 2  # after the point, where the numbers stand in their cells
    said: Mapping[str, Value] = field(default_factory=dict)  # what its caption is filled with


def counted(count: int) -> tuple[str, ...]:
    """Names of rows or columns that are only counted: "0", "1", …"""
    return tuple(map(str, range(count)))


@dataclass(frozen=True)
class Lines:
    """Numbers against a number: each line has a name and as many values as there are in `x`."""

    name: str
    x: np.ndarray
    lines: Mapping[str, np.ndarray]
    log_x: bool = False
    log_y: bool = False
    percent: bool = False  # the values are shares in percent: they are drawn from 0 to 100
    said: Mapping[str, Value] = field(default_factory=dict)
    bands: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)  # of a mean, what lies lowest and highest


@dataclass(frozen=True)
class Dots:
    """A share in percent with every seed, for each name."""

    name: str
    values: Mapping[str, tuple[float, ...]]
    said: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class TextTable:
    """What is told apart by words: (R, C) of text under a name for every column. A cell that is a word of the lab's is said as one."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    said: Mapping[str, Value] = field(default_factory=dict)


class Margin(NamedTuple):
    """The smallest change of one number of one arm with which the `answer` is another. A share changes by hundredths, a loss by nats."""

    change: float
    arm: str
    number: str
    answer: str


@dataclass(frozen=True)
class Outcome:
    """What came out. `numbers` go to the command line and into the words of `why_<answer>`."""

    answer: str  # the guess that these numbers bear out
    numbers: Mapping[str, Value]
    exhibits: tuple[Grid | Lines | Dots | TextTable, ...] = ()
    margin: Margin | None = None  # None: no such change up to REACH
    also: tuple[str, ...] = ()  # guesses that are right as well: the tolerance alone makes the answer another


@dataclass(frozen=True)
class Lab:
    """One question. `run(seed, **controls)` answers it; `code` are the functions that did."""

    name: str
    kind: str  # one of labs.KINDS
    guesses: tuple[str, ...]
    run: Callable[..., Outcome] | None = None
    code: tuple[Callable, ...] = ()
    controls: tuple[Control, ...] = ()
    next: tuple[str, ...] = ()
    minutes: int = 4  # about, with reading and guessing

    @property
    def area(self) -> str:
        return f"lab_{self.name}"

    def say(self, language: str, key: str, **values: Value) -> str:
        return say(language, f"{self.area}.{key}", **values)

    def knows(self, language: str, key: str) -> bool:
        return known(language, f"{self.area}.{key}")

    def arms_of(self, seed: int) -> Mapping[str, Mapping[str, Any]]:
        """What is trained, by name, with the knobs in which each differs: nothing, unless it is an experiment."""
        return {}

    def settings(self, asked: Mapping[str, Any]) -> dict[str, Value]:
        """Every control with its value. Raises Refusal for one that isn't there or can't be so."""
        known = {control.name: control for control in self.controls}
        for name in asked:
            if name not in known:
                raise Refusal("config.unknown", name=name[:40])
        return {name: control.check(asked.get(name, control.default)) for name, control in known.items()}

    def outcome(self, seed: int = 1, **asked: Any) -> Outcome:
        """Runs it. Raises Refusal for settings that there are not."""
        return self.run(seed, **self.settings(asked))
