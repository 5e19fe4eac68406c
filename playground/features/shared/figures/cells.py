"""A grid of cells with tokens along both sides: its place, its labels, the hatching of masked cells; and its place on a projector.

Attention and masks are drawn on it. Its cells are square at the given width, and it stays readable on a wider or narrower page; the
picture that a tab is about fills the room it has, with its titles and its legend on one line above. Cell (row r, column c) covers c ± 0.5
and r ± 0.5.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from playground.features.shared.figures import theme, tokens
from playground.features.shared.figures.theme import Style

LINE = 14  # px, height of one line of labels
RIGHT = 12  # px, right margin
MAX_CELL_PX, MAX_GRID_PX = 44, theme.TALLEST  # px, of a cell's side and of the whole grid
LEGEND, ENTRY = 24, 0.8  # px of one line below the grid; lines of one legend entry
TITLE = 22  # px, an axis title with its padding
PAIR = {"row": "<b>%{y}</b>", "column": "<b>%{x}</b>"}  # of a cell, in a hover box
BAR_LINES = 1.8  # of the legend: a colour bar with its numbers
MAX_STAGE_CELL_PX, STRETCH, EDGE = 150, 2.25, 2  # of the large picture: px of a cell's side, most times from square, px right and below
STAGE_LEFT, NARROW_LEFT = 104, 88  # px at its left, which hold the rows' title; on a telephone
STAGE_TITLES, FOOT = 31, 11  # px of its line of titles; below, beside the lines of a legend: the gap to it, and its padding
LEGEND_ABOVE, BAR_NAMED = 540, 420  # px of a grid that has room for a legend between its titles; for the name of its bar
# presentation mode
BESIDE = 0.27  # least free share of the page's width beside a grid
GAP = 24  # px between the grid and its legend
PRESENTED_EDGE = 10  # px at the right and below
CAPTION = 76  # px above a grid as wide as the page
FLAT = 0.5  # share of the available height below which a grid of square cells is as wide as the page instead
TALLEST_ROW = 48  # px
BAR = 58  # px of a colour bar with its title and its numbers


@dataclass(frozen=True)
class Place:
    """The place of a grid on the page, in pixels, and the labels that fit."""

    rows: Sequence[str]
    columns: Sequence[str]
    style: Style
    left: float
    right: float
    top: float
    across: float  # width of the grid
    down: float  # height of the grid
    share: float  # `across` as a share of the width between the margins
    gap: int  # between cells; 0 where cells are tiny
    every_row: int
    every_column: int
    first_column: int  # with a label
    angle: int  # of the column labels
    longest: int  # characters of a label

    def heat(self, z: list, hover: str, colorbar: dict, ends: tuple[float, float] = (0, 1), **more: object) -> dict:
        """Draws the numbers `z` from `ends`; `more` is of Plotly's heatmap."""
        return self.style.heat(z, hover, ends, xgap=self.gap, ygap=self.gap, colorbar=colorbar, **more)

    def colorbar(self, title: str, ticks: Sequence[float] = (0, 0.5, 1)) -> dict:
        """Lays out the colour bar below a grid; on a stage above its right end, with its name between the ends of its numbers."""
        bar = self.style.colorbar(title, self.below(0), max(min(self.across, 180), 90), ticks)
        if not self.style.stage:
            return bar | {"ticktext": [theme.minus(f"{tick:.2g}") for tick in ticks]}
        wide, ends = self.across >= BAR_NAMED, (ticks[0], ticks[-1])
        texts = [theme.minus(f"{ends[0]:.2g}"), title if wide else "", theme.minus(f"{ends[1]:.2g}")]
        place = {"x": self.share, "xanchor": "right", "xpad": 8, "y": self.above(STAGE_TITLES - 1)}
        bar |= place | {"len": 130 if wide else 56, "thickness": 7}
        return bar | {"title": {"text": ""}, "tickvals": [ends[0], sum(ends) / 2, ends[1]], "ticktext": texts}

    def layout(
        self, kind: str, titles: tuple[str, str] | None = None, bar: float = BAR_LINES, entries: int | None = None, **more: object
    ) -> dict:
        """Lays out the axes and margins. `titles` of rows and columns, by default queries and keys; below, `bar` lines are left free and,
        unless None, a legend of these `entries`. On a stage both are above.

        meta holds the kind and the unmodified tokens, for the page. shapes are those of the `cursor`.
        """
        style, bar = self.style, 0 if self.style.stage else bar
        lines = bar + (entries or 0) * ENTRY
        titles = titles or (style.word(f"rows_{kind}"), style.word(f"columns_{kind}"))
        beyond = (0.9 * tokens.extent(titles[0], longest=99) - self.down) / 2 + 4  # a title longer than its few rows needs room
        top, bottom, notes = max(self.top, beyond), max(lines * LEGEND + 14, beyond), []
        if style.stage:
            top, bottom = self.top, EDGE if self.across >= LEGEND_ABOVE or not lines else lines * LEGEND + FOOT
            notes, titles = [self.write_row_title(titles[0])], ("", titles[1])
        frame = {"showline": True, "linewidth": 2, "linecolor": style.hue(kind), "showgrid": False, "ticks": ""}
        down = tokens.ticks(self.rows, self.every_row, self.longest)
        across = tokens.ticks(self.columns, self.every_column, self.longest, self.first_column)
        across |= {"side": "top", "range": [-0.5, len(self.columns) - 0.5], "domain": [0, self.share], "tickangle": self.angle}
        font = {"tickfont": style.font(family=theme.MONO)}
        legend = {} if entries is None else {"showlegend": entries > 0, "legend": self.legend(bar)}
        options = {
            "meta": {"kind": kind, "cells": True, "rows": list(self.rows), "columns": list(self.columns)},
            "barmode": "overlay", "bargap": 0, "shapes": self.cursor(None), "annotations": notes,
            "xaxis": style.axis(titles[1], **frame, **across, ticklabelstandoff=2) | font,
            "yaxis": style.axis(titles[0], range=[len(self.rows) - 0.5, -0.5], ticklabelstandoff=4, **frame, **down) | font,
        }  # fmt: skip
        return style.layout(top + self.down + bottom, (self.left, self.right, top, bottom), **options | legend | more)

    def write_row_title(self, title: str) -> dict:
        """Writes the title of a stage's rows above their names, in two lines: "query: input" and "→ next token"."""
        return {
            "text": re.sub(r"\s*(?=→)|(?<=[:：])\s*(?!.*→)", "<br>", title, count=1), "font": self.style.font("muted"),
            "xref": "paper", "x": 0, "xanchor": "right", "xshift": -6, "yref": "paper", "y": 1, "yanchor": "bottom", "yshift": 4,
            "align": "right", "showarrow": False, "borderpad": 0,
        }  # fmt: skip

    def above(self, pixels: float) -> float:
        """Returns the height `pixels` above the column names of a stage, in Plotly's paper units."""
        return round(1 + (self.top - STAGE_TITLES + pixels) / self.down, 4)

    def below(self, line: float) -> float:
        """Returns the height of legend line `line` (0 is the first) below the grid, in Plotly's paper units."""
        return round(-(line * LEGEND + (2 if self.style.stage else 8)) / self.down, 4)

    def legend(self, line: float) -> dict:
        """Lays out the legend below the grid, a line for each entry: side by side they would not fit on a phone. A wide stage has it
        above."""
        place = {"y": self.below(line), "yanchor": "top", "font": self.style.font("muted")}
        if self.style.stage and self.across >= LEGEND_ABOVE:
            place |= {"orientation": "h", "y": self.above(2), "yanchor": "bottom"}
        return theme.legend_column(**place, itemclick=False, itemdoubleclick=False, itemwidth=30, tracegroupgap=0)

    def cursor(self, pinned: tuple[int, int] | None) -> list[dict]:
        """Draws four rectangles: 0 the pinned row, 1 the pinned column, 2 and 3 the pinned cell. Without a pin they are invisible, so that
        the page can move them. The cell is drawn twice, in the page's colour and in the text's, for contrast with any weight."""
        rows, columns, (q, k) = len(self.rows), len(self.columns), pinned or (0, 0)
        if not (0 <= q < rows and 0 <= k < columns):
            pinned, q, k = None, 0, 0  # the cursor may come from a longer sentence
        cell = (k - 0.5, q - 0.5, k + 0.5, q + 0.5)
        boxes = [((-0.5, q - 0.5, columns - 0.5, q + 0.5), "text", 1), ((k - 0.5, -0.5, k + 0.5, rows - 0.5), "text", 1)]
        return [
            {
                "type": "rect", "layer": "above", "visible": pinned is not None, "x0": x0, "y0": y0, "x1": x1, "y1": y1,
                "line": {"color": self.style.colors[color], "width": width}, "fillcolor": "rgba(0,0,0,0)",
            }
            for (x0, y0, x1, y1), color, width in [*boxes, (cell, "paper", 6), (cell, "text", 2)]
        ]  # fmt: skip


