"""The backward pass inside a sublayer, number by number: through the softmax to one attention score, and along the residual stream.

Attention: o = Σ α v, so ∂L/∂α of a key is δ · v, δ being the gradient of the head's output; dropout multiplies both alike. Through the
softmax ∂L/∂s = α (∂L/∂α - Σ α ∂L/∂α): a score is only pushed up where its key would have helped more than the others do on average.

Residual connection: x + Sublayer(x) passes its gradient on to x unchanged, and adds the gradient through the sublayer: by the matrices
that read x and, in pre-norm models, through the norm before them.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from playground.inspection.arithmetic import Derivation, Label, Operand, Sheet, Term, bracket, join_terms
from playground.inspection.backward import LISTED, derive


class Row(NamedTuple):
    """One query of one head: its weights before dropout (L,), dropout's factors (None without), the gradient of the head's output (K,) and
    the values (L, K). Masked keys have the weight 0."""

    weights: np.ndarray
    dropout: np.ndarray | None
    delta: np.ndarray
    values: np.ndarray

    @property
    def weight_gradients(self) -> np.ndarray:
        """Returns the gradients of the weights (L,)."""
        gradients = self.values @ self.delta
        return gradients if self.dropout is None else gradients * self.dropout


class Reader(NamedTuple):
    """A matrix of a sublayer that reads the stream: its `symbol`, its row `dim` (out,), which multiplies one number of x, and the gradient
    δ of its output (out,)."""

    symbol: str
    dim: int
    row: np.ndarray
    delta: np.ndarray


class NormBefore(NamedTuple):
    """A norm between stream and sublayer, at one token: its output without gain and shift (D,), its deviation, and γδ (D,): the gradient of
    its output times the gain."""

    normed: np.ndarray
    deviation: float
    error: np.ndarray


def explain_score(row: Row, key: int, address: str, index: tuple[int, ...], value: float) -> Derivation:
    """Derives autograd's `value` of the gradient of a score."""
    weights, errors = row.weights.astype(np.float64), row.weight_gradients.astype(np.float64)
    lefts = [Operand(Label("weight", (at,)), float(weight)) for at, weight in enumerate(weights)]
    rights = [Operand(Label("error_weight", (at,)), float(error)) for at, error in enumerate(errors)]

    def work(sheet: Sheet) -> str:
        total = _products(sheet, lefts, rights, "mean_of_keys", always=key)
        own, weight = sheet.lead(rights[key]), sheet.lead(lefts[key])
        above = sheet.step("above_mean", join_terms([own, _negate(total)]), float(own) - float(total))
        return sheet.step("times_weight", f"{weight} × {bracket(above)}", float(weight) * float(above))

    return derive(address, index, value, work, float(weights[key] * (abs(errors[key]) + np.abs(weights * errors).sum())))


def explain_weight(row: Row, key: int, address: str, index: tuple[int, ...], value: float) -> Derivation:
    """Derives the gradient of an attention weight: δ · v."""
    delta, values = row.delta.astype(np.float64), row.values[key].astype(np.float64)
    lefts = [Operand(Label("error_head", (at,)), float(error)) for at, error in enumerate(delta)]
    rights = [Operand(Label("v", (key, at)), float(number)) for at, number in enumerate(values)]

    def work(sheet: Sheet) -> str:
        total = _products(sheet, lefts, rights, "sum_values")
        if row.dropout is None:
            return total
        factor = sheet.lead(Operand(Label("kept"), float(row.dropout[key])))
        return sheet.step("dropout_weight", f"{bracket(total)} × {factor}", float(total) * float(factor))

    return derive(address, index, value, work, float(np.abs(delta * values).sum()))


def explain_stream(
    readers: Sequence[Reader], norm: NormBefore | None, dim: int, skip: float | None, address: str, index: tuple[int, ...], value: float
) -> Derivation:
    """Derives the gradient of one number of the stream: `skip`, along the residual connection (None without one), plus that through the
    sublayer."""
    back = _through(readers) if norm is None else _through_norm(norm, dim)
    size = abs(skip or 0.0) + back.size

    def work(sheet: Sheet) -> str:
        through = back.work(sheet)
        if skip is None:
            return through
        passed = sheet.lead(Operand(Label("error_sum", (dim,)), skip))
        return sheet.step("around", join_terms([passed, through]), float(passed) + float(through))

    return derive(address, index, value, work, size)


class _Back(NamedTuple):
    """The gradient through a sublayer: its calculation, and the sum of its terms' absolute values."""

    work: Callable[[Sheet], str]
    size: float


def _through(readers: Sequence[Reader]) -> _Back:
    lefts, rights = [], []
    for symbol, dim, row, delta in readers:
        lefts += [Operand(Label("error_layer", (at,), stage=symbol), float(error)) for at, error in enumerate(delta)]
        rights += [Operand(Label(symbol, (dim, at)), float(number)) for at, number in enumerate(row)]
    size = sum(float(np.abs(reader.row.astype(np.float64) * reader.delta).sum()) for reader in readers)
    return _Back(lambda sheet: _products(sheet, lefts, rights, "sum_back"), size)


def _through_norm(norm: NormBefore, dim: int) -> _Back:
    """Derives (γδ - mean(γδ) - x̂ mean(γδ x̂)) / σ, with means over all numbers of the token."""
    normed, error = norm.normed.astype(np.float64), norm.error.astype(np.float64)
    lefts = [Operand(Label("error_norm", (at,)), float(number)) for at, number in enumerate(error)]
    rights = [Operand(Label("normed_x", (at,)), float(number)) for at, number in enumerate(normed)]

    def work(sheet: Sheet) -> str:
        total = _products(sheet, lefts, rights, "sum_normed", always=dim)
        along = sheet.step("mean_normed", f"{bracket(total)} ÷ {len(normed)}", float(total) / len(normed))
        own, x, mean = sheet.lead(lefts[dim]), sheet.lead(rights[dim]), sheet.lead(Operand(Label("mean_error"), float(error.mean())))
        deviation = sheet.lead(Operand(Label("deviation"), norm.deviation))
        text = f"({join_terms([own, _negate(mean)])} - {bracket(x)} × {bracket(along)}) ÷ {deviation}"
        return sheet.step("through_norm", text, (float(own) - float(mean) - float(x) * float(along)) / float(deviation))

    return _Back(work, float(np.abs(error).max() + np.abs(error * normed).mean()) / norm.deviation)


def _products(sheet: Sheet, lefts: Sequence[Operand], rights: Sequence[Operand], key: str, always: int | None = None) -> str:
    """Writes a table of the largest products, in their order, and the line that sums them; the term `always` is listed in any case."""
    sheet.operation = "product"
    sizes = np.array([abs(left.value * right.value) for left, right in zip(lefts, rights, strict=True)])
    listed = set(np.argsort(-sizes, kind="stable")[:LISTED].tolist()) | ({always} if always is not None else set())
    rest = 0.0
    for at, (left, right) in enumerate(zip(lefts, rights, strict=True)):
        if at not in listed:
            rest += left.value * right.value
            continue
        sheet.product(left, right)
    if len(listed) < len(lefts):
        sheet.terms.append(Term(Label("rest"), "", None, "", sheet.write(rest)))
    return sheet.total(key)


def _negate(number: str) -> str:
    return number[1:] if number.startswith("-") else f"-{number}"
