"""A matrix as a small grid of whole numbers, which the page paints on a canvas (static/thumbnails.js)."""

from __future__ import annotations

import base64

import numpy as np

LARGEST = (24, 64)  # most rows and columns of a small picture
STRONGEST, MASKED = 127, -128  # of the numbers that it is made of


def miniature(values: np.ndarray, seen: np.ndarray | None, scale: str, most: float = 1.0, square: bool = False) -> dict:
    """`values` and `seen` (R, C) as whole numbers: −127 … 127 between minus and plus `most` (0 … 127 for the scale "probability"), −128
    where not seen; rows of bytes in base64. Large ones are cut into blocks, `square` ones where that is wanted: their means, or the largest
    of each for probabilities."""
    size = tuple(max(1, -(-whole // cap)) for whole, cap in zip(values.shape, LARGEST, strict=True))
    size = (max(size), max(size)) if square else size
    open_cells = values if seen is None else np.where(seen, values, 0.0)
    small = _blocks(open_cells, size, np.maximum if scale == "probability" else np.add) / most
    whole = np.rint(np.clip(small, -1, 1) * STRONGEST).astype(np.int8)
    if seen is not None:
        whole[~_blocks(seen, size, np.maximum)] = MASKED
    data = base64.b64encode(whole.tobytes()).decode()
    return {"rows": whole.shape[0], "columns": whole.shape[1], "data": data, "scale": scale, "blocks": list(size)}


def _blocks(values: np.ndarray, size: tuple[int, int], how: np.ufunc) -> np.ndarray:
    """Blocks of `size` put together by `how`: their largest value, or for np.add their mean."""
    for axis in (0, 1):
        if size[axis] == 1:
            continue
        whole = values.shape[axis]
        starts = np.arange(0, whole, size[axis])
        values = how.reduceat(values, starts, axis=axis)
        if how is np.add:
            values = values / np.expand_dims(np.diff([*starts, whole]), 1 - axis)
    return values
