"""Vectors on their principal axes (PCA), their nearest neighbours (cosine), and true sentences about both; and vectors of positions.

Points are (N, D), one vector a row. Axes are (2, D), orthonormal.
"""

from collections.abc import Sequence

import numpy as np

from playground.inspection import Fact, percent
from playground.model.positions import BASE, sinusoids as build_sinusoids

MUCH = 0.5  # absolute cosine from which two vectors count as aligned or opposed


def principal_axes(points: np.ndarray, like: np.ndarray | None = None) -> np.ndarray:
    """Computes the two principal axes of the points (N, D): (2, D), the one of more variance first.

    The signs of axes, and the order of two of equal variance, are arbitrary. With axes `like`, order and signs are those that agree best
    with them; without, the largest component of each is positive. Raises ValueError for fewer than two points.
    """
    points = np.asarray(points, dtype=np.float64)
    if len(points) < 2 or points.shape[1] < 2:
        raise ValueError(f"two axes need at least two points of two numbers, not {points.shape}")
    centred = points - points.mean(axis=0)
    if len(points) > points.shape[1]:  # the eigenvectors of the covariance, in a third of the time
        axes = np.linalg.eigh(centred.T @ centred)[1].T[:-3:-1]
    else:
        axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
    if like is None:
        direction = axes[np.arange(2), np.abs(axes).argmax(axis=1)]
    else:
        agreement = np.abs(axes @ like.T)
        axes = axes[::-1] if np.trace(agreement[::-1]) > np.trace(agreement) else axes
        direction = np.sum(axes * like, axis=1)
    return axes * np.where(direction < 0, -1.0, 1.0)[:, None]


