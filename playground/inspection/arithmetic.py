"""Arithmetic on paper: the computation of one number in decimals, from printed numbers only.

Every number is rounded first and used as printed, so a student with a pocket calculator gets the same numbers. A line's text is
arithmetic: + - × ÷ ^ √( exp( erf( sin( cos( max(, and three signs for a column of the table of terms when it is too long to be written
out: "Σ" the sum of its last column, "Σ left" the sum and "max left" the largest of its first.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

SPELT = 8  # the most terms of a sum that is written out in its line
LISTED = 6  # listed logits of a large vocabulary
ENOUGH = 5e-6  # tolerance of the result: half of the promised 1e-5, the rest is for intermediate rounding
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
# Names of the cells of a stage; all others are "x".
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
    """The label of a number: `name` (words map.term_<name>) and its place, counted from 0, in its array.

    `stage` is the address of that array when the model computed it, `parameter` its name in the model when it was learned. A matrix is
    indexed as in the paper, x W: (in, out); torch stores the transpose.
    """

    name: str
    index: tuple[int, ...] = ()
    stage: str | None = None
    parameter: str | None = None

    @property
    def torch_index(self) -> tuple[int, ...]:
        """Returns the place of a learned number as torch stores it."""
        return self.index[::-1] if self.name.startswith("W_") else self.index

    @property
    def text(self) -> str:
        """Formats the symbol and the place counted from 1: "W_Q[3, 1]"."""
        places = [str(i + (axis not in FROM_0.get(self.name, ()))) for axis, i in enumerate(self.index)]
        return SYMBOLS[self.name] + (f"[{', '.join(places)}]" if places else "")


class Operand(NamedTuple):
    """A number of the model with its label."""

    label: Label
    value: float


class Term(NamedTuple):
    """One line of the table: left and right, as printed, and their part of the sum. The line for the rest of a long table has only the
    part."""

    left: Label
    left_value: str
    right: Label | None
    right_value: str
    part: str


class Lead(NamedTuple):
    """A number used once, outside the table: a bias, an entry of the table of positions."""

    label: Label
    value: str


class CalculationStep(NamedTuple):
    """One line: `text` evaluates to `result`; `key` names the sentence with the reason, `values` fill it in."""

    key: str
    text: str
    result: str
    values: dict[str, object]


@dataclass(frozen=True)
class Derivation:
    """The computation of the cell `index` of the stage `address`.

    `key` and `values` name its formula. `operation` makes the parts of `terms`: "product" left × right, "exp" e^(left - right), "square"
    (left - right)²; "" without terms. `steps` lead from there to `result`; `recorded` is the cell itself. They agree to 1e-5 (relative
    above 1) when `agrees`, which only the model's own 7-digit rounding could prevent.
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
    recorded: str
    agrees: bool


