"""Diagnostics of a model: one dot for each of its parts, the same over training, what reaches the encoder, and how even heads are."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence

import numpy as np

from playground.figures import theme, tokens

ROW, HEIGHT = 21, 300  # px: of one part, and of a curve
RIGHT, TICK = 64, 40  # px: for the numbers beside the dots, and for one tick
MARGIN, MARK = {"l": 60, "r": 26, "b": 44}, 46  # px around the curves, and before a name in their legend
NARROW, WIDE = 6.9, 12.5  # px, of a Latin and of a Chinese character of a part's name
SYMBOLS = {"encoder": "circle", "decoder": "diamond", "cross": "square"}
DASHES = {"encoder": "dash", "decoder": "dot", "cross": "solid"}
ZERO = 0.6  # decades below the smallest value: where 0 stands on a logarithmic axis


def parts(
    values: Sequence[float],
    names: Sequence[str],
    kinds: Sequence[str],
    texts: Sequence[str],
    *,
    measure: str,
    chosen: int | None,
    beside: Sequence[float] | None = None,
    field: str = "route",
    width: int = 420,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """One number for each part of the model, first part on top, on a logarithmic axis with a place of its own for 0.

    kinds   "encoder", "decoder" or "cross": hue and shape of each dot
    texts   the numbers as they are written beside the dots
    measure names the axis (the words "health_gradient" and the like); of "activation" and "dead" the axis is a plain one
    chosen  the part that has a ring, if any; a click on another one (meta {"field": field}, customdata: its number) chooses that
    beside  a second number for each part, an open dot (plain axes only)
    Raises ValueError if the lists differ in length.
    """
    if not len(values) == len(names) == len(kinds) == len(texts):
        raise ValueError(f"{len(values)} values, {len(names)} names, {len(kinds)} kinds and {len(texts)} texts")
    palette, (y, left) = theme.colors(dark), _names(names, width, dark)
    ruler = _Ruler(measure, [*values, *(beside or ())], max(int((width - left - RIGHT) / TICK), 2))
    hues, rows = [theme.hue(kind, dark) for kind in kinds], list(range(len(names)))
    word = theme.word(labels, f"health_{measure}")
    second = theme.word(labels, f"health_{measure}_beside") if beside is not None else ""
    rings = [(palette["text"], 2.5) if at == chosen else (hues[at], 1) for at in rows]
    dots = {
        "type": "scatter", "mode": "markers+text", "name": word, "x": ruler.places(values), "y": rows, "customdata": rows,
        "meta": {"field": field, "measure": measure}, "text": [tokens.escape(text) for text in texts], "textposition": "middle right",
        "textfont": {"color": palette["text"], "size": theme.SIZE}, "cliponaxis": False, "hoverinfo": "none",
        "marker": {
            "size": 10, "color": hues, "symbol": [_symbol(kind, value) for kind, value in zip(kinds, values, strict=True)],
            "line": {"color": [color for color, _ in rings], "width": [width for _, width in rings]},
        },
    }  # fmt: skip
    data = [dots]
    if beside is not None:
        data.append({
            "type": "scatter", "mode": "markers", "name": second, "x": ruler.places(beside), "y": rows, "hoverinfo": "none",
            "marker": {"size": 8, "color": palette["muted"], "symbol": "x-thin", "line": {"color": palette["muted"], "width": 2}},
        })  # fmt: skip
    top = 44 * (beside is not None)
    layout = theme.layout(
        len(names) * ROW + 50 + top, {"l": left, "r": RIGHT, "t": 4 + top, "b": 46}, dark, hovermode="closest",
        xaxis=theme.axis(_axis(word, ruler, labels), dark, **ruler.axis, tickangle=0), yaxis=y, showlegend=beside is not None,
        legend={"orientation": "v", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)", "itemclick": False},
    )  # fmt: skip
    columns = zip(names, texts, strict=True) if beside is None else zip(names, texts, _digits(beside), strict=True)
    head = ["", word] if beside is None else ["", word, second]
    return {"data": data, "layout": layout | {"meta": {"table": {"head": head, "rows": list(map(list, columns))}}}}


def over_training(
    steps: Sequence[int],
    values: np.ndarray,
    names: Sequence[str],
    kinds: Sequence[str],
    *,
    measure: str,
    strong: Sequence[int],
    last: int,
    changes: Sequence[tuple[int, str]] = (),
    step: int | None = None,
    width: int = 720,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """The same over training: values (parts, steps), NaN is a gap. The `strong` ones have a legend, whose names are broken where the figure
    is no wider; all others are quiet lines.

    The axis ends at step `last`. `changes` are (step, word): what was done to the run in the middle of it. Each trace's meta is
    {"x": "step"}: a click on a point leads there. layout.shapes[0] is the replay's cursor, invisible without a step. Raises ValueError if
    the shapes don't fit.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (len(names), len(steps)) or len(kinds) != len(names):
        raise ValueError(f"values of shape {values.shape} do not fit {len(names)} names, {len(kinds)} kinds and {len(steps)} steps")
    palette, ruler = theme.colors(dark), _Ruler(measure, values.ravel().tolist())
    data, room = [], width - MARGIN["l"] - MARGIN["r"] - MARK
    legend = [_broken(name, room) if at in strong else [name] for at, name in enumerate(names)]
    for at in sorted(range(len(names)), key=lambda at: at in strong):
        color, loud = theme.hue(kinds[at], dark), at in strong
        shown = values[at].tolist()
        markers = {"size": 5, "color": color, "symbol": [_symbol(kinds[at], value) for value in shown]}
        data.append({
            "type": "scatter", "mode": "lines+markers" if loud else "lines", "name": "<br>".join(map(tokens.escape, legend[at])),
            "x": list(steps), "y": ruler.places(shown), "customdata": _digits(shown), "meta": {"x": "step", "part": at},
            "line": {"color": color, "width": 2.2 if loud else 1, "dash": DASHES[kinds[at]] if loud else "solid"},
            "opacity": 1 if loud else 0.35, "showlegend": loud, "connectgaps": False, "cliponaxis": False,
            "hovertemplate": f"<b>%{{fullData.name}}</b><br>{theme.word(labels, 'step')} %{{x}}: %{{customdata}}<extra></extra>",
        } | ({"marker": markers} if loud else {}))  # fmt: skip
    cursor = {
        "type": "line", "xref": "x", "yref": "paper", "x0": step or 0, "x1": step or 0, "y0": 0, "y1": 1, "layer": "above",
        "visible": step is not None, "line": {"color": palette["text"], "width": 1, "dash": "dot"},
    }  # fmt: skip
    mark = cursor | {"visible": True, "line": {"color": palette["line"], "width": 1.5}}
    marks = [mark | {"x0": at + 0.5, "x1": at + 0.5} for at, _ in changes]
    notes = [
        {
            "text": word, "showarrow": False, "xref": "x", "x": at + 0.5, "xanchor": "left", "xshift": 3, "yref": "paper", "y": 1,
            "yanchor": "top", "yshift": -15 * (n % 3), "font": {"size": theme.SIZE, "color": palette["muted"]}, "bgcolor": palette["paper"],
        }
        for n, (at, word) in enumerate(changes)
    ]  # fmt: skip
    top = 12 + 18 * sum(len(legend[at]) for at in strong)
    layout = theme.layout(
        HEIGHT, MARGIN | {"t": top}, dark, hovermode="closest", showlegend=True, shapes=[cursor, *marks],
        annotations=notes,
        xaxis=theme.axis(theme.word(labels, "step"), dark, range=[0, max(last, 1)], showgrid=False, showline=True, nticks=6),
        yaxis=theme.axis(_axis(theme.word(labels, f"health_{measure}"), ruler, labels), dark, **ruler.axis),
        legend={
            "orientation": "v", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)",
            "itemclick": False, "itemdoubleclick": False,
        },
    )  # fmt: skip
    head = [theme.word(labels, "step"), *(names[at] for at in strong)]
    rows = [list(row) for row in zip(steps, *(_digits(values[at].tolist()) for at in strong), strict=True)]
    return {"data": data, "layout": layout | {"meta": {"table": {"head": head, "rows": rows}}}}


