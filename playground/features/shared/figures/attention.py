"""Attention figures: the large matrix of one head, and the row of one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from playground.features.shared.figures import cells, theme, tokens

BARS = 130  # px, height of a bar of weight 1


def matrix(
    weights: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    mask: np.ndarray | None = None,
    kind: str = "cross",
    pinned: tuple[int, int] | None = None,
    alignment: Sequence[int | None] | None = None,
    width: int = 720,
    tallest: int = cells.MAX_GRID_PX,
    stage: int = 0,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """Draws the weights (Q, K) of one head: rows are queries, columns are keys, a row adds up to 1.

    mask       True where a query can attend, (Q, K) or (1, K); masked cells are hatched and labelled "masked", whatever their weight
    kind       "encoder", "decoder" or "cross": hue of the frame, names of the axes
    pinned     (row, column) of the cursor; ignored when it lies outside
    alignment  for each row the column of the task's alignment, or None: ringed
    stage      the pixels that the figure fills, as in `cells.place`
    Traces, always in this order: 0 weights, 1 hatching, 2 hover of masked cells, 3 rings, 4 their legend. Shapes: see `cells.cursor`.
    Raises ValueError if the shapes don't fit.
    """
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (len(rows), len(columns)):
        raise ValueError(f"weights of shape {weights.shape} do not fit {len(rows)} rows and {len(columns)} columns")
    hidden = ~cells.as_mask(mask, *weights.shape)
    at = cells.place(rows, columns, width, tallest=tallest, stage=stage)
    right = [(q, k) for q, k in enumerate(alignment or ()) if k is not None and q < len(rows) and 0 <= k < len(columns)]
    pair = {"row": "<b>%{y}</b>", "column": "<b>%{x}</b>"}
    entries = bool(right) + bool(hidden.any())
    data = [
        {
            "type": "heatmap", "z": theme.rounded(np.where(hidden, np.nan, weights)), "zmin": 0, "zmax": 1, "xgap": at.gap, "ygap": at.gap,
            "colorscale": theme.scale(theme.sequential(dark)), "hoverongaps": False, "meta": {"kind": kind, "cells": True},
            "hovertemplate": theme.phrase(labels, "hover_weight", **pair, value="%{z:.3f}") + "<extra></extra>",
            "colorbar": cells.colorbar(at, theme.word(labels, "weight"), (0, 0.5, 1), dark),
        },
        cells.hatching(hidden, theme.word(labels, "masked"), dark),
        cells.hover_layer(hidden, theme.phrase(labels, "hover_masked", **pair)),
        cells.rings(right, theme.colors(dark)["second"]),
        cells.swatch(theme.word(labels, "right_place"), theme.colors(dark)["second"], "square-open", visible=bool(right)),
    ]  # fmt: skip
    titles = theme.word(labels, f"rows_{kind}"), theme.word(labels, f"columns_{kind}")
    bar = 0 if stage else 1.8  # lines below the grid
    layout = cells.layout(at, rows, columns, kind=kind, titles=titles, lines=bar + entries * cells.ENTRY, dark=dark)
    layout |= {"shapes": cells.cursor(pinned, *weights.shape, dark), "showlegend": entries > 0, "legend": cells.legend(at, bar, dark)}
    return {"data": data, "layout": layout}


def step_bars(
    weights: np.ndarray,
    columns: Sequence[str],
    *,
    mask: np.ndarray | None = None,
    kind: str = "cross",
    right: int | None = None,
    width: int = 720,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """Draws the weights (K,) of one query as bars over its keys, 0 to 1. Masked tokens have a hatched bar of full height and no number;
    `right` is the column of the task's alignment. Raises ValueError if the lengths don't fit."""
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (len(columns),):
        raise ValueError(f"weights of shape {weights.shape} do not fit {len(columns)} tokens")
    hidden = ~cells.as_mask(mask, 1, len(columns))[0]
    longest = tokens.longest(width)
    room = min((width - 60) / len(columns), 56)
    extents = [tokens.extent(token, longest) for token in columns]
    upright = tokens.fit_side_by_side(extents, room)
    below = cells.LINE + 10 if upright else max(extents) + 12
    share = min(room * len(columns) / (width - 60), 1)
    palette = theme.colors(dark)
    best = int(np.argmax(np.where(hidden, -1, weights)))
    data = [
        {
            "type": "bar", "x": list(range(len(columns))), "y": theme.rounded(np.where(hidden, 0, weights)), "width": 0.78,
            "marker": {"color": theme.shades(weights, dark), "line": {"color": palette["line"], "width": 0.5}},
            "text": [f"{weights[k]:.2f}" if k == best and not hidden[k] else "" for k in range(len(columns))],
            "textposition": "outside", "textangle": 0, "cliponaxis": False, "constraintext": "none",
            "textfont": {"color": palette["text"], "size": theme.SIZE},
            "hovertemplate": theme.phrase(labels, "hover_bar", token="<b>%{x}</b>", value="%{y:.3f}") + "<extra></extra>",
            "meta": {"kind": kind, "cells": False},
        },
        _draw_masked_bars(hidden, labels, dark),
    ]  # fmt: skip
    if right is not None and 0 <= right < len(columns):
        box = {"x0": right - 0.5, "x1": right + 0.5, "y0": 0, "y1": 1, "visible": True}
    else:
        box = {"x0": 0, "x1": 0, "y0": 0, "y1": 1, "visible": False}
    shape = {"type": "rect", "line": {"color": palette["second"], "width": 1.5}, "fillcolor": "rgba(0,0,0,0)", **box}
    font = {"family": theme.MONO, "size": theme.SIZE, "color": palette["text"]}
    x = theme.axis("", dark, range=[-0.5, len(columns) - 0.5], domain=[0, round(share, 4)], showgrid=False, tickangle=0 if upright else -90)
    x |= tokens.ticks(columns, 1 if upright else tokens.thinning(room, cells.LINE), longest)
    x |= {"tickfont": font, "showline": True, "linecolor": theme.hue(kind, dark), "linewidth": 2}
    y = theme.axis(theme.word(labels, "weight"), dark, range=[0, 1], tickvals=[0, 0.5, 1])
    layout = theme.layout(
        22 + BARS + below, {"l": 48, "r": 12, "t": 22, "b": below}, dark, xaxis=x, yaxis=y, shapes=[shape],
        barmode="overlay", hovermode="closest", meta={"kind": kind, "columns": list(columns)},
    )  # fmt: skip
    return {"data": data, "layout": layout}


def _draw_masked_bars(hidden: np.ndarray, labels: Mapping[str, str] | None, dark: bool) -> dict:
    """Draws hatched bars of full height over masked tokens."""
    where = np.nonzero(hidden)[0].tolist()
    bars = cells.hatching(np.zeros((1, 1), dtype=bool), theme.word(labels, "masked"), dark)
    return bars | {
        "orientation": "v", "x": where, "y": [1] * len(where), "base": 0, "width": 1, "visible": bool(where),
        "hoverinfo": "all", "hovertemplate": theme.phrase(labels, "hover_bar_masked", token="<b>%{x}</b>") + "<extra></extra>",
    }  # fmt: skip
