"""The backward pass, number by number: the terms of one number of a gradient, and the loss; and the optimiser, from a gradient to
the step of one parameter.

A linear layer y = x W + b reads each token of a batch once. With δ, the gradient of the loss with respect to y, the chain rule gives for an
entry of W the sum over all tokens of x times δ, for one of b the sum of δ; for a number in the row of a token's embedding the sum of δ over
the places of that token; for the gain of a norm the sum of the normalised x times δ. At the output of the model δ is p - y: the softmax's
probability less the target, divided by the number of target tokens because the loss is their mean.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from playground.inspection.arithmetic import Derivation, Label, Lead, Operand, Sheet, Term, bracket, join_terms

LISTED, MEAN_LISTED = 24, 3  # listed terms of a sum over a batch, and of its mean loss: the largest; the rest is one line
FEW_DIGITS, MIN_DIGITS, MAX_DIGITS = 4, 6, 10  # significant ones, of many terms and of few; the fewest that reproduce the number are used
ENOUGH, ROUNDING = 5e-4, 2e-6  # tolerances of a result: relative to the number itself, and to the sum of its terms' absolute values
LINEAR = "Linear"  # the kind of a site whose matrix torch stores as (out, in)


class SignificantSheet(Sheet):
    """A sheet with `decimals` significant digits, for numbers of any size: gradients are small, and their squares smaller."""

    def write(self, value: float) -> str:
        return f"{value + 0.0:.{self.decimals}g}".replace("e+", "e")


class Site(NamedTuple):
    """A use of a parameter as the `role` ("weight", "bias", …) of a `module` of a `kind` ("Linear", …). `flows`: for each part of a batch
    the module's input, (B, L, in) or (B, L) ids, and the gradient δ of its output."""

    module: str
    kind: str
    role: str
    flows: Sequence[tuple[np.ndarray, np.ndarray]]
    eps: float = 0.0


@dataclass(frozen=True)
class Terms:
    """The terms of one number of a gradient. Each belongs to the token at (row, place) of the batch, rows counted over all its parts, and
    is left × right, or right alone where `symbol` is "": the number of a bias, or of an embedding's row."""

    module: str
    symbol: str
    dims: tuple[int, int]  # the indices into x and δ
    rows: np.ndarray
    places: np.ndarray
    left: np.ndarray
    right: np.ndarray

    @property
    def products(self) -> np.ndarray:
        return self.left * self.right


def terms(site: Site, index: tuple[int, ...]) -> Terms:
    """Returns the terms of the entry `index` of the parameter, in torch's order: a linear layer's is (out, in). Padding, which has no
    gradient, has none."""
    weight, columns = site.role == "weight", []
    symbol, dims = {LINEAR: ("x", index[::-1]), "LayerNorm": ("normed", index * 2)}.get(site.kind, ("", (0, index[-1])))
    symbol, dims = (symbol, dims) if weight and symbol else ("", (0, index[-1]))
    for part, (inputs, gradient) in enumerate(site.flows):
        right = gradient[..., dims[1]].astype(np.float64)
        if symbol == "x":
            left = inputs[..., dims[0]].astype(np.float64)
        elif symbol:
            x = inputs.astype(np.float64)  # without the norm's gain
            left = ((x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + site.eps))[..., dims[0]]
        else:
            left = np.ones_like(right) if site.role == "bias" else (inputs == index[0]).astype(np.float64)
        rows, places = np.nonzero(left * right)
        columns.append((rows * len(site.flows) + part, places, left[rows, places], right[rows, places]))
    return Terms(site.module, symbol, dims, *(np.concatenate(column) for column in zip(*columns, strict=True)))


def explain_gradient(sites: Sequence[Site], name: str, index: tuple[int, ...], value: float) -> Derivation:
    """Derives autograd's `value` of one number of a parameter's gradient: the largest terms, and the sum of all others."""
    by_site = [terms(site, index) for site in sites]
    sizes = np.concatenate([np.abs(group.products) for group in by_site])
    several = [(at, n) for at, group in enumerate(by_site) for n in range(len(group.rows))]
    listed = [several[n] for n in np.argsort(-sizes, kind="stable")[:LISTED].tolist()]
    rest = float(sum(group.products.sum() for group in by_site)) - sum(float(by_site[at].products[n]) for at, n in listed)

    def work(sheet: Sheet) -> str:
        sheet.operation = "gradient" if any(group.symbol for group in by_site) else "delta"
        for at, n in listed:
            group = by_site[at]
            where = int(group.rows[n]), int(group.places[n])
            delta, x = float(group.right[n]), float(group.left[n])
            if group.symbol:
                first = Operand(Label(group.symbol, (*where, group.dims[0]), stage=group.module), x)
                sheet.product(first, Operand(Label("delta", (group.dims[1],), stage=group.module), delta))
            else:
                sheet.addend(Operand(Label("delta", (*where, group.dims[1]), stage=group.module), delta))
        if len(several) > len(listed):
            sheet.terms.append(Term(Label("rest"), "", None, "", sheet.write(rest)))
        if not several:
            return sheet.step("no_gradient", "0", 0.0)
        return sheet.total("sum_tokens" if sheet.operation == "gradient" else "sum_deltas")

    return derive(name, index, value, work, float(sizes.sum()), FEW_DIGITS)


