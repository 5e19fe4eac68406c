"""Questions on the layers: attention and heads, and the numbers of the map."""

from itertools import pairwise, permutations
from math import exp, sqrt

import numpy as np

from playground.config import Refusal
from playground.features.interventions.query import compare_outputs
from playground.inspection.interventions import Change, HeadId
from playground.lessons.checks.posed import MIN_DIFFERENCE, CheckContext, Posed, make_option, percent, short

# --- attention and heads: from rows of a picture, or from the loss without a head ---

RANKED = 3  # heads
TRIED = 8  # heads ablated to find three that differ


def _row(context: CheckContext) -> tuple[int, int, int, np.ndarray, dict[str, str], dict[str, object]]:
    """Returns (layer, head, row, its weights, its cursor fields, its values) of a row of cross-attention."""
    stack = context.look.cross
    if not stack.size:
        raise Refusal("checks.no_attention")
    layer, head, row = (context.chance.randrange(size) for size in stack.shape[:3])
    to = {"tab": "attention", "view": "matrix", "part": "cross", "layer": str(layer + 1), "head": str(head + 1)}
    return layer, head, row, stack[layer, head, row], to, {"layer": layer + 1, "head": head + 1, "query": context.row_name(row)}


def attended(context: CheckContext) -> Posed:
    """The key attended to most. Wrong: keys with the next largest weights, and the one at the query's position."""
    _, _, row, weights, to, values = _row(context)
    order = [int(at) for at in np.argsort(-weights, kind="stable")]
    far = [at for at in order[1:] if weights[at] < 0.9 * weights[order[0]]]  # visibly smaller in a picture
    places = dict.fromkeys([*far[:2], *([row] if row in far else []), *far])
    option = [make_option("token", token=context.look.source[at].text, place=at + 1) for at in (order[0], *places)]
    return context.among(option[0], option[1:], to | {"q": str(row), "k": str(order[0])}, percent=percent(weights[order[0]]), **values)


def ranked_heads(context: CheckContext) -> Posed:
    """The ranking of heads by mean cross-entropy of the reference tokens without the head. Wrong: other orders."""
    config = context.run.experiment.model
    heads = [HeadId("cross", layer, head) for layer in reversed(range(config.decoder_layers)) for head in range(config.n_heads)][:TRIED]
    lost = {}
    for head in heads:
        change = Change(off=frozenset({head}))
        likely = compare_outputs(context.reader, context.run, context.step, context.text, change, context.reference).likely_after
        lost[head] = float(-np.mean(np.log(np.maximum(likely, 1e-12))))
    order = sorted(lost, key=lambda head: -lost[head])
    if len(order) < RANKED:
        raise Refusal("checks.few_heads")
    chosen = [order[0], order[len(order) // 2], order[-1]]
    if any(lost[head] < (1 + MIN_DIFFERENCE) * lost[next_head] for head, next_head in pairwise(chosen)):
        raise Refusal("checks.heads_alike")
    names = {head: f"{head.layer + 1}.{head.head + 1}" for head in chosen}
    texts = [" > ".join(names[head] for head in each) for each in permutations(chosen)]
    wrong = texts[1:]
    context.chance.shuffle(wrong)
    losses = ", ".join(f"{names[head]}: {short(lost[head])}" for head in chosen)
    to = {"tab": "interventions", "change": "heads", "off": str(chosen[0])}
    return context.text_of(texts[0], wrong, to, heads=", ".join(sorted(names.values())), losses=losses)


# --- the map: scores, softmax, residual sums and layer norms of this sentence ---

CROSS = "decoder.0.cross_attention"
LEAST_VARIANCE = 1e-6  # of a non-constant vector
LEAST_APART, MOST_APART = 0.2, 8.0  # range of useful differences between scores


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
