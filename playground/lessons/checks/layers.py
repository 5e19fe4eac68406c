"""Questions on the numbers of the map: scores, softmax, residual sums and layer norms of this sentence."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np

from playground.config import Refusal
from playground.lessons.checks.posed import CheckContext, Posed, percent, short, signed, whole
from playground.model.attention import head_widths

CROSS = "decoder.0.cross_attention"
LEAST_VARIANCE = 1e-6  # of a non-constant vector
SHIFT = 5  # added to every score
LEAST_APART, MOST_APART = 0.2, 8.0  # range of useful differences between scores
CLEAR = 0.05  # smaller numbers are unsuitable terms of a sum


def _scores(context: CheckContext) -> tuple[int, int, np.ndarray]:
    """Returns (head, row, its scaled scores) of the first cross-attention."""
    scores = context.stages[f"{CROSS}.scaled"].values
    head, row = (context.chance.randrange(size) for size in scores.shape[:2])
    return head, row, scores[head, row].astype(np.float64)


def _cell(stage: str, row: int, column: int) -> dict[str, str]:
    return {"tab": "map", "stage": stage, "row": str(row), "col": str(column)}


def ratio(context: CheckContext) -> Posed:
    """The ratio of two weights, by their scores. Wrong: quotient and difference of the scores, a power of 2."""
    head, row, scores = _scores(context)
    largest, *other_keys = (int(at) for at in np.argsort(-scores, kind="stable"))
    clear = [at for at in other_keys if LEAST_APART < scores[largest] - scores[at] < MOST_APART]
    other = context.chance.choice(clear or other_keys)
    apart = scores[largest] - scores[other]
    wrong = [scores[largest] / scores[other] if scores[other] else 1.0, apart, 2**apart, exp(apart) / 2, 1 + apart, exp(apart) * 2]
    values = {"query": context.row_name(row), "one": short(scores[largest]), "other": short(scores[other]), "apart": short(apart)}
    to = _cell(f"{CROSS}.weights", row, largest) | {"head": str(head + 1)}
    return context.number(exp(apart), wrong, to, short, head=head + 1, **values)


def scaling(context: CheckContext) -> Posed:
    """The scaled score. Wrong: divided by d_k, by √d_model, times √d_k."""
    config = context.run.experiment.model
    if config.attention_scale != 0.5:
        raise Refusal("checks.no_scale")
    head, row, scaled = _scores(context)
    column = int(np.abs(scaled).argmax())
    size, _ = head_widths(config)
    score = float(context.stages[f"{CROSS}.scores"].values[head, row, column])
    wrong = [score / size, score / sqrt(config.d_model), score * sqrt(size), score / config.d_model, score]
    to = _cell(f"{CROSS}.scaled", row, column) | {"head": str(head + 1)}
    return context.number(float(scaled[column]), wrong, to, short, score=short(score), d_k=size)


def shifted(context: CheckContext) -> Posed:
    """A weight after a number is added to all scores of its row. Wrong: added to this one alone, to all others, or scores doubled."""
    head, row, scores = _scores(context)
    column = int(scores.argmax())
    alone, shifted_others = scores.copy(), scores + SHIFT
    alone[column] += SHIFT
    shifted_others[column] -= SHIFT
    right = float(_softmax(scores)[column])
    wrong = [*(float(_softmax(other)[column]) for other in (alone, shifted_others, 2 * scores, scores / 2)), 1 / len(scores), right / 2]
    values = {"query": context.row_name(row), "percent": percent(right), "shift": SHIFT, "head": head + 1}
    return context.number(right, wrong, _cell(f"{CROSS}.weights", row, column) | {"head": str(head + 1)}, percent, **values)


def _softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def residual_sum(context: CheckContext) -> Posed:
    """The residual sum. Wrong: one of the two terms, their difference, their product."""
    address = "encoder.0.feed_forward.residual"
    stage = context.stages.get(address)
    if stage is None:
        raise Refusal("checks.no_residual")
    first, second = (context.stages[name].values for name in stage.inputs)
    clear = np.argwhere(np.minimum(np.abs(first), np.abs(second)) > CLEAR)
    row, column = (int(at) for at in (context.chance.choice(clear) if len(clear) else (0, 0)))
    x, y = float(first[row, column]), float(second[row, column])
    values = {"x": signed(x), "y": signed(y), "token": context.look.source[row].text}
    wrong = [y, x - y, x, x * y, y - x]
    return context.number(float(stage.values[row, column]), wrong, _cell(address, row, column), signed, **values)


def normalised(context: CheckContext) -> Posed:
    """A layer norm before gain and bias. Wrong: divided by the variance, not divided, the mean not subtracted."""
    address = next((name for name in context.stages if name.startswith("encoder.0") and name.endswith(".norm")), None)
    if address is None:
        raise Refusal("checks.no_norm")
    before = context.stages[context.stages[address].inputs[0]].values.astype(np.float64)
    row = context.chance.randrange(len(before))
    column = int(np.abs(before[row] - before[row].mean()).argmax())
    x, mean, variance = before[row, column], before[row].mean(), before[row].var()
    if variance < LEAST_VARIANCE:
        raise Refusal("checks.nothing_to_choose")
    wrong = [(x - mean) / variance, x - mean, x / sqrt(variance), x * sqrt(variance), x]
    values = {"x": short(x), "mean": short(mean), "variance": short(variance), "token": context.look.source[row].text}
    return context.number((x - mean) / sqrt(variance), wrong, _cell(address, row, column), short, **values)


def feed_forward_size(context: CheckContext) -> Posed:
    """Parameters of one feed-forward network. Wrong: one matrix only, the four of attention, a sum."""
    config = context.run.experiment.model
    wide, hidden = config.d_model, config.d_ff
    bias = hidden + wide if config.bias else 0
    wrong = [wide * hidden, 4 * wide * wide, 2 * (wide + hidden), 2 * hidden * hidden, wide * hidden + bias]
    to = {"tab": "map", "stage": "encoder.0.feed_forward.hidden"}
    return context.number(2 * wide * hidden + bias, wrong, to, whole, d_model=wide, d_ff=hidden, bias=bias)