def evenness(
    values: np.ndarray, names: Sequence[str], *, width: int = 420, dark: bool = False, labels: Mapping[str, str] | None = None
) -> dict:
    """Entropy of each head's attention as a share of the most there could be: (attentions, H), one row for each, NaN where nobody had a
    choice. Raises ValueError if the shapes don't fit."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or len(values) != len(names):
        raise ValueError(f"values of shape {values.shape} do not fit {len(names)} names")
    rows, heads = values.shape
    y, left = _names(names, width, dark)
    down = rows * 26
    data = {
        "type": "heatmap", "x": list(range(1, heads + 1)), "y": list(range(rows)), "z": theme.rounded(values), "zmin": 0, "zmax": 1,
        "colorscale": theme.scale(theme.sequential(dark)), "xgap": 1, "ygap": 1, "hoverongaps": False,
        "hovertemplate": theme.phrase(labels, "hover_evenness", row="%{y}", head="%{x}", value="%{z:.3f}") + "<extra></extra>",
        "colorbar": theme.colorbar(theme.word(labels, "health_entropy"), dark, y=round(-46 / down, 4), length=140, ticks=(0, 0.5, 1)),
    }  # fmt: skip
    if (width - left - 20) / heads >= 30:
        data |= {"texttemplate": "%{z:.2f}", "textfont": {"size": theme.SIZE - 1}}
    x = theme.axis(theme.word(labels, "health_head"), dark, tickvals=data["x"], showgrid=False)
    margin = {"l": left, "r": 20, "t": 4, "b": 100}
    layout = theme.layout(down + 104, margin, dark, xaxis=x, yaxis=y | {"showgrid": False}, hovermode="closest")
    meta = {"rows": list(names), "columns": [f"{theme.word(labels, 'health_head')} {at}" for at in data["x"]], "none": "–"}
    return {"data": [data], "layout": layout | {"meta": meta}}


class _Ruler:
    """Where values stand on an axis. A logarithmic one is drawn by hand, in decades, so that 0 has a place on it."""

    def __init__(self, measure: str, values: Sequence[float], most: int = 6) -> None:
        """At most `most` ticks, and one for 0."""
        self.plain = measure in ("activation", "dead", "entropy")
        good = [value for value in values if value is not None and math.isfinite(value)]
        if self.plain:
            share = measure in ("dead", "entropy")
            low, high = min([*good, 0.0]), 1.0 if share else max([*good, 1e-9])
            self.axis = {"range": [low - 0.03 * (high - low), high * 1.03], "nticks": 5}
            self.axis |= {"tickvals": [0, 0.5, 1], "tickformat": ".0%"} if measure == "dead" else {}
            return
        some = [value for value in good if value > 0]
        low, high = math.log10(min(some, default=1.0)), math.log10(max(some, default=1.0))
        if high - low < 1:
            low, high = (low + high - 1) / 2, (low + high + 1) / 2
        self.zero = low - ZERO if len(some) < len(good) else None
        bottom = low - 0.1 if self.zero is None else self.zero - 0.1
        ticks = _ticks(low, high, most)
        texts = [_decimal(tick) for tick in ticks]
        places = [math.log10(tick) for tick in ticks]
        if self.zero is not None:
            places, texts = [self.zero, *places], ["0", *texts]
        self.axis = {"range": [round(bottom, 4), round(high + 0.1, 4)], "tickvals": theme.rounded(places), "ticktext": texts}

    def places(self, values: Sequence[float]) -> list[float | None]:
        if self.plain:
            return theme.rounded(values, 6)
        return [None if not math.isfinite(value) else self.zero if value <= 0 else round(math.log10(value), 4) for value in values]


def _axis(word: str, ruler: _Ruler, labels: Mapping[str, str] | None) -> str:
    """The title of an axis, which says that it is logarithmic."""
    return word if ruler.plain else theme.phrase(labels, "log_axis", what=word)


def _ticks(low: float, high: float, most: int) -> list[float]:
    """At most `most` round numbers from 10^low to 10^high: powers of ten, and where these are few, 2 and 5 times them."""
    decades = range(math.floor(low), math.ceil(high) + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        found = [f * 10.0**e for e in decades for f in factors if low <= math.log10(f) + e <= high]
        if len(found) <= most:
            return found
    return found[:: -(-len(found) // most)]


def _decimal(tick: float) -> str:
    if 1e-4 < tick < 1e5:
        return f"{tick:.4f}".rstrip("0").rstrip(".")
    return theme.minus(f"{tick:.0e}".replace("e-0", "e-").replace("e+0", "e"))


def _digits(values: Sequence[float]) -> list[str]:
    return ["–" if not math.isfinite(value) else theme.minus(f"{value:.3g}") for value in values]


def _symbol(kind: str, value: float) -> str:
    """An open one stands for exactly 0."""
    return SYMBOLS[kind] if value else f"{SYMBOLS[kind]}-open"


def _names(names: Sequence[str], width: int, dark: bool) -> tuple[dict, float]:
    """The axis that carries the names of the parts, first on top, and the left margin it needs."""
    longest = 26 if width >= 380 else 20 if width >= 330 else 14
    short = [name if len(name) <= longest else f"{name[: longest - 1]}…" for name in names]
    axis = theme.axis("", dark, range=[len(names) - 0.5, -0.5], tickvals=list(range(len(names))), ticktext=list(map(tokens.escape, short)))
    axis |= {"ticks": "", "ticklabelstandoff": 6, "tickfont": {"size": theme.SIZE, "color": theme.colors(dark)["text"]}}
    return axis, 18 + max(map(_extent, short))


def _broken(name: str, room: float) -> list[str]:
    """A name in lines that fit."""
    return textwrap.wrap(name, max(int(room / (_extent(name) / len(name))), 1)) or [name]


def _extent(text: str) -> float:
    """Roughly how many pixels a text takes."""
    return sum(WIDE if ord(character) > 0x2E7F else NARROW for character in text)
