"""Arithmetic on paper: how one number came to be, written in decimals and calculated with nothing but what is written.

Every number is rounded first and used as it is printed, so whoever follows the lines with a pocket calculator gets the same numbers. A
line's text is arithmetic: + - × ÷ ^ √( exp( erf( sin( cos( max(, and three signs for a column of the table of terms when that is too long
to be spelt out: "Σ" the sum of its last column, "Σ left" the sum and "max left" the largest of its first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

SPELT = 8  # terms, up to which a sum is written out in its line
ENOUGH = 5e-6  # how near the result must come to the cell: half of what is promised, the rest is for rounding on the way
HUGE = 1e15  # from here on a number is the mask's

SYMBOLS = {
    "x": "x", "memory": "m", "sublayer": "y", "concat": "c", "hidden": "h", "activated": "a", "q": "q", "k": "k", "v": "v",
    "score": "s", "weight": "α", "mixed": "o", "logit": "z", "rest": "…", "real": "real", "embedding": "E", "position": "P",
    "W_q": "W_Q", "W_k": "W_K", "W_v": "W_V", "W_o": "W_O", "W_1": "W_1", "W_2": "W_2", "W_vocabulary": "W",
    "b_q": "b_Q", "b_k": "b_K", "b_v": "b_V", "b_o": "b_O", "b_1": "b_1", "b_2": "b_2", "b_vocabulary": "b",
    "gain": "γ", "shift": "β", "mean": "μ", "largest": "max", "cos": "cos", "sin": "sin", "minus_sin": "-sin",
    "delta": "δ", "normed": "x̂", "target": "y", "logit_of": "z", "token_loss": "−ln p", "mean_loss": "mean", "theta": "θ", "gradient": "g",
    "first_moment": "m", "second_moment": "v", "momentum": "m", "orthogonal": "O",
    "error_head": "δ", "error_weight": "∂L/∂α", "error_layer": "δ", "error_sum": "∂L/∂(x + y)", "error_norm": "γδ", "mean_error": "mean γδ",
    "normed_x": "x̂", "deviation": "σ", "kept": "dropout",
}  # fmt: skip
# What the cells of a stage are called; those of all others are an x.
STAGES = {
    "memory": "memory", "concat": "concat", "activated": "activated", "q": "q", "k": "k", "v": "v", "q_turned": "q", "k_turned": "k",
    "scores": "score", "scaled": "score", "masked": "score", "weights": "weight", "mixed": "mixed", "W_o": "sublayer", "W_2": "sublayer",
    "hidden": "hidden", "logits": "logit",
}  # fmt: skip
# Places are counted from 1, but ids of tokens, positions and pairs of dimensions from 0, as in the paper and in the vocabulary.
FROM_0 = {
    "embedding": (0,), "W_vocabulary": (1,), "b_vocabulary": (0,), "logit": (1,),
    "logit_of": (0,), "position": (0,), "cos": (0, 1), "sin": (0, 1), "minus_sin": (0, 1),
}  # fmt: skip


class Label(NamedTuple):
    """What a number is: `name` (words map.term_<name>) and its place, counted from 0, in the array it was taken from.

    `stage` is the address of that array when the model computed it, `parameter` its name in the model when it was learnt. A matrix is
    indexed as in the paper, x W: (in, out); torch keeps it the other way round.
    """

    name: str
    index: tuple[int, ...] = ()
    stage: str | None = None
    parameter: str | None = None

    @property
    def text(self) -> str:
        """"W_Q[3, 1]": the symbol and the place, as a person counts it."""
        places = [str(i + (axis not in FROM_0.get(self.name, ()))) for axis, i in enumerate(self.index)]
        return SYMBOLS[self.name] + (f"[{', '.join(places)}]" if places else "")


class Given(NamedTuple):
    """A number that is taken from somewhere, and its label."""

    label: Label
    value: float


class Term(NamedTuple):
    """One line of the table: left and right, as printed, and the part they make. In the line for the rest of a long table only the part
    is known."""

    left: Label
    left_value: str
    right: Label | None
    right_value: str
    part: str


class Lead(NamedTuple):
    """A number that is used once beside the table: a bias, an entry of the table of positions."""

    label: Label
    value: str


class CalculationStep(NamedTuple):
    """One line: `text` calculated gives `result`; `key` names the sentence that says why, `values` fill it in."""

    key: str
    text: str
    result: str
    values: dict[str, object]


@dataclass(frozen=True)
class Derivation:
    """How the cell `index` of the stage `address` came to be.

    `key` and `values` name its formula. `terms` make their parts by `operation`: "product" left × right, "exp" e^(left - right), "square"
    (left - right)²; "" when there are no terms. `steps` lead from there to `result`; `shown` is the cell itself. They agree to 1e-5
    (relative above 1) when `agrees`, which only the model's own 7-digit rounding could prevent.
    """

    address: str
    index: tuple[int, ...]
    key: str
    values: dict[str, object]
    operation: str
    terms: tuple[Term, ...]
    leads: tuple[Lead, ...]
    steps: tuple[CalculationStep, ...]
    result: str
    shown: str
    agrees: bool


@dataclass
class Sheet:
    """A sheet of paper on which one cell is calculated with so many decimals."""

    decimals: int
    operation: str = ""
    terms: list[Term] = field(default_factory=list)
    leads: list[Lead] = field(default_factory=list)
    steps: list[CalculationStep] = field(default_factory=list)
    drift: float = 0.0  # by how much the rounding of products has moved their sum

    def write(self, value: float) -> str:
        """The number in decimals, without zeros at the end; the mask's -1e30 as that."""
        if abs(value) >= HUGE:
            return f"{value:.0e}".replace("e+", "e")
        text = f"{value:.{self.decimals}f}".rstrip("0").rstrip(".")
        return "0" if text == "-0" else text

    def lead(self, given: Given) -> str:
        """Notes a number that stands beside the table; returns it as printed."""
        self.leads.append(Lead(given.label, self.write(given.value)))
        return self.leads[-1].value

    def step(self, key: str, text: str, value: float, **values: object) -> str:
        """Writes a line and returns its printed result."""
        self.steps.append(CalculationStep(f"map.why_{key}", text, self.write(value), values))
        return self.steps[-1].result

    def column(self, side: str) -> list[float]:
        """The "left", or the "part" column of the table, as printed."""
        return [float(term.part if side == "part" else term.left_value) for term in self.terms if side == "part" or term.left_value]

    def multiply(self, lefts: Sequence[Given], rights: Sequence[Given]) -> str:
        """A table of products, and their sum."""
        self.operation = "product"
        exact = 0.0
        for left, right in zip(lefts, rights, strict=True):
            a, b = self.write(left.value), self.write(right.value)
            self.terms.append(Term(left.label, a, right.label, b, self.write(float(a) * float(b))))
            exact += float(a) * float(b)
        self.drift = abs(exact - sum(self.column("part")))
        return self.total("sum")

    def total(self, key: str) -> str:
        """The line that sums the parts: spelt out when they are few."""
        parts = self.column("part")
        return self.step(key, added([term.part for term in self.terms]) if len(parts) <= SPELT else "Σ", sum(parts))

    def softmax(self, scores: Sequence[Given], own: int, rest: float = 0.0, others: int = 0) -> str:
        """A table of exp(score - largest), their sum, and the share of the term `own`. `rest` is what `others` left out add to the sum."""
        self.operation = "exp"
        written = [self.write(score.value) for score in scores]
        spelt = f"max({', '.join(written)})" if len(written) > 1 else written[0]
        largest = self.step("largest", spelt if len(written) <= SPELT else "max left", max(map(float, written)))
        for score, left in zip(scores, written, strict=True):
            part = self.write(math.exp(float(left) - float(largest)))
            self.terms.append(Term(score.label, left, Label("largest"), largest, part))
        if others:
            self.terms.append(Term(Label("rest"), "", None, "", self.write(rest)))
        part, sum_of_all = self.terms[own].part, self.total("normaliser")
        return self.step("quotient", f"{part} ÷ {sum_of_all}", float(part) / float(sum_of_all))

    def norm(self, row: Sequence[Given], own: int, eps: float, gain: Given, shift: Given | None) -> str:
        """Mean, a table of squares, variance, and the cell `own` of the row, centred, divided by its deviation, stretched and shifted."""
        self.operation = "square"
        written, n = [self.write(x.value) for x in row], len(row)
        text = f"({added(written)}) ÷ {n}" if n <= SPELT else f"Σ left ÷ {n}"
        mean = self.step("mean", text, sum(map(float, written)) / n)
        for x, left in zip(row, written, strict=True):
            self.terms.append(Term(x.label, left, Label("mean"), mean, self.write((float(left) - float(mean)) ** 2)))
        squares = f"({added([term.part for term in self.terms])})" if n <= SPELT else "Σ"
        variance = self.step("variance", f"{squares} ÷ {n}", sum(self.column("part")) / n)
        small = f"{eps:.12f}".rstrip("0")
        deviation = self.step("deviation", f"√({variance} + {small})", math.sqrt(float(variance) + eps), eps=small)
        centred = f"({written[own]} - {bracketed(mean)}) ÷ {deviation}"
        normed = self.step("normed", centred, (float(written[own]) - float(mean)) / float(deviation))
        factor = self.lead(gain)
        result = self.step("gain", f"{normed} × {bracketed(factor)}", float(normed) * float(factor))
        return self.bias(result, shift, "shift")

    def bias(self, result: str, bias: Given | None, key: str = "bias") -> str:
        """Adds a learnt constant, where the model has one."""
        if bias is None:
            return result
        constant = self.lead(bias)
        return self.step(key, added([result, constant]), float(result) + float(constant))


def added(numbers: Sequence[str]) -> str:
    """"0.1 - 0.2 + 0.3"."""
    first, *others = numbers
    return first + "".join(f" - {number[1:]}" if number.startswith("-") else f" + {number}" for number in others)


def bracketed(number: str) -> str:
    """A negative number in brackets, so that it may follow a sign."""
    return f"({number})" if number.startswith("-") else number


def near(result: float, cell: float) -> bool:
    """Whether a result has enough right digits: absolute up to 1, relative above."""
    return abs(result - cell) <= ENOUGH * max(1.0, abs(cell))
