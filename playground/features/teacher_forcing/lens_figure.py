"""The logit lens: each layer's likeliest token at each step, with its probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from playground.features.shared.figures import cells, theme, tokens


def grid(
    probabilities: np.ndarray,
    likeliest: Sequence[Sequence[str]],
    layers: Sequence[str],
    written: Sequence[str],
    *,
    rivals: Sequence[Sequence[str]] | None = None,
    decided: Sequence[int] = (),
    pinned: int | None = None,
    width: int = 720,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """Draws rows of layers, and columns of the steps that wrote `written`; a cell holds its likeliest token, coloured by its probability.

    probabilities  (N, T) of the likeliest tokens, 0 to 1; `likeliest` are these tokens
    rivals         the text of each cell's hover box; without it only the likeliest token
    decided        for each step the row from which on the likeliest token stays the same: ringed
    pinned         the step of the cursor; ignored when it lies outside
    Traces: 0 cells, 1 rings, 2 their legend. Raises ValueError if the shapes don't fit.
    """
    probabilities = np.asarray(probabilities, dtype=np.float64)
    shape = (len(layers), len(written))
    if probabilities.shape != shape or [len(row) for row in likeliest] != [shape[1]] * shape[0]:
        raise ValueError(f"probabilities of shape {probabilities.shape} do not fit {shape[0]} layers and {shape[1]} steps")
    at = cells.place(layers, written, width)
    palette, strong = theme.colors(dark), probabilities > 0.55
    longest = max(int(at.across / len(written) // 8), 1)
    hover = [[tokens.escape(text) for text in row] for row in (rivals or likeliest)]
    data = [
        {
            "type": "heatmap", "z": theme.rounded(probabilities), "zmin": 0, "zmax": 1, "xgap": at.gap, "ygap": at.gap,
            "colorscale": theme.scale(theme.sequential(dark)), "meta": {"kind": "decoder"},
            "customdata": hover,
            "hovertemplate": theme.phrase(labels, "hover_lens", layer="<b>%{y}</b>", rivals="%{customdata}") + "<extra></extra>",
            "colorbar": theme.colorbar(
                theme.word(labels, "probability"), dark, y=cells.below(at, 0), length=max(min(at.across, 180), 90), ticks=(0, 0.5, 1)
            ),
        },
        cells.rings([(row, step) for step, row in enumerate(decided[: shape[1]])], palette["second"]),
        cells.swatch(theme.word(labels, "decided_here"), palette["second"], "square-open", visible=bool(len(decided))),
    ]  # fmt: skip
    layout = cells.layout(
        at, layers, written, kind="decoder", titles=(theme.word(labels, "lens_rows"), theme.word(labels, "lens_columns")),
        lines=1.8 + cells.ENTRY, dark=dark,
    )  # fmt: skip
    layout["yaxis"]["ticktext"] = [tokens.escape(layer) for layer in layers]  # words, not tokens: their spaces are spaces
    ink = {True: palette["paper"], False: palette["text"]}
    layout["annotations"] = [
        {
            "x": step, "y": row, "text": tokens.label(likeliest[row][step], longest), "showarrow": False, "captureevents": False,
            "font": {"family": theme.MONO, "size": theme.SIZE, "color": ink[bool(strong[row, step])]},
        }
        for row in range(shape[0]) for step in range(shape[1])
    ]  # fmt: skip
    cursor = (0, pinned) if pinned is not None and pinned < shape[1] else None
    layout["shapes"] = cells.cursor(cursor, *shape, dark)[1:2]
    layout |= {"showlegend": True, "legend": cells.legend(at, 1.8, dark)}
    layout["meta"] = {**layout["meta"], "kind": "decoder", "cells": True}
    return {"data": data, "layout": layout}
