"""A question with its key: the correct option is computed from the run, and every wrong one by a likely mistake."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from playground.config import Refusal
from playground.features.shared.queries.activations import activations
from playground.features.shared.queries.reader import REFERENCE, Reader
from playground.features.shared.queries.results import SentenceTrace
from playground.inspection.activations import Stage
from playground.runs.run import Run
from playground.words import percentage, printed, say

MAX_OPTIONS = 4  # options
MIN_DIFFERENCE = 0.03  # fraction of the larger of two numbers below which a picture can't separate them


class Option(NamedTuple):
    """An option: a language-independent text, or the message `checks.<key>` with its `values`."""

    plain: str = ""
    key: str = ""
    values: tuple[tuple[str, Any], ...] = ()

    def text(self, language: str) -> str:
        return say(language, f"checks.{self.key}", **dict(self.values)) if self.key else self.plain


def make_option(key: str, **values: Any) -> Option:
    return Option(key=key, values=tuple(values.items()))


@dataclass(frozen=True)
class Posed:
    """`options[key]` is correct. `values` fill the messages of the question and answer, `to` locates the answer in the app, as fields
    of the cursor, in the block that `shows` it (kind and id). A `picture` is a mask, (Q, K), True where a query can attend."""

    options: tuple[Option, ...]
    key: int
    values: Mapping[str, Any]
    to: Mapping[str, str]
    picture: np.ndarray | None = None
    shows: str = ""

    @property
    def answer(self) -> Option:
        return self.options[self.key]


@dataclass(frozen=True)
class Check:
    """`pose` raises Refusal for a run or a sentence that doesn't allow the question. `by_formula`: see BY_FORMULA of this package."""

    name: str
    pose: Callable[[CheckContext], Posed]
    by_formula: bool


@dataclass
class CheckContext:
    """The student's screen: one sentence at one step of one run; the decoder is fed the reference or, if not `reference`, its own output.
    `chance` draws the row, head or token of a question, seeded so that the same question repeats."""

    reader: Reader
    run: Run
    step: int | None
    text: str
    reference: bool = True
    chance: random.Random = field(default_factory=random.Random)

    @cached_property
    def look(self) -> SentenceTrace:
        return self.reader.look(self.run, self.step, self.text, REFERENCE if self.reference else None)

    @cached_property
    def stages(self) -> Mapping[str, Stage]:
        return activations(self.reader, self.run, self.step, self.text, self.reference)[0].stages

    def row_name(self, row: int) -> str:
        """Returns the label of a decoder row in the pictures, with its number, as labels may repeat."""
        return f"{row + 1}: {self.look.fed[row].text} → {self.look.targets[row].text}"

    def number(self, right: float, wrong: Iterable[float], to: Mapping[str, str], form: Callable[[float], str], **values: Any) -> Posed:
        """Poses a question with the correct number among distinguishable ones. Raises Refusal without any."""
        numbers = [right]
        for number in wrong:
            apart = (abs(number - other) > MIN_DIFFERENCE * max(abs(number), abs(other)) for other in numbers)
            if np.isfinite(number) and all(apart) and form(number) not in map(form, numbers):
                numbers.append(number)
        texts = [printed(form(chosen)) for chosen in numbers]
        return self.text_of(texts[0], texts[1:], to, **values)

    def text_of(self, right: str, wrong: Iterable[str], to: Mapping[str, str], **values: Any) -> Posed:
        return self.among(Option(right), list(map(Option, wrong)), to, **values)

    def among(self, right: Option, wrong: Sequence[Option], to: Mapping[str, str], picture: Any = None, **values: Any) -> Posed:
        """Poses a question with the correct option at a random index. Raises Refusal without wrong options."""
        wrong_options = [option for at, option in enumerate(wrong) if option != right and option not in wrong[:at]][: MAX_OPTIONS - 1]
        if not wrong_options:
            raise Refusal("checks.nothing_to_choose")
        options = [right, *wrong_options]
        self.chance.shuffle(options)
        return Posed(tuple(options), options.index(right), values, to, picture)


def percent(value: float) -> str:
    return f"{percentage(value)} %"


def short(value: float, digits: int = 3) -> str:
    """Formats so many significant digits."""
    return f"{value:.{digits}g}" if 1e-3 <= abs(value) < 1e4 or not value else f"{value:.{digits - 1}e}"


probability = "{:.6g}".format  # enough digits to compute the logarithm, even near 1
whole = "{:,.0f}".format