def place(
    rows: Sequence[str], columns: Sequence[str], style: Style, cell: float = MAX_CELL_PX, tallest: int = MAX_GRID_PX, named: int = 0,
    left: float = STAGE_LEFT, entries: int = 0,
) -> Place:  # fmt: skip
    """Chooses the cell size for `rows` by `columns`: as large as fits, but at most `cell`, and the grid at most `tallest` pixels high.
    Where not every column has room for a label, the column `named` has one. On a stage, the pixels that the whole figure may be high, its
    cells fill them, up to STRETCH from square; `left` pixels hold the rows' title, and a narrow one has a legend of `entries` below."""
    if not rows or not columns:
        raise ValueError("a grid needs at least one row and one column")
    width, stage = style.width, style.stage
    longest = tokens.longest(width)
    if stage and width < 480:
        longest, left = tokens.NARROWEST, min(left, NARROW_LEFT)
    names_px = max(left_margin(rows, longest) - TITLE, left) if stage else left_margin(rows, longest)
    room = max(width - names_px - (EDGE if stage else RIGHT), 60)  # px
    extents = [tokens.extent(token, longest) for token in columns]
    if stage and entries and room < LEGEND_ABOVE:
        stage -= entries * ENTRY * LEGEND + FOOT - EDGE  # as `layout` leaves free below
    if stage:
        wide, high = room / len(columns), (stage - STAGE_TITLES - 4 - max(extents) - EDGE) / len(rows)
        across, down = min(wide, STRETCH * high, MAX_STAGE_CELL_PX) * len(columns), 28
    else:
        side = min(cell, room / len(columns), min(tallest, MAX_GRID_PX) / len(rows))
        across, down = max(side * len(columns), min(room, 60)), max(side * len(rows), min(side * 3, 28), 28)
    step = across / len(columns)
    upright = tokens.fit_side_by_side(extents, step)
    every = 1 if upright else tokens.thinning(step, LINE)
    names = LINE if upright else max(extents[named % every :: every]) + 4
    if stage:
        down = max(min((stage - STAGE_TITLES - names - EDGE) / len(rows), STRETCH * step, MAX_STAGE_CELL_PX) * len(rows), down)
    return Place(
        rows,
        columns,
        style,
        left=names_px,
        right=max(EDGE if stage else RIGHT, (extents[-1] - step) / 2 + 4 if upright else 0),
        top=names + STAGE_TITLES if stage else TITLE + 8 + names,
        across=across,
        down=down,
        share=round(min(across / room, 1.0), 4),
        gap=1 if min(across / len(columns), down / len(rows)) >= 9 else 0,
        every_row=tokens.thinning(down / len(rows), LINE),
        every_column=every,
        first_column=named % every,
        angle=0 if upright else -90,
        longest=longest,
    )


