"""Where names stand beside the points of a cloud: none over another, and none over a point. Greedy: who comes first chooses first, so that
the same points have the same names at the same sides every time.

Everything in pixels, x to the right and y upwards, (0, 0) in the middle of the picture.
"""

from __future__ import annotations

import numpy as np

# Where a name stands beside its point, the places to read most easily first: to the right, to the left, above, below, at the corners.
_WHERE = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)], dtype=np.float64)
_ACROSS, _UP = {-1: "left", 0: "center", 1: "right"}, {-1: "bottom", 0: "middle", 1: "top"}
SIDES = tuple(f"{_UP[up]} {_ACROSS[across]}" for across, up in _WHERE)  # as Plotly calls them
_ANGLES = np.arange(16) * np.pi / 8
_FAR = np.array([(far * np.cos(angle), far * np.sin(angle)) for far in (28, 44, 62) for angle in _ANGLES])  # px: of a name with a line
AIR = 1  # px between a name and what is beside it


class Names:
    """Points (N, 2) in a square of this side, the circle (N,) that each takes, and the names that stand there already."""

    def __init__(self, points: np.ndarray, radii: np.ndarray, side: float) -> None:
        self.points, self.radii, self.side = points, radii, side
        self._middles, self._halves = np.empty((0, 2)), np.empty((0, 2))

    def beside(self, at: int, size: tuple[float, float], gap: float) -> str:
        """The first side of a point at which a name of this size (wide, high) has room, `gap` from its middle; "" where none has."""
        half = np.array(size) / 2
        found = self._first(at, self.points[at] + _WHERE * (half + gap), half)
        return "" if found is None else SIDES[found]

    def away(self, at: int, size: tuple[float, float]) -> tuple[float, float] | None:
        """Where a name of this size has room some way off, from the point to the name's middle; None where it has none there either."""
        found = self._first(at, self.points[at] + _FAR, np.array(size) / 2)
        return None if found is None else (float(_FAR[found][0]), float(_FAR[found][1]))

    def _first(self, at: int, middles: np.ndarray, half: np.ndarray) -> int | None:
        """The first of these places (K, 2) that lies inside, over no name and over no other point; the name stands there from then on."""
        inside = (np.abs(middles) + half <= self.side / 2).all(axis=1)
        on_points = (np.abs(middles[:, None] - self.points) < half + self.radii[:, None]).all(axis=2)
        on_points[:, at] = False
        on_names = (np.abs(middles[:, None] - self._middles) < half + self._halves + AIR).all(axis=2)
        free = np.flatnonzero(inside & ~on_points.any(axis=1) & ~on_names.any(axis=1))
        if not len(free):
            return None
        self._middles, self._halves = np.vstack([self._middles, middles[free[0]]]), np.vstack([self._halves, half])
        return int(free[0])
