"""A grid of cells with tokens along both sides: its place, its labels, the hatching of masked cells.

Attention and masks are drawn on it. Its cells are square at the given width, and it stays readable on a wider or narrower page; the
picture that a tab is about fills the room it has, with its titles and its legend on one line above. Cell (row r, column c) covers c ± 0.5
and r ± 0.5.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from playground.features.shared.figures import theme, tokens

LINE = 14  # px, height of one line of labels
RIGHT = 12  # px, right margin
MAX_CELL_PX, MAX_GRID_PX = 44, 612  # px, of a cell's side and of the whole grid
LEGEND, ENTRY = 24, 0.8  # px of one line below the grid; lines of one legend entry
TITLE = 22  # px, an axis title with its padding
MAX_STAGE_CELL_PX, STRETCH, STAGE_LEFT, EDGE = 150, 2.0, 104, 4  # of the large picture: px of a cell's side, most times as wide as high
# or as high as wide; px at the left, which hold the rows' title, and at the right and below
STAGE_TITLES = 31  # px of its line of titles
LEGEND_ABOVE = 420  # px of a grid that has room for a legend between its titles


@dataclass(frozen=True)
class Place:
    """The place of a grid on the page, in pixels, and the labels that fit."""

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
    stage: bool = False  # fills its room, with its titles above


def place(
    rows: Sequence[str], columns: Sequence[str], width: int, cell: float | None = None, tallest: int = MAX_GRID_PX, named: int = 0,
    stage: int = 0,
) -> Place:  # fmt: skip
    """Chooses the cell size for `rows` by `columns` on `width` pixels: as large as fits, but at most `cell`, and the grid at most `tallest`
    pixels high. Where not every column has room for a label, the column `named` has one. With `stage`, the pixels that the whole figure
    may be high, its cells fill them, up to STRETCH from square."""
    if not rows or not columns:
        raise ValueError("a grid needs at least one row and one column")
    longest = min(tokens.longest(width), tokens.NARROWEST if stage and width < 480 else tokens.MAX_LABEL_CHARACTERS)
    names_px = max(left_margin(rows, longest) - TITLE, STAGE_LEFT) if stage else left_margin(rows, longest)
    room = max(width - names_px - (EDGE if stage else RIGHT), 60)  # px
    extents = [tokens.extent(token, longest) for token in columns]
    if stage:
        wide, high = room / len(columns), (stage - STAGE_TITLES - 4 - max(extents) - EDGE) / len(rows)
        across, down = min(wide, STRETCH * high, MAX_STAGE_CELL_PX) * len(columns), 28
    else:
        side = min(MAX_CELL_PX if cell is None else cell, room / len(columns), min(tallest, MAX_GRID_PX) / len(rows))
        across, down = max(side * len(columns), min(room, 60)), max(side * len(rows), min(side * 3, 28), 28)
    step = across / len(columns)
    upright = tokens.fit_side_by_side(extents, step)
    every = 1 if upright else tokens.thinning(step, LINE)
    names = LINE if upright else max(extents[named % every :: every]) + 4
    if stage:
        down = max(min((stage - STAGE_TITLES - names - EDGE) / len(rows), STRETCH * step, MAX_STAGE_CELL_PX) * len(rows), down)
    return Place(
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
        stage=bool(stage),
    )


def left_margin(rows: Sequence[str], longest: int) -> float:
    """Returns the px of the title and of the names of these rows, cut at `longest` characters."""
    return TITLE + 10 + max(max(tokens.extent(name, longest) for name in rows), 16)


def layout(at: Place, rows: Sequence[str], columns: Sequence[str], *, kind: str, titles: tuple[str, str], lines: float, dark: bool) -> dict:
    """Lays out the axes and margins of a grid. `titles` for rows and columns; `lines` of legend are kept free below, or on a stage above.

    meta holds the kind and the unmodified tokens, for the page. shapes are those of the `cursor`.
    """
    beyond = (0.9 * tokens.extent(titles[0], longest=99) - at.down) / 2 + 4  # a title longer than its few rows needs room at both ends
    top, bottom = max(at.top, beyond), max(lines * LEGEND + 14, beyond)
    annotations = []
    if at.stage:
        top, bottom = at.top, EDGE if at.across >= LEGEND_ABOVE or not lines else lines * LEGEND + 8
        annotations, titles = [write_row_title(at, titles[0], dark)], ("", titles[1])
    frame = {"showline": True, "linewidth": 2, "linecolor": theme.hue(kind, dark), "showgrid": False, "ticks": ""}
    font = {"family": theme.MONO, "size": theme.SIZE, "color": theme.colors(dark)["text"]}
    down = tokens.ticks(rows, at.every_row, at.longest)
    across = tokens.ticks(columns, at.every_column, at.longest, at.first_column)
    return theme.layout(
        top + at.down + bottom,
        {"l": at.left, "r": at.right, "t": top, "b": bottom},
        dark,
        meta={"kind": kind, "cells": True, "rows": list(rows), "columns": list(columns)},
        hovermode="closest",
        barmode="overlay",
        bargap=0,
        xaxis=theme.axis(
            titles[1], dark, side="top", range=[-0.5, len(columns) - 0.5], domain=[0, at.share], tickangle=at.angle,
            **frame, **across, ticklabelstandoff=2,
        )
        | {"tickfont": font},
        yaxis=theme.axis(titles[0], dark, range=[len(rows) - 0.5, -0.5], ticklabelstandoff=4, **frame, **down) | {"tickfont": font},
        shapes=cursor(None, len(rows), len(columns), dark),
        annotations=annotations,
    )  # fmt: skip


def write_row_title(at: Place, title: str, dark: bool) -> dict:
    """Writes the title of a stage's rows above their names, in two lines: "query: input" and "→ next token"."""
    return {
        "text": re.sub(r"\s*(?=→)|(?<=[:：])\s*(?!.*→)", "<br>", title, count=1),
        "font": {"size": theme.SIZE, "color": theme.colors(dark)["muted"]},
        "xref": "paper", "x": 0, "xanchor": "right", "xshift": -6, "yref": "paper", "y": 1, "yanchor": "bottom", "yshift": 4,
        "align": "right", "showarrow": False, "borderpad": 0,
    }  # fmt: skip