def left_margin(rows: Sequence[str], longest: int) -> float:
    """Returns the px of the title and of the names of these rows, cut at `longest` characters."""
    return TITLE + 10 + max(max(tokens.extent(name, longest) for name in rows), 16)


def hatching(hidden: np.ndarray, name: str, style: Style, shape: str = "/", legend: bool = True) -> dict:
    """Draws bars with diagonal lines over the cells where `hidden` (R, C) is True, one bar for each unbroken run of a row."""
    palette = style.colors
    padded = np.pad(hidden, ((0, 0), (1, 1))).astype(np.int8)
    change = np.diff(padded, axis=1)
    row, start = np.nonzero(change == 1)  # both searches go row by row, so starts and ends pair up
    end = np.nonzero(change == -1)[1]
    return {
        "type": "bar", "orientation": "h", "name": name, "hoverinfo": "skip", "visible": bool(hidden.any()), "showlegend": legend,
        "y": row.tolist(), "base": (start - 0.5).tolist(), "x": (end - start).tolist(), "width": 1,
        "marker": {
            "color": palette["masked"], "line": {"width": 0},
            "pattern": {
                "shape": shape, "size": 7, "solidity": 0.16, "fillmode": "replace",
                "bgcolor": palette["masked"], "fgcolor": palette["hatch"],
            },
        },
    }  # fmt: skip


