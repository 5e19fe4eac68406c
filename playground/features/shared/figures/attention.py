"""Attention figures: the matrix of one head, small ones of several, the row of one step, and a mask with the causes that hide keys."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from playground.features.shared.figures import cells, theme, tokens
from playground.features.shared.figures.theme import PLAIN, Style

BARS = 130  # px, height of a bar of weight 1
FILL = 0.75  # opacity of an allowed cell of a mask
MAX_CAUSES = 3
MAX_SMALL_PX, BETWEEN_PX, TITLE_PX = 260, 12, 22  # height of one of several matrices; px between two, and of the title below each
_SHAPES = {"future": "\\", "segment": "-"}  # every other cause is "/"


def matrix(
    weights: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    mask: np.ndarray | None = None,
    kind: str = "cross",
    pinned: tuple[int, int] | None = None,
    alignment: Sequence[int | None] | None = None,
    style: Style = PLAIN,
) -> dict:
    """Draws the weights (Q, K) of one head: rows are queries, columns are keys, a row adds up to 1.

    mask       True where a query can attend, (Q, K) or (1, K); masked cells are hatched and labelled "masked", whatever their weight
    kind       "encoder", "decoder" or "cross": hue of the frame, names of the axes
    pinned     (row, column) of the cursor; ignored when it lies outside
    alignment  for each row the column of the task's alignment, or None: ringed
    Traces, always in this order: 0 weights, 1 hatching, 2 hover of masked cells, 3 rings, 4 their legend. Shapes: see `cells.cursor`.
    Raises ValueError if the shapes don't fit.
    """
    weights = theme.fit(weights, rows, columns)
    hidden = ~theme.as_mask(mask, *weights.shape)
    right = [(q, k) for q, k in enumerate(alignment or ()) if k is not None and q < len(rows) and 0 <= k < len(columns)]
    entries = bool(right) + bool(hidden.any())
    at = cells.place(rows, columns, style, tallest=style.tallest, entries=entries)
    meta, hover = {"kind": kind, "cells": True}, style.hover("hover_weight", **cells.PAIR, value="%{z:.3f}")
    data = [
        at.heat(theme.rounded(np.where(hidden, np.nan, weights)), hover, at.colorbar(style.word("weight")), meta=meta),
        cells.hatching(hidden, style.word("masked"), style),
        cells.hover_layer(hidden, style.hover("hover_masked", **cells.PAIR)),
        cells.rings(right, style.colors["second"]),
        cells.swatch(style.word("right_place"), style.colors["second"], "square-open", visible=bool(right)),
    ]
    return {"data": data, "layout": at.layout(kind, entries=entries, shapes=at.cursor(pinned))}


def small_matrices(
    weights: np.ndarray, rows: Sequence[str], columns: Sequence[str], titles: Sequence[str], across: int, *, kind: str = "cross",
    style: Style = PLAIN,
) -> dict:  # fmt: skip
    """Draws the weights (N, Q, K) of several heads as `matrix` does, `across` of them in a line, each with its title below it. The tokens
    stand at the first of each line and above the first line. Raises ValueError if the shapes don't fit."""
    weights = theme.fit(weights, titles, rows, columns)
    left = cells.left_margin(rows, tokens.longest(style.width // across))
    side = max((style.width - left - cells.RIGHT + BETWEEN_PX) / across - BETWEEN_PX, 1)
    at = cells.place(rows, columns, replace(style, width=int(left + side + cells.RIGHT)), tallest=MAX_SMALL_PX)
    lines = -(-len(titles) // across)
    whole = side * across + BETWEEN_PX * (across - 1), (at.down + TITLE_PX) * lines  # px
    data, axes, notes = [], {}, []
    for number, (head, title) in enumerate(zip(weights, titles, strict=True)):
        line, place = divmod(number, across)
        x, y, name = place * (side + BETWEEN_PX) / whole[0], 1 - line * (at.down + TITLE_PX) / whole[1], str(number + 1) if number else ""
        bottom = y - at.down / whole[1]
        heat = at.heat(theme.rounded(head), style.hover("hover_weight", **cells.PAIR, value="%{z:.3f}"), {}, showscale=not number)
        data.append(heat | {"xaxis": f"x{name}", "yaxis": f"y{name}", "colorbar": style.colorbar(style.word("weight"), -0.02, 180)})
        frame = {"showline": True, "mirror": True, "linewidth": 1, "linecolor": style.hue(kind), "showgrid": False, "ticks": ""}
        spans = [round(x, 4), round(min(x + at.share * side / whole[0], 1), 4)], [round(max(bottom, 0), 4), round(y, 4)]
        down, over = tokens.ticks(rows, at.every_row, at.longest), tokens.ticks(columns, at.every_column, at.longest)
        axes[f"xaxis{name}"] = style.axis(
            "" if number else style.word(f"columns_{kind}"), **frame, **over, side="top", range=[-0.5, len(columns) - 0.5],
            domain=spans[0], anchor=f"y{name}", tickangle=at.angle, showticklabels=not line,
        )  # fmt: skip
        axes[f"yaxis{name}"] = style.axis(
            "" if number else style.word(f"rows_{kind}"), **frame, **down, range=[len(rows) - 0.5, -0.5], domain=spans[1],
            anchor=f"x{name}", showticklabels=not place,
        )  # fmt: skip
        notes.append({
            "text": tokens.escape(title), "font": style.font("muted"), "showarrow": False, "xref": "paper", "x": spans[0][0],
            "xanchor": "left", "yref": "paper", "y": spans[1][0], "yanchor": "top",
        })  # fmt: skip
    margin = (at.left, cells.RIGHT, at.top, cells.LEGEND * cells.BAR_LINES + 14)
    layout = style.layout(margin[2] + whole[1] + margin[3], margin, **axes, annotations=notes, meta={"kind": kind, "cells": False})
    return {"data": data, "layout": layout}


def step_bars(
    weights: np.ndarray,
    columns: Sequence[str],
    *,
    mask: np.ndarray | None = None,
    kind: str = "cross",
    right: int | None = None,
    tall: float = 0,
    style: Style = PLAIN,
) -> dict:
    """Draws the weights (K,) of one query as bars over its keys, 0 to 1, the longest at least `tall` pixels. Masked tokens have a hatched
    bar of full height and no number; `right` is the column of the task's alignment. Raises ValueError if the lengths don't fit."""
    weights = theme.fit(weights, columns)
    hidden = ~theme.as_mask(mask, 1, len(columns))[0]
    longest = tokens.longest(style.width)
    room = min((style.width - 60) / len(columns), max(56, tall / 5))
    extents = [tokens.extent(token, longest) for token in columns]
    upright = tokens.fit_side_by_side(extents, room)
    below = cells.LINE + 10 if upright else max(extents) + 12
    share = min(room * len(columns) / (style.width - 60), 1)
    best = int(np.argmax(np.where(hidden, -1, weights)))
    data = [
        {
            "type": "bar", "x": list(range(len(columns))), "y": theme.rounded(np.where(hidden, 0, weights)), "width": 0.78,
            "marker": {"color": style.shades(weights), "line": {"color": style.colors["line"], "width": 0.5}},
            "text": [f"{weights[k]:.2f}" if k == best and not hidden[k] else "" for k in range(len(columns))],
            "textposition": "outside", "textangle": 0, "cliponaxis": False, "constraintext": "none", "textfont": style.font(),
            "hovertemplate": style.hover("hover_bar", token="<b>%{x}</b>", value="%{y:.3f}"),
            "meta": {"kind": kind, "cells": False},
        },
        _draw_masked_bars(hidden, style),
    ]  # fmt: skip
    framed = right is not None and 0 <= right < len(columns)
    box = {"x0": right - 0.5 if framed else 0, "x1": right + 0.5 if framed else 0, "y0": 0, "y1": 1, "visible": framed}
    shape = {"type": "rect", "line": {"color": style.colors["second"], "width": 1.5}, "fillcolor": "rgba(0,0,0,0)", **box}
    x = style.axis("", range=[-0.5, len(columns) - 0.5], domain=[0, round(share, 4)], showgrid=False, tickangle=0 if upright else -90)
    x |= tokens.ticks(columns, 1 if upright else tokens.thinning(room, cells.LINE), longest)
    x |= {"tickfont": style.font(family=theme.MONO), "showline": True, "linecolor": style.hue(kind), "linewidth": 2}
    y = style.axis(style.word("weight"), range=[0, 1], tickvals=[0, 0.5, 1])
    layout = style.layout(
        22 + max(BARS, tall) + below, (48, 12, 22, below), xaxis=x, yaxis=y, shapes=[shape],
        barmode="overlay", meta={"kind": kind, "columns": list(columns)},
    )  # fmt: skip
    return {"data": data, "layout": layout}


def _draw_masked_bars(hidden: np.ndarray, style: Style) -> dict:
    """Draws hatched bars of full height over masked tokens."""
    where = np.nonzero(hidden)[0].tolist()
    bars = cells.hatching(np.zeros((1, 1), dtype=bool), style.word("masked"), style)
    return bars | {
        "orientation": "v", "x": where, "y": [1] * len(where), "base": 0, "width": 1, "visible": bool(where),
        "hoverinfo": "all", "hovertemplate": style.hover("hover_bar_masked", token="<b>%{x}</b>"),
    }  # fmt: skip


def grid(
    mask: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    kind: str = "encoder",
    causes: Mapping[str, np.ndarray] | None = None,
    legend: bool = True,
    source: int = 0,
    style: Style = PLAIN,
) -> dict:
    """Draws one sentence's mask: True where a query (row) can attend to a key (column). Allowed cells have the hue of `kind`, masked ones
    are hatched. Where the first `source` tokens of a joined sequence are the source's, each block has the hue of its kind of attention.

    mask    (R, C), or (1, C) when it is the same for every query, like a padding mask
    causes  up to three masks by the names of their labels, as {"padding": …, "future": …}, which combine to `mask`: each has hatching of
            its own direction, so that a cell hidden by several is crossed
    legend  False where another figure on the page shows the same one; a saved file has one all the same
    Raises ValueError if the shapes don't fit or `mask` is not the combination of its causes.
    """
    allowed = theme.as_mask(mask, len(rows), len(columns))
    parts = {name: ~theme.as_mask(part, *allowed.shape) for name, part in (causes or {"masked": allowed}).items()}
    if len(parts) > MAX_CAUSES or not np.array_equal(np.any(list(parts.values()), axis=0), ~allowed):
        raise ValueError("the mask must be the combination of its causes, at most three")
    entries = 2 if len(parts) == 1 else len(parts) + 2
    at = cells.place(rows, columns, style, cell=34, entries=entries)
    color = style.hue(kind)
    hues = [style.hue(name) for name in ("encoder", "cross")] if source else [color, color]
    blocks = np.ones(allowed.shape)
    blocks[:source, :source], blocks[source:, :source] = 0, 0.5
    data = [
        {
            "type": "heatmap", "z": np.where(allowed, blocks, None).tolist(), "zmin": 0, "zmax": 1, "xgap": at.gap, "ygap": at.gap,
            "showscale": False, "colorscale": [[0, hues[0]], [0.5, hues[1]], [1, color]], "opacity": FILL, "hoverongaps": False,
            "meta": {"kind": kind, "cells": True}, "hovertemplate": style.hover("hover_allowed", **cells.PAIR),
        },
        *_hatch_causes(parts, style),
        *(cells.hover_layer(*spot) for spot in _hovers(parts, style)),
        cells.swatch(style.word("allowed"), color, opacity=FILL),
    ]  # fmt: skip
    layout = at.layout(kind, bar=0, entries=entries, showlegend=legend)
    return {"data": data, "layout": layout | {"meta": layout["meta"] | {"legend_when_saved": True}}}


def _hatch_causes(parts: Mapping[str, np.ndarray], style: Style) -> list[dict]:
    """Hatches each cause's cells; cells with several causes are drawn once, crossed, so that none covers another."""
    several = np.sum(list(parts.values()), axis=0) > 1
    traces = [cells.hatching(hidden & ~several, style.word(name), style, _SHAPES.get(name, "/")) for name, hidden in parts.items()]
    if len(parts) > 1:
        traces.append(cells.hatching(several, style.word("both" if len(parts) == 2 else "several"), style, shape="x"))
    return traces


def _hovers(parts: Mapping[str, np.ndarray], style: Style) -> list[tuple[np.ndarray, str]]:
    """Returns the cells and the hover box of each cause; a cell with several causes has the first's."""
    spots, covered = [], np.zeros_like(next(iter(parts.values())))
    for name, hidden in parts.items():
        spots.append((hidden & ~covered, style.hover(f"hover_{name}", **cells.PAIR)))
        covered = covered | hidden
    return spots
