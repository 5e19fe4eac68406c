"""Labs: a question, a guess, an experiment, and an answer computed from its numbers. Declared once, for page, command line and tests.

A lab's messages are the area `lab_<name>` (see playground/words): `title`, `question`, `short` (the question in one line), `about`,
`guess_<answer>`, `why_<answer>` where there is more to say than its numbers, for each exhibit `show_<exhibit>` and `caption_<exhibit>`, and
`name_<label>` for labels that are words.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from playground.config import Refusal
from playground.words import known, paragraph, say

Value = float | int | str
# Beginnings of keys -> the text common to several labs that ends theirs.
ENDINGS = {"about": "setup", "question": "asks", "caption_decides": "rings", "caption_ends": "units", "caption_so_far": "units"}


def compose(language: str, find_key: Callable[[str], str], key: str, values: Mapping[str, Any]) -> str:
    """Returns a text with those that belong to it: what all verdicts share stands once, in `verdict_numbers` before and `verdict_reason`
    after the `why_` of an answer. `find_key` returns the full key of a text."""
    keys = (key, *(end for beginning, end in ENDINGS.items() if key.startswith(beginning)))
    keys = ("verdict_numbers", key, "verdict_reason") if key.startswith("why_") else keys
    full_keys = [find_key(part) for part in keys if part == key or known(language, find_key(part))]
    return paragraph(say(language, full_key, **values) for full_key in full_keys)


@dataclass(frozen=True)
class Control:
    """A setting that the student changes, with its initial value."""

    name: str
    choices: tuple[Value, ...]
    default: Value

    def check(self, value: Any) -> Value:
        """Returns the choice equal to `value`, which may be text. Raises Refusal."""
        for choice in self.choices:
            if str(choice) == str(value):
                return choice
        raise Refusal("config.not_a_choice", name=self.name, value=str(value)[:40], choices=", ".join(map(str, self.choices)))


@dataclass(frozen=True)
class Grid:
    """A tensor (R, C) with named rows and columns; masked cells are hatched, and NaN is an empty cell."""

    name: str
    values: np.ndarray
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    scale: str = "signed"  # as in features/shared/figures/tensor.py: "signed", "probability" or "plain"
    hue: str = "encoder"  # "encoder", "decoder" or "cross"
    mask: np.ndarray | None = None  # True where a query can attend
    digits: int = 2  # decimals of numbers printed in cells
    caption: Mapping[str, Value] = field(default_factory=dict)  # values for its caption's placeholders


def number_labels(count: int) -> tuple[str, ...]:
    """Returns numbered labels of rows or columns: "0", "1", …"""
    return tuple(map(str, range(count)))


@dataclass(frozen=True)
class Lines:
    """Line plot: each line has a name and one value per element of `x`."""

    name: str
    x: np.ndarray
    lines: Mapping[str, np.ndarray]
    log_x: bool = False
    log_y: bool = False
    percent: bool = False  # the values are percentages, drawn from 0 to 100
    caption: Mapping[str, Value] = field(default_factory=dict)
    bands: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)  # lowest and highest values around a mean
    ends: tuple[float, float] | None = None  # of the axis of x, if they are known before the values


@dataclass(frozen=True)
class Dots:
    """Percentages of every seed, by name."""

    name: str
    values: Mapping[str, tuple[float, ...]]
    caption: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class TextTable:
    """A table of text (R, C) with a name per column. Cells that are keys of the lab's words are translated."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: Mapping[str, Value] = field(default_factory=dict)


class Margin(NamedTuple):
    """The smallest change of one number of one arm that changes the `answer`, in hundredths for fractions, nats for losses."""

    change: float
    arm: str
    number: str
    answer: str


@dataclass(frozen=True)
class Outcome:
    """A result of a lab. `numbers` go to the command line and into the placeholders of `why_<answer>`."""

    answer: str  # the guess that the numbers support
    numbers: Mapping[str, Value]
    exhibits: tuple[Grid | Lines | Dots | TextTable, ...] = ()
    margin: Margin | None = None  # None: no such change up to REACH
    also: tuple[str, ...] = ()  # guesses that are correct too: only the tolerance separates them from the answer


@dataclass(frozen=True)
class Lab:
    """One question, answered by `run(seed, **controls)`; `code` lists the functions shown as source."""

    name: str
    guesses: tuple[str, ...]
    run: Callable[..., Outcome] | None = None
    code: tuple[Callable, ...] = ()
    controls: tuple[Control, ...] = ()
    next: tuple[str, ...] = ()
    minutes: int = 4  # including reading and guessing
    kind: str = "worked_example"  # one of labs.KINDS
    order: int = 0  # among labs of its kind
    is_drawn: bool = True  # whether its seed changes what it shows
    starts: bool = False  # among the first that the page recommends
    expects: str | None = None  # the answer that its numbers support, with any seed; "" without one, None untested
    first: str = ""  # the exhibit beside its question: a grid of what is asked about, or curves, at first only their axes

    @property
    def area(self) -> str:
        return f"lab_{self.name}"

    @property
    def aside(self) -> tuple[str, ...]:
        """The names of the exhibits that stand beside its question."""
        return (self.first,)

    def say(self, language: str, key: str, **values: Value) -> str:
        """Returns the lab's text (see `compose`); what several labs have in common stands in `setup` after `about` and `asks` after
        `question`."""
        return compose(language, partial(self.find_key, language), key, values)

    def find_key(self, language: str, key: str) -> str:
        """Returns the full key of a text; of a `why_` that it lacks, a common one."""
        own = f"{self.area}.{key}"
        return "lessons.so" if key.startswith("why_") and not known(language, own) else own

    def knows(self, language: str, key: str) -> bool:
        return known(language, self.find_key(language, key))

    def arms_of(self, seed: int) -> Mapping[str, Mapping[str, Any]]:
        """Returns the knobs of each trained arm by its name; {} for labs without training."""
        return {}

    def settings(self, choices: Mapping[str, Any]) -> dict[str, Value]:
        """Returns all controls with their values. Raises Refusal for unknown controls and values."""
        known = {control.name: control for control in self.controls}
        for name in choices:
            if name not in known:
                raise Refusal("config.unknown", name=name[:40])
        return {name: control.check(choices.get(name, control.default)) for name, control in known.items()}

    def outcome(self, seed: int = 1, **choices: Any) -> Outcome:
        """Runs the lab. Raises Refusal for unknown controls and values."""
        return self.run(seed, **self.settings(choices))
