"""Questions on attention and heads: answered from rows of a picture, or from the loss without a head."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np

from playground.config import Refusal
from playground.inspection.interventions import Change, HeadId
from playground.lessons.checks.posed import MIN_DIFFERENCE, CheckContext, Posed, make_option, percent, short, whole
from playground.queries.interventions import compare_outputs

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


def largest_weight(context: CheckContext) -> Posed:
    """The largest weight. Wrong: the second largest, the largest of other rows, and of the same row in other heads."""
    layer, head, row, weights, to, values = _row(context)
    other_rows = np.delete(context.look.cross[layer, head], row, axis=0).max(axis=-1, initial=0)
    elsewhere = context.look.cross[:, :, row].max(axis=-1).flatten()
    wrong = [*np.sort(weights)[-2:-1], *other_rows, *elsewhere, 1 / len(weights), weights.max() / 2, 1 - weights.max()]
    key = int(weights.argmax())
    to, token = to | {"q": str(row), "k": str(key)}, context.look.source[key].text
    return context.number(float(weights.max()), map(float, wrong), to, percent, source=token, place=key + 1, **values)


def attended(context: CheckContext) -> Posed:
    """The key attended to most. Wrong: keys with the next largest weights, and the one at the query's position."""
    _, _, row, weights, to, values = _row(context)
    order = [int(at) for at in np.argsort(-weights, kind="stable")]
    far = [at for at in order[1:] if weights[at] < 0.9 * weights[order[0]]]  # visibly smaller in a picture
    places = dict.fromkeys([*far[:2], *([row] if row in far else []), *far])
    option = [make_option("token", token=context.look.source[at].text, place=at + 1) for at in (order[0], *places)]
    return context.among(option[0], option[1:], to | {"q": str(row), "k": str(order[0])}, percent=percent(weights[order[0]]), **values)


def row_rest(context: CheckContext) -> Posed:
    """The weight on all other keys. Wrong: the largest weight itself, a uniform share, and its complement."""
    _, _, row, weights, to, values = _row(context)
    key, size = int(weights.argmax()), len(weights)
    most = float(weights[key])
    rest = float(np.delete(weights, key).sum(dtype=np.float64))
    wrong = [most, rest / 2 if size == 2 else rest / (size - 1), 1 / size, 1 - 1 / size, 1.0, most / 2]
    to |= {"q": str(row), "k": str(key)}
    return context.number(rest, wrong, to, percent, source=context.look.source[key].text, place=key + 1, percent=percent(most), **values)


def ranked_heads(context: CheckContext) -> Posed:
    """The ranking of heads by mean cross-entropy of the reference tokens without the head. Wrong: other orders."""
    config = context.run.experiment.model
    heads = [HeadId("cross", layer, head) for layer in reversed(range(config.decoder_layers)) for head in range(config.n_heads)][:TRIED]
    lost = {head: _loss_without(context, head) for head in heads}
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


def _loss_without(context: CheckContext, head: HeadId) -> float:
    intervention = compare_outputs(
        context.reader, context.run, context.step, context.text, Change(off=frozenset({head})), context.reference
    )
    return float(-np.mean(np.log(np.maximum(intervention.likely_after, 1e-12))))


def head_width(context: CheckContext) -> Posed:
    """The width of a head. Wrong: the whole width, the number of heads, and their product."""
    config = context.run.experiment.model
    if config.d_k:
        raise Refusal("checks.own_d_k")
    wide, heads = config.d_model, config.n_heads
    to = {"tab": "map", "stage": "encoder.0.self_attention.q"}
    wrong = [wide, heads, wide * heads, wide // heads // 2, 2 * wide]
    return context.number(wide // heads, wrong, to, whole, d_model=wide, n_heads=heads)


def head_count(context: CheckContext) -> Posed:
    """The number of all heads. Wrong: one attention sublayer per layer, one head per sublayer, one layer of each."""
    config = context.run.experiment.model
    above, below, heads = config.decoder_layers, config.encoder_layers, config.n_heads
    wrong = [(below + above) * heads, below + 2 * above, heads, 3 * heads, below + above, 2 * (below + above) * heads]
    to = {"tab": "interventions", "change": "heads", "off": ""}
    return context.number((below + 2 * above) * heads, wrong, to, whole, encoder=below, decoder=above, n_heads=heads)
