"""Attention patterns of a head: masses on places, entropy, and the strongest true statement about it.

Weights of one head are (Q, K): row q is a query and sums to 1, columns are keys. A *place* is a boolean (Q, K) that marks keys of each
row: "the previous token" marks column q - 1. The place's mass is the mean weight on it, its share is the fraction of rows whose largest
weight lies there.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from playground.inspection import Fact, percent

MIN_SHARE = 0.7  # a head attends to a place when its largest weight lies there in at least this share of rows…
MIN_MASS = 0.3  # …with at least this mean weight…
ABOVE_CHANCE = 1.5  # …and this many times what evenly spread weight would put there (0.9 is always enough)
EVEN = 0.85  # entropy, as a share of the largest possible, from which weight counts as spread evenly
SHARP = 0.5  # bits of entropy up to which a head without a place counts as sharp: nearly all of a row's weight is on one token
HALF = 0.5  # mean weight that is enough, whatever the share, for a place known beforehand
MIN_ROWS = 3  # rows with a choice, below which there is no statement…
FEW, CLEAN = 2, 0.9  # …unless at least FEW rows have at least this mean weight


def holds(share: float, mass: float, chance: float, rows: int) -> bool:
    """Tests whether a head with these numbers (see `Score`) attends to the place."""
    return has_enough_rows(mass, rows) and share >= MIN_SHARE and mass >= max(MIN_MASS, min(ABOVE_CHANCE * chance, CLEAN))


def has_enough_rows(mass: float, rows: int) -> bool:
    """Tests whether the rows suffice for a statement: fewer do when the pattern is clean."""
    return rows >= MIN_ROWS or (rows >= FEW and mass >= CLEAN)


class Score(NamedTuple):
    """A head's attention to one place, over the `rows` that have this place and could attend elsewhere too."""

    share: float
    mass: float
    chance: float
    rows: int

    @property
    def holds_half(self) -> bool:
        return has_enough_rows(self.mass, self.rows) and self.mass >= HALF

    @property
    def holds(self) -> bool:
        return holds(*self)


# ---- places: (Q, K) booleans ----


def offset(rows: int, columns: int, by: int) -> np.ndarray:
    """Marks column q + by: -1 the previous token, 0 the same one (in cross-attention the diagonal), 1 the next."""
    return np.eye(rows, columns, k=by, dtype=bool)


def backward(rows: int, columns: int, last: int) -> np.ndarray:
    """Marks column last - q: from column `last` to the first (the anti-diagonal)."""
    return (np.arange(rows)[:, None] + np.arange(columns)) == last


def constant(rows: int, columns: int, column: int) -> np.ndarray:
    """Marks the same column in each row."""
    return np.broadcast_to(np.arange(columns) == column, (rows, columns))


def aligned(rows: int, columns: int, alignment: Sequence[int | None], by: int = 0) -> np.ndarray:
    """Marks the column of the task's alignment, or the one `by` columns beside it; nothing in a row without one."""
    place = np.zeros((rows, columns), dtype=bool)
    for q, column in enumerate(alignment[:rows]):
        if column is not None and 0 <= column + by < columns:
            place[q, column + by] = True
    return place


def same_text(rows: Sequence[str], columns: Sequence[str]) -> np.ndarray:
    """Marks every column whose token has the text of the row's own."""
    return np.array([[row == column for column in columns] for row in rows], dtype=bool).reshape(len(rows), len(columns))


def induction(tokens: Sequence[str]) -> np.ndarray:
    """Marks for each of L tokens what followed its earlier occurrences: (L, L). Where key and value are one token, as in "ben=red", that is
    the token with the row's own as its key (Olsson et al. 2022, "In-context learning and induction heads")."""
    place, holds_pairs = np.zeros((len(tokens), len(tokens)), dtype=bool), any("=" in token[1:] for token in tokens)
    for q, token in enumerate(tokens):
        for k in range(1 - holds_pairs, q):
            place[q, k] = tokens[k].startswith(f"{token}=") if holds_pairs else tokens[k - 1] == token
    return place


# ---- measures ----


def entropy(weights: np.ndarray) -> np.ndarray:
    """Computes the entropy in bits of each row: (..., K) -> (...). 0 with all weight on one token, log2(n) when spread evenly over n."""
    w = np.asarray(weights, dtype=np.float64)
    return -np.sum(w * np.log2(np.where(w > 0, w, 1.0)), axis=-1) + 0.0  # + 0.0 turns -0.0 into 0.0


