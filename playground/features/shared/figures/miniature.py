"""Downscales a matrix to a small grid of integers, which the page paints on a canvas (static/thumbnails.js)."""

from __future__ import annotations

import base64

import numpy as np

MAX_SHAPE = (24, 64)  # maximum rows and columns
STRONGEST, MASKED = 127, -128  # among the integers


def make_miniature(values: np.ndarray, visible: np.ndarray | None, scale: str, most: float = 1.0, square: bool = False) -> dict:
    """Converts `values`, with the mask `visible`, both (R, C), to signed bytes in base64: −127 … 127 for minus to plus `most` (0 … 127 for
    the scale "probability"), −128 for masked cells. Large matrices are pooled in blocks, on request `square` ones: by the mean, or for
    probabilities by the maximum."""
    size = tuple(max(1, -(-integers // cap)) for integers, cap in zip(values.shape, MAX_SHAPE, strict=True))
    size = (max(size), max(size)) if square else size
    masked_values = values if visible is None else np.where(visible, values, 0.0)
    pooled = _pool(masked_values, size, np.maximum if scale == "probability" else np.add) / most
    integers = np.rint(np.clip(pooled, -1, 1) * STRONGEST).astype(np.int8)
    if visible is not None:
        integers[~_pool(visible, size, np.maximum)] = MASKED
    data = base64.b64encode(integers.tobytes()).decode()
    return {"rows": integers.shape[0], "columns": integers.shape[1], "data": data, "scale": scale, "blocks": list(size)}


def _pool(values: np.ndarray, size: tuple[int, int], reduce: np.ufunc) -> np.ndarray:
    """Pools blocks of `size` with `reduce`: their maximum, or for np.add their mean."""
    for axis in (0, 1):
        if size[axis] == 1:
            continue
        length = values.shape[axis]
        starts = np.arange(0, length, size[axis])
        values = reduce.reduceat(values, starts, axis=axis)
        if reduce is np.add:
            values = values / np.expand_dims(np.diff([*starts, length]), 1 - axis)
    return values