@dataclass
class Sheet:
    """The calculation of one cell with a fixed number of `decimals`."""

    decimals: int
    operation: str = ""
    terms: list[Term] = field(default_factory=list)
    leads: list[Lead] = field(default_factory=list)
    steps: list[CalculationStep] = field(default_factory=list)
    drift: float = 0.0  # error of the sum by the rounding of its products

    def write(self, value: float) -> str:
        """Formats a number in decimals, without trailing zeros; the mask's as -1e30."""
        if abs(value) >= HUGE:
            return f"{value:.0e}".replace("e+", "e")
        text = f"{value:.{self.decimals}f}".rstrip("0").rstrip(".")
        return "0" if text == "-0" else text

    def lead(self, operand: Operand) -> str:
        """Adds a number outside the table; returns it as printed."""
        self.leads.append(Lead(operand.label, self.write(operand.value)))
        return self.leads[-1].value

    def step(self, key: str, text: str, value: float, **values: object) -> str:
        """Adds a line and returns its printed result."""
        self.steps.append(CalculationStep(f"map.why_{key}", text, self.write(value), values))
        return self.steps[-1].result

    def column(self, side: str) -> list[float]:
        """Returns the "left" or the "part" column of the table, as printed."""
        return [float(term.part if side == "part" else term.left_value) for term in self.terms if side == "part" or term.left_value]

    def product(self, left: Operand, right: Operand) -> float:
        """Adds a line of the table; returns the exact product of the printed numbers."""
        a, b = self.write(left.value), self.write(right.value)
        self.terms.append(Term(left.label, a, right.label, b, self.write(float(a) * float(b))))
        return float(a) * float(b)

    def addend(self, operand: Operand) -> None:
        """Adds a line of the table that is a number alone."""
        text = self.write(operand.value)
        self.terms.append(Term(operand.label, text, None, "", text))

    def multiply(self, lefts: Sequence[Operand], rights: Sequence[Operand]) -> str:
        """Writes a table of products, and their sum."""
        self.operation = "product"
        exact = 0.0
        for left, right in zip(lefts, rights, strict=True):
            exact += self.product(left, right)
        self.drift = abs(exact - sum(self.column("part")))
        return self.total("sum")

    def total(self, key: str) -> str:
        """Writes the sum of the parts: written out when they are few."""
        parts = self.column("part")
        return self.step(key, join_terms([term.part for term in self.terms]) if len(parts) <= SPELT else "Σ", sum(parts))

    def softmax(self, scores: Sequence[Operand], own: int, rest: float = 0.0, omitted: int = 0) -> str:
        """Writes a table of exp(score - largest), their sum, and the share of the term `own`. `rest` is the sum of the `omitted` terms."""
        self.operation = "exp"
        written = [self.write(score.value) for score in scores]
        spelt = f"max({', '.join(written)})" if len(written) > 1 else written[0]
        largest = self.step("largest", spelt if len(written) <= SPELT else "max left", max(map(float, written)))
        for score, left in zip(scores, written, strict=True):
            part = self.write(math.exp(float(left) - float(largest)))
            self.terms.append(Term(score.label, left, Label("largest"), largest, part))
        if omitted:
            self.terms.append(Term(Label("rest"), "", None, "", self.write(rest)))
        part, sum_of_all = self.terms[own].part, self.total("normaliser")
        return self.step("quotient", f"{part} ÷ {sum_of_all}", float(part) / float(sum_of_all))

    def softmax_of(self, logits: np.ndarray, own: int, operand: Callable[[int], Operand]) -> str:
        """Writes the probability of the token `own`; of a large vocabulary only the largest logits are listed."""
        order = np.argsort(-logits, kind="stable").tolist()
        listed = order if len(order) <= SPELT else order[:LISTED]
        listed = listed if own in listed else [*listed, own]
        rest = float(np.exp(np.delete(logits, listed) - logits.max()).sum())
        return self.softmax([operand(at) for at in listed], listed.index(own), rest, len(order) - len(listed))

    def norm(self, row: Sequence[Operand], own: int, eps: float, gain: Operand, shift: Operand | None) -> str:
        """Writes mean, a table of squares, variance, and the cell `own` of the row, centred, divided by its deviation, scaled, shifted."""
        self.operation = "square"
        written, n = [self.write(x.value) for x in row], len(row)
        text = f"({join_terms(written)}) ÷ {n}" if n <= SPELT else f"Σ left ÷ {n}"
        mean = self.step("mean", text, sum(map(float, written)) / n)
        for x, left in zip(row, written, strict=True):
            self.terms.append(Term(x.label, left, Label("mean"), mean, self.write((float(left) - float(mean)) ** 2)))
        squares = f"({join_terms([term.part for term in self.terms])})" if n <= SPELT else "Σ"
        variance = self.step("variance", f"{squares} ÷ {n}", sum(self.column("part")) / n)
        small = f"{eps:.12f}".rstrip("0")
        deviation = self.step("deviation", f"√({variance} + {small})", math.sqrt(float(variance) + eps), eps=small)
        centred = f"({written[own]} - {bracket(mean)}) ÷ {deviation}"
        normed = self.step("normed", centred, (float(written[own]) - float(mean)) / float(deviation))
        factor = self.lead(gain)
        result = self.step("gain", f"{normed} × {bracket(factor)}", float(normed) * float(factor))
        return self.bias(result, shift, "shift")

    def bias(self, result: str, bias: Operand | None, key: str = "bias") -> str:
        """Adds a learned constant, if the model has one."""
        if bias is None:
            return result
        constant = self.lead(bias)
        return self.step(key, join_terms([result, constant]), float(result) + float(constant))


def join_terms(numbers: Sequence[str]) -> str:
    """Joins numbers to a sum: "0.1 - 0.2 + 0.3"."""
    first, *more = numbers
    return first + "".join(f" - {number[1:]}" if number.startswith("-") else f" + {number}" for number in more)


def bracket(number: str) -> str:
    """Puts a negative number in brackets, to follow a sign."""
    return f"({number})" if number.startswith("-") else number


def is_near(result: float, cell: float) -> bool:
    """Tests whether a result is within the tolerance: absolute up to 1, relative above."""
    return abs(result - cell) <= ENOUGH * max(1.0, abs(cell))
