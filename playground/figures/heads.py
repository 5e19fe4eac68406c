"""Heads over training: a faint line for each, the chosen one in its colour, the replay's step marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from playground.figures import theme

HEIGHT = 260  # px


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
