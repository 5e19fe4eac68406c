"""The optimiser, number by number: from one number of a gradient to the step of one parameter (Adam, AdamW, Muon)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from playground.inspection.arithmetic import Derivation, Label, Operand, Sheet, bracket, join_terms
from playground.inspection.backward import SignificantSheet

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
