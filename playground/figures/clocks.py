"""Clocks: the (sin, cos) pairs of a position encoding as hands, at a position and at a shifted one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from playground.figures import theme

ROOM, CLOCK = 2.9, 150  # side of the square of a clock of radius 1, and its most px
NAMED = 100  # px of a clock from which its name has words, not just two numbers
LEFT, TOP = 96, 34  # px: names of the rows, and of the columns
ARC = 0.45  # radius of the arc between two hands


def clocks(
    table: np.ndarray,
    starts: Sequence[int],
    pairs: Sequence[int],
    shift: int,
    turned: Sequence[float],
    *,
    width: int = 720,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """Draws a row of clocks for each of the positions `starts`, a column for each pair of dimensions (2 i, 2 i + 1) of `pairs`.

    A hand is (sin, cos) from the table (L, D): the thin one at the row's position, the thick one `shift` positions later; the arc between
    them is the angle `turned` (radians, one for each pair). Raises ValueError for a position or pair that the table lacks.
    """
    table = np.asarray(table, dtype=np.float64)
    if not starts or not pairs or max(starts) + shift >= len(table) or 2 * max(pairs) + 1 >= table.shape[1]:
        raise ValueError(f"positions {list(starts)} + {shift} or pairs {list(pairs)} are not all in a table of {table.shape}")
    palette, data, notes = theme.colors(dark), [], []
    for row, start in enumerate(starts):
        notes.append(_annotate(f"{start} → {start + shift}", -ROOM / 2, -row * ROOM, palette["text"], xanchor="right"))
        for column, (pair, angle) in enumerate(zip(pairs, turned, strict=True)):
            centre = np.array([column * ROOM, -row * ROOM])
            first, last = (table[at, 2 * pair : 2 * pair + 2] for at in (start, start + shift))
            begin, turn = np.arctan2(*first), np.linspace(0, angle, 3 + int(24 * abs(angle)))
            data += [
                _draw_line(_circle(np.linspace(0, 2 * np.pi, 61)) + centre, palette["line"], 1),
                _draw_line(ARC * _circle(begin + turn) + centre, palette["second"], 3),
                _draw_hand(centre, first, start, palette["muted"], 1.5, labels),
                _draw_hand(centre, last, start + shift, palette["first"], 3.5, labels),
            ]
            degrees = float(np.degrees(angle))
            text = f"{degrees:.3g}°" if abs(degrees) < 1000 else f"{degrees:,.0f}°"
            notes.append(_annotate(text, centre[0], centre[1] - 1.24, palette["text"]))
    side = min((width - LEFT - 12) / len(pairs), CLOCK)
    named = "clock_pair" if side >= NAMED else "clock_numbers"
    notes += [
        _annotate(theme.phrase(labels, named, first=str(2 * pair), second=str(2 * pair + 1)), column * ROOM, 1.28, palette["muted"])
        for column, pair in enumerate(pairs)
    ]
    hidden = {"visible": False, "showgrid": False, "fixedrange": True, "zeroline": False}
    across = [-ROOM / 2, (width - LEFT - 12) / side * ROOM - ROOM / 2]
    down = [-(len(starts) - 0.5) * ROOM, ROOM / 2]
    layout = theme.layout(
        TOP + side * len(starts), {"l": LEFT, "r": 12, "t": TOP / 2, "b": TOP / 2}, dark, hovermode="closest", annotations=notes,
        xaxis=hidden | {"range": across, "constrain": "domain"},
        yaxis=hidden | {"range": down, "scaleanchor": "x", "constrain": "domain"},
    )  # fmt: skip
    return {"data": data, "layout": layout}


def _circle(angles: np.ndarray) -> np.ndarray:
    """Returns points (N, 2) at these angles, clockwise from the top."""
    return np.stack([np.sin(angles), np.cos(angles)], axis=1)


def _draw_line(points: np.ndarray, color: str, width: float) -> dict:
    x, y = theme.rounded(points.T, 3)
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip", "line": {"color": color, "width": width}}


def _draw_hand(centre: np.ndarray, tip: np.ndarray, position: int, color: str, width: float, labels: Mapping[str, str] | None) -> dict:
    sin, cos = (theme.minus(f"{value:.3f}") for value in tip)
    text = theme.phrase(labels, "hover_clock", position=f"<b>{position}</b>", sin=sin, cos=cos) + "<extra></extra>"
    hand = _draw_line(np.stack([centre, centre + tip]), color, width)
    marker = {"size": [0, width + 4], "color": color}
    return hand | {"mode": "lines+markers", "hoverinfo": "all", "hovertemplate": text, "marker": marker, "meta": {"position": position}}


def _annotate(text: str, x: float, y: float, color: str, xanchor: str = "center") -> dict:
    font = {"size": theme.SIZE, "color": color}
    return {"text": text, "x": x, "y": y, "showarrow": False, "xanchor": xanchor, "yanchor": "middle", "font": font}
