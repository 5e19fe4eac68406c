"""Positions as pictures: the table, its waves and similarities, and rotary positions as clocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from playground.features.shared.figures import theme

_SERIES, _DASHES = ("first", "second"), ("solid", "dash")
SQUARE, WAVE = 320, 46  # px: side of the similarity, height of one wave
MAX_TABLE_PX = 420
ROOM, CLOCK = 2.9, 150  # side of the square of a clock of radius 1, and its most px
NAMED = 100  # px of a clock from which its name has words, not just two numbers
LEFT, TOP = 96, 34  # px: names of the rows, and of the columns
ARC = 0.45  # radius of the arc between two hands


def heatmap(
    table: np.ndarray,
    *,
    trained: int | None = None,
    limit: float | None = None,
    tallest: int = MAX_TABLE_PX,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """Draws a table (L, D) of encodings: one row a position, one column a dimension, signed and centred at 0.

    `limit` is the value of the strongest colour (the largest absolute value when None; pass the same to compare tables).
    """
    table = _as_table(table)
    largest = float(np.nanmax(np.abs(table), initial=0.0)) if limit is None else limit
    rows = table.shape[0]
    down = float(np.clip(rows * 7, 180, min(tallest, MAX_TABLE_PX)))
    limit = largest or 1.0
    trace = {
        "type": "heatmap", "z": theme.rounded(table, 3), "zmin": -limit, "zmax": limit, "zmid": 0,
        "colorscale": theme.scale(theme.diverging(dark)), "hoverongaps": False,
        "hovertemplate": theme.phrase(labels, "hover_position", position="<b>%{y}</b>", dimension="<b>%{x}</b>", value="%{z:.3f}")
        + "<extra></extra>",
        "colorbar": theme.colorbar(
            theme.word(labels, "value"), dark, y=-(48 / down), length=160, ticks=(-_round_tick(limit), 0, _round_tick(limit))
        ),
    }  # fmt: skip
    x = theme.axis(theme.word(labels, "dimension"), dark, range=[-0.5, table.shape[1] - 0.5], showgrid=False, nticks=9)
    y = theme.axis(theme.word(labels, "position"), dark, range=[rows - 0.5, -0.5], showgrid=False, nticks=9)
    layout = theme.layout(
        down + 20 + 104, {"l": 54, "r": 12, "t": 20, "b": 104}, dark, xaxis=x, yaxis=y, hovermode="closest",
        **_draw_boundary(trained, rows, "y", (-0.5, table.shape[1] - 0.5), dark, labels),
    )  # fmt: skip
    return {"data": [trace], "layout": layout}


def waves(
    tables: Mapping[str, np.ndarray],
    dimensions: Sequence[int],
    *,
    trained: int | None = None,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """Draws some dimensions of one or two tables (L, D) over the positions, one small row a dimension, in the given order.

    `tables` by the name of their label ("sinusoidal", "learned"), which differ in colour and dash. Raises ValueError for a dimension that
    a table doesn't have.
    """
    tables = {name: _as_table(table) for name, table in tables.items()}
    _check_count(tables)
    if not dimensions or any(not 0 <= d < table.shape[1] for d in dimensions for table in tables.values()):
        raise ValueError(f"dimensions {list(dimensions)} are not all in the tables")
    count = len(dimensions)
    longest = max(map(len, tables.values()))
    reach = max(float(np.nanmax(np.abs(table[:, list(dimensions)]))) for table in tables.values()) or 1.0
    data, axes = [], {}
    for row, dimension in enumerate(dimensions):
        axis = f"y{row + 1 if row else ''}"
        domain = [round(1 - (row + 0.9) / count, 4), round(1 - (row + 0.1) / count, 4)]
        tick = {"tickvals": [0], "ticktext": [str(dimension)]}
        axes[axis.replace("y", "yaxis")] = theme.axis("", dark, domain=domain, range=[-1.1 * reach, 1.1 * reach], **tick)
        for (name, table), color, dash in zip(tables.items(), _SERIES, _DASHES, strict=False):
            line = {"color": theme.colors(dark)[color], "width": 1.7, "dash": dash}
            line |= {"shape": "spline"} if name == "sinusoidal" else {}  # a learned table has no values between its dots
            data.append(_draw_wave(table, dimension, axis, labels) | {"name": theme.word(labels, name), "legendgroup": name, "line": line})
            data[-1]["showlegend"] = row == 0
    x = theme.axis(theme.word(labels, "position"), dark, range=[-0.5, longest - 0.5], anchor=axis, nticks=9)
    height = WAVE * count
    layout = theme.layout(
        height + 92, {"l": 54, "r": 12, "t": 48, "b": 44}, dark, xaxis=x, hovermode="closest",
        showlegend=len(tables) > 1, legend=_legend(height), **axes, **_draw_boundary(trained, longest, "x", None, dark, labels),
    )  # fmt: skip
    layout["annotations"] = [*layout["annotations"], _side_title(theme.word(labels, "dimension"), dark)]
    return {"data": data, "layout": layout}


def _draw_wave(table: np.ndarray, dimension: int, axis: str, labels: Mapping[str, str] | None) -> dict:
    """Draws one dimension of a table (L, D) as a line over the positions."""
    parts = {"position": "<b>%{x}</b>", "dimension": f"<b>{dimension}</b>", "value": "%{y:.3f}"}
    return {
        "type": "scatter", "mode": "lines+markers", "marker": {"size": 4}, "yaxis": axis,
        "x": list(range(len(table))), "y": theme.rounded(table[:, dimension]),
        "meta": {"dimension": int(dimension)}, "hovertemplate": theme.phrase(labels, "hover_position", **parts) + "<extra></extra>",
    }  # fmt: skip


def similarity(
    matrix: np.ndarray, *, trained: int | None = None, width: int = 480, dark: bool = False, labels: Mapping[str, str] | None = None
) -> dict:
    """Draws the cosine (L, L) between the encodings of every two positions, -1 to 1."""
    matrix = _as_table(matrix)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"a similarity is square, not {matrix.shape}")
    length, room = len(matrix), width - 66
    side = min(SQUARE, room)
    title = theme.word(labels, "position")
    trace = {
        "type": "heatmap", "z": theme.rounded(matrix, 3), "zmin": -1, "zmax": 1, "zmid": 0,
        "colorscale": theme.scale(theme.diverging(dark)), "hoverongaps": False,
        "hovertemplate": theme.phrase(labels, "hover_similarity", row="<b>%{y}</b>", column="<b>%{x}</b>", value="%{z:.3f}")
        + "<extra></extra>",
        "colorbar": theme.colorbar(theme.word(labels, "cosine"), dark, y=-(48 / side), length=160, ticks=(-1, 0, 1)),
    }  # fmt: skip
    x = theme.axis(title, dark, range=[-0.5, length - 0.5], domain=[0, round(side / room, 4)], showgrid=False, nticks=7)
    y = theme.axis(title, dark, range=[length - 0.5, -0.5], showgrid=False, nticks=7)
    x |= {"constrain": "domain", "constraintoward": "left"}  # keeps the diagonal at 45° on a wider page
    y |= {"scaleanchor": "x", "constrain": "domain", "constraintoward": "top"}
    layout = theme.layout(
        side + 20 + 104, {"l": 54, "r": 12, "t": 20, "b": 104}, dark, xaxis=x, yaxis=y, hovermode="closest",
        **_draw_boundary(trained, length, "y", (-0.5, length - 0.5), dark, labels),
    )  # fmt: skip
    return {"data": [trace], "layout": layout}


def _draw_boundary(
    trained: int | None, length: int, axis: str, across: tuple[float, float] | None, dark: bool, labels: Mapping[str, str] | None
) -> dict:
    """Draws a line after the last trained position of `axis`, with its name; nothing when all positions are trained. It runs `across` the
    other axis, or over the whole height of the figure when None."""
    if trained is None or not 0 < trained < length:
        return {"shapes": [], "annotations": []}
    palette, other = theme.colors(dark), "x" if axis == "y" else "y"
    spot, (start, end) = trained - 0.5, across or (0, 1)
    line = {
        "type": "line", f"{axis}ref": axis, f"{other}ref": other if across else "paper", f"{axis}0": spot, f"{axis}1": spot,
        f"{other}0": start, f"{other}1": end, "line": {"color": palette["text"], "width": 1.5},
    }  # fmt: skip
    note = {
        "text": ("↑ " if axis == "y" else "← ") + theme.word(labels, "trained"), "showarrow": False,
        "font": {"size": theme.SIZE, "color": palette["text"]},
        f"{axis}ref": axis, f"{other}ref": other if across else "paper", axis: spot, other: end, "borderpad": 2, "yanchor": "bottom",
        "xanchor": "right" if axis == "y" or 2 * trained > length else "left", "bgcolor": palette["paper"], "opacity": 0.9,
    }  # fmt: skip
    return {"shapes": [line], "annotations": [note]}


def _side_title(text: str, dark: bool) -> dict:
    """Annotates several stacked axes with a title at the left edge."""
    return {
        "text": text, "textangle": -90, "showarrow": False, "xref": "paper", "yref": "paper", "x": 0, "xanchor": "right", "xshift": -30,
        "y": 0.5, "yanchor": "middle", "font": {"size": theme.SIZE, "color": theme.colors(dark)["muted"]},
    }  # fmt: skip


def _legend(height: float) -> dict:
    """Lays out a legend above a plot of `height` pixels, with a line left for the name of the boundary."""
    return {"orientation": "h", "x": 0, "xanchor": "left", "y": round(1 + 20 / height, 4), "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)"}


def _as_table(table: np.ndarray) -> np.ndarray:
    table = np.asarray(table, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"expected a table (positions, dimensions), not shape {table.shape}")
    return table


def _check_count(series: Mapping[str, np.ndarray]) -> None:
    if not 1 <= len(series) <= len(_SERIES):
        raise ValueError(f"expected one or two series, not {len(series)}")


def _round_tick(value: float) -> float:
    """Rounds a tick to two significant digits."""
    return float(f"{value:.2g}")


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
