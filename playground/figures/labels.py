"""Label placement: puts names beside the points of a cloud so that none overlaps another or a point. Greedy, in the given order, so the
same points always have the same names at the same sides.

All units are pixels, x to the right and y upwards, (0, 0) in the middle of the figure.
"""

from __future__ import annotations

import numpy as np

# Candidate directions of a name from its point, the most readable first: to the right, to the left, above, below, at the corners.
_DIRECTIONS = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)], dtype=np.float64)
_ACROSS, _UP = {-1: "left", 0: "center", 1: "right"}, {-1: "bottom", 0: "middle", 1: "top"}
SIDES = tuple(f"{_UP[up]} {_ACROSS[across]}" for across, up in _DIRECTIONS)  # Plotly's names
_ANGLES = np.arange(16) * np.pi / 8
_FAR = np.array([(far * np.cos(angle), far * np.sin(angle)) for far in (28, 44, 62) for angle in _ANGLES])  # px: of a name with a line
AIR = 1  # px between names


class Names:
    """Points (N, 2) with radii (N,) in a square of this side, and the names placed so far."""

    def __init__(self, points: np.ndarray, radii: np.ndarray, side: float) -> None:
        self.points, self.radii, self.side = points, radii, side
        self._middles, self._halves = np.empty((0, 2)), np.empty((0, 2))

    def place_beside(self, at: int, size: tuple[float, float], gap: float) -> str:
        """Places a name of this size (wide, high) at the first free side of a point, `gap` from its middle; "" without room."""
        half = np.array(size) / 2
        side = self._place_first(at, self.points[at] + _DIRECTIONS * (half + gap), half)
        return "" if side is None else SIDES[side]

    def place_away(self, at: int, size: tuple[float, float]) -> tuple[float, float] | None:
        """Places a name of this size further off; returns the offset of its middle from the point, None without room."""
        place = self._place_first(at, self.points[at] + _FAR, np.array(size) / 2)
        return None if place is None else (float(_FAR[place][0]), float(_FAR[place][1]))

    def _place_first(self, at: int, middles: np.ndarray, half: np.ndarray) -> int | None:
        """Places a name at the first of these places (K, 2) that is inside and overlaps no name and no other point; returns its index."""
        inside = (np.abs(middles) + half <= self.side / 2).all(axis=1)
        on_points = (np.abs(middles[:, None] - self.points) < half + self.radii[:, None]).all(axis=2)
        on_points[:, at] = False
        on_names = (np.abs(middles[:, None] - self._middles) < half + self._halves + AIR).all(axis=2)
        free = np.flatnonzero(inside & ~on_points.any(axis=1) & ~on_names.any(axis=1))
        if not len(free):
            return None
        self._middles, self._halves = np.vstack([self._middles, middles[free[0]]]), np.vstack([self._halves, half])
        return int(free[0])
