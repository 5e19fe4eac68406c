"""Questions on the model's inputs: tokens and ids, positions, and masks."""

from __future__ import annotations

from collections import Counter
from math import cos, factorial, prod, sin

import numpy as np

from playground.config import BOS, EOS
from playground.inspection import masks
from playground.lessons.checks.posed import CheckContext, Posed, make_option, short, whole
from playground.model.positions import sinusoids

MASKS = ("padding", "causal", "target")
FARTHEST = 8  # positions from the first


def ids(context: CheckContext) -> Posed:
    """The source ids. Wrong: without EOS, with BOS, numbered from the first token, reversed."""
    token_ids = [piece.id for piece in context.look.source]
    wrong = [token_ids[:-1], [BOS, *token_ids], [*token_ids[:-1][::-1], EOS], [id + 1 for id in token_ids], [BOS, *token_ids[:-1]]]
    tokens = " ".join(piece.text for piece in context.look.source[:-1])
    return context.text_of(_format_ids(token_ids), map(_format_ids, wrong), {"tab": "data"}, tokens=tokens, end=EOS)


def _format_ids(token_ids: list[int]) -> str:
    return " ".join(map(str, token_ids))


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


def sine(context: CheckContext) -> Posed:
    """The first dimension of a position. Wrong: cosine for sine, the position itself, another position."""
    at = context.chance.randrange(1, FARTHEST)
    table = sinusoids(FARTHEST + 1, context.run.experiment.model.d_model).numpy()
    wrong = [cos(at), sin(at + 1), sin(at - 1), sin(at / 10000), -sin(at), at / FARTHEST]
    to = {"tab": "positions", "pos": "heatmap"}
    return context.number(float(table[at, 0]), wrong, to, lambda value: f"{value:.3f}", position=at)


def orders(context: CheckContext) -> Posed:
    """The number of token orders that a model without positions can't distinguish. Wrong: length, pairs of positions, n! despite repeated
    tokens."""
    tokens = [piece.id for piece in context.look.source[:-1]]
    size, twice = len(tokens), list(Counter(tokens).values())
    right = factorial(size) // prod(map(factorial, twice))
    wrong = [factorial(size), size, size * (size - 1) // 2, 2 * right, 2**size, 2, size * size]
    return context.number(right, wrong, {"tab": "data"}, whole, tokens=size, different=len(set(tokens)), text=context.text)


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


def hidden_cells(context: CheckContext) -> Posed:
    """The number of masked cells. Wrong: with the diagonal, all, one per row."""
    size = len(context.look.fed)
    mask = masks.batch([[EOS]], [[piece.id for piece in context.look.fed]])["causal"][0]
    wrong = [size * (size + 1) // 2, size * size, size - 1, size, 2 * size + 1]
    return context.number(int((~mask).sum()), wrong, {"tab": "masks", "mask": "causal"}, whole, size=size, cells=size * size)
