"""The backward pass inside of a sublayer, number by number: through the softmax to one attention score, and along the residual stream.

Attention: o = Σ α v, so ∂L/∂α of a key is δ · v, δ being the gradient of what the head gave; dropout multiplies both alike. Through the
softmax ∂L/∂s = α (∂L/∂α - Σ α ∂L/∂α): a score is only pushed up where its key would have helped more than the others do on average.

Residual connection: x + Sublayer(x) hands its gradient on to x unchanged, and what comes back through the sublayer is added: by the
matrices that read x, and where a norm stands before them, through that norm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from playground.inspection.arithmetic import Derivation, Given, Label, Sheet, Term, added, bracketed
from playground.inspection.backward import LISTED, derived


class Row(NamedTuple):
    """One query of one head: its weights before dropout (L,), what dropout multiplied them by (None without), the gradient of the head's
    output (K,) and the values (L, K). Masked keys have the weight 0."""

    weights: np.ndarray
    kept: np.ndarray | None
    delta: np.ndarray
    values: np.ndarray

    @property
    def weight_gradients(self) -> np.ndarray:
        """(L,)"""
        found = self.values @ self.delta
        return found if self.kept is None else found * self.kept

    @property
    def score_gradients(self) -> np.ndarray:
        """(L,) of what goes into the softmax: the scores after they were divided."""
        found = self.weight_gradients
        return self.weights * (found - self.weights @ found)


class Reader(NamedTuple):
    """A matrix of a sublayer that reads the stream: its `symbol`, the row `dim` of it (out,), which multiplies one number of x, and the
    gradient δ of its output (out,)."""

    symbol: str
    dim: int
    row: np.ndarray
    delta: np.ndarray


class NormBefore(NamedTuple):
    """A norm between stream and sublayer, of one token: x after it without gain and shift (D,), its deviation, and γδ (D,): the gradient of
    its output times the gain."""

    normed: np.ndarray
    deviation: float
    error: np.ndarray


def explain_score(row: Row, key: int, address: str, index: tuple[int, ...], value: float) -> Derivation:
    """How autograd's `value` of the gradient of a score came to be."""
    weights, errors = row.weights.astype(np.float64), row.weight_gradients.astype(np.float64)
    lefts = [Given(Label("weight", (at,)), float(weight)) for at, weight in enumerate(weights)]
    rights = [Given(Label("error_weight", (at,)), float(error)) for at, error in enumerate(errors)]

    def work(sheet: Sheet) -> str:
        total = _products(sheet, lefts, rights, "mean_of_keys", always=key)
        mine, weight = sheet.lead(rights[key]), sheet.lead(lefts[key])
        above = sheet.step("above_mean", added([mine, _negative(total)]), float(mine) - float(total))
        return sheet.step("times_weight", f"{weight} × {bracketed(above)}", float(weight) * float(above))

    return derived(address, index, value, work, float(weights[key] * (abs(errors[key]) + np.abs(weights * errors).sum())))


def explain_weight(row: Row, key: int, address: str, index: tuple[int, ...], value: float) -> Derivation:
    """How the gradient of an attention weight came to be: δ · v."""
    delta, values = row.delta.astype(np.float64), row.values[key].astype(np.float64)
    lefts = [Given(Label("error_head", (at,)), float(error)) for at, error in enumerate(delta)]
    rights = [Given(Label("v", (key, at)), float(number)) for at, number in enumerate(values)]

    def work(sheet: Sheet) -> str:
        total = _products(sheet, lefts, rights, "sum_values")
        if row.kept is None:
            return total
        kept = sheet.lead(Given(Label("kept"), float(row.kept[key])))
        return sheet.step("dropout_weight", f"{bracketed(total)} × {kept}", float(total) * float(kept))

    return derived(address, index, value, work, float(np.abs(delta * values).sum()))


def explain_stream(
    readers: Sequence[Reader], norm: NormBefore | None, dim: int, around: float | None, address: str, index: tuple[int, ...], value: float
) -> Derivation:
    """How the gradient of one number of the stream came to be: `around` the sublayer (None where it has no residual connection), and
    through it."""
    back = _through(readers) if norm is None else _through_norm(norm, dim)
    size = abs(around or 0.0) + back.size

    def work(sheet: Sheet) -> str:
        through = back.work(sheet)
        if around is None:
            return through
        passed = sheet.lead(Given(Label("error_sum", (dim,)), around))
        return sheet.step("around", added([passed, through]), float(passed) + float(through))

    return derived(address, index, value, work, size)


class _Back(NamedTuple):
    """What comes back through a sublayer: how it is worked out, and the sum of its terms without their signs."""

    work: Callable[[Sheet], str]
    size: float


def _through(readers: Sequence[Reader]) -> _Back:
    lefts, rights = [], []
    for symbol, dim, row, delta in readers:
        lefts += [Given(Label("error_layer", (at,), stage=symbol), float(error)) for at, error in enumerate(delta)]
        rights += [Given(Label(symbol, (dim, at)), float(number)) for at, number in enumerate(row)]
    size = sum(float(np.abs(reader.row.astype(np.float64) * reader.delta).sum()) for reader in readers)
    return _Back(lambda sheet: _products(sheet, lefts, rights, "sum_back"), size)


def _through_norm(norm: NormBefore, dim: int) -> _Back:
    """(γδ - mean(γδ) - x̂ mean(γδ x̂)) / σ, the means over all numbers of the token."""
    normed, error = norm.normed.astype(np.float64), norm.error.astype(np.float64)
    lefts = [Given(Label("error_norm", (at,)), float(one)) for at, one in enumerate(error)]
    rights = [Given(Label("normed_x", (at,)), float(one)) for at, one in enumerate(normed)]

    def work(sheet: Sheet) -> str:
        total = _products(sheet, lefts, rights, "sum_normed", always=dim)
        along = sheet.step("mean_normed", f"{bracketed(total)} ÷ {len(normed)}", float(total) / len(normed))
        own, x, mean = sheet.lead(lefts[dim]), sheet.lead(rights[dim]), sheet.lead(Given(Label("mean_error"), float(error.mean())))
        deviation = sheet.lead(Given(Label("deviation"), norm.deviation))
        text = f"({added([own, _negative(mean)])} - {bracketed(x)} × {bracketed(along)}) ÷ {deviation}"
        return sheet.step("through_norm", text, (float(own) - float(mean) - float(x) * float(along)) / float(deviation))

    return _Back(work, float(np.abs(error).max() + np.abs(error * normed).mean()) / norm.deviation)


def _products(sheet: Sheet, lefts: Sequence[Given], rights: Sequence[Given], key: str, always: int | None = None) -> str:
    """A table of products, of which the largest are listed in their order, and the line that sums them."""
    sheet.operation = "product"
    sizes = np.array([abs(left.value * right.value) for left, right in zip(lefts, rights, strict=True)])
    listed = set(np.argsort(-sizes, kind="stable")[:LISTED].tolist()) | ({always} if always is not None else set())
    rest = 0.0
    for at, (left, right) in enumerate(zip(lefts, rights, strict=True)):
        if at not in listed:
            rest += left.value * right.value
            continue
        a, b = sheet.write(left.value), sheet.write(right.value)
        sheet.terms.append(Term(left.label, a, right.label, b, sheet.write(float(a) * float(b))))
    if len(listed) < len(lefts):
        sheet.terms.append(Term(Label("rest"), "", None, "", sheet.write(rest)))
    return sheet.total(key)


def _negative(number: str) -> str:
    return number[1:] if number.startswith("-") else f"-{number}"