def turn_axes(axes: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Rotates (and flips, if necessary) axes (2, D) in their plane to agree best with `like`: orthogonal Procrustes."""
    left, _, right = np.linalg.svd(like @ axes.T)
    return left @ right @ axes


def follow_axes(frames: Sequence[np.ndarray]) -> np.ndarray:
    """Returns the principal axes of the last frame (N, D), turned to follow those of the frame before, and so on from the first, so that an
    animation neither flips nor spins. Raises ValueError without a frame."""
    axes = None
    for points in frames:
        own = principal_axes(points)
        axes = own if axes is None else turn_axes(own, axes)
    if axes is None:
        raise ValueError("there is no frame")
    return axes


def project(points: np.ndarray, axes: np.ndarray, centre: np.ndarray | None = None) -> np.ndarray:
    """Projects points (N, D) onto axes (2, D), relative to `centre` (D,) or to their own mean: (N, 2)."""
    points = np.asarray(points, dtype=np.float64)
    return (points - (points.mean(axis=0) if centre is None else centre)) @ np.asarray(axes).T


def shares(points: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Returns the share of the points' variance along each axis: (2,), 0 to 1; 0 when all points are the same."""
    points = np.asarray(points, dtype=np.float64)
    everything = np.sum((points - points.mean(axis=0)) ** 2)
    return np.sum(project(points, axes) ** 2, axis=0) / everything if everything > 0 else np.zeros(2)


def cosines(points: np.ndarray) -> np.ndarray:
    """Computes the cosine of the angle between every two points: (N, N), -1 to 1; 0 for a zero vector."""
    points = np.asarray(points, dtype=np.float64)
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    unit = points / np.where(norms > 0, norms, 1.0)
    return np.clip(unit @ unit.T, -1.0, 1.0)


def nearest(points: np.ndarray, index: int, count: int) -> list[tuple[int, float]]:
    """Returns the `count` nearest other points of point `index` by cosine, nearest first, with their cosines."""
    row = cosines(points)[index]
    order = [other for other in np.argsort(-row, kind="stable").tolist() if other != index]
    return [(other, float(row[other])) for other in order[:count]]


def closest(points: np.ndarray, among: Sequence[int], neighbours: Sequence[int]) -> int:
    """Returns the point of `among` nearest to one of `neighbours` by cosine; the first of equals, 0 when `among` is empty."""
    if not among:
        return 0
    matrix = cosines(points)
    np.fill_diagonal(matrix, -np.inf)
    return among[int(matrix[np.ix_(among, neighbours)].max(axis=1).argmax())]


def share_fact(points: np.ndarray, axes: np.ndarray) -> Fact:
    """States the share of the variance along the two axes."""
    first, second = shares(points, axes).tolist()
    values = {"percent": percent(first + second), "first": percent(first), "second": percent(second), "dims": np.shape(points)[1]}
    return Fact("embeddings.shares", values)


def pair_fact(points: np.ndarray, names: Sequence[str]) -> Fact | None:
    """States the two nearest points by cosine, and the two most opposed. None of fewer than three."""
    if len(points) < 3:
        return None
    matrix = cosines(points)
    upper = np.triu_indices(len(matrix), 1)
    near, far = int(matrix[upper].argmax()), int(matrix[upper].argmin())
    near, far = [(int(upper[0][place]), int(upper[1][place])) for place in (near, far)]
    values = {"one": names[near[0]], "other": names[near[1]], "cosine": _two_digits(matrix[near])}
    return Fact("embeddings.pair", values | {"this": names[far[0]], "that": names[far[1]], "least": _two_digits(matrix[far])})


def kinship_fact(points: np.ndarray, ids: Sequence[int], places: Sequence[int]) -> Fact | None:
    """States whether states are similar by token or by place: the mean cosine of two states of the same token at different places, of
    different tokens at the same place, and of those that share neither. None where one of the three never occurs."""
    matrix, ids, places = cosines(points), np.asarray(ids), np.asarray(places)
    token, place = ids[:, None] == ids, places[:, None] == places
    kinds = {"token": token & ~place, "place": ~token & place, "neither": ~token & ~place}
    if not all(kind.any() for kind in kinds.values()):
        return None
    return Fact("embeddings.kinship", {name: _two_digits(matrix[kind].mean()) for name, kind in kinds.items()})


def spread_fact(matrix: np.ndarray) -> Fact:
    """States the similarity of vectors with cosines (N, N): the number of aligned and of opposed pairs."""
    pairs = matrix[np.triu_indices(len(matrix), 1)]
    if not pairs.size:
        return Fact("embeddings.single", {})
    above, below = int((pairs > MUCH).sum()), int((pairs < -MUCH).sum())
    return Fact("embeddings.spread", {"pairs": pairs.size, "above": above, "below": below, "much": MUCH, "mean": _two_digits(pairs.mean())})


def _two_digits(value: float) -> str:
    return f"{round(float(value), 2) + 0.0:.2f}"  # no minus before a zero


# --- the shift property of the sinusoids (section 3.5 of the paper): one fixed rotation takes PE(pos) to PE(pos + k), for every pos ---
#
# A pair of dimensions (2i, 2i + 1) holds sin and cos of pos · f_i, with f_i = 10000^(-2i / d_model). A shift by k rotates each pair by the
# angle k · f_i, whatever pos is; a model can therefore learn "k to the left" as one matrix.


def sinusoids(length: int, d_model: int) -> np.ndarray:
    """Returns the model's own table of sinusoids: (L, D) float32."""
    return build_sinusoids(length, d_model).numpy()


def frequencies(d_model: int) -> np.ndarray:
    """Returns the radians per position of each pair of dimensions: (D / 2,), 1 for the first pair. Raises ValueError for an odd width."""
    if d_model < 2 or d_model % 2:
        raise ValueError(f"d_model must be even, not {d_model}")
    return BASE ** (-np.arange(0, d_model, 2) / d_model)


def rotation(d_model: int, k: int) -> np.ndarray:
    """Builds the matrix M_k (D, D) with PE(pos + k) = M_k PE(pos): 2 x 2 rotations along the diagonal, one for each (sin, cos) pair."""
    angle = k * frequencies(d_model)
    matrix = np.zeros((d_model, d_model))
    sin, cos = np.arange(0, d_model, 2), np.arange(1, d_model, 2)
    matrix[sin, sin] = matrix[cos, cos] = np.cos(angle)
    matrix[sin, cos] = np.sin(angle)  # sin(a + b) = sin a cos b + cos a sin b
    matrix[cos, sin] = -np.sin(angle)  # cos(a + b) = cos a cos b - sin a sin b
    return matrix


def shift_errors(table: np.ndarray, k: int) -> np.ndarray:
    """Computes the error of M_k at each position with one k later: largest absolute error over the dimensions, (L, D) -> (L - k,).

    Raises ValueError unless 0 <= k < L.
    """
    table = np.asarray(table, dtype=np.float64)
    if not 0 <= k < len(table):
        raise ValueError(f"a shift of {k} needs more than {k} positions, not {len(table)}")
    return np.abs(table[: len(table) - k] @ rotation(table.shape[1], k).T - table[k:]).max(axis=1)


def row_norms(table: np.ndarray) -> np.ndarray:
    """Computes the length of each position's encoding: (L, D) -> (L,)."""
    return np.linalg.norm(np.asarray(table, dtype=np.float64), axis=1)
