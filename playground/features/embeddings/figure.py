"""Vectors as a map in two dimensions with legible labels, and their similarities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from playground.features.shared.figures import cells, theme, tokens

MAX_SIDE_PX, CELL = 560, 22  # px: the side of the plane, and of a cell of the cosines
ROOM = 1.08  # times the limit: padding at the edges
FAINTEST = 0.35  # share of the hue at the first place of a sentence
DOT, NEAR, CHOSEN = 5, 9, 13  # px: a point, one near the chosen one, and the chosen one
LINE = 1.2  # times the size of its letters: the height of a name
RING = 4  # px, diameter of a ring less that of its point
# Candidate directions of a name from its point, the most readable first: to the right, to the left, above, below, at the corners.
_DIRECTIONS = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)], dtype=np.float64)
_ACROSS, _UP = {-1: "left", 0: "center", 1: "right"}, {-1: "bottom", 0: "middle", 1: "top"}
SIDES = tuple(f"{_UP[up]} {_ACROSS[across]}" for across, up in _DIRECTIONS)  # Plotly's names
_ANGLES = np.arange(16) * np.pi / 8
_FAR = np.array([(far * np.cos(angle), far * np.sin(angle)) for far in (28, 44, 62) for angle in _ANGLES])  # px: of a name with a line
AIR = 1  # px between names


def plane(
    xy: np.ndarray,
    names: Sequence[str],
    *,
    kind: str = "encoder",
    limit: float,
    shares: Sequence[float],
    ids: Sequence[int] | None = None,
    places: Sequence[int] | None = None,
    by_place: bool = False,
    own: int = 0,
    chosen: int | None = None,
    near: Sequence[int] = (),
    width: int = 720,
    tallest: int = MAX_SIDE_PX,
    stage: int = 0,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """Draws N points (N, 2), each with its token beside it if that overlaps nothing, on two axes of equal scale, from -limit to limit, or
    on a `stage` of that many pixels as far as it is wide. The chosen point, those near it and the page's sentence are labelled first; a
    name of the chosen or a near point without room is further off, with a line. Hover boxes name all points.

    kind      "encoder" or "decoder", for the hue
    shares    of the variance along both axes, 0 to 1, for their titles
    ids       a click's value of each point (its number when None)
    places    of states, 1 the first of a sentence: later places have a stronger hue; `by_place` labels points by them, not by tokens
    own       the number of last points that are the page's sentence: joined by a line, in order
    chosen    a point with a strong ring, and those `near` it with faint ones
    Traces: 0 line, 1 points, 2 rings of the near, 3 ring of the chosen. Raises ValueError if the lengths don't fit.
    """
    xy = np.asarray(xy, dtype=np.float64)
    if xy.shape != (len(names), 2) or (places is not None and len(places) != len(names)):
        raise ValueError(f"points of shape {xy.shape} do not fit {len(names)} names")
    palette, hue = theme.colors(dark), theme.hue(kind, dark)
    texts = [str(place) for place in places] if by_place and places is not None else names
    side = stage - 54 if stage else min(width - 54 - 12, MAX_SIDE_PX, tallest)
    room = np.array([width - 66 if stage else side, side])  # px
    ringed = [*([] if chosen is None else [chosen]), *near]
    dots = np.full(len(names), DOT)
    dots[list(near)] = NEAR
    dots[ringed[: chosen is not None]] = CHOSEN
    sizes = [theme.SIZE + (at >= len(names) - own) for at in range(len(names))]
    order = dict.fromkeys([*ringed, *range(len(names) - own, len(names)), *range(len(names))])
    boxes = [(tokens.extent(text) * size / theme.SIZE, size * LINE) for text, size in zip(texts, sizes, strict=True)]
    scale = room.min() / (2 * ROOM * limit)  # px of a unit
    labelled = Names(xy * scale, (dots + RING * (dots > DOT)) / 2, room)
    sides, away = _place_names(labelled, boxes, dots / 1.6 + 1, order, ringed)  # Plotly's distance of a name from its point
    written = [tokens.label(text) for text in texts]
    ink = [hue] * len(names) if places is None else _mix_shades(places, hue, palette["paper"])
    ink = [*ink[: len(ink) - own], *[palette["text"]] * own]
    x, y = theme.rounded(xy[:, 0]), theme.rounded(xy[:, 1])
    hover = [tokens.label(name) for name in names]
    if places is not None:
        hover = [f"{name} ({place})" for name, place in zip(hover, places, strict=True)]
    data = [
        {
            "type": "scatter", "mode": "lines", "x": x[len(x) - own :], "y": y[len(y) - own :], "visible": own > 1, "hoverinfo": "skip",
            "line": {"color": palette["muted"], "width": 1},
        },
        {
            "type": "scatter", "mode": "markers+text", "x": x, "y": y, "meta": {"field": "token"}, "hovertext": hover,
            "customdata": list(range(len(names)) if ids is None else ids), "cliponaxis": False,
            "text": [text if at else "" for text, at in zip(written, sides, strict=True)], "textposition": [at or SIDES[0] for at in sides],
            "textfont": {"family": theme.MONO, "size": sizes, "color": ink},
            "marker": {"size": dots.tolist(), "color": ink, "line": {"width": 0}},
            "hovertemplate": theme.phrase(labels, "hover_point", token="<b>%{hovertext}</b>") + "<extra></extra>",
        },
        _draw_rings([xy[at] for at in near], NEAR + RING, 1, palette["muted"]),
        _draw_rings([] if chosen is None else [xy[chosen]], CHOSEN + RING, 2, palette["text"]),
    ]  # fmt: skip
    span = {"nticks": 5, "zeroline": True, "zerolinecolor": palette["grid"]}
    across, up = ([-float(px / scale / 2), float(px / scale / 2)] for px in room)
    titles = [theme.phrase(labels, name, percent=f"{100 * share:.0f}") for name, share in zip(("axis_1", "axis_2"), shares, strict=True)]
    x_axis = theme.axis(titles[0], dark, domain=[0, round(room[0] / (width - 66), 4)], range=across, constrain="domain", **span)
    x_axis |= {"constraintoward": "left"}
    y_axis = theme.axis(titles[1], dark, scaleanchor="x", range=up, constrain="domain", constraintoward="top", **span)
    layout = theme.layout(
        side + 8 + 46, {"l": 54, "r": 12, "t": 8, "b": 46}, dark, xaxis=x_axis, yaxis=y_axis, hovermode="closest",
        annotations=[
            _annotate_away(x[at], y[at], by, written[at], {"family": theme.MONO, "size": sizes[at], "color": ink[at]}, palette["muted"])
            for at, by in away.items()
        ],
        transition={"duration": 300, "easing": "cubic-in-out"},
    )  # fmt: skip
    return {"data": data, "layout": layout}


def cosines(
    matrix: np.ndarray, names: Sequence[str], *, kind: str = "encoder", width: int = 480, dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:  # fmt: skip
    """Draws the cosines (N, N) of every two of N vectors, -1 to 1, on a signed scale. Raises ValueError if the names don't fit."""
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.shape != (len(names), len(names)):
        raise ValueError(f"cosines of shape {matrix.shape} do not fit {len(names)} names")
    at = cells.place(names, names, width, CELL)
    pair = {"row": "<b>%{y}</b>", "column": "<b>%{x}</b>"}
    data = {
        "type": "heatmap", "z": theme.rounded(matrix, 3), "zmin": -1, "zmax": 1, "zmid": 0, "xgap": at.gap, "ygap": at.gap,
        "colorscale": theme.scale(theme.diverging(dark)), "hoverongaps": False,
        "hovertemplate": theme.phrase(labels, "hover_cosine", **pair, value="%{z:.2f}") + "<extra></extra>",
        "colorbar": cells.colorbar(at, theme.word(labels, "cosine"), (-1, 0, 1), dark),
    }  # fmt: skip
    layout = cells.layout(at, names, names, kind=kind, titles=("", ""), lines=1.8, dark=dark)
    layout |= {"meta": {"rows": list(names), "columns": list(names)}, "shapes": []}  # nothing is pinned here
    return {"data": [data], "layout": layout}