def mass(weights: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Averages the weight on a place (Q, K) over the rows that have it; 0.0 when none has: (..., Q, K) -> (...)."""
    rows = place.any(axis=1)
    of_rows = np.where(place, weights, 0.0).sum(axis=-1, dtype=np.float64)[..., rows]
    return of_rows.mean(axis=-1) if rows.any() else np.zeros(weights.shape[:-2])


def alignment_mass(weights: np.ndarray, alignment: Sequence[int | None]) -> np.ndarray:
    """Averages the weight on the columns of the task's alignment, over the rows that have one; 0.0 when none has: (..., Q, K) -> (...)."""
    return mass(weights, aligned(*weights.shape[-2:], alignment))


def score(weights: np.ndarray, place: np.ndarray, mask: np.ndarray | None = None) -> Score:
    """Scores a place. A tie for the largest weight counts for no place; masked cells belong to no place."""
    w, allowed = np.asarray(weights, dtype=np.float64), _broadcast_mask(weights, mask)
    inside, outside = place & allowed, ~place & allowed
    rows = inside.any(axis=1) & outside.any(axis=1)
    if not rows.any():
        return Score(0.0, 0.0, 0.0, 0)
    w, inside, outside = w[rows], inside[rows], outside[rows]
    wins = np.where(inside, w, -1.0).max(axis=1) > np.where(outside, w, -1.0).max(axis=1)
    chance = inside.sum(axis=1) / (inside | outside).sum(axis=1)
    return Score(float(wins.mean()), mass(w, inside), float(chance.mean()), int(rows.sum()))


def places(
    kind: str, shape: tuple[int, int], *, mask: np.ndarray | None = None, alignment: Sequence[int | None] | None = None,
    rows: Sequence[str] | None = None, columns: Sequence[str] | None = None,
) -> dict[str, np.ndarray]:  # fmt: skip
    """Returns the places that make sense for `kind` ("encoder", "decoder", "cross"), by name, the most informative first.

    Columns that no row can attend to (padding) are left out, so "last" is the end of the sentence. With the tokens of both sides there is
    also "same_token": another token of the same text. Raises ValueError for another kind.
    """
    if kind not in ("encoder", "decoder", "cross"):
        raise ValueError(f"unknown kind of attention: {kind!r}")
    visible = _broadcast_mask(np.empty(shape), mask).any(axis=0)
    last = int(np.nonzero(visible)[0].max(initial=0))
    if kind == "cross":
        by_name = {name: aligned(*shape, alignment, by) for name, by in _BESIDE.items()} if alignment else {}
        by_name |= {name: offset(*shape, by) for name, by in (("forward", 0), ("ahead", 1), ("behind", -1))}
        by_name["backward"] = backward(*shape, last - 1)  # the last column is EOS, not a word
        by_name["backward_from_end"] = backward(*shape, last)
    else:
        by_name = {name: offset(*shape, by) for name, by in (("previous", -1), ("same", 0), ("next", 1), ("two_back", -2))}
        if kind == "encoder":
            by_name |= {"backward": backward(*shape, last - 1), "backward_from_end": backward(*shape, last)}
    by_name["first"] = constant(*shape, 0)
    if kind != "decoder":  # there the last visible column differs by row
        by_name["last"] = constant(*shape, last)
    if rows is not None and columns is not None:
        by_name["same_token"] = same_text(rows, columns) & ~(offset(*shape, 0) if kind != "cross" else False)
    return by_name


_BESIDE = {"aligned": 0, "left_of_aligned": -1, "right_of_aligned": 1}


# ---- statements ----


def facts(
    weights: np.ndarray, kind: str, *, mask: np.ndarray | None = None, alignment: Sequence[int | None] | None = None,
    rows: Sequence[str] | None = None, columns: Sequence[str] | None = None, names: Sequence[str] | None = None,
) -> Fact:  # fmt: skip
    """Returns the strongest true statement about one head: the place it attends to most often, else that it spreads, is sharp, or unclear.

    "figures.looks_<place>", the {pattern} of "figures.looks", takes {percent} (of rows) and {mass} (mean weight there, in percent),
    "figures.sharp" {bits} (mean entropy of a row) and {mass} (mean weight on a row's one token, in percent), "figures.spreads" and
    "figures.unclear" take {effective} (2 to the entropy: the equivalent number of evenly weighted tokens) of {tokens}. With the tokens of
    both sides, `rows` and `columns`, an unclear head is described by its largest weight: "figures.unclear_but", {query_token},
    {key_token}, {percent}; `names` are the rows' names where they differ from their tokens. The caller adds {layer} and {head}, and
    leaves out rows of padding.
    """
    w, allowed = np.asarray(weights, dtype=np.float64), _broadcast_mask(weights, mask)
    choices = allowed.sum(axis=1)
    free = choices >= 2
    candidates = places(kind, w.shape, mask=mask, alignment=alignment, rows=rows, columns=columns)
    scores = {name: score(w, place, mask) for name, place in candidates.items()}
    held = {name: result for name, result in scores.items() if result.holds or (name == "aligned" and result.holds_half)}
    if held:
        name = max(held, key=lambda name: held[name].share)  # the first of equals
        apart = name in _WORDED_APART or name in {"decoder": _OF_THE_NEWEST, "encoder": _MIRRORED}.get(kind, ())
        key = f"{name}_{kind}" if apart else name
        return Fact(f"figures.looks_{key}", {"percent": percent(held[name].share), "mass": percent(held[name].mass)})
    if free.sum() < MIN_ROWS:
        return Fact("figures.too_short", {})
    bits = entropy(w[free])
    even = np.mean(bits / np.log2(choices[free])) >= EVEN
    if bits.mean() <= SHARP:
        return Fact("figures.sharp", {"bits": f"{bits.mean():.2g}", "mass": percent(float(w[free].max(axis=1).mean()))})
    values = {"effective": f"{np.mean(2**bits):.1f}", "tokens": f"{np.mean(choices[free]):.1f}"}
    if even or rows is None or columns is None:
        return Fact("figures.spreads" if even else "figures.unclear", values)
    q, k = np.unravel_index(int(np.where(allowed & free[:, None], w, -1.0).argmax()), w.shape)
    tokens = {"query_token": (names or rows)[q], "key_token": columns[k]}
    return Fact("figures.unclear_but", values | tokens | {"percent": percent(float(w[q, k]))})


_WORDED_APART = ("first", "same_token")  # another sentence for each kind
_MIRRORED = ("backward", "backward_from_end")  # the encoder has no target positions
_OF_THE_NEWEST = ("same", "previous", "two_back")  # in the decoder these count from the row's own input token


def crossing(weights: np.ndarray) -> tuple[int, int] | None:
    """Finds the cell (query, key) of the row with more than half of its weight on the source token farthest from its own place. None where
    every clear row attends to its own place or the one beside it; EOS doesn't count."""
    w = np.asarray(weights, dtype=np.float64)[:-1, :-1]
    if not w.size:
        return None
    best = w.argmax(axis=1)
    away = np.where(w.max(axis=1) > 0.5, np.abs(best - np.arange(len(w))), 0)
    q = int(away.argmax())
    return (q, int(best[q])) if away[q] >= 2 else None


def crossing_fact(weights: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> Fact | None:
    """Describes `crossing`: "figures.crossing_right" or "figures.crossing_left", with {next_token} (the row's target), {key_token},
    {distance} and {percent}."""
    cell = crossing(weights)
    if not cell:
        return None
    q, k = cell
    values = {"next_token": rows[q], "key_token": columns[k], "distance": abs(k - q), "percent": percent(float(weights[q, k]))}
    return Fact(f"figures.crossing_{'right' if k > q else 'left'}", values)


def masked_fact(weights: np.ndarray, mask: np.ndarray, name: str) -> Fact | None:
    """States the weight on masked cells: "figures.<name>_zero", or "figures.<name>_gets" with {percent} of a row's weight. None without
    masked cells. `name` is "padding" or "future"."""
    w, hidden = np.asarray(weights, dtype=np.float64), ~_broadcast_mask(weights, mask)
    if not hidden.any():
        return None
    if not w[hidden].any():
        return Fact(f"figures.{name}_zero", {})
    return Fact(f"figures.{name}_gets", {"percent": percent(mass(w, hidden))})


def alignment_fact(weights: np.ndarray, alignment: Sequence[int | None]) -> Fact | None:
    """States the weight on the task's alignment, and the weight there if spread evenly. None without an alignment."""
    if not aligned(*weights.shape, alignment).any():
        return None
    return Fact("figures.alignment", {"percent": percent(alignment_mass(weights, alignment)), "chance": percent(1 / weights.shape[1])})


def _broadcast_mask(weights: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    """Broadcasts the mask to the shape of the weights; all True without one."""
    shape = np.shape(weights)
    return np.ones(shape, dtype=bool) if mask is None else np.broadcast_to(np.asarray(mask, dtype=bool), shape)


def signed(value: float, digits: int) -> str:
    """Formats a number with this many decimals and a true minus."""
    return f"{value:.{digits}f}".replace("-", "−")


def carriers(products: np.ndarray) -> int:
    """Counts the fewest of the products (K,) that hold more than half of the sum of absolute values; 0 when all are 0."""
    sizes = np.sort(np.abs(np.asarray(products, dtype=np.float64)))[::-1]
    return int(np.searchsorted(np.cumsum(sizes), sizes.sum() / 2, side="right")) + 1 if sizes.any() else 0


def product_fact(query: np.ndarray, key: np.ndarray, scores: np.ndarray, allowed: np.ndarray, k: int) -> Fact:
    """Describes one score: query and key (K,), the softmax's input `scores` (S,) of the query with every key, and the query's mask (S,).
    "heads.product_caption" with {strong} of {dims} dimensions and the row's {low} and {high}, "heads.product_masked", or
    "heads.product_alone" when it is the only one. The caller adds {query_token} and {key_token}."""
    if not allowed[k]:
        return Fact("heads.product_masked", {})
    if allowed.sum() == 1:
        return Fact("heads.product_alone", {})
    visible = scores[allowed]
    values = {"strong": carriers(query * key), "dims": len(query), "low": signed(visible.min(), 2), "high": signed(visible.max(), 2)}
    return Fact("heads.product_caption", values)
