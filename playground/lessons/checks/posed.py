"""A question with its key: the right choice is computed from the run, and so is every wrong one: it is what a likely mistake gives."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from playground.config import Refusal
from playground.inspection.activations import Stage
from playground.queries.activations import activations
from playground.queries.reader import REFERENCE, Reader
from playground.queries.results import SentenceTrace
from playground.runs.run import Run
from playground.words import printed, say
from playground.words.amounts import percentage

MOST = 4  # choices
APART = 0.03  # numbers nearer to each other than this share of the larger are told apart by no picture


class Said(NamedTuple):
    """A choice: a text that every language has, or the words `checks.<key>` with its `values`."""

    plain: str = ""
    key: str = ""
    values: tuple[tuple[str, Any], ...] = ()

    def text(self, language: str) -> str:
        return say(language, f"checks.{self.key}", **dict(self.values)) if self.key else self.plain


def worded(key: str, **values: Any) -> Said:
    return Said(key=key, values=tuple(values.items()))


@dataclass(frozen=True)
class Posed:
    """`options[key]` is right. `said` fills the words of the question and of its answer, `to` is where the answer is to be seen, as fields
    of the cursor. A `picture` is a mask, (Q, K), True where a query can attend."""

    options: tuple[Said, ...]
    key: int
    said: Mapping[str, Any]
    to: Mapping[str, str]
    picture: np.ndarray | None = None

    @property
    def answer(self) -> Said:
        return self.options[self.key]


@dataclass(frozen=True)
class Check:
    """`pose` raises Refusal for a run or a sentence of which this can't be asked. `by_formula`: the key follows from the paper's formulas
    and would be wrong of a model that was changed on purpose."""

    name: str
    pose: Callable[[Seen], Posed]
    by_formula: bool = False


@dataclass
class Seen:
    """What a learner has before them: one sentence, at one step of one run; the decoder is fed the reference unless its own output is
    asked for. `chance` draws which row, head or token a question is about, the same whenever the same is asked."""

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
        """A row of the decoder as the pictures call it, with its number: there may be two of that name."""
        return f"{row + 1}: {self.look.fed[row].text} → {self.look.targets[row].text}"

    def number(self, right: float, wrong: Iterable[float], to: Mapping[str, str], form: Callable[[float], str], **said: Any) -> Posed:
        """The right number among others that a picture tells apart from it and from each other. Raises Refusal where there are none."""
        taken = [right]
        for number in wrong:
            if np.isfinite(number) and all(_apart(number, other) and form(number) != form(other) for other in taken):
                taken.append(number)
        texts = [printed(form(one)) for one in taken]
        return self.text_of(texts[0], texts[1:], to, **said)

    def text_of(self, right: str, wrong: Iterable[str], to: Mapping[str, str], **said: Any) -> Posed:
        return self.among(Said(right), list(map(Said, wrong)), to, **said)

    def among(self, right: Said, wrong: Sequence[Said], to: Mapping[str, str], picture: np.ndarray | None = None, **said: Any) -> Posed:
        """The right choice in a place drawn by chance. Raises Refusal where there is no other."""
        others = [one for at, one in enumerate(wrong) if one != right and one not in wrong[:at]][: MOST - 1]
        if not others:
            raise Refusal("checks.nothing_to_choose")
        options = [right, *others]
        self.chance.shuffle(options)
        return Posed(tuple(options), options.index(right), said, to, picture)


def _apart(one: float, other: float) -> bool:
    return abs(one - other) > APART * max(abs(one), abs(other))


def percent(value: float) -> str:
    return f"{percentage(value)} %"


def short(value: float) -> str:
    """Three digits that count."""
    return f"{value:.3g}" if 1e-3 <= abs(value) < 1e4 or not value else f"{value:.2e}"


def probability(value: float) -> str:
    """With so many digits that its logarithm can be worked out, also near 1."""
    return f"{value:.6g}"


def signed(value: float) -> str:
    """As the map prints the number of a cell."""
    return f"{value:.4f}"


def whole(value: float) -> str:
    return f"{value:,.0f}"
