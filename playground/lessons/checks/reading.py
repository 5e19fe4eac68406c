"""Questions on the model's inputs and its outputs: tokens, positions and masks; and the choice among tokens."""

from math import sqrt

import numpy as np

from playground.config import Refusal
from playground.inspection import masks
from playground.lessons.checks.posed import CheckContext, Posed, make_option, short, whole
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
