"""Questions on attention and on heads: read off the rows of a picture, or off what is lost without a head."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np

from playground.config import Refusal
from playground.inspection.interventions import Change, HeadId
from playground.lessons.checks.posed import APART, Check, Posed, Seen, percent, short, whole, worded
from playground.queries.interventions import compare_outputs

RANKED = 3  # heads
TRIED = 8  # heads that are switched off to find three that differ


def _row(seen: Seen) -> tuple[int, int, int, np.ndarray, dict[str, str], dict[str, object]]:
    """(layer, head, row, its weights, where it is, how it is called) of a row of cross-attention."""
    stack = seen.look.cross
    if not stack.size:
        raise Refusal("checks.no_attention")
    layer, head, row = (seen.chance.randrange(size) for size in stack.shape[:3])
    to = {"tab": "attention", "view": "matrix", "part": "cross", "layer": str(layer + 1), "head": str(head + 1)}
    return layer, head, row, stack[layer, head, row], to, {"layer": layer + 1, "head": head + 1, "query": seen.row_name(row)}


def largest_weight(seen: Seen) -> Posed:
    """Wrong: the second largest, the largest of other rows, and of the same row in other heads."""
    layer, head, row, weights, to, said = _row(seen)
    others = np.delete(seen.look.cross[layer, head], row, axis=0).max(axis=-1, initial=0)
    elsewhere = seen.look.cross[:, :, row].max(axis=-1).flatten()
    wrong = [*np.sort(weights)[-2:-1], *others, *elsewhere, 1 / len(weights), weights.max() / 2, 1 - weights.max()]
    key = int(weights.argmax())
    to |= {"q": str(row), "k": str(key)}
    return seen.number(float(weights.max()), map(float, wrong), to, percent, source=seen.look.source[key].text, place=key + 1, **said)


def attended(seen: Seen) -> Posed:
    """Wrong: the keys with the next largest weights, and the one at the query's own place."""
    _, _, row, weights, to, said = _row(seen)
    order = [int(at) for at in np.argsort(-weights, kind="stable")]
    far = [at for at in order[1:] if weights[at] < 0.9 * weights[order[0]]]  # a picture shows that it is less
    places = dict.fromkeys([*far[:2], *([row] if row in far else []), *far])
    option = [worded("token", token=seen.look.source[at].text, place=at + 1) for at in (order[0], *places)]
    return seen.among(option[0], option[1:], to | {"q": str(row), "k": str(order[0])}, percent=percent(weights[order[0]]), **said)


def row_rest(seen: Seen) -> Posed:
    """Wrong: the weight itself, an even share, and what an even share leaves."""
    _, _, row, weights, to, said = _row(seen)
    key, size = int(weights.argmax()), len(weights)
    most = float(weights[key])
    rest = float(np.delete(weights, key).sum(dtype=np.float64))
    wrong = [most, rest / 2 if size == 2 else rest / (size - 1), 1 / size, 1 - 1 / size, 1.0, most / 2]
    to |= {"q": str(row), "k": str(key)}
    return seen.number(rest, wrong, to, percent, source=seen.look.source[key].text, place=key + 1, percent=percent(most), **said)


def ranked_heads(seen: Seen) -> Posed:
    """By the mean cross-entropy of the tokens that are fed when a head is off. Wrong: the other orders."""
    config = seen.run.experiment.model
    heads = [HeadId("cross", layer, head) for layer in reversed(range(config.decoder_layers)) for head in range(config.n_heads)][:TRIED]
    lost = {head: _loss_without(seen, head) for head in heads}
    order = sorted(lost, key=lambda head: -lost[head])
    if len(order) < RANKED:
        raise Refusal("checks.few_heads")
    chosen = [order[0], order[len(order) // 2], order[-1]]
    if any(lost[one] < (1 + APART) * lost[other] for one, other in pairwise(chosen)):
        raise Refusal("checks.heads_alike")
    names = {head: f"{head.layer + 1}.{head.head + 1}" for head in chosen}
    texts = [" > ".join(names[head] for head in each) for each in permutations(chosen)]
    wrong = texts[1:]
    seen.chance.shuffle(wrong)
    losses = ", ".join(f"{names[head]}: {short(lost[head])}" for head in chosen)
    to = {"tab": "interventions", "change": "heads", "off": str(chosen[0])}
    return seen.text_of(texts[0], wrong, to, heads=", ".join(sorted(names.values())), losses=losses)


def _loss_without(seen: Seen, head: HeadId) -> float:
    found = compare_outputs(seen.reader, seen.run, seen.step, seen.text, Change(off=frozenset({head})), seen.reference)
    return float(-np.mean(np.log(np.maximum(found.likely_after, 1e-12))))


def head_width(seen: Seen) -> Posed:
    """Wrong: the whole width, the number of heads, and their product."""
    config = seen.run.experiment.model
    if config.d_k:
        raise Refusal("checks.own_d_k")
    wide, heads = config.d_model, config.n_heads
    to = {"tab": "map", "stage": "encoder.0.self_attention.q"}
    wrong = [wide, heads, wide * heads, wide // heads // 2, 2 * wide]
    return seen.number(wide // heads, wrong, to, whole, d_model=wide, n_heads=heads)


def head_count(seen: Seen) -> Posed:
    """Wrong: one attention sublayer for each layer, one head for each sublayer, one layer of each."""
    config = seen.run.experiment.model
    above, below, heads = config.decoder_layers, config.encoder_layers, config.n_heads
    wrong = [(below + above) * heads, below + 2 * above, heads, 3 * heads, below + above, 2 * (below + above) * heads]
    to = {"tab": "interventions", "change": "heads", "off": ""}
    return seen.number((below + 2 * above) * heads, wrong, to, whole, encoder=below, decoder=above, n_heads=heads)


LARGEST_WEIGHT = Check("largest_weight", largest_weight)
ATTENDED = Check("attended", attended)
ROW_REST = Check("row_rest", row_rest)
RANKED_HEADS = Check("ranked_heads", ranked_heads, by_formula=True)
HEAD_WIDTH = Check("head_width", head_width, by_formula=True)
HEAD_COUNT = Check("head_count", head_count, by_formula=True)
