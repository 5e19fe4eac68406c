"""Any tensor of the model as a labelled grid: rows of tokens, columns of dimensions or tokens, a value for each cell.

Signed values are centred at 0, positive ones begin there, probabilities lie between 0 and 1, token ids have no colour. Masked cells are
hatched. Small grids show their numbers.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from playground.features.shared.figures import cells, theme, tokens
from playground.features.shared.figures.theme import PLAIN, Style

ROW = 22  # px, of a row of narrower cells
DIGITS = 6.4  # px, of one digit written on a cell
APART = 10  # px, between the numbers of two cells
NUMBER_CHARACTERS = 6  # characters of a number on a cell, as "-12.34"
BESIDE = 110  # px, of the names of rows at least, with the margins
FINE = 0.01  # if all values are smaller, such as gradients, they have more decimals
DIMMED = 0.6  # opacity of the page's colour over cells that are as before
CELLS = 400  # most cells with numbers on them


def heatmap(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    kind: str,
    scale: str = "signed",
    limit: float | None = None,
    mask: np.ndarray | None = None,
    chosen: tuple[int, int] | None = None,
    secret: bool = False,
    titles: tuple[str, str] = ("", ""),
    at: Sequence[int] | None = None,
    sides: tuple[str, str] = ("", ""),
    digits: int = 2,
    numbers: bool | None = None,
    fields: tuple[str, str] = ("row", "col"),
    down: Sequence[int] | None = None,
    style: Style = PLAIN,
) -> dict:
    """Draws the values (R, C) of one tensor, or of a window of its columns.

    kind    "encoder", "decoder" or "cross": hue of the frame
    scale   "signed", "positive", "probability" or "plain" (whole numbers without a colour)
    limit   of a signed or positive scale: the value of the strongest colour; the largest absolute value in `values` when None
    mask    True where a query can attend, (R, C) or (1, C); other cells are hatched and have no value
    chosen  (row, column) of the framed cell; `secret`: its value and colour are hidden
    titles  of rows and columns
    at      the numbers of these columns in the whole tensor, for the page's cursor; 0, 1, … when None; `down` those of rows
    fields  of the cursor, set by a click on a cell
    digits  decimals of a number on a cell; `numbers`: whether cells show it (None: if `readable`)
    sides   the sentences of rows and columns ("src", "fed", "tgt" or ""), for the page to highlight their tokens
    Traces, always in this order: 0 values, 1 hatching, 2 hover of masked cells, 3 the secret cell. NaN is written among numbers.
    Raises ValueError if the shapes don't fit.
    """
    values = theme.fit(values, rows, columns)
    hidden = ~theme.as_mask(mask, *values.shape)
    covered = np.zeros_like(hidden)
    if secret and chosen:
        covered[chosen] = True
    written = scale == "plain" or (readable(len(rows), len(columns), style.width, digits, rows) if numbers is None else numbers)
    place = _place(rows, columns, style, written and numbers is None and scale != "plain", digits, chosen[1] if chosen else 0)
    hover = style.hover("hover_tensor", **cells.PAIR, value=_number_template(scale, limit=limit))
    trace = _draw(np.where(hidden | covered, np.nan, values), hover, scale, limit, place) | {"meta": {"kind": kind, "cells": True}}
    ink = {"color": style.colors["text"]} if scale == "plain" else {}  # by default Plotly chooses it by the cell's colour
    data = [
        trace | ({"texttemplate": _number_template(scale, digits), "textfont": {"size": theme.SIZE - 1, **ink}} if written else {}),
        cells.hatching(hidden, style.word("masked"), style),
        cells.hover_layer(hidden, style.hover("hover_tensor_masked", **cells.PAIR)),
        _hide_secret(covered, style),
    ]
    bar = 0 if scale == "plain" else cells.BAR_LINES
    layout = place.layout(kind, titles, bar, bool(hidden.any()), legend=place.legend(cells.BAR_LINES), shapes=place.cursor(chosen))
    layout["meta"] |= {"fields": list(fields), "at": list(range(len(columns)) if at is None else at), "sides": list(sides)}
    layout["meta"] |= {"secret": list(chosen) if secret and chosen else None, **({"down": list(down)} if down else {})}
    if written and (lost := np.isnan(values) & ~hidden).any():
        layout["meta"] |= {} if hidden.any() else {"none": "NaN"}  # in the table, where a gap is a masked cell otherwise
        note = {"text": "NaN", "showarrow": False, "captureevents": False, "font": style.font("wrong", theme.SIZE - 1, family=theme.MONO)}
        layout["annotations"] = [note | {"x": column, "y": row} for row, column in np.argwhere(lost).tolist()]
    return {"data": data, "layout": layout}


def show_before(figure: dict, before: np.ndarray, values: np.ndarray, dark: bool) -> dict:
    """Returns the heatmap of `values` (R, C) with the cells dimmed that are as `before`; the box of another cell gives both numbers. The
    dimmed cells are one more trace."""
    same, paper, heat = before == values, theme.colors(dark)["paper"], figure["data"][0]
    earlier = np.where(same, "", [[theme.minus(f"{old:.4f} → ") for old in row] for row in before]).tolist()
    heat |= {"customdata": earlier, "hovertemplate": heat["hovertemplate"].replace("%{z", "%{customdata}%{z")}
    dimmed = cells.hover_layer(same & ~np.isnan(np.array(heat["z"], dtype=float)), "")
    dimmed |= {"colorscale": [[0, paper], [1, paper]], "opacity": DIMMED, "hoverinfo": "skip"}
    return figure | {"data": [*figure["data"], dimmed]}


def readable(rows: int, columns: int, width: int, digits: int = 2, names: Sequence[str] = ()) -> bool:
    """Tests whether every cell has room for its number on a page of this width; `names` are those of the rows, where they are known."""
    return columns <= max_columns(rows, width, digits, names)


def max_columns(rows: int, width: int, digits: int = 2, names: Sequence[str] = ()) -> int:
    """Returns the most columns that are `readable`; 0 if no number has room."""
    margins = max(BESIDE, cells.left_margin(names, tokens.longest(width)) + cells.RIGHT if names else 0)
    return max(min(int((width - margins) / _number_width(digits)), CELLS // rows), 0)


def _number_width(digits: int) -> float:
    """Returns the width in pixels of a number on its cell."""
    return (NUMBER_CHARACTERS + digits - 2) * DIGITS


def needed_width(values: np.ndarray, rows: Sequence[str], columns: Sequence[str], width: int, digits: int = 2) -> int:
    """Returns the least width, in px, at which these very values fit their cells; `width` is that of the page."""
    array = np.asarray(values, dtype=np.float64)
    longest = max((len(f"{value:.{digits}f}") for value in np.ravel(array[np.isfinite(array)])), default=1)
    place = cells.place(rows, columns, Style(width=width))
    return int(np.ceil(place.left + place.right + len(columns) * (longest * DIGITS + APART)))


def _place(rows: Sequence[str], columns: Sequence[str], style: Style, readable: bool, digits: int, named: int) -> cells.Place:
    """Places the grid as for attention, but with rows at least a line of text high if there is room: dimensions are many, rows are few. In
    a low window, cells are as wide as their numbers if these are `readable`."""
    place = cells.place(rows, columns, style, cell=56, tallest=style.tallest, named=named)
    down = min(max(place.down, ROW * len(rows)), max(place.down, min(style.tallest, cells.MAX_GRID_PX)))
    across = max(place.across, len(columns) * _number_width(digits) if readable else 0)
    gap = 1 if across / len(columns) >= 9 and down / len(rows) >= 9 else 0
    share = min(1.0, place.share * across / place.across)
    return replace(place, down=down, across=across, share=share, gap=gap, every_row=tokens.thinning(down / len(rows), cells.LINE))


def _draw(values: np.ndarray, hover: str, scale: str, limit: float | None, place: cells.Place) -> dict:
    """Draws the heatmap itself; NaN is a gap."""
    style, y, length = place.style, place.below(0), max(min(place.across, 220), 120)
    if scale == "plain":
        trace = style.heat(theme.rounded(values, 0), hover, xgap=place.gap, ygap=place.gap, showscale=False)
        return trace | {"colorscale": [[0, theme.CLEAR], [1, theme.CLEAR]]}
    if scale == "probability":
        return place.heat(theme.rounded(values, 5), hover, style.colorbar(style.word("probability"), y, length))
    most = limit or float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    ticks = {-most: f"−{_format_tick(most)}"} if scale == "signed" else {}
    ticks |= {0.0: "0", most: _format_tick(most)}
    bar = style.colorbar(style.word("value"), y, length, list(ticks), ticktext=list(ticks.values()))
    more = {"zmid": 0} if scale == "signed" else {}
    return place.heat(theme.rounded(values, _decimals(most)), hover, bar, (-most if scale == "signed" else 0, most), **more)


def _hide_secret(covered: np.ndarray, style: Style) -> dict:
    """Draws a question mark over the cell whose value is a student's exercise."""
    color = style.colors["masked"]
    return cells.hover_layer(covered, style.hover("hover_tensor_secret", **cells.PAIR)) | {
        "colorscale": [[0, color], [1, color]], "text": np.where(covered, "?", "").tolist(), "texttemplate": "%{text}",
        "textfont": style.font(),
    }  # fmt: skip


def _number_template(scale: str, digits: int = 4, limit: float | None = None) -> str:
    """Returns Plotly's template for a value; with significant digits if all values are small."""
    if scale == "plain":
        return "%{z:d}"
    return "%{z:.3g}" if limit and limit < FINE else "%{z:." + str(digits) + "f}"


def _decimals(most: float) -> int:
    """Returns the decimals of values up to `most`: five, and more for small ones."""
    return 5 if most >= FINE else 5 - int(np.floor(np.log10(most)))


def _format_tick(value: float) -> str:
    """Formats three significant digits, with an exponent for very small and large values only."""
    return f"{value:.0f}" if 100 <= value < 1e4 else f"{value:.3g}" if 1e-3 <= value < 100 else theme.minus(f"{value:.1e}")
