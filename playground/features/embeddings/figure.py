"""Vectors as a map in two dimensions with legible style, and their similarities."""

from collections.abc import Iterable, Sequence

import numpy as np

from playground.features.shared.figures import cells, theme, tokens
from playground.features.shared.figures.theme import PLAIN, Style

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
AIR, SPREAD = 1, 0.04  # px between names; of the plane's shorter side, around a name that isn't labelled first: 40 to 50 have room


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
    style: Style = PLAIN,
) -> dict:
    """Draws N points (N, 2), each with its token beside it where names are far apart, on two axes of equal scale, from -limit to limit, or
    on a stage as far as it is wide. The chosen point, those near it and the page's sentence are labelled first; a name of the chosen or a
    near point without room is further off, with a line. Hover boxes name all points.

    kind      "encoder" or "decoder", for the hue
    shares    of the variance along both axes, 0 to 1, for their titles
    ids       a click's value of each point (its number when None)
    places    of states, 1 the first of a sentence: later places have a stronger hue; `by_place` labels points by them, not by tokens
    own       the number of last points that are the page's sentence: joined by a line, in order
    chosen    a point with a strong ring, and those `near` it with faint ones
    Traces: 0 line, 1 points, 2 rings of the near, 3 ring of the chosen. Raises ValueError if the lengths don't fit.
    """
    xy = theme.fit(xy, names, shares)
    palette, hue, count = style.colors, style.hue(kind), len(names)
    texts = [str(place) for place in places] if by_place and places is not None else names
    room = _measure_room(style)
    scale = room.min() / (2 * ROOM * limit)  # px of a unit
    ringed = [*([] if chosen is None else [chosen]), *near]
    dots = np.where(np.isin(np.arange(count), list(near)), NEAR, DOT)
    dots[ringed[: chosen is not None]] = CHOSEN
    sizes = [theme.SIZE + (at >= count - own) for at in range(count)]
    sides, away = _place_names(texts, sizes, xy * scale, dots, room, ringed, own)
    written = [tokens.label(text) for text in texts]
    shades = [hue] * count if places is None else _mix_shades(places, hue, palette["paper"])
    ink = [*shades[: count - own], *[palette["text"]] * own]
    x, y = theme.rounded(xy[:, 0]), theme.rounded(xy[:, 1])
    hover, placed = (list(each) if places is None else name_states(each, places) for each in (map(tokens.label, names), names))
    data = [
        _draw_line(x[count - own :], y[count - own :], palette["muted"]),
        {
            "type": "scatter", "mode": "markers+text", "x": x, "y": y, "meta": {"field": "token"}, "hovertext": hover,
            "customdata": list(range(count) if ids is None else ids), "cliponaxis": False,
            "text": [text if at else "" for text, at in zip(written, sides, strict=True)], "textposition": [at or SIDES[0] for at in sides],
            "textfont": {"family": theme.MONO, "size": sizes, "color": ink},
            "marker": {"size": dots.tolist(), "color": ink, "line": {"width": 0}},
            "hovertemplate": style.hover("hover_point", token="<b>%{hovertext}</b>"),
        },
        _draw_rings([xy[at] for at in near], NEAR + RING, 1, palette["muted"]),
        _draw_rings([] if chosen is None else [xy[chosen]], CHOSEN + RING, 2, palette["text"]),
    ]  # fmt: skip
    fonts = {at: {"family": theme.MONO, "size": sizes[at], "color": ink[at]} for at in away}
    notes = [_write_away(x[at], y[at], by, written[at], fonts[at], palette["muted"]) for at, by in away.items()]
    rows = [list(row) for row in zip(placed, x, y, strict=True)]
    return {"data": data, "layout": _lay_out_plane(room, scale, shares, rows, style) | {"annotations": notes}}


def name_states(names: Iterable[str], places: Sequence[int]) -> list[str]:
    """Names states by their token and its place in the sentence."""
    return [f"{name} ({place})" for name, place in zip(names, places, strict=True)]


def _measure_room(style: Style) -> np.ndarray:
    """Returns the width and height of the plane, in pixels: a square, or as wide as the stage."""
    side = style.stage - 54 if style.stage else min(style.width - 54 - 12, MAX_SIDE_PX, style.tallest)
    return np.array([style.width - 66 if style.stage else side, side])


def _write_away(x: float, y: float, offset: tuple[float, float], text: str, font: dict, line: str) -> dict:
    """Writes a name at an offset from its point, with a line in this colour."""
    return {
        "x": x, "y": y, "ax": offset[0], "ay": -offset[1], "text": text, "borderpad": 0, "showarrow": True, "arrowhead": 0, "font": font,
        "arrowwidth": 1, "arrowcolor": line, "standoff": (CHOSEN + RING) / 2,
    }  # fmt: skip


