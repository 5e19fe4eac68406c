"""The backward pass, number by number: the terms that one number of a gradient is the sum of, and the loss that they are a gradient of.

A linear layer y = x W + b sees each token of a batch once. With δ, the gradient of the loss with respect to y, the chain rule gives for an
entry of W the sum over all tokens of x times δ, for one of b the sum of δ; for a number in the row of a token's embedding the sum of δ over
the places where that token stands; for the gain of a norm the sum of the normalised x times δ. At the output of the model δ is p - y: what
the softmax says less the target, divided by the number of target tokens because the loss is their mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from playground.inspection.arithmetic import SPELT, Derivation, Given, Label, Lead, Sheet, Term, added, bracketed

LISTED = 24  # terms of a sum over a batch that are listed, the largest; the others are one line
SCORES = 6  # logits of a large vocabulary that are listed
FEW_DIGITS, MIN_DIGITS, MAX_DIGITS = 4, 6, 10  # significant ones, of many terms and of few; the fewest that reproduce the number are taken
ENOUGH, ROUNDING = 5e-4, 2e-6  # how near a result must come: of the number itself, and of what its terms add up to without their signs
LINEAR = "Linear"  # the kind of a site whose matrix torch keeps as (out, in)


class SignificantSheet(Sheet):
    """Written with so many significant digits, for numbers of any size: gradients are small, and their squares smaller."""

    def write(self, value: float) -> str:
        return f"{value + 0.0:.{self.decimals}g}".replace("e+", "e")


class Site(NamedTuple):
    """Where a parameter takes part: the `module`, of which `kind` ("Linear", …), the parameter being its `role` ("weight", "bias", …); and
    what went through it, for each part of a batch what it was given, (B, L, in) or (B, L) ids, and the gradient δ of what it gave."""

    module: str
    kind: str
    role: str
    flows: Sequence[tuple[np.ndarray, np.ndarray]]
    eps: float = 0.0


@dataclass(frozen=True)
class Terms:
    """What adds up to one number of a gradient. Each is of the token at (row, place) of the batch, rows counted over all its parts, and is
    left × right, or right alone where `symbol` is "": the number of a bias, or of an embedding's row."""

    module: str
    symbol: str
    dims: tuple[int, int]  # which number of x, and of δ
    rows: np.ndarray
    places: np.ndarray
    left: np.ndarray
    right: np.ndarray

    @property
    def products(self) -> np.ndarray:
        return self.left * self.right


def terms(site: Site, index: tuple[int, ...]) -> Terms:
    """Those of the entry `index` of the parameter, as torch keeps it: a linear layer's is (out, in). Padding, through which no gradient
    comes, has none."""
    weight, found = site.role == "weight", []
    symbol, dims = {LINEAR: ("x", index[::-1]), "LayerNorm": ("normed", index * 2)}.get(site.kind, ("", (0, index[-1])))
    symbol, dims = (symbol, dims) if weight and symbol else ("", (0, index[-1]))
    for part, (given, gradient) in enumerate(site.flows):
        right = gradient[..., dims[1]].astype(np.float64)
        if symbol == "x":
            left = given[..., dims[0]].astype(np.float64)
        elif symbol:
            left = _normed(given, site.eps)[..., dims[0]]
        else:
            left = np.ones_like(right) if site.role == "bias" else (given == index[0]).astype(np.float64)
        rows, places = np.nonzero(left * right)
        found.append((rows * len(site.flows) + part, places, left[rows, places], right[rows, places]))
    return Terms(site.module, symbol, dims, *(np.concatenate(column) for column in zip(*found, strict=True)))


def _normed(x: np.ndarray, eps: float) -> np.ndarray:
    """What a norm makes of x (B, L, D) before its gain."""
    x = x.astype(np.float64)
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + eps)


def explain_gradient(sites: Sequence[Site], name: str, index: tuple[int, ...], value: float) -> Derivation:
    """How autograd's `value` of one number of a parameter's gradient came to be: the largest terms, and what all others add."""
    found = [terms(site, index) for site in sites]
    sizes = np.concatenate([np.abs(some.products) for some in found])
    several = [(at, n) for at, some in enumerate(found) for n in range(len(some.rows))]
    listed = [several[n] for n in np.argsort(-sizes, kind="stable")[:LISTED].tolist()]
    rest = float(sum(some.products.sum() for some in found)) - sum(float(found[at].products[n]) for at, n in listed)

    def work(sheet: Sheet) -> str:
        sheet.operation = "gradient" if any(some.symbol for some in found) else "delta"
        for at, n in listed:
            some = found[at]
            where = int(some.rows[n]), int(some.places[n])
            delta, x = float(some.right[n]), float(some.left[n])
            if some.symbol:
                first = Given(Label(some.symbol, (*where, some.dims[0]), stage=some.module), x)
                _append(sheet, first, Given(Label("delta", (some.dims[1],), stage=some.module), delta))
            else:
                _append(sheet, Given(Label("delta", (*where, some.dims[1]), stage=some.module), delta), None)
        if len(several) > len(listed):
            sheet.terms.append(Term(Label("rest"), "", None, "", sheet.write(rest)))
        if not several:
            return sheet.step("no_gradient", "0", 0.0)
        return sheet.total("sum_tokens" if sheet.operation == "gradient" else "sum_deltas")

    return derived(name, index, value, work, float(sizes.sum()), FEW_DIGITS)