def _softmax(sheet: Sheet, logits: np.ndarray, own: int) -> str:
    return sheet.softmax_of(logits.astype(np.float64), own, lambda at: Operand(Label("logit_of", (at,)), float(logits[at])))


def explain_loss(logits: np.ndarray, target: int, smoothing: float, value: float) -> Derivation:
    """Derives the loss of one target token from its logits (V,): -ln of its probability, with the run's label smoothing."""

    def work(sheet: Sheet) -> str:
        p = _softmax(sheet, logits, target)
        loss = sheet.step("surprise", f"-ln({p})", -float(np.log(float(p))))
        if not smoothing:
            return loss
        centred = logits.astype(np.float64) - logits.max()
        mean = sheet.lead(Operand(Label("mean_loss"), float(-(centred - np.log(np.exp(centred).sum())).mean())))
        text = f"(1 - {smoothing:g}) × {loss} + {smoothing:g} × {mean}"
        return sheet.step("smoothed", text, (1 - smoothing) * float(loss) + smoothing * float(mean))

    return derive("loss", (target,), value, work, abs(value))


def explain_mean(losses: np.ndarray, places: Sequence[tuple[int, int]], value: float) -> Derivation:
    """Derives the loss of the batch: the mean of the losses (N,) of its target tokens, at these (row, place)."""
    order = np.argsort(-losses, kind="stable").tolist()
    listed, omitted = order[:MEAN_LISTED], order[MEAN_LISTED:]

    def work(sheet: Sheet) -> str:
        sheet.operation = "loss"
        for n in listed:
            sheet.addend(Operand(Label("token_loss", places[n]), float(losses[n])))
        if omitted:
            sheet.terms.append(Term(Label("rest"), "", None, "", sheet.write(float(losses[omitted].sum()))))
        total = sheet.step("sum_losses", "Σ", sum(sheet.column("part")))
        return sheet.step("mean_of_tokens", f"{total} ÷ {len(losses)}", float(total) / len(losses))

    return derive("loss", (), value, work, abs(value))


def explain_logit(logits: np.ndarray, target: int, token: int, smoothing: float, count: int, value: float) -> Derivation:
    """Derives the gradient of one logit: p - y over the `count` target tokens of the batch. y is 1 for the target and 0 for all others,
    before label smoothing."""
    share = smoothing / len(logits)

    def work(sheet: Sheet) -> str:
        p = _softmax(sheet, logits, token)
        y = sheet.write(1 - smoothing + share if token == target else share)
        sheet.leads.append(Lead(Label("target"), y))
        error = sheet.step("less_target", join_terms([p, f"-{y}"]), float(p) - float(y))
        return sheet.step("over_tokens", f"{bracket(error)} ÷ {count}", float(error) / count)

    return derive("logits", (token,), value, work, abs(value))


def derive(
    address: str, index: tuple[int, ...], value: float, work: Callable[[Sheet], str], size: float, least: int = MIN_DIGITS
) -> Derivation:
    """Derives a value with the fewest digits that reproduce it; `size` is the sum of its terms' absolute values."""
    for digits in range(least, MAX_DIGITS + 1):
        sheet = SignificantSheet(digits)
        result = work(sheet)
        agrees = abs(float(result) - value) <= ENOUGH * abs(value) + ROUNDING * size
        if agrees and abs(float(result) - value) <= ENOUGH * abs(value):
            break
    written = tuple(sheet.terms), tuple(sheet.leads), tuple(sheet.steps)
    return Derivation(address, index, "", {}, sheet.operation, *written, result, sheet.write(value), agrees)


# ---- the optimiser (Adam, AdamW, Muon) ----

DIGITS = 7
EPSILON = 1e-9  # of Adam, as in training/optimisers.py


@dataclass(frozen=True)
class Entry:
    """One number of a parameter, `before` and `after` the step, its `gradient` and its moments before. `rate` is this parameter's learning
    rate, `clipped` the factor of all gradients."""

    rule: str
    before: float
    after: float
    gradient: float
    clipped: float
    rate: float
    weight_decay: float
    beta1: float
    beta2: float
    momentum: float = 0.0  # m, or Muon's
    square: float = 0.0  # v
    count: int = 1  # Adam's steps so far, this one included
    orthogonal: float = 0.0  # Muon: the same number of the orthogonalised matrix
    shape: tuple[int, int] = (1, 1)  # Muon: of the matrix, in torch's order