def above(at: Place, pixels: float) -> float:
    """Returns the height `pixels` above the column names of a stage, in Plotly's paper units."""
    return round(1 + (at.top - STAGE_TITLES + pixels) / at.down, 4)


def colorbar(at: Place, title: str, ticks: Sequence[float], dark: bool) -> dict:
    """Lays out the colour bar below a grid; on a stage above its right end, with its name between the ends of its numbers."""
    bar = theme.colorbar(title, dark, y=below(at, 0), length=max(min(at.across, 180), 90), ticks=ticks)
    if not at.stage:
        return bar | {"ticktext": [theme.minus(f"{tick:.2g}") for tick in ticks]}
    wide, ends = at.across >= LEGEND_ABOVE, (ticks[0], ticks[-1])
    texts = [theme.minus(f"{ends[0]:.2g}"), title if wide else "", theme.minus(f"{ends[1]:.2g}")]
    bar |= {"x": at.share, "xanchor": "right", "xpad": 8, "y": above(at, STAGE_TITLES - 1), "len": 130 if wide else 56, "thickness": 7}
    return bar | {"title": {"text": ""}, "tickvals": [ends[0], sum(ends) / 2, ends[1]], "ticktext": texts}


def below(at: Place, line: float) -> float:
    """Returns the height of legend line `line` (0 is the first) below the grid, in Plotly's paper units."""
    return round(-(line * LEGEND + 8) / at.down, 4)


def cursor(pinned: tuple[int, int] | None, rows: int, columns: int, dark: bool) -> list[dict]:
    """Draws four rectangles: 0 the pinned row, 1 the pinned column, 2 and 3 the pinned cell. Without a pin they are invisible, so that the
    page can move them. The cell is drawn twice, in the page's colour and in the text's, for contrast with any weight."""
    q, k = pinned or (0, 0)
    if not (0 <= q < rows and 0 <= k < columns):
        pinned, q, k = None, 0, 0  # the cursor may come from a longer sentence
    palette = theme.colors(dark)
    row, column, cell = (-0.5, q - 0.5, columns - 0.5, q + 0.5), (k - 0.5, -0.5, k + 0.5, rows - 0.5), (k - 0.5, q - 0.5, k + 0.5, q + 0.5)
    boxes = [(*row, "text", 1), (*column, "text", 1), (*cell, "paper", 6), (*cell, "text", 2)]
    return [
        {
            "type": "rect", "layer": "above", "visible": pinned is not None, "x0": x0, "y0": y0, "x1": x1, "y1": y1,
            "line": {"color": palette[color], "width": width}, "fillcolor": "rgba(0,0,0,0)",
        }
        for x0, y0, x1, y1, color, width in boxes
    ]  # fmt: skip


def hatching(hidden: np.ndarray, name: str, dark: bool, shape: str = "/", legend: bool = True) -> dict:
    """Draws bars with diagonal lines over the cells where `hidden` (R, C) is True, one bar for each unbroken run of a row."""
    palette = theme.colors(dark)
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


def hover_layer(hidden: np.ndarray, template: str) -> dict:
    """Draws an invisible heatmap over the `hidden` cells with the hover text `template`."""
    return {
        "type": "heatmap", "z": np.where(hidden, 0, None).tolist(), "zmin": 0, "zmax": 1, "showscale": False, "hoverongaps": False,
        "colorscale": [[0, "rgba(0,0,0,0)"], [1, "rgba(0,0,0,0)"]], "visible": bool(hidden.any()),
        "hovertemplate": template + "<extra></extra>",
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


def legend(at: Place, line: float, dark: bool) -> dict:
    """Lays out the legend below the grid, a line for each entry: side by side they would not fit on a phone. A wide stage has it above."""
    if at.stage and at.across >= LEGEND_ABOVE:
        return legend(dataclasses.replace(at, stage=False), 0, dark) | {"orientation": "h", "y": above(at, 2), "yanchor": "bottom"}
    return {
        "orientation": "v", "x": 0, "xanchor": "left", "y": below(at, line), "yanchor": "top",
        "bgcolor": "rgba(0,0,0,0)", "font": {"size": theme.SIZE, "color": theme.colors(dark)["muted"]},
        "itemclick": False, "itemdoubleclick": False, "itemwidth": 30, "tracegroupgap": 0,
    }  # fmt: skip


def as_mask(mask: object, rows: int, columns: int) -> np.ndarray:
    """Converts a mask (True: can attend) to a boolean (rows, columns) array; one row holds for every row. Raises ValueError otherwise."""
    if mask is None:
        return np.ones((rows, columns), dtype=bool)
    array = np.asarray(mask, dtype=bool)
    array = array.reshape(array.shape[-2:]) if array.ndim > 2 and array.size == np.prod(array.shape[-2:]) else array
    if array.shape not in ((rows, columns), (1, columns), (columns,)):
        raise ValueError(f"a mask of shape {array.shape} does not fit {rows} rows and {columns} columns")
    return np.broadcast_to(array, (rows, columns))
