"""Questions on a forward pass: tokens, positions and masks; attention and heads; the numbers of the map; the choice among tokens."""

from itertools import pairwise, permutations
from math import exp, sqrt

import numpy as np

from playground.config import Refusal
from playground.features.interventions.query import compare_outputs
from playground.inspection import masks
from playground.inspection.interventions import Change, HeadId
from playground.lessons.checks.posed import MIN_DIFFERENCE, CheckContext, Posed, make_option, percent, short, whole
from playground.model.positions import sinusoids

# --- inputs: tokens and ids, positions, and masks ---

MASKS = ("padding", "causal", "target")
FARTHEST = 8  # positions from the first


def different_ids(context: CheckContext) -> Posed:
    """The number of embedding rows read. Wrong: all positions, and counts without EOS."""
    token_ids = [piece.id for piece in context.look.source]
    right, size = len(set(token_ids)), len(token_ids)
    return context.number(right, [size, right - 1, size - 1, right + 1, size + 1], {"tab": "data"}, whole, tokens=size, text=context.text)


def embedding_size(context: CheckContext) -> Posed:
    """The size of the embedding matrix. Wrong: sentence length for vocabulary, a square, a sum."""
    vocabulary, wide = context.reader.sizes(context.run)["src_vocabulary"], context.run.experiment.model.d_model
    wrong = [len(context.look.source) * wide, wide * wide, vocabulary + wide, vocabulary * vocabulary]
    return context.number(vocabulary * wide, wrong, {"tab": "map", "stage": "src.embedding"}, whole, vocabulary=vocabulary, d_model=wide)


def distance(context: CheckContext) -> Posed:
    """A pair of positions as similar as another pair. Wrong: pairs at other distances."""
    table = sinusoids(4 * FARTHEST, context.run.experiment.model.d_model).numpy()
    similar = 2 * table @ table.T / table.shape[1]  # cosines: every row has the norm √(D / 2)
    apart = context.chance.randrange(1, 4)
    first = context.chance.randrange(FARTHEST)
    moved = first + context.chance.randrange(2, FARTHEST)
    wrong = [(moved, moved + other) for other in range(1, 8) if abs(similar[moved, moved + other] - similar[first, first + apart]) > 0.03]
    context.chance.shuffle(wrong)
    option = [make_option("positions", one=position, other=other) for position, other in ((moved, moved + apart), *wrong)]
    value = short(float(similar[first, first + apart]))
    return context.among(option[0], option[1:], {"tab": "positions", "pos": "similarity"}, one=first, other=first + apart, value=value)


def which_mask(context: CheckContext) -> Posed:
    """One of three masks of a batch of two: the sentence on screen, padded to a longer one."""
    source = [piece.id for piece in context.look.source]
    fed = [piece.id for piece in context.look.fed]
    more = context.chance.randrange(2, 4)  # paddings
    masks_of_batch = masks.batch([source, source + source[:more]], [fed, fed + fed[:more]])
    kind = context.chance.choice(MASKS)
    mask = masks_of_batch[kind][0]
    mask = np.broadcast_to(mask, (mask.shape[-1], mask.shape[-1]))
    right, wrong = make_option(f"mask_{kind}"), [make_option(f"mask_{other}") for other in MASKS if other != kind]
    hidden = int((~mask).sum())
    return context.among(right, wrong, {"tab": "masks", "mask": kind}, mask, hidden=hidden, cells=mask.size, mask=right)


def visible_keys(context: CheckContext) -> Posed:
    """The number of visible keys. Wrong: only earlier ones, future ones, all."""
    size = len(context.look.fed)
    row = context.chance.randrange(size)
    wrong = [row, size - row - 1, size, size - row, row + 2, size + 1]
    to = {"tab": "attention", "view": "matrix", "part": "decoder", "q": str(row), "k": str(row)}
    return context.number(row + 1, wrong, to, whole, query=context.row_name(row), row=row + 1, size=size)


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
    values = {"x": short(x, 4), "mean": short(mean, 4), "variance": short(variance, 4)}  # enough to compute the three of the answer
    to, token = _cell(address, row, column), context.look.source[row].text
    return context.number((x - mean) / sqrt(variance), wrong, to, short, token=token, **values)


# --- decoding: inputs, outputs, and the choice among tokens ---

LEAST = 1e-30  # smaller probabilities are impractical to compute with


def fed_token(context: CheckContext) -> Posed:
    """The decoder's input at the step that outputs a token. Wrong: that token, its neighbours, source tokens."""
    look = context.look
    fed, outputs = ([piece.text for piece in pieces] for pieces in (look.fed, look.targets))
    row = context.chance.randrange(len(fed))
    near = [outputs[row], *(outputs[at] for at in (row + 1, row - 2) if 0 <= at < len(outputs)), look.source[0].text, *outputs, *fed]
    to = {"tab": "teacher_forcing", "q": str(row)}
    return context.text_of(fed[row], near, to, token=outputs[row], step=row + 1)


def decoder_steps(context: CheckContext) -> Posed:
    """The number of decoder passes for this output. Wrong: one as in training, without EOS, one per source token."""
    size = len(context.look.targets)
    wrong = [1, size - 1, len(context.look.source), 2 * size, size + 2, size + 1]
    tokens = " ".join(piece.text for piece in context.look.targets)
    return context.number(size, [count for count in wrong if count], {"tab": "teacher_forcing"}, whole, tokens=tokens)


def temperature(context: CheckContext) -> Posed:
    """The ratio of two probabilities at temperature 2. Wrong: unchanged, squared, halved."""
    row = context.chance.randrange(len(context.look.likely))
    first, second, *_ = context.look.likely[row]
    if second.probability < LEAST:
        raise Refusal("checks.nothing_to_choose")
    times = first.probability / second.probability
    wrong = [times, times**2, times / 2, 2 * times, sqrt(times) / 2]
    to = {"tab": "translate", "method": "sample", "temperature": "2"}
    values = {"query": context.row_name(row), "first": first.text, "second": second.text, "times": short(times)}
    return context.number(sqrt(times), wrong, to, short, **values)
