"""One training step: the loss of every target token of a batch, row by row, as a heatmap of the tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from playground.features.shared.figures import cells, theme, tokens
from playground.features.shared.figures.theme import PLAIN, Style

ROW = 24  # px
BESIDE = 4  # px, free beside a token on its cell


def needed_width(targets: Sequence[Sequence[str]], share: float = 1.0) -> float:
    """Returns the px of a cell with room for this `share` of the tokens."""
    return BESIDE + float(np.quantile([tokens.extent(token) for line in targets for token in line], share))


def losses(
    values: np.ndarray,
    targets: Sequence[Sequence[str]],
    read: Sequence[Sequence[str]],
    segments: np.ndarray,
    *,
    at: Sequence[int],
    most: float,
    change: bool = False,
    chosen: tuple[int, int] | None = None,
    titles: tuple[str, str] = ("", ""),
    style: Style = PLAIN,
) -> dict:
    """Draws values (R, T): the loss of every target token of R batch rows, NaN for padding, which is hatched; with `change` its change,
    on a diverging scale. Each cell shows its token of `targets`; `read` are the tokens that the decoder reads there.

    segments (R, T)  the number of each token's pair in its row: a line separates two pairs
    at       the numbers of these rows in the whole batch, from 0; a click sets the cursor's "line" and "place"
    most     the value of the strongest colour
    chosen   (row, place) of the framed cell, counted in this figure
    Traces: 0 values, 1 hatching. Raises ValueError if the shapes don't fit.
    """
    values = np.asarray(values, dtype=np.float64)
    count, length = values.shape
    if not len(targets) == len(read) == len(at) == count or segments.shape != values.shape:
        raise ValueError(f"losses of shape {values.shape} do not fit {len(targets)} rows of tokens")
    rows, columns = [str(row + 1) for row in at], [str(place + 1) for place in range(length)]
    hidden = np.isnan(values)
    place = cells.place(rows, columns, style, cell=max(ROW * 2, needed_width(targets)))
    if not style.stage:
        place = replace(place, down=min(max(ROW * count, 60), cells.MAX_GRID_PX))
    room = place.across / length - BESIDE
    written = [["" if is_padding else _truncate(token, room) for token, is_padding in zip(*line, strict=True)]
               for line in zip(targets, hidden, strict=True)]  # fmt: skip
    steps = [[tokens.escape(step) for step in tokens.steps(*line)] for line in zip(read, targets, strict=True)]
    word = style.word("loss_change" if change else "token_loss")
    hover = style.hover("hover_token_loss", step="<b>%{customdata}</b>", what=word, value="%{z:.4f}")
    ticks = (-most, 0, most) if change else (0, most)
    more = {"text": written, "texttemplate": "%{text}", "textfont": {"size": theme.SIZE, "family": theme.MONO}, "customdata": steps}
    more |= {"meta": {"kind": "decoder", "cells": True}} | ({"zmid": 0} if change else {})
    heat = place.heat(theme.rounded(values, 5), hover, place.colorbar(word, ticks), (-most if change else 0, most), **more)
    shapes = [*place.cursor(chosen), *_divide(segments, hidden, style)]
    layout = place.layout("decoder", titles, entries=bool(hidden.any()), shapes=shapes)
    layout["meta"] |= {"fields": ["line", "place"], "down": list(at), "sides": ["", ""]}
    return {"data": [heat, cells.hatching(hidden, style.word("padding"), style)], "layout": layout}


def _truncate(token: str, room: float) -> str:
    """Truncates a token to `room` pixels."""
    fitting = (n for n in range(tokens.MAX_LABEL_CHARACTERS, 1, -1) if tokens.extent(token, n) <= room)
    return next((tokens.label(token, n) for n in fitting), "")


def _divide(segments: np.ndarray, hidden: np.ndarray, style: Style) -> list[dict]:
    """Draws a line wherever another pair begins in a row."""
    color = style.colors["text"]
    ends = np.argwhere((segments[:, 1:] != segments[:, :-1]) & ~hidden[:, 1:])
    return [
        {
            "type": "line", "layer": "above", "x0": place + 0.5, "x1": place + 0.5, "y0": row - 0.5, "y1": row + 0.5,
            "line": {"color": color, "width": 2},
        }
        for row, place in ends.tolist()
    ]  # fmt: skip
