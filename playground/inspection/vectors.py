"""Vectors seen from the side where they differ most (PCA), who is near whom (cosine), and true sentences about both.

Points are (N, D), one vector a row. Axes are (2, D), orthonormal.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playground.inspection.fact import Fact, percent

MUCH = 0.5  # a cosine beyond which two vectors are counted as pointing the same way, or the opposite one


def principal_axes(points: np.ndarray, like: np.ndarray | None = None) -> np.ndarray:
    """The two directions along which the points (N, D) vary most: (2, D), the first one first.

    A direction may point either way, and two that matter as much may come in either order. With axes `like` they come in the order and
    point the ways that agree best with those; without, the largest component of each is positive. Raises ValueError for fewer than two
    points.
    """
    points = np.asarray(points, dtype=np.float64)
    if len(points) < 2 or points.shape[1] < 2:
        raise ValueError(f"two axes need at least two points of two numbers, not {points.shape}")
    axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2][:2]
    if like is None:
        same_way = axes[np.arange(2), np.abs(axes).argmax(axis=1)]
    else:
        agreement = np.abs(axes @ like.T)
        axes = axes[::-1] if np.trace(agreement[::-1]) > np.trace(agreement) else axes
        same_way = np.sum(axes * like, axis=1)
    return axes * np.where(same_way < 0, -1.0, 1.0)[:, None]


def turned(axes: np.ndarray, like: np.ndarray) -> np.ndarray:
    """The same plane, but its axes (2, D) turned (and flipped, if need be) inside it to agree best with `like`: orthogonal Procrustes."""
    left, _, right = np.linalg.svd(like @ axes.T)
    return left @ right @ axes


def followed_axes(frames: Sequence[np.ndarray]) -> np.ndarray:
    """The plane of most variance of the last frame (N, D), its axes turned to follow those of the frame before, and so on from the first:
    so a picture that is drawn along them frame by frame neither flips nor spins. Raises ValueError without a frame."""
    axes = None
    for points in frames:
        own = principal_axes(points)
        axes = own if axes is None else turned(own, axes)
    if axes is None:
        raise ValueError("there is no frame")
    return axes


def project(points: np.ndarray, axes: np.ndarray, centre: np.ndarray | None = None) -> np.ndarray:
    """Where the points (N, D) stand along the axes (2, D), seen from `centre` (D,), or from their own middle: (N, 2)."""
    points = np.asarray(points, dtype=np.float64)
    return (points - (points.mean(axis=0) if centre is None else centre)) @ np.asarray(axes).T


def shares(points: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """The share of the points' variance that lies along each axis: (2,), 0 to 1; 0 when the points are all the same."""
    points = np.asarray(points, dtype=np.float64)
    everything = np.sum((points - points.mean(axis=0)) ** 2)
    return np.sum(project(points, axes) ** 2, axis=0) / everything if everything > 0 else np.zeros(2)


def cosines(points: np.ndarray) -> np.ndarray:
    """The cosine of the angle between every two points: (N, N), -1 to 1; 0 with a vector that has no length."""
    points = np.asarray(points, dtype=np.float64)
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    unit = points / np.where(norms > 0, norms, 1.0)
    return np.clip(unit @ unit.T, -1.0, 1.0)


def nearest(points: np.ndarray, index: int, count: int) -> list[tuple[int, float]]:
    """The `count` other points with the largest cosine to point `index`, nearest first, with it."""
    found = cosines(points)[index]
    order = [other for other in np.argsort(-found, kind="stable").tolist() if other != index]
    return [(other, float(found[other])) for other in order[:count]]


def closest(points: np.ndarray, among: Sequence[int], others: Sequence[int]) -> int:
    """Which point of `among` has the nearest neighbour (by cosine) in `others`; the first of equals, 0 when there is none."""
    if not among:
        return 0
    found = cosines(points)
    np.fill_diagonal(found, -np.inf)
    return among[int(found[np.ix_(among, others)].max(axis=1).argmax())]


def share_fact(points: np.ndarray, axes: np.ndarray) -> Fact:
    """How much of what there is to see the two axes show."""
    first, second = shares(points, axes).tolist()
    values = {"percent": percent(first + second), "first": percent(first), "second": percent(second), "dims": np.shape(points)[1]}
    return Fact("embeddings.shares", values)


def pair_fact(points: np.ndarray, names: Sequence[str]) -> Fact | None:
    """Which two points are nearest to each other by cosine, and which are most opposed. None of fewer than three."""
    if len(points) < 3:
        return None
    found = cosines(points)
    upper = np.triu_indices(len(found), 1)
    near, far = int(found[upper].argmax()), int(found[upper].argmin())
    near, far = [(int(upper[0][place]), int(upper[1][place])) for place in (near, far)]
    values = {"one": names[near[0]], "other": names[near[1]], "cosine": _two_digits(found[near])}
    return Fact("embeddings.pair", values | {"this": names[far[0]], "that": names[far[1]], "least": _two_digits(found[far])})


def kinship_fact(points: np.ndarray, ids: Sequence[int], places: Sequence[int]) -> Fact | None:
    """Whether states go by their token or by their place: the mean cosine of two states of the same token at different places, of
    different tokens at the same place, and of those that share neither. None where one of the three never occurs."""
    found, ids, places = cosines(points), np.asarray(ids), np.asarray(places)
    token, place = ids[:, None] == ids, places[:, None] == places
    kinds = {"token": token & ~place, "place": ~token & place, "neither": ~token & ~place}
    if not all(kind.any() for kind in kinds.values()):
        return None
    return Fact("embeddings.kinship", {name: _two_digits(found[kind].mean()) for name, kind in kinds.items()})


def spread_fact(matrix: np.ndarray) -> Fact:
    """How alike the vectors are whose cosines (N, N) these are: how many pairs point much the same way, how many the opposite way."""
    pairs = matrix[np.triu_indices(len(matrix), 1)]
    if not pairs.size:
        return Fact("embeddings.single", {})
    above, below = int((pairs > MUCH).sum()), int((pairs < -MUCH).sum())
    return Fact("embeddings.spread", {"pairs": pairs.size, "above": above, "below": below, "much": MUCH, "mean": _two_digits(pairs.mean())})


def _two_digits(value: float) -> str:
    return f"{round(float(value), 2) + 0.0:.2f}"  # no minus before a zero
