"""Mask figures: the keys that a query can attend to, and the causes that hide the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from playground.features.shared.figures import cells, theme

FILL = 0.75  # opacity of an allowed cell
MAX_CAUSES = 3
_SHAPES = {"future": "\\", "segment": "-"}  # every other cause is "/"


def grid(
    mask: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    kind: str = "encoder",
    causes: Mapping[str, np.ndarray] | None = None,
    legend: bool = True,
    width: int = 480,
    stage: int = 0,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """Draws one sentence's mask: True where a query (row) can attend to a key (column). Allowed cells have the hue of `kind`, masked ones
    are hatched.

    mask    (R, C), or (1, C) when it is the same for every query, like a padding mask
    causes  up to three masks by the names of their labels, as {"padding": …, "future": …}, which combine to `mask`: each has hatching of
            its own direction, so that a cell hidden by several is crossed
    stage   the pixels that the figure fills, as in `cells.place`
    legend  False where another figure on the page shows the same one; a saved file has one all the same
    Raises ValueError if the shapes don't fit or `mask` is not the combination of its causes.
    """
    allowed = cells.as_mask(mask, len(rows), len(columns))
    parts = {name: ~cells.as_mask(part, *allowed.shape) for name, part in (causes or {"masked": allowed}).items()}
    if len(parts) > MAX_CAUSES or not np.array_equal(np.any(list(parts.values()), axis=0), ~allowed):
        raise ValueError("the mask must be the combination of its causes, at most three")
    at = cells.place(rows, columns, width, cell=34, stage=stage)
    pair = {"row": "<b>%{y}</b>", "column": "<b>%{x}</b>"}
    color = theme.hue(kind, dark)
    data = [
        {
            "type": "heatmap", "z": np.where(allowed, 1, None).tolist(), "zmin": 0, "zmax": 1, "xgap": at.gap, "ygap": at.gap,
            "showscale": False, "colorscale": [[0, color], [1, color]], "opacity": FILL, "hoverongaps": False,
            "meta": {"kind": kind, "cells": True}, "hovertemplate": theme.phrase(labels, "hover_allowed", **pair) + "<extra></extra>",
        },
        *_hatch_causes(parts, labels, dark),
        *(cells.hover_layer(*spot) for spot in _hovers(parts, pair, labels)),
        cells.swatch(theme.word(labels, "allowed"), color, opacity=FILL),
    ]  # fmt: skip
    titles = theme.word(labels, f"rows_{kind}"), theme.word(labels, f"columns_{kind}")
    entries = 2 if len(parts) == 1 else len(parts) + 2
    layout = cells.layout(at, rows, columns, kind=kind, titles=titles, lines=entries * cells.ENTRY, dark=dark)
    layout |= {"showlegend": legend, "legend": cells.legend(at, 0, dark), "meta": layout["meta"] | {"legend_when_saved": True}}
    return {"data": data, "layout": layout}


def _hatch_causes(parts: Mapping[str, np.ndarray], labels: Mapping[str, str] | None, dark: bool) -> list[dict]:
    """Hatches each cause's cells; cells with several causes are drawn once, crossed, so that none covers another."""
    several = np.sum(list(parts.values()), axis=0) > 1
    traces = [
        cells.hatching(hidden & ~several, theme.word(labels, name), dark, shape=_SHAPES.get(name, "/")) for name, hidden in parts.items()
    ]
    if len(parts) > 1:
        traces.append(cells.hatching(several, theme.word(labels, "both" if len(parts) == 2 else "several"), dark, shape="x"))
    return traces


def _hovers(parts: Mapping[str, np.ndarray], pair: Mapping[str, str], labels: Mapping[str, str] | None) -> list[tuple[np.ndarray, str]]:
    """Returns the cells and the hover text of each cause; a cell with several causes has the first's."""
    spots, covered = [], np.zeros_like(next(iter(parts.values())))
    for name, hidden in parts.items():
        spots.append((hidden & ~covered, theme.phrase(labels, f"hover_{name}", **pair)))
        covered = covered | hidden
    return spots