def _lay_out_plane(room: np.ndarray, scale: float, shares: Sequence[float], rows: list, style: Style) -> dict:
    """Lays out two axes of `room` pixels (wide, high) and of equal `scale`, in pixels of a unit; `rows` are those of the table."""
    span = {"nticks": 5, "zeroline": True, "zerolinecolor": style.colors["grid"], "constrain": "domain"}
    across, up = ([-float(px / scale / 2), float(px / scale / 2)] for px in room)
    titles = [style.phrase(name, percent=f"{100 * share:.0f}") for name, share in zip(("axis_1", "axis_2"), shares, strict=True)]
    x = style.axis(titles[0], domain=[0, round(room[0] / (style.width - 66), 4)], range=across, constraintoward="left", **span)
    y = style.axis(titles[1], scaleanchor="x", range=up, constraintoward="top", **span)
    moving = {"duration": 300, "easing": "cubic-in-out"}
    meta = {"table": {"head": [style.word("pair_token"), *titles], "rows": rows}}
    return style.layout(room[1] + 8 + 46, (54, 12, 8, 46), xaxis=x, yaxis=y, transition=moving, meta=meta)


def cosines(matrix: np.ndarray, names: Sequence[str], *, kind: str = "encoder", style: Style = PLAIN) -> dict:
    """Draws the cosines (N, N) of every two of N vectors, -1 to 1, on a signed scale. Raises ValueError if the names don't fit."""
    matrix = theme.fit(matrix, names, names)
    at = cells.place(names, names, style, CELL)
    hover = style.hover("hover_cosine", **cells.PAIR, value="%{z:.2f}")
    heat = at.heat(theme.rounded(matrix, 3), hover, at.colorbar(style.word("cosine"), (-1, 0, 1)), (-1, 1), zmid=0)
    meta = {"rows": list(names), "columns": list(names)}
    return {"data": [heat], "layout": at.layout(kind, ("", ""), meta=meta, shapes=[])}  # nothing is pinned here


def _place_names(
    texts: Sequence[str], sizes: Sequence[int], points: np.ndarray, dots: np.ndarray, room: np.ndarray, ringed: Sequence[int], own: int,
) -> tuple[list[str], dict[int, tuple[float, float]]]:  # fmt: skip
    """Places the names of points (N, 2), in pixels, in a rectangle of this size, those of the ringed and the `own` last ones first; returns
    the side of each, "" for none, and the offsets of the names of ringed points without a side."""
    boxes = [(tokens.extent(text) * size / theme.SIZE, size * LINE) for text, size in zip(texts, sizes, strict=True)]
    labelled, gaps = Names(points, (dots + RING * (dots > DOT)) / 2, room), dots / 1.6 + 1  # Plotly's distance of a name from its point
    sides, away, first = [""] * len(boxes), {}, [*ringed, *range(len(boxes) - own, len(boxes))]
    for at in dict.fromkeys([*first, *range(len(boxes))]):
        labelled.air = AIR if at in first else SPREAD * room.min()
        sides[at] = labelled.place_beside(at, boxes[at], gaps[at])
        if not sides[at] and at in ringed and (by := labelled.place_away(at, boxes[at])):
            away[at] = by
    return sides, away


def _draw_line(x: list[float], y: list[float], color: str) -> dict:
    line = {"color": color, "width": 1}
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "visible": len(x) > 1, "hoverinfo": "skip", "line": line}


def _draw_rings(points: Sequence[np.ndarray], size: int, width: int, color: str) -> dict:
    return {
        "type": "scatter", "mode": "markers", "x": theme.rounded([x for x, _ in points]), "y": theme.rounded([y for _, y in points]),
        "hoverinfo": "skip", "visible": bool(points),
        "marker": {"symbol": "circle-open", "size": size, "color": color, "line": {"width": width, "color": color}},
    }  # fmt: skip


def _mix_shades(places: Sequence[int], hue: str, paper: str) -> list[str]:
    """Returns a colour for each place in the sentence: the side's hue, fainter for earlier tokens."""
    last = max(places)
    ends = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in (paper, hue)], dtype=np.float64)
    share = FAINTEST + (1 - FAINTEST) * (np.asarray(places) - 1) / max(last - 1, 1)
    mixed = (ends[0] + share[:, None] * (ends[1] - ends[0])).round().astype(int)
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in mixed.tolist()]


class Names:
    """Points (N, 2) with radii (N,) in a rectangle of this `size` (wide, high), and the names placed so far."""

    def __init__(self, points: np.ndarray, radii: np.ndarray, size: np.ndarray) -> None:
        self.points, self.radii, self.size, self.air = points, radii, size, AIR
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
        on_names = (np.abs(middles[:, None] - self._middles) < half + self._halves + self.air).all(axis=2)
        free = np.flatnonzero(inside & ~on_points.any(axis=1) & ~on_names.any(axis=1))
        if not len(free):
            return None
        self._middles, self._halves = np.vstack([self._middles, middles[free[0]]]), np.vstack([self._halves, half])
        return int(free[0])