def explain_update(entry: Entry, name: str, index: tuple[int, ...]) -> Derivation:
    """Derives the parameter after the step from its gradient, as the run's optimiser computes it."""
    sheet = SignificantSheet(DIGITS)
    theta, gradient = sheet.lead(Operand(Label("theta"), entry.before)), sheet.lead(Operand(Label("gradient"), entry.gradient))
    if entry.clipped < 1:
        factor = sheet.write(entry.clipped)
        gradient = sheet.step("clipped", f"{bracket(gradient)} × {factor}", float(gradient) * float(factor))
    result = (_muon if entry.rule == "muon" else _adam)(sheet, entry, theta, gradient)
    agrees = abs(float(result) - entry.after) <= 1e-5 * max(abs(entry.after), abs(entry.after - entry.before), 1e-3)
    leads, steps = tuple(sheet.leads), tuple(sheet.steps)
    return Derivation(name, index, "", {}, "", (), leads, steps, result, sheet.write(entry.after), agrees)


def _adam(sheet: Sheet, entry: Entry, theta: str, gradient: str) -> str:
    """Writes Adam's step (section 5.3); Adam adds the weight decay to the gradient, AdamW subtracts it from the parameter."""
    if entry.weight_decay and entry.rule == "adam":
        text = f"{gradient} + {entry.weight_decay:g} × {bracket(theta)}"
        gradient = sheet.step("decay_gradient", text, float(gradient) + entry.weight_decay * float(theta))
    first = _average(sheet, "first_moment", entry.beta1, Operand(Label("first_moment"), entry.momentum), gradient, float(gradient))
    squared = f"{bracket(gradient)}^2"
    second = _average(sheet, "second_moment", entry.beta2, Operand(Label("second_moment"), entry.square), squared, float(gradient) ** 2)
    n = entry.count
    m, v = (
        sheet.step(key, f"{bracket(moment)} ÷ (1 - {beta:g}^{n})", float(moment) / (1 - beta**n), count=n)
        for key, moment, beta in (("unbiased_first", first, entry.beta1), ("unbiased_second", second, entry.beta2))
    )
    scaled = sheet.step("scaled_step", f"{bracket(m)} ÷ (√({v}) + {EPSILON:g})", float(m) / (math.sqrt(float(v)) + EPSILON))
    return _step(sheet, _decay(sheet, entry, theta), entry.rate, scaled)


def _muon(sheet: Sheet, entry: Entry, theta: str, gradient: str) -> str:
    """Writes Muon's step: Nesterov momentum, orthogonalised with all other numbers of the matrix, and scaled by its shape."""
    averaged = _average(sheet, "momentum", entry.beta1, Operand(Label("momentum"), entry.momentum), gradient, float(gradient))
    beta = f"{entry.beta1:g}"
    text = f"(1 - {beta}) × {bracket(gradient)} + {beta} × {bracket(averaged)}"
    sheet.step("nesterov", text, (1 - entry.beta1) * float(gradient) + entry.beta1 * float(averaged))
    orthogonal = sheet.lead(Operand(Label("orthogonal"), entry.orthogonal))
    rows, columns = entry.shape
    factor = math.sqrt(max(rows / columns, 1.0))  # tall matrices take longer steps
    text = f"{bracket(orthogonal)} × √({rows} ÷ {columns})" if factor > 1 else f"{bracket(orthogonal)} × 1"
    scaled = sheet.step("orthogonal", text, float(orthogonal) * factor)
    return _step(sheet, _decay(sheet, entry, theta), entry.rate, scaled)


def _average(sheet: Sheet, key: str, beta: float, before: Operand, text: str, now: float) -> str:
    """Writes an exponential moving average."""
    old = sheet.lead(before)
    written = f"{beta:g} × {bracket(old)} + (1 - {beta:g}) × {text if text.startswith('(') else bracket(text)}"
    return sheet.step(key, written, beta * float(old) + (1 - beta) * now)


def _decay(sheet: Sheet, entry: Entry, theta: str) -> str:
    """Writes decoupled weight decay."""
    if not entry.weight_decay or entry.rule == "adam":
        return theta
    rate = sheet.write(entry.rate)
    text = f"{bracket(theta)} × (1 - {rate} × {entry.weight_decay:g})"
    return sheet.step("decay_parameter", text, float(theta) * (1 - float(rate) * entry.weight_decay))


def _step(sheet: Sheet, theta: str, rate: float, direction: str) -> str:
    """Subtracts the learning rate times the direction."""
    written = sheet.write(rate)
    moved = sheet.step("times_rate", f"{written} × {bracket(direction)}", float(written) * float(direction), rate=written)
    text = join_terms([theta, moved[1:] if moved.startswith("-") else f"-{moved}"])
    return sheet.step("moved", text, float(theta) - float(moved))
