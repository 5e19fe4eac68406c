"""The shift property of the sinusoids (section 3.5 of the paper): one fixed rotation takes PE(pos) to PE(pos + k), for every pos.

A pair of dimensions (2i, 2i + 1) holds sin and cos of pos · f_i, with f_i = 10000^(-2i / d_model). A shift by k rotates each pair by the
angle k · f_i, whatever pos is; a model can therefore learn "k to the left" as one matrix.
"""

from __future__ import annotations

import numpy as np

from playground.model import positions as model


def sinusoids(length: int, d_model: int) -> np.ndarray:
    """Returns the model's own table of sinusoids: (L, D) float32."""
    return model.sinusoids(length, d_model).numpy()


def frequencies(d_model: int) -> np.ndarray:
    """Returns the radians per position of each pair of dimensions: (D / 2,), 1 for the first pair. Raises ValueError for an odd width."""
    if d_model < 2 or d_model % 2:
        raise ValueError(f"d_model must be even, not {d_model}")
    return model.BASE ** (-np.arange(0, d_model, 2) / d_model)


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


def similarity(table: np.ndarray) -> np.ndarray:
    """Computes the cosine between the encodings of every two positions: (L, D) -> (L, L); 0 for a row of zeros."""
    table = np.asarray(table, dtype=np.float64)
    length = row_norms(table)[:, None]
    unit = table / np.where(length > 0, length, 1.0)
    return np.clip(unit @ unit.T, -1.0, 1.0)
