"""Any tensor of the model as a labelled grid: rows of tokens, columns of dimensions or tokens, a value for each cell.

Signed values are centred at 0, positive ones begin there, probabilities lie between 0 and 1, token ids have no colour. Masked cells are
hatched. Small grids show their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from playground.features.shared.figures import cells, theme, tokens

SCALES = ("signed", "positive", "probability", "plain")
ROW = 22  # px, of a row of narrower cells
DIGITS = 6.4  # px, of one digit written on a cell
APART = 10  # px, between the numbers of two cells
NUMBER_CHARACTERS = 6  # characters of a number on a cell, as "-12.34"
BESIDE = 110  # px, of the names of rows at least, with the margins
FINE = 0.01  # if all values are smaller, such as gradients, they have more decimals
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
    width: int = 720,
    tallest: int = cells.MAX_GRID_PX,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
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
    digits  decimals of a number on a cell
    numbers whether cells show them; None: if `readable`
    sides   the sentences of rows and columns ("src", "fed", "tgt" or ""), for the page to highlight their tokens
    Traces, always in this order: 0 values, 1 hatching, 2 hover of masked cells, 3 the secret cell. NaN is written among numbers.
    Raises ValueError if the shapes don't fit.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (len(rows), len(columns)):
        raise ValueError(f"values of shape {values.shape} do not fit {len(rows)} rows and {len(columns)} columns")
    if scale not in SCALES:
        raise ValueError(f"scale must be one of {SCALES}, not {scale!r}")
    hidden = ~cells.as_mask(mask, *values.shape)
    covered = np.zeros_like(hidden)
    if secret and chosen:
        covered[chosen] = True
    written = scale == "plain" or (readable(len(rows), len(columns), width, digits, rows) if numbers is None else numbers)
    fitted = written and numbers is None and scale != "plain"
    place = _place(rows, columns, width, tallest, fitted, digits, named=chosen[1] if chosen else 0)
    pair = {"row": "<b>%{y}</b>", "column": "<b>%{x}</b>"}
    hover = theme.phrase(labels, "hover_tensor", **pair, value=_number_template(scale, limit=limit)) + "<extra></extra>"
    trace = _draw(np.where(hidden | covered, np.nan, values), scale, limit, place, dark, labels)
    trace |= {"meta": {"kind": kind, "cells": True}, "hovertemplate": hover}
    ink = {"color": theme.colors(dark)["text"]} if scale == "plain" else {}  # by default Plotly chooses it by the cell's colour
    data = [
        trace | ({"texttemplate": _number_template(scale, digits), "textfont": {"size": theme.SIZE - 1, **ink}} if written else {}),
        cells.hatching(hidden, theme.word(labels, "masked"), dark),
        cells.hover_layer(hidden, theme.phrase(labels, "hover_tensor_masked", **pair)),
        _hide_secret(covered, theme.phrase(labels, "hover_tensor_secret", **pair), dark),
    ]
    lines = (0 if scale == "plain" else 1.8) + bool(hidden.any()) * cells.ENTRY
    layout = cells.layout(place, rows, columns, kind=kind, titles=titles, lines=lines, dark=dark)
    at = list(range(len(columns)) if at is None else at)
    layout["meta"] |= {"fields": list(fields), "at": at, "sides": list(sides), "secret": list(chosen) if secret and chosen else None}
    layout["meta"] |= {"down": list(down)} if down else {}
    layout |= {"shapes": cells.cursor(chosen, *hidden.shape, dark), "showlegend": bool(hidden.any())}
    if written and (lost := np.isnan(values) & ~hidden).any():
        layout["meta"] |= {} if hidden.any() else {"none": "NaN"}  # in the table, where a gap is a masked cell otherwise
        layout["annotations"] = [_mark_nan(int(row), int(column), dark) for row, column in np.argwhere(lost)]
    return {"data": data, "layout": layout | {"legend": cells.legend(place, 1.8, dark)}}


def readable(rows: int, columns: int, width: int, digits: int = 2, names: Sequence[str] = ()) -> bool:
    """Tests whether every cell has room for its number on a page of this width; `names` are those of the rows, where they are known."""
    margins = max(BESIDE, cells.left_margin(names, tokens.longest(width)) + cells.RIGHT if names else 0)
    return rows * columns <= CELLS and (width - margins) / columns >= _number_width(digits)


def _number_width(digits: int) -> float:
    """Returns the width in pixels of a number on its cell."""
    return (NUMBER_CHARACTERS + digits - 2) * DIGITS


def needed_width(values: np.ndarray, rows: Sequence[str], columns: Sequence[str], width: int, digits: int = 2) -> int:
    """Returns the least width, in px, at which these very values fit their cells; `width` is that of the page."""
    array = np.asarray(values, dtype=np.float64)
    longest = max((len(f"{value:.{digits}f}") for value in np.ravel(array[np.isfinite(array)])), default=1)
    place = cells.place(rows, columns, width)
    return int(np.ceil(place.left + place.right + len(columns) * (longest * DIGITS + APART)))


def max_columns(width: int) -> int:
    """Returns the most columns whose numbers fit on a page of this width."""
    return max(int((width - BESIDE) / (NUMBER_CHARACTERS * DIGITS)), 4)


def _place(rows: Sequence[str], columns: Sequence[str], width: int, tallest: int, readable: bool, digits: int, named: int) -> cells.Place:
    """Places the grid as for attention, but with rows at least a line of text high if there is room: dimensions are many, rows are few. In
    a low window, cells are as wide as their numbers if these are `readable`."""
    place = cells.place(rows, columns, width, cell=56, tallest=tallest, named=named)
    down = min(max(place.down, ROW * len(rows)), max(place.down, min(tallest, cells.MAX_GRID_PX)))
    across = max(place.across, len(columns) * _number_width(digits) if readable else 0)
    gap = 1 if across / len(columns) >= 9 and down / len(rows) >= 9 else 0
    share = min(1.0, place.share * across / place.across)
    return replace(place, down=down, across=across, share=share, gap=gap, every_row=tokens.thinning(down / len(rows), cells.LINE))


def _draw(values: np.ndarray, scale: str, limit: float | None, place: cells.Place, dark: bool, labels: Mapping[str, str] | None) -> dict:
    """Draws the heatmap itself; NaN is a gap."""
    trace = {"type": "heatmap", "xgap": place.gap, "ygap": place.gap, "hoverongaps": False}
    length = max(min(place.across, 220), 120)
    if scale == "plain":
        blank = "rgba(0,0,0,0)"
        return trace | {"z": theme.rounded(values, 0), "zmin": 0, "zmax": 1, "showscale": False, "colorscale": [[0, blank], [1, blank]]}
    if scale == "probability":
        bar = theme.colorbar(theme.word(labels, "probability"), dark, y=cells.below(place, 0), length=length, ticks=(0, 0.5, 1))
        return trace | {
            "z": theme.rounded(values, 5), "zmin": 0, "zmax": 1, "colorscale": theme.scale(theme.sequential(dark)), "colorbar": bar,
        }  # fmt: skip
    most = limit or float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    ticks = {-most: f"−{_format_tick(most)}", 0.0: "0", most: _format_tick(most)}
    ends = {"zmin": -most, "zmax": most, "zmid": 0, "colorscale": theme.scale(theme.diverging(dark))}
    if scale == "positive":
        del ticks[-most]
        ends = {"zmin": 0, "zmax": most, "colorscale": theme.scale(theme.sequential(dark))}
    bar = theme.colorbar(theme.word(labels, "value"), dark, y=cells.below(place, 0), length=length, ticks=tuple(ticks))
    bar["ticktext"] = list(ticks.values())
    return trace | {"z": theme.rounded(values, _decimals(most)), **ends, "colorbar": bar}


def _hide_secret(covered: np.ndarray, template: str, dark: bool) -> dict:
    """Draws a question mark over the cell whose value is a student's exercise."""
    color = theme.colors(dark)["masked"]
    return {
        "type": "heatmap", "z": np.where(covered, 0, None).tolist(), "zmin": 0, "zmax": 1, "showscale": False, "hoverongaps": False,
        "colorscale": [[0, color], [1, color]], "visible": bool(covered.any()), "hovertemplate": template + "<extra></extra>",
        "text": np.where(covered, "?", "").tolist(), "texttemplate": "%{text}",
        "textfont": {"size": theme.SIZE, "color": theme.colors(dark)["text"]},
    }  # fmt: skip


def _mark_nan(row: int, column: int, dark: bool) -> dict:
    """Annotates a cell whose value is NaN."""
    font = {"family": theme.MONO, "size": theme.SIZE - 1, "color": theme.colors(dark)["wrong"]}
    return {"x": column, "y": row, "text": "NaN", "showarrow": False, "captureevents": False, "font": font}


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
