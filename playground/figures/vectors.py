"""Vectors as points on a plane, written as their tokens; and the cosine of every two of a few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from playground.figures import cells, theme, tokens

MAX_SIDE_PX, CELL = 560, 22  # px: the side of the plane, and of a cell of the cosines
ROOM = 1.08  # times the limit: air at the edges
FAINTEST = 0.35  # how much of the hue the first place of a sentence keeps


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
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """N points (N, 2), each written as its token, one unit of both axes equally long, both from -limit to limit.

    kind      whose hue: "encoder" or "decoder"
    shares    of the variance along both axes, 0 to 1, for their titles
    ids       what a click says of each point (its number when None)
    places    of states, 1 the first of a sentence: the later, the stronger the hue; `by_place` writes them instead of the tokens
    own       how many of the last points are the page's sentence: joined by a line, in order
    chosen    a point with a strong ring, and those `near` it with faint ones
    Traces: 0 line, 1 points, 2 rings of the near, 3 ring of the chosen. Raises ValueError if the lengths don't fit.
    """
    xy = np.asarray(xy, dtype=np.float64)
    if xy.shape != (len(names), 2) or (places is not None and len(places) != len(names)):
        raise ValueError(f"points of shape {xy.shape} do not fit {len(names)} names")
    palette, hue = theme.colors(dark), theme.hue(kind, dark)
    texts = [str(place) for place in places] if by_place and places is not None else names
    side = min(width - 54 - 12, MAX_SIDE_PX, tallest)
    first = [*([] if chosen is None else [chosen]), *near, *range(len(names) - own, len(names))]
    shown = _uncovered(xy * side / (2 * ROOM * limit), texts, [*dict.fromkeys([*first, *range(len(names))])])
    written = [tokens.label(text) if shown[at] else "" for at, text in enumerate(texts)]
    ink = [hue] * len(names) if places is None else _shades(places, hue, palette["paper"])
    ink = [*ink[: len(ink) - own], *[palette["text"]] * own]
    x, y = theme.rounded(xy[:, 0]), theme.rounded(xy[:, 1])
    hover = [tokens.label(name) for name in names]
    if places is not None:
        hover = [f"{name} ({place})" for name, place in zip(hover, places, strict=True)]
    sizes = [theme.SIZE + (at >= len(names) - own) for at in range(len(names))]
    data = [
        {
            "type": "scatter", "mode": "lines", "x": x[len(x) - own :], "y": y[len(y) - own :], "visible": own > 1, "hoverinfo": "skip",
            "line": {"color": palette["muted"], "width": 1},
        },
        {
            "type": "scatter", "mode": "markers+text", "x": x, "y": y, "text": written, "meta": {"field": "token"}, "hovertext": hover,
            "customdata": list(range(len(names)) if ids is None else ids), "cliponaxis": False,
            "textfont": {"family": theme.MONO, "size": sizes, "color": ink}, "textposition": "middle center",
            "marker": {
                "size": [10 if text else 4 for text in shown], "opacity": [0 if text else 1 for text in shown], "color": ink,
                "line": {"width": 0},
            },
            "hovertemplate": theme.phrase(labels, "hover_point", token="<b>%{hovertext}</b>") + "<extra></extra>",
        },
        _rings([xy[at] for at in near], 18, 1, palette["muted"]),
        _rings([] if chosen is None else [xy[chosen]], 24, 2, palette["text"]),
    ]  # fmt: skip
    span = {"range": [-ROOM * limit, ROOM * limit], "nticks": 5, "zeroline": True, "zerolinecolor": palette["grid"]}
    titles = [theme.phrase(labels, name, percent=f"{100 * share:.0f}") for name, share in zip(("axis_1", "axis_2"), shares, strict=True)]
    x_axis = theme.axis(titles[0], dark, domain=[0, round(side / (width - 66), 4)], constrain="domain", constraintoward="left", **span)
    y_axis = theme.axis(titles[1], dark, scaleanchor="x", constrain="domain", constraintoward="top", **span)
    layout = theme.layout(
        side + 8 + 46, {"l": 54, "r": 12, "t": 8, "b": 46}, dark, xaxis=x_axis, yaxis=y_axis, hovermode="closest",
        transition={"duration": 300, "easing": "cubic-in-out"},
    )  # fmt: skip
    return {"data": data, "layout": layout}


def cosines(
    matrix: np.ndarray, names: Sequence[str], *, kind: str = "encoder", width: int = 480, dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:  # fmt: skip
    """The cosines (N, N) of every two of N vectors, -1 to 1, one signed scale. Raises ValueError if the names don't fit."""
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.shape != (len(names), len(names)):
        raise ValueError(f"cosines of shape {matrix.shape} do not fit {len(names)} names")
    at = cells.place(names, names, width, CELL)
    pair = {"row": "<b>%{y}</b>", "column": "<b>%{x}</b>"}
    data = {
        "type": "heatmap", "z": theme.rounded(matrix, 3), "zmin": -1, "zmax": 1, "zmid": 0, "xgap": at.gap, "ygap": at.gap,
        "colorscale": theme.scale(theme.diverging(dark)), "hoverongaps": False,
        "hovertemplate": theme.phrase(labels, "hover_cosine", **pair, value="%{z:.2f}") + "<extra></extra>",
        "colorbar": theme.colorbar(
            theme.word(labels, "cosine"), dark, y=cells.below(at, 0), length=max(min(at.across, 180), 90), ticks=(-1, 0, 1)
        ),
    }  # fmt: skip
    layout = cells.layout(at, names, names, kind=kind, titles=("", ""), lines=1.8, dark=dark)
    layout |= {"meta": {"rows": list(names), "columns": list(names)}, "shapes": []}  # nothing is pinned here
    return {"data": [data], "layout": layout}


def _uncovered(pixels: np.ndarray, texts: Sequence[str], order: Sequence[int]) -> list[bool]:
    """Which texts, centred at pixels (N, 2), can be written so that none lies on another, those first in the order first. The others
    stay dots, whose name the pointer tells."""
    wide, shown = np.array([tokens.extent(text) for text in texts]), [False] * len(texts)
    written: list[int] = []
    for at in order:
        apart = np.abs(pixels[written] - pixels[at])
        if not ((apart[:, 0] < (wide[written] + wide[at]) / 2 + 1) & (apart[:, 1] < cells.LINE - 2)).any():
            shown[at] = True
            written.append(at)
    return shown


def _rings(points: Sequence[np.ndarray], size: int, width: int, color: str) -> dict:
    return {
        "type": "scatter", "mode": "markers", "x": theme.rounded([x for x, _ in points]), "y": theme.rounded([y for _, y in points]),
        "hoverinfo": "skip", "visible": bool(points),
        "marker": {"symbol": "circle-open", "size": size, "color": color, "line": {"width": width, "color": color}},
    }  # fmt: skip


def _shades(places: Sequence[int], hue: str, paper: str) -> list[str]:
    """The hue of a kind, the stronger the later the place."""
    last = max(places)
    ends = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in (paper, hue)], dtype=np.float64)
    share = FAINTEST + (1 - FAINTEST) * (np.asarray(places) - 1) / max(last - 1, 1)
    mixed = (ends[0] + share[:, None] * (ends[1] - ends[0])).round().astype(int)
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in mixed.tolist()]
