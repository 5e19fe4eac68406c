"""Heads over training, and the products behind one score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playground.features.shared.figures import theme
from playground.features.shared.figures.theme import PLAIN, Style

HEIGHT = 260  # px
PANEL, GAP = 88, 20  # px, height of one row of bars, and the gap between two


def over_training(
    steps: Sequence[int],
    values: np.ndarray,
    *,
    chosen: tuple[int, int],
    kind: str = "cross",
    measure: str = "aligned",
    most: float = 1.0,
    step: int | None = None,
    style: Style = PLAIN,
) -> dict:
    """Draws a number (layers, H, steps) of every head at each step of the replay, from 0 to `most`.

    `measure` names the axis (the words "head_aligned" or "head_entropy"), `chosen` is (layer, head) counted from 0, `step` the
    replay's step. Each trace's meta is {"x": "step"}: a click on a point leads there. The chosen head is the last trace; layout.shapes[0]
    is the replay's cursor, invisible without a step. Raises ValueError if the shapes don't fit.
    """
    theme.fit(values[0, 0], steps)
    order = sorted(np.ndindex(*values.shape[:2]), key=lambda at: at == tuple(chosen))
    data = []
    for at in order:
        name = style.phrase("head_name", layer=str(at[0] + 1), head=str(at[1] + 1))
        is_chosen = at == tuple(chosen)
        color = style.hue(kind) if is_chosen else style.colors["line"]
        data.append({
            "type": "scatter", "mode": "lines+markers", "name": name if is_chosen else style.word("head_others"),
            "x": list(steps), "y": theme.rounded(values[at]), "meta": {"x": "step", "layer": at[0], "head": at[1]},
            "line": {"color": color, "width": 2.4 if is_chosen else 1}, "opacity": 1 if is_chosen else 0.75,
            "marker": {"size": 5 if is_chosen else 3, "color": color}, "showlegend": is_chosen or at == order[0],
            "legendrank": 1 if is_chosen else 2, "cliponaxis": False,
            "hovertemplate": f"<b>{name}</b><br>{style.word('step')} %{{x}}: %{{y:.2f}}<extra></extra>",
        })  # fmt: skip
    x = style.axis(style.word("step"), range=[0, max(steps[-1], 1)], showgrid=False, showline=True, nticks=6)
    y = style.axis(style.word(f"head_{measure}"), range=[-0.03 * most, 1.03 * most], nticks=5)
    y |= {"tickvals": [0, 0.5, 1]} if most == 1 else {}
    layout = style.layout(
        HEIGHT, (56, 26, 50, 44), xaxis=x, yaxis=y, showlegend=True,
        shapes=[style.step_cursor(step)], legend=theme.legend_column(itemclick=False, itemdoubleclick=False),
    )  # fmt: skip
    return {"data": data, "layout": layout}


def bars(query: np.ndarray, key: np.ndarray, *, kind: str = "cross", style: Style = PLAIN) -> dict:
    """Draws three rows of bars over the dimensions (K,), counted from 1: query, key, and query times key, whose sum is the score.

    Query and key share one scale; both scales are centred at 0. Raises ValueError if the lengths differ.
    """
    query, key = theme.fit(query, key), theme.fit(key, query)
    rows = {"query": query, "key": key, "product": query * key}
    largest = max(np.abs(query).max(), np.abs(key).max())
    height = 3 * PANEL + 2 * GAP
    data, axes = [], {}
    for at, (name, values) in enumerate(rows.items()):
        most = float(np.abs(values).max() if name == "product" else largest) or 1.0
        data.append({
            "type": "bar", "x": list(range(1, len(values) + 1)), "y": theme.rounded(values, 5), "name": style.word(name),
            "xaxis": "x", "yaxis": f"y{at + 1}" if at else "y",
            "marker": {"color": style.signed_shades(values / most),
                       "line": {"color": style.colors["line"], "width": 0.5 if len(values) <= 128 else 0}},
            "hovertemplate": f"{style.word(name)}, {style.word('dimension')} %{{x}}: %{{y:.4f}}<extra></extra>",
        })  # fmt: skip
        bottom = (2 - at) * (PANEL + GAP) / height
        axis = style.axis(style.word(name), range=[-1.12 * most, 1.12 * most], tickvals=_choose_ticks(most), zeroline=True)
        axis |= {"domain": [round(bottom, 4), round(bottom + PANEL / height, 4)], "anchor": "x"}
        axes[f"yaxis{at + 1}" if at else "yaxis"] = axis | {"zerolinecolor": style.colors["line"], "zerolinewidth": 1}
    x = style.axis(style.word("dimension"), range=[0.4, len(query) + 0.6], showgrid=False, anchor="y3")
    x |= {"showline": True, "linecolor": style.hue(kind), "linewidth": 2}
    x |= {"tickmode": "linear", "tick0": 1 if len(query) <= 20 else 0, "dtick": _label_interval(len(query), style.width)}
    return {"data": data, "layout": style.layout(height + 58, (56, 12, 12, 46), xaxis=x, **axes, barmode="overlay", bargap=0.15)}


def _choose_ticks(most: float) -> list[float]:
    """Returns three ticks of an axis from -most to most: the largest of 1, 2 and 5 times a power of ten that fits, its opposite, and 0."""
    power = 10.0 ** np.floor(np.log10(most))
    mark = float(f"{max(step * power for step in (1, 2, 5) if step * power <= most):.3g}")
    return [-mark, 0, mark]


def _label_interval(count: int, width: int) -> int:
    """Returns the distance in dimensions of the numbers below the bars."""
    return next((step for step in (1, 2, 4, 5, 10, 20, 50, 100) if step * (width - 70) / count >= 24), 200)