def _place_names(
    labelled: Names, boxes: Sequence[tuple[float, float]], gaps: Sequence[float], order: Iterable[int], ringed: Sequence[int]
) -> tuple[list[str], dict[int, tuple[float, float]]]:
    """Places the names; returns the side of each point, "" for none, and the offsets of the names of ringed points without a side."""
    sides, away = [""] * len(boxes), {}
    for at in order:
        sides[at] = labelled.place_beside(at, boxes[at], gaps[at])
        if not sides[at] and at in ringed and (by := labelled.place_away(at, boxes[at])):
            away[at] = by
    return sides, away


def _annotate_away(x: float, y: float, by: tuple[float, float], text: str, font: dict, color: str) -> dict:
    """Annotates a point with a text some pixels away and a line to it."""
    return {
        "x": x, "y": y, "ax": by[0], "ay": -by[1], "text": text, "font": font, "borderpad": 0, "showarrow": True, "arrowhead": 0,
        "arrowwidth": 1, "arrowcolor": color, "standoff": (CHOSEN + RING) / 2,
    }  # fmt: skip


def _draw_rings(points: Sequence[np.ndarray], size: int, width: int, color: str) -> dict:
    return {
        "type": "scatter", "mode": "markers", "x": theme.rounded([x for x, _ in points]), "y": theme.rounded([y for _, y in points]),
        "hoverinfo": "skip", "visible": bool(points),
        "marker": {"symbol": "circle-open", "size": size, "color": color, "line": {"width": width, "color": color}},
    }  # fmt: skip


def _mix_shades(places: Sequence[int], hue: str, paper: str) -> list[str]:
    """Mixes the hue of a kind, stronger at later places."""
    last = max(places)
    ends = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in (paper, hue)], dtype=np.float64)
    share = FAINTEST + (1 - FAINTEST) * (np.asarray(places) - 1) / max(last - 1, 1)
    mixed = (ends[0] + share[:, None] * (ends[1] - ends[0])).round().astype(int)
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in mixed.tolist()]


class Names:
    """Points (N, 2) with radii (N,) in a rectangle of this `size` (wide, high), and the names placed so far."""

    def __init__(self, points: np.ndarray, radii: np.ndarray, size: np.ndarray) -> None:
        self.points, self.radii, self.size = points, radii, size
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
        inside = (np.abs(middles) + half <= self.size / 2).all(axis=1)
        on_points = (np.abs(middles[:, None] - self.points) < half + self.radii[:, None]).all(axis=2)
        on_points[:, at] = False
        on_names = (np.abs(middles[:, None] - self._middles) < half + self._halves + AIR).all(axis=2)
        free = np.flatnonzero(inside & ~on_points.any(axis=1) & ~on_names.any(axis=1))
        if not len(free):
            return None
        self._middles, self._halves = np.vstack([self._middles, middles[free[0]]]), np.vstack([self._halves, half])
        return int(free[0])
