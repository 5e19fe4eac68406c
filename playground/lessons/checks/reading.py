"""Questions on what the model reads: tokens and ids, positions, and masks."""

from __future__ import annotations

from collections import Counter
from math import cos, factorial, prod, sin

import numpy as np

from playground.config import BOS, EOS
from playground.inspection import masks
from playground.lessons.checks.posed import Check, Posed, Seen, short, whole, worded
from playground.model.positions import sinusoids

MASKS = ("padding", "causal", "target")
FARTHEST = 8  # positions from the first


def ids(seen: Seen) -> Posed:
    """Wrong: without the end, with a begin, counted from the first token, in the other order."""
    found = [piece.id for piece in seen.look.source]
    wrong = [found[:-1], [BOS, *found], [*found[:-1][::-1], EOS], [id + 1 for id in found], [BOS, *found[:-1]]]
    tokens = " ".join(piece.text for piece in seen.look.source[:-1])
    return seen.text_of(_listed(found), map(_listed, wrong), {"tab": "data"}, tokens=tokens, end=EOS)


def _listed(found: list[int]) -> str:
    return " ".join(map(str, found))


def different_ids(seen: Seen) -> Posed:
    """How many rows of the embedding matrix are read. Wrong: all places, and counts without the end."""
    found = [piece.id for piece in seen.look.source]
    right, size = len(set(found)), len(found)
    return seen.number(right, [size, right - 1, size - 1, right + 1, size + 1], {"tab": "data"}, whole, tokens=size, text=seen.text)


def embedding_size(seen: Seen) -> Posed:
    """Wrong: of the sentence instead of the vocabulary, a square, a sum."""
    vocabulary, wide = seen.reader.sizes(seen.run)["src_vocabulary"], seen.run.experiment.model.d_model
    wrong = [len(seen.look.source) * wide, wide * wide, vocabulary + wide, vocabulary * vocabulary]
    return seen.number(vocabulary * wide, wrong, {"tab": "map", "stage": "src.embedding"}, whole, vocabulary=vocabulary, d_model=wide)


def distance(seen: Seen) -> Posed:
    """Which pair of positions is as similar as another. Wrong: pairs at other distances."""
    table = sinusoids(4 * FARTHEST, seen.run.experiment.model.d_model).numpy()
    similar = 2 * table @ table.T / table.shape[1]  # cosines: every row has the norm √(D / 2)
    apart = seen.chance.randrange(1, 4)
    first = seen.chance.randrange(FARTHEST)
    moved = first + seen.chance.randrange(2, FARTHEST)
    wrong = [(moved, moved + other) for other in range(1, 8) if abs(similar[moved, moved + other] - similar[first, first + apart]) > 0.03]
    seen.chance.shuffle(wrong)
    option = [worded("positions", one=one, other=other) for one, other in ((moved, moved + apart), *wrong)]
    value = short(float(similar[first, first + apart]))
    return seen.among(option[0], option[1:], {"tab": "positions", "pos": "similarity"}, one=first, other=first + apart, value=value)


def sine(seen: Seen) -> Posed:
    """The first two dimensions of one position. Wrong: cosine for sine, the position itself, another position."""
    at = seen.chance.randrange(1, FARTHEST)
    table = sinusoids(FARTHEST + 1, seen.run.experiment.model.d_model).numpy()
    wrong = [cos(at), sin(at + 1), sin(at - 1), sin(at / 10000), -sin(at), at / FARTHEST]
    to = {"tab": "positions", "pos": "heatmap"}
    return seen.number(float(table[at, 0]), wrong, to, lambda value: f"{value:.3f}", position=at)


def orders(seen: Seen) -> Posed:
    """How many orders of a sentence's tokens are the same to a model without positions. Wrong: its length, pairs of places, n! where tokens
    come twice."""
    tokens = [piece.id for piece in seen.look.source[:-1]]
    size, twice = len(tokens), list(Counter(tokens).values())
    right = factorial(size) // prod(map(factorial, twice))
    wrong = [factorial(size), size, size * (size - 1) // 2, 2 * right, 2**size, 2, size * size]
    return seen.number(right, wrong, {"tab": "data"}, whole, tokens=size, different=len(set(tokens)), text=seen.text)


def which_mask(seen: Seen) -> Posed:
    """One of three masks of a batch of two: the sentence on screen, padded to the length of a longer one."""
    source = [piece.id for piece in seen.look.source]
    fed = [piece.id for piece in seen.look.fed]
    more = seen.chance.randrange(2, 4)  # places of padding
    made = masks.batch([source, source + source[:more]], [fed, fed + fed[:more]])
    kind = seen.chance.choice(MASKS)
    shown = made[kind][0]
    shown = np.broadcast_to(shown, (shown.shape[-1], shown.shape[-1]))
    right, wrong = worded(f"mask_{kind}"), [worded(f"mask_{other}") for other in MASKS if other != kind]
    hidden = int((~shown).sum())
    return seen.among(right, wrong, {"tab": "masks", "mask": kind}, shown, hidden=hidden, cells=shown.size, mask=right)


def visible_keys(seen: Seen) -> Posed:
    """Wrong: only the earlier ones, those of the future, all."""
    size = len(seen.look.fed)
    row = seen.chance.randrange(size)
    wrong = [row, size - row - 1, size, size - row, row + 2, size + 1]
    to = {"tab": "attention", "view": "matrix", "part": "decoder", "q": str(row), "k": str(row)}
    return seen.number(row + 1, wrong, to, whole, query=seen.row_name(row), row=row + 1, size=size)


def hidden_cells(seen: Seen) -> Posed:
    """Wrong: with the diagonal, all, one for each row."""
    size = len(seen.look.fed)
    mask = masks.batch([[EOS]], [[piece.id for piece in seen.look.fed]])["causal"][0]
    wrong = [size * (size + 1) // 2, size * size, size - 1, size, 2 * size + 1]
    return seen.number(int((~mask).sum()), wrong, {"tab": "masks", "mask": "causal"}, whole, size=size, cells=size * size)


IDS = Check("ids", ids)
DIFFERENT_IDS = Check("different_ids", different_ids)
EMBEDDING_SIZE = Check("embedding_size", embedding_size, by_formula=True)
DISTANCE = Check("distance", distance, by_formula=True)
SINE = Check("sine", sine, by_formula=True)
ORDERS = Check("orders", orders)
WHICH_MASK = Check("which_mask", which_mask, by_formula=True)
VISIBLE_KEYS = Check("visible_keys", visible_keys, by_formula=True)
HIDDEN_CELLS = Check("hidden_cells", hidden_cells, by_formula=True)
