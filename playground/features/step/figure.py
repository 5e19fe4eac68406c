"""One training step: the loss of every target token of a batch, row by row, as a heatmap of the tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from playground.features.shared.figures import cells, theme, tokens

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
    width: int = 720,
    stage: int = 0,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """Draws values (R, T): the loss of every target token of R batch rows, NaN for padding, which is hatched; with `change` its change,
    on a diverging scale. Each cell shows its token of `targets`; `read` are the tokens that the decoder reads there.

    segments (R, T)  the number of each token's pair in its row: a line separates two pairs
    at       the numbers of these rows in the whole batch, from 0; a click sets the cursor's "line" and "place"
    most     the value of the strongest colour
    chosen   (row, place) of the framed cell, counted in this figure
    stage    the pixels that the figure fills, as in `cells.place`
    Traces: 0 values, 1 hatching. Raises ValueError if the shapes don't fit.
    """
    values = np.asarray(values, dtype=np.float64)
    count, length = values.shape
    if not len(targets) == len(read) == len(at) == count or segments.shape != values.shape:
        raise ValueError(f"losses of shape {values.shape} do not fit {len(targets)} rows of tokens")
    rows, columns = [str(row + 1) for row in at], [str(place + 1) for place in range(length)]
    hidden = np.isnan(values)
    place = cells.place(rows, columns, width, cell=max(ROW * 2, needed_width(targets)), stage=stage)
    if not stage:
        place = replace(place, down=min(max(ROW * count, 60), cells.MAX_GRID_PX))
    room = place.across / length - BESIDE
    written = [["" if is_padding else _truncate(token, room) for token, is_padding in zip(*line, strict=True)]
               for line in zip(targets, hidden, strict=True)]  # fmt: skip
    steps = [[tokens.escape(step) for step in tokens.steps(*line)] for line in zip(read, targets, strict=True)]
    word = theme.word(labels, "loss_change" if change else "token_loss")
    hover = theme.phrase(labels, "hover_token_loss", step="<b>%{customdata}</b>", what=word, value="%{z:.4f}") + "<extra></extra>"
    ends = {"zmin": -most, "zmax": most, "zmid": 0, "colorscale": theme.scale(theme.diverging(dark))} if change else {
        "zmin": 0, "zmax": most, "colorscale": theme.scale(theme.sequential(dark)),
    }  # fmt: skip
    ticks = (-most, 0, most) if change else (0, most)
    bar = cells.colorbar(place, word, ticks, dark)
    data = [
        {
            "type": "heatmap", "z": theme.rounded(values, 5), **ends, "xgap": place.gap, "ygap": place.gap, "hoverongaps": False,
            "colorbar": bar, "text": written, "texttemplate": "%{text}", "textfont": {"size": theme.SIZE, "family": theme.MONO},
            "customdata": steps, "hovertemplate": hover, "meta": {"kind": "decoder", "cells": True},
        },
        cells.hatching(hidden, theme.word(labels, "padding"), dark),
    ]  # fmt: skip
    below = 0 if stage else 1.8  # lines of the colour bar
    layout = cells.layout(place, rows, columns, kind="decoder", titles=titles, lines=below + hidden.any() * cells.ENTRY, dark=dark)
    layout["meta"] |= {"fields": ["line", "place"], "down": list(at), "sides": ["", ""]}
    layout |= {"shapes": [*cells.cursor(chosen, count, length, dark), *_divide(segments, hidden, dark)], "showlegend": bool(hidden.any())}
    return {"data": data, "layout": layout | {"legend": cells.legend(place, below, dark)}}


def _truncate(token: str, room: float) -> str:
    """Truncates a token to `room` pixels."""
    fitting = (n for n in range(tokens.MAX_LABEL_CHARACTERS, 1, -1) if tokens.extent(token, n) <= room)
    return next((tokens.label(token, n) for n in fitting), "")


def _divide(segments: np.ndarray, hidden: np.ndarray, dark: bool) -> list[dict]:
    """Draws a line wherever another pair begins in a row."""
    color = theme.colors(dark)["text"]
    ends = np.argwhere((segments[:, 1:] != segments[:, :-1]) & ~hidden[:, 1:])
    return [
        {
            "type": "line", "layer": "above", "x0": place + 0.5, "x1": place + 0.5, "y0": row - 0.5, "y1": row + 0.5,
            "line": {"color": color, "width": 2},
        }
        for row, place in ends.tolist()
    ]  # fmt: skip
