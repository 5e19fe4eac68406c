"""Heads over training, and the products behind one score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from playground.features.shared.figures import theme

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
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """Draws a number (layers, H, steps) of every head at each step of the replay, from 0 to `most`.

    `measure` names the axis (the words "head_aligned" or "head_entropy"), `chosen` is (layer, head) counted from 0, `step` the
    replay's step. Each trace's meta is {"x": "step"}: a click on a point leads there. The chosen head is the last trace; layout.shapes[0]
    is the replay's cursor, invisible without a step. Raises ValueError if the shapes don't fit.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 3 or values.shape[2] != len(steps):
        raise ValueError(f"values of shape {values.shape} do not fit {len(steps)} steps")
    palette, digits = theme.colors(dark), ".2f"
    order = sorted(np.ndindex(*values.shape[:2]), key=lambda at: at == tuple(chosen))
    data = []
    for at in order:
        name = theme.phrase(labels, "head_name", layer=str(at[0] + 1), head=str(at[1] + 1))
        is_chosen = at == tuple(chosen)
        color = theme.hue(kind, dark) if is_chosen else palette["line"]
        data.append({
            "type": "scatter", "mode": "lines+markers", "name": name if is_chosen else theme.word(labels, "head_others"),
            "x": list(steps), "y": theme.rounded(values[at]), "meta": {"x": "step", "layer": at[0], "head": at[1]},
            "line": {"color": color, "width": 2.4 if is_chosen else 1}, "opacity": 1 if is_chosen else 0.75,
            "marker": {"size": 5 if is_chosen else 3, "color": color}, "showlegend": is_chosen or at == order[0],
            "legendrank": 1 if is_chosen else 2, "cliponaxis": False,
            "hovertemplate": f"<b>{name}</b><br>{theme.word(labels, 'step')} %{{x}}: %{{y:{digits}}}<extra></extra>",
        })  # fmt: skip
    low, high = -0.03 * most, 1.03 * most
    x = theme.axis(theme.word(labels, "step"), dark, range=[0, max(steps[-1], 1)], showgrid=False, showline=True, nticks=6)
    y = theme.axis(theme.word(labels, f"head_{measure}"), dark, range=[low, high], nticks=5)
    y |= {"tickvals": [0, 0.5, 1]} if most == 1 else {}
    layout = theme.layout(
        HEIGHT, {"l": 56, "r": 26, "t": 50, "b": 44}, dark, xaxis=x, yaxis=y, hovermode="closest", showlegend=True,
        shapes=[theme.step_cursor(step, dark)], legend=theme.legend_column(itemclick=False, itemdoubleclick=False),
    )  # fmt: skip
    return {"data": data, "layout": layout}


def bars(
    query: np.ndarray,
    key: np.ndarray,
    *,
    kind: str = "cross",
    width: int = 720,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """Draws three rows of bars over the dimensions (K,), counted from 1: query, key, and query times key, whose sum is the score.

    Query and key share one scale; both scales are centred at 0. Raises ValueError if the lengths differ.
    """
    query, key = np.asarray(query, dtype=np.float64), np.asarray(key, dtype=np.float64)
    if query.shape != key.shape or query.ndim != 1 or not len(query):
        raise ValueError(f"a query of shape {query.shape} and a key of shape {key.shape}")
    rows = {"query": query, "key": key, "product": query * key}
    largest = max(np.abs(query).max(), np.abs(key).max())
    height = 3 * PANEL + 2 * GAP
    data, axes = [], {}
    for at, (name, values) in enumerate(rows.items()):
        most = float(np.abs(values).max() if name == "product" else largest) or 1.0
        data.append({
            "type": "bar", "x": list(range(1, len(values) + 1)), "y": theme.rounded(values, 5), "name": theme.word(labels, name),
            "xaxis": "x", "yaxis": f"y{at + 1}" if at else "y",
            "marker": {"color": theme.signed_shades(values / most, dark),
                       "line": {"color": theme.colors(dark)["line"], "width": 0.5 if len(values) <= 128 else 0}},
            "hovertemplate": f"{theme.word(labels, name)}, {theme.word(labels, 'dimension')} %{{x}}: %{{y:.4f}}<extra></extra>",
        })  # fmt: skip
        bottom = (2 - at) * (PANEL + GAP) / height
        axis = theme.axis(theme.word(labels, name), dark, range=[-1.12 * most, 1.12 * most], tickvals=_choose_ticks(most), zeroline=True)
        axis |= {"domain": [round(bottom, 4), round(bottom + PANEL / height, 4)], "anchor": "x"}
        axes[f"yaxis{at + 1}" if at else "yaxis"] = axis | {"zerolinecolor": theme.colors(dark)["line"], "zerolinewidth": 1}
    x = theme.axis(theme.word(labels, "dimension"), dark, range=[0.4, len(query) + 0.6], showgrid=False, anchor="y3")
    x |= {"showline": True, "linecolor": theme.hue(kind, dark), "linewidth": 2}
    x |= {"tickmode": "linear", "tick0": 1 if len(query) <= 20 else 0, "dtick": _label_interval(len(query), width)}
    layout = theme.layout(
        height + 58, {"l": 56, "r": 12, "t": 12, "b": 46}, dark, xaxis=x, **axes, barmode="overlay", bargap=0.15, hovermode="closest",
    )  # fmt: skip
    return {"data": data, "layout": layout}


def _choose_ticks(most: float) -> list[float]:
    """Returns three ticks of an axis from -most to most: the largest of 1, 2 and 5 times a power of ten that fits, its opposite, and 0."""
    power = 10.0 ** np.floor(np.log10(most))
    mark = float(f"{max(step * power for step in (1, 2, 5) if step * power <= most):.3g}")
    return [-mark, 0, mark]


def _label_interval(count: int, width: int) -> int:
    """Returns the distance in dimensions of the numbers below the bars."""
    return next((step for step in (1, 2, 4, 5, 10, 20, 50, 100) if step * (width - 70) / count >= 24), 200)