def _append(sheet: Sheet, left: Given, right: Given | None) -> None:
    a, b = sheet.write(left.value), sheet.write(right.value) if right else ""
    part = sheet.write(float(a) * float(b)) if right else a
    sheet.terms.append(Term(left.label, a, right.label if right else None, b, part))


def explain_loss(logits: np.ndarray, target: int, smoothing: float, value: float) -> Derivation:
    """How the loss of one target token came of its logits (V,): -ln of its probability, smoothed where the run does that."""

    def work(sheet: Sheet) -> str:
        p = _softmax(sheet, logits, target)
        loss = sheet.step("surprise", f"-ln({p})", -float(np.log(float(p))))
        if not smoothing:
            return loss
        mean = sheet.lead(Given(Label("mean_loss"), float(-_log_softmax(logits).mean())))
        text = f"(1 - {smoothing:g}) × {loss} + {smoothing:g} × {mean}"
        return sheet.step("smoothed", text, (1 - smoothing) * float(loss) + smoothing * float(mean))

    return derived("loss", (target,), value, work, abs(value))


def explain_mean(losses: np.ndarray, places: Sequence[tuple[int, int]], value: float) -> Derivation:
    """The loss of the batch: the mean of the losses (N,) of its target tokens, which stand at these (row, place)."""
    order = np.argsort(-losses, kind="stable").tolist()
    listed, others = order[:LISTED], order[LISTED:]

    def work(sheet: Sheet) -> str:
        sheet.operation = "loss"
        for n in listed:
            _append(sheet, Given(Label("token_loss", places[n]), float(losses[n])), None)
        if others:
            sheet.terms.append(Term(Label("rest"), "", None, "", sheet.write(float(losses[others].sum()))))
        total = sheet.total("sum_losses")
        return sheet.step("mean_of_tokens", f"{total} ÷ {len(losses)}", float(total) / len(losses))

    return derived("loss", (), value, work, abs(value))


def explain_logit(logits: np.ndarray, target: int, token: int, smoothing: float, count: int, value: float) -> Derivation:
    """The gradient of one logit: p - y over the `count` target tokens of the batch. y is 1 for the target and 0 for all others, or what
    label smoothing makes of that."""
    share = smoothing / len(logits)

    def work(sheet: Sheet) -> str:
        p = _softmax(sheet, logits, token)
        y = sheet.write(1 - smoothing + share if token == target else share)
        sheet.leads.append(Lead(Label("target"), y))
        error = sheet.step("less_target", added([p, f"-{y}"]), float(p) - float(y))
        return sheet.step("over_tokens", f"{bracketed(error)} ÷ {count}", float(error) / count)

    return derived("logits", (token,), value, work, abs(value))


def _softmax(sheet: Sheet, logits: np.ndarray, own: int) -> str:
    """The probability of the token `own`; of a large vocabulary only the largest logits are listed."""
    logits = logits.astype(np.float64)
    order = np.argsort(-logits, kind="stable").tolist()
    listed = order if len(order) <= SPELT else order[:SCORES]
    listed = listed if own in listed else [*listed, own]
    others = np.setdiff1d(np.arange(len(logits)), listed)
    rest = float(np.exp(logits[others] - logits.max()).sum())
    given = [Given(Label("logit_of", (at,)), float(logits[at])) for at in listed]
    return sheet.softmax(given, listed.index(own), rest, len(others))


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    logits = logits.astype(np.float64)
    return logits - logits.max() - np.log(np.exp(logits - logits.max()).sum())


def derived(
    address: str, index: tuple[int, ...], value: float, work: Callable[[Sheet], str], size: float, least: int = MIN_DIGITS
) -> Derivation:
    """Written with as few digits as reproduce the value, which `size` is the sum of the terms of, without their signs."""
    for digits in range(least, MAX_DIGITS + 1):
        sheet = SignificantSheet(digits)
        result = work(sheet)
        agrees = abs(float(result) - value) <= ENOUGH * abs(value) + ROUNDING * size
        if agrees and abs(float(result) - value) <= ENOUGH * abs(value):
            break
    written = tuple(sheet.terms), tuple(sheet.leads), tuple(sheet.steps)
    return Derivation(address, index, "", {}, sheet.operation, *written, result, sheet.write(value), agrees)