def hover_layer(hidden: np.ndarray, hover: str) -> dict:
    """Draws an invisible heatmap over the `hidden` cells with the hover box `hover`."""
    return {
        "type": "heatmap", "z": np.where(hidden, 0, None).tolist(), "zmin": 0, "zmax": 1, "showscale": False, "hoverongaps": False,
        "colorscale": [[0, "rgba(0,0,0,0)"], [1, "rgba(0,0,0,0)"]], "visible": bool(hidden.any()),
        "hovertemplate": hover,
    }  # fmt: skip


def rings(cells: Sequence[tuple[int, int]], color: str) -> dict:
    """Outlines single (row, column) cells by one path."""
    x: list[float | None] = []
    y: list[float | None] = []
    for r, c in cells:
        x += [c - 0.4, c + 0.4, c + 0.4, c - 0.4, c - 0.4, None]
        y += [r - 0.4, r - 0.4, r + 0.4, r + 0.4, r - 0.4, None]
    return {
        "type": "scatter", "mode": "lines", "x": x, "y": y, "line": {"color": color, "width": 2},
        "hoverinfo": "skip", "visible": bool(cells), "showlegend": False,
    }  # fmt: skip


def swatch(name: str, color: str, symbol: str = "square", opacity: float = 1, visible: bool = True) -> dict:
    """Draws a trace without points, for a colour's entry in the legend."""
    return {
        "type": "scatter", "mode": "markers", "name": name, "x": [None], "y": [None], "hoverinfo": "skip", "visible": visible,
        "showlegend": visible, "legendrank": 1,
        "marker": {"symbol": symbol, "size": 12, "color": color, "line": {"width": 2, "color": color}, "opacity": opacity},
    }  # fmt: skip


def fit_to_page(figure: dict, width: int, height: int) -> dict:
    """Fits a grid (made by `cells.layout`) to a page of `width` by `height` pixels. Its cells are square and its legend is at the right,
    under the caption, which has `meta["beside"]` pixels there; a grid much wider than high is as wide as the page, with its legend below.
    """
    layout, meta = figure["layout"], figure["layout"].get("meta") or {}
    if not (meta.get("cells") and "rows" in meta and "domain" in layout.get("xaxis", {})):
        return figure
    margin, rows, columns = layout["margin"], len(meta["rows"]), len(meta["columns"])
    tall, wide = height - margin["t"] - PRESENTED_EDGE, width * (1 - BESIDE) - margin["l"] - GAP
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
            "height": int(margin["t"] + down + PRESENTED_EDGE),
            "margin": margin | {"r": int(free), "b": PRESENTED_EDGE},
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
