"""Presentation mode for a projector: a grid as large as the page allows, with its legend beside it. Other figures are unchanged."""

from __future__ import annotations

from playground.features.shared.figures.cells import LEGEND

BESIDE = 0.27  # least free share of the page's width beside a grid
GAP = 24  # px between the grid and its legend
EDGE = 10  # px at the right and below
CAPTION = 76  # px above a grid as wide as the page
FLAT = 0.5  # share of the available height below which a grid of square cells is as wide as the page instead
TALLEST_ROW = 48  # px
BAR = 58  # px of a colour bar with its title and its numbers


def fit_to_page(figure: dict, width: int, height: int) -> dict:
    """Fits a grid (made by `cells.layout`) to a page of `width` by `height` pixels. Its cells are square and its legend is at the right,
    under the caption, which has `meta["beside"]` pixels there; a grid much wider than high is as wide as the page, with its legend below.
    """
    layout, meta = figure["layout"], figure["layout"].get("meta") or {}
    if not (meta.get("cells") and "rows" in meta and "domain" in layout.get("xaxis", {})):
        return figure
    margin, rows, columns = layout["margin"], len(meta["rows"]), len(meta["columns"])
    tall, wide = height - margin["t"] - EDGE, width * (1 - BESIDE) - margin["l"] - GAP
    side = min(tall / rows, wide / columns)
    if side * rows < FLAT * tall:
        return _fit_flat(figure, height)
    across, down = side * columns, side * rows
    free = width - margin["l"] - across
    foot = {"x": 1 + GAP / across, "y": 0, "yanchor": "bottom"}
    px = free - 2 * GAP  # for the bar; half of its last number is beyond it
    data = [_move(trace, **foot, len=int(min(trace["colorbar"]["len"], px))) if "colorbar" in trace else trace for trace in figure["data"]]
    bar = BAR if any("colorbar" in trace for trace in data) else 0
    return {
        "data": data,
        "layout": layout
        | {
            "height": int(margin["t"] + down + EDGE),
            "margin": margin | {"r": int(free), "b": EDGE},
            "meta": meta | {"beside": int(free - GAP), "legend": bar + _count_entries(figure) * LEGEND},
            "xaxis": layout["xaxis"] | {"domain": [0, 1]},
            "legend": layout.get("legend", {}) | foot | {"y": bar / down},
        },
    }


def _fit_flat(figure: dict, height: int) -> dict:
    """Fits a flat grid to the page's width: higher rows, and its legend at the same distance below."""
    layout, margin = figure["layout"], figure["layout"]["margin"]
    down = max(min(height - margin["t"] - margin["b"] - CAPTION, TALLEST_ROW * len(layout["meta"]["rows"])), 60)
    factor = (layout["height"] - margin["t"] - margin["b"]) / down
    data = [_move(trace, y=trace["colorbar"]["y"] * factor) if "colorbar" in trace else trace for trace in figure["data"]]
    changed = {"height": int(margin["t"] + down + margin["b"]), "xaxis": layout["xaxis"] | {"domain": [0, 1]}}
    if "y" in layout.get("legend", {}):
        changed["legend"] = layout["legend"] | {"y": layout["legend"]["y"] * factor}
    return {"data": data, "layout": layout | changed}


def _move(trace: dict, **place: object) -> dict:
    """Moves the colour bar of a trace."""
    return trace | {"colorbar": trace["colorbar"] | place}


def _count_entries(figure: dict) -> int:
    """Counts the lines of the legend: the visible traces with a name."""
    named = [trace for trace in figure["data"] if trace.get("name") and trace.get("visible", True) and trace.get("showlegend", True)]
    return len(named) if figure["layout"].get("showlegend") else 0
