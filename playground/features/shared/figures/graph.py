"""Line and dot plots: a few lines over one number, such as the variance of q·k over d_k; or a few numbers for each of several names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from playground.features.shared.figures import tokens
from playground.features.shared.figures.bars import BAR, names_axis
from playground.features.shared.figures.runs import shade
from playground.features.shared.figures.theme import PLAIN, Style

MAX_LINES = 6  # distinguishable lines
_STYLES = (  # colour, dash and mark differ, for colour-blind readers
    ("first", "solid", "circle"), ("second", "dash", "square"), ("cross", "dot", "diamond"), ("encoder", "dashdot", "triangle-up"),
    ("decoder", "longdash", "x"), ("muted", "longdashdot", "star"),
)  # fmt: skip
_HEIGHT, _LEGEND, _MARK = 250, 22, 46  # px; _MARK: the symbol before a name in the legend
_PERCENT = {"range": [-2, 102], "tickvals": [0, 25, 50, 75, 100], "ticksuffix": " %"}  # of an axis
NAMED = 2  # decades from which only powers of ten are labelled
_TINY = 1e-30  # smaller values, and zero, are gaps on a logarithmic axis


def lines(
    x: Sequence[float],
    values: Mapping[str, Sequence[float]],
    *,
    title: str = "",
    percent: str = "",
    log_x: bool = False,
    log_y: bool = False,
    bands: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    style: Style = PLAIN,
) -> dict:
    """Draws one line for each entry of `values`, named by its key, over `x` with an axis named `title`. `percent` names a value axis with
    the fixed range 0 to 100. `bands` are the lower and upper ends of a line's shade. Raises ValueError for more than MAX_LINES lines, or
    when a line's length differs from that of `x`."""
    if not 1 <= len(values) <= MAX_LINES:
        raise ValueError(f"{len(values)} lines aren't distinguishable")
    if any(len(line) != len(x) for line in values.values()):
        raise ValueError("a line's length differs from that of x")
    data = []
    for (name, line), (color, dash, symbol) in zip(values.items(), _STYLES, strict=False):
        numbers = np.asarray(line, dtype=np.float64)
        ink = style.colors[color]
        if name in (bands or {}):
            low, high = map(_round_significant, bands[name])
            data.insert(0, shade(list(map(float, x)), low, high, ink, 0.15, name))
        data.append({
            "type": "scatter", "mode": "lines+markers", "x": [float(f"{place:.6g}") for place in x], "name": name, "legendgroup": name,
            "y": _round_significant(np.where(numbers > _TINY, numbers, np.nan) if log_y else numbers),
            "line": {"color": ink, "width": 2, "dash": dash}, "marker": {"color": ink, "symbol": symbol, "size": 6},
            "hovertemplate": "%{x:.4~g}: <b>%{y:.4~g}</b><extra>%{fullData.name}</extra>",
        })  # fmt: skip
    y = _PERCENT if percent else _log_axis(np.concatenate([*map(np.asarray, values.values())])) if log_y else {"nticks": 5}
    axes = {"xaxis": style.axis(title, **(_log_axis(x) if log_x else {"nticks": 8})), "yaxis": style.axis(percent, **y)}
    widest = max(tokens.extent(name, longest=99) for name in values) + _MARK
    rows = len(values) > 1 and -(-len(values) // max(1, min(2, int(style.width // widest))))  # of the legend, two names in each if they fit
    legend = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"}
    margin = (72 if percent else 56, 16, 10 + rows * _LEGEND, 44)
    return {"data": data, "layout": style.layout(_HEIGHT + rows * _LEGEND, margin, showlegend=rows > 0, legend=legend, **axes)}


def dots(values: Mapping[str, Sequence[float]], *, percent: str, style: Style = PLAIN) -> dict:
    """Draws a row for each name: its values as rings and their mean as a bar, on an axis from 0 to 100 that `percent` names."""
    rows, ink = list(enumerate(values.values())), style.colors["first"]
    each = {"x": [float(f"{value:.5g}") for _, row in rows for value in row], "y": [at for at, row in rows for _ in row]}
    means = {"x": [float(f"{np.mean(row):.5g}") for _, row in rows], "y": [at for at, _ in rows]}
    marks = {"symbol": "circle-open", "size": 9, "color": ink}, {"symbol": "line-ns-open", "size": 20, "color": ink}
    data = [
        {"type": "scatter", "mode": "markers", **where, "marker": mark, "cliponaxis": False, "hovertemplate": "%{x:.4~g} %<extra></extra>"}
        for where, mark in zip((each, means), marks, strict=True)
    ]
    y, left = names_axis(list(values), style)
    axes = {"xaxis": style.axis(percent, **_PERCENT), "yaxis": y}
    return {"data": data, "layout": style.layout(len(values) * BAR + 54, (left, 16, 10, 44), **axes)}


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _format_power(exponent: int) -> str:
    """Formats a power of ten without superscript markup, which Plotly draws larger than the numbers of other axes."""
    return f"{10.0**exponent:g}" if abs(exponent) <= 3 else "10" + str(exponent).translate(_RAISED)


def _log_axis(values: Sequence[float]) -> dict:
    """Lays out a logarithmic axis with a few labelled powers of ten; below two decades, 2 and 5 times them as well, each in full, as Plotly
    labels 20 as 2."""
    positive = np.asarray(values, dtype=np.float64)
    positive = positive[np.isfinite(positive) & (positive > _TINY)]
    decades = np.log10(positive.max() / positive.min()) if positive.size else 1.0
    first, last = (int(np.floor(np.log10(end))) for end in (positive.min(), positive.max())) if positive.size else (0, 0)
    if decades >= NAMED:
        powers = range(first, last + 2, int(np.ceil(decades / 6)))
        return {"type": "log", "tickvals": [10.0**power for power in powers], "ticktext": [*map(_format_power, powers)]}
    ticks = [digit * 10.0**power for power in range(first, last + 2) for digit in (1, 2, 5)]
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:.6g}" for tick in ticks]}


def _round_significant(values: np.ndarray) -> list[float | None]:
    """Rounds to five significant digits; None, a gap, for NaN and infinity."""
    return [float(f"{value:.5g}") if np.isfinite(value) else None for value in values]
