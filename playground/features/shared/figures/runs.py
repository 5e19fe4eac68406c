"""Several runs in one figure: exact match or validation loss, a line for each run; and a pinned run behind the curves of another."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from playground.features.shared.figures import cells, theme, tokens
from playground.features.shared.figures.theme import PLAIN, Style

HEIGHT = 300  # px, without the legend
ENTRY = 18  # px, of a legend's line
DASHES = ("solid", "10px,4px", "2px,3px", "10px,4px,2px,4px", "5px,3px", "16px,4px,5px,4px")
MARKS = ("circle", "diamond", "square", "triangle-up", "cross", "x")
SHARES = {"range": [-0.03, 1.03], "tickvals": [0, 0.5, 1], "tickformat": ".0%"}  # of an axis from 0 to 1
PROPORTIONAL = 1.05  # width of a legend's proportional letters over the monospaced ones of ticks
MOST_MARKS = 24  # of one line
TITLED = 200  # px, height of a grid from which its rows have a title
NUMBERED = 36  # px, width of a cell from which it has its number


def overlay(
    column: str,
    places: Sequence[Sequence[float]],
    values: Sequence[Sequence[float]],
    names: Sequence[str],
    *,
    over: str = "steps",
    end: float | None = None,
    bands: Sequence[tuple[Sequence[float], Sequence[float]] | None] = (),
    style: Style = PLAIN,
) -> dict:
    """Draws a line for each run: its `values` of `column` ("exact_match" or "validation_loss") at its `places` in steps, seconds or tokens.

    Lines differ in dash and mark besides colour; there are at most six. `end` is the place of comparison: a dotted line, shapes[0].
    `bands`: for each line the lower and upper ends of a shade behind all lines, or None. The lines are the last traces. Raises ValueError
    if the lists differ in length.
    """
    if not len(places) == len(values) == len(names) <= len(DASHES):
        raise ValueError(f"{len(names)} names for {len(places)} and {len(values)} lines of at most {len(DASHES)}")
    share = column == "exact_match"
    legend_names = [tokens.escape(truncate(name, style.width - 110)) for name in names]
    xs = [theme.rounded(x, 3) for x in places]
    data = [
        shade(x, *(theme.rounded(side, 5) for side in band), theme.lines(style.dark)[at], 0.2, f"run-{at}")
        for at, (x, band) in enumerate(zip(xs, bands, strict=False))
        if band
    ]
    data += [_draw_line(at, *line, share, style) for at, line in enumerate(zip(xs, values, legend_names, strict=True))]
    x = style.axis(style.word("step" if over == "steps" else over), rangemode="tozero", showgrid=False, showline=True)
    y = style.axis("", rangemode="tozero", nticks=5) | (SHARES if share else {"autorange": True})
    shapes = [{
        "type": "line", "xref": "x", "yref": "paper", "x0": end or 0, "x1": end or 0, "y0": 0, "y1": 1, "visible": end is not None,
        "line": {"color": style.colors["line"], "width": 1, "dash": "dot"},
    }]  # fmt: skip
    return {"data": data, "layout": axes(len(names), x, y, style, hovermode="x unified", shapes=shapes)}


def axes(entries: int, x: dict[str, Any], y: dict[str, Any], style: Style, **more: Any) -> dict:
    """Lays out lines over two zoomable axes, with a legend of this many entries above."""
    top = 10 + ENTRY * entries
    return style.layout(
        max(HEIGHT + top, style.stage), (52, 18, top, 44), showlegend=True, dragmode="zoom",
        xaxis=x | {"nticks": 6, "fixedrange": False}, yaxis=y | {"fixedrange": False},
        legend=theme.legend_column(itemwidth=46, tracegroupgap=0),
        **more,
    )  # fmt: skip


def difference(
    change: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    mask: np.ndarray | None = None,
    kind: str = "cross",
    style: Style = PLAIN,
) -> dict:
    """Draws the weights of a head in a second run minus those in a first: (Q, K), -1 to 1, on the signed scale centred at 0. Numbers are
    written in the cells if they fit. Rows, columns, `mask` and `kind` as of `attention.matrix`. Raises ValueError if they don't fit.

    Traces: 0 the differences, 1 hatching.
    """
    change = theme.fit(change, rows, columns)
    hidden, at = ~theme.as_mask(mask, *change.shape), cells.place(rows, columns, style, tallest=style.tallest)
    strongest = max(math.ceil(100 * np.abs(np.where(hidden, 0, change)).max()) / 100, 0.1)  # a floor keeps tiny differences pale
    numbers, hover = theme.rounded(np.where(hidden, np.nan, change)), style.hover("hover_difference", **cells.PAIR, value="%{z:+.3f}")
    ends, meta = (-strongest, strongest), {"kind": kind, "cells": True}
    heat = at.heat(numbers, hover, at.colorbar(style.word("difference"), (-strongest, 0, strongest)), ends, meta=meta)
    if at.across / len(columns) >= NUMBERED and at.down / len(rows) >= NUMBERED / 2:
        heat |= {"texttemplate": "%{z:+.2f}", "textfont": {"size": theme.SIZE - 2}}
    titles = style.word(f"rows_{kind}") if at.down >= TITLED else "", style.word(f"columns_{kind}")
    return {"data": [heat, cells.hatching(hidden, style.word("masked"), style)], "layout": at.layout(kind, titles)}


def line_key(at: int, dark: bool = False) -> dict[str, str]:
    """Returns the colour and the dashes of line number `at`, for a small SVG key."""
    return small_key(theme.lines(dark)[at], DASHES[at])


def small_key(color: str, dash: str) -> dict[str, str]:
    """Converts a colour and one of DASHES to SVG."""
    return {"color": color, "dash": dash.replace("px", "").replace("solid", "")}


def add_pinned(
    figure: dict, column: str, places: Sequence[float], values: Sequence[float], names: tuple[str, str], *, style: Style = PLAIN
) -> dict:
    """Copies a figure of curves and adds another run's `values` of `column`, as a grey dashed line behind the others; `names`, of the line
    and of the run, are two lines of the legend."""
    layout, margin = figure["layout"], figure["layout"]["margin"]
    name = "<br>".join(tokens.escape(truncate(each, style.width - 110)) for each in names)
    line = {
        "type": "scatter", "mode": "lines", "name": name, "x": theme.rounded(places, 0), "y": theme.rounded(values, 5),
        "line": {"color": style.colors["line"], "width": 2, "dash": "6px,4px"}, "zorder": -1,
        "hovertemplate": "%{y:.1%}" if column == "exact_match" else "%{y:.4~g}",
    }  # fmt: skip
    room = {"height": layout["height"] + 2 * ENTRY, "margin": margin | {"t": margin["t"] + 2 * ENTRY}}
    return {"data": [*figure["data"], line], "layout": layout | room}


def truncate(name: str, room: float, scale: float = PROPORTIONAL) -> str:
    """Truncates a name to `room` pixels; `scale` is its width to that of a token."""
    fits = next((n for n in range(len(name), 1, -1) if scale * tokens.extent(name, n) <= room), 1)
    return name if fits == len(name) else f"{name[: fits - 1]}…"


def shade(x: list, low: list, high: list, color: str, opacity: float, group: str) -> dict:
    """Fills the area between `low` and `high` in its line's colour, shown and hidden with the line as one legend group."""
    red, green, blue = (int(color[start : start + 2], 16) for start in (1, 3, 5))
    return {
        "type": "scatter", "mode": "lines", "x": [*x, *x[::-1]], "y": [*high, *low[::-1]], "fill": "toself", "hoverinfo": "skip",
        "fillcolor": f"rgba({red},{green},{blue},{opacity})", "line": {"width": 0}, "showlegend": False, "legendgroup": group,
    }  # fmt: skip


def _draw_line(at: int, x: list, y: list, name: str, share: bool, style: Style) -> dict:
    color = theme.lines(style.dark)[at]
    return {
        "type": "scatter", "mode": "lines+markers" if len(x) <= MOST_MARKS else "lines", "name": name, "x": x,
        "y": theme.rounded(y, 5),
        "line": {"color": color, "width": 2, "dash": DASHES[at]}, "marker": {"symbol": MARKS[at], "size": 6, "color": color},
        "hovertemplate": "%{y:.1%}" if share else "%{y:.4~g}", "cliponaxis": not share, "legendgroup": f"run-{at}",
    }  # fmt: skip
