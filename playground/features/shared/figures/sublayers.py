"""Diagnostics of a model: a dot for each of its parts, the same over training, and the entropy of heads."""

import math
import textwrap
from collections.abc import Sequence

import numpy as np

from playground.features.shared.figures import theme, tokens
from playground.features.shared.figures.theme import PLAIN, Style

ROW, HEIGHT = 21, 300  # px: of one part, and of a curve
RIGHT, TICK = 64, 40  # px: for the numbers at the dots, and for one tick
LEFT, END, MARK = 60, 26, 46  # px beside the curves, and before a name in their legend
NARROW, WIDE = 6.9, 12.5  # px, of a Latin and of a Chinese character of a part's name
SYMBOLS = {"encoder": "circle", "decoder": "diamond", "cross": "square"}
DASHES = {"encoder": "dash", "decoder": "dot", "cross": "solid"}
ZERO = 0.6  # decades below the smallest value: the place of 0 on a logarithmic axis


def parts(
    values: Sequence[float],
    names: Sequence[str],
    kinds: Sequence[str],
    texts: Sequence[str],
    *,
    measure: str,
    chosen: int | None,
    second: Sequence[float] | None = None,
    field: str = "route",
    style: Style = PLAIN,
) -> dict:
    """Draws one number for each part of the model, first part on top, on a logarithmic axis with a place for 0.

    kinds   "encoder", "decoder" or "cross": hue and shape of each dot
    texts   the numbers as written at the dots
    measure names the axis (the words "health_gradient" and the like); the axis of "activation" and "dead" is linear
    chosen  the part with a ring, if any; a click on another one (meta {"field": field}, customdata: its number) chooses that
    second  another number for each part, an open dot (linear axes only)
    Raises ValueError if the lists differ in length.
    """
    theme.fit(values, names)
    palette, (y, left) = style.colors, _names_axis(names, style)
    ruler = _Ruler(measure, [*values, *(second or ())], max(int((style.width - left - RIGHT) / TICK), 2))
    hues, rows = [style.hue(kind) for kind in kinds], list(range(len(names)))
    word = style.word(f"health_{measure}")
    rings = [(palette["text"], 2.5) if at == chosen else (hues[at], 1) for at in rows]
    dots = {
        "type": "scatter", "mode": "markers+text", "name": word, "x": ruler.places(values), "y": rows, "customdata": rows,
        "meta": {"field": field, "measure": measure}, "text": [tokens.escape(text) for text in texts], "textposition": "middle right",
        "textfont": style.font(), "cliponaxis": False, "hoverinfo": "none",
        "marker": {
            "size": 10, "color": hues, "symbol": [_choose_symbol(kind, value) for kind, value in zip(kinds, values, strict=True)],
            "line": {"color": [color for color, _ in rings], "width": [width for _, width in rings]},
        },
    }  # fmt: skip
    data, head, columns = [dots], ["", word], [names, texts]
    if second is not None:
        head, columns = [*head, style.word(f"health_{measure}_beside")], [*columns, _format_values(second)]
        data.append({
            "type": "scatter", "mode": "markers", "name": head[-1], "x": ruler.places(second), "y": rows, "hoverinfo": "none",
            "marker": {"size": 8, "color": palette["muted"], "symbol": "x-thin", "line": {"color": palette["muted"], "width": 2}},
        })  # fmt: skip
    top, table = 44 * (second is not None), {"head": head, "rows": list(map(list, zip(*columns, strict=True)))}
    layout = style.layout(
        len(names) * ROW + 50 + top, (left, RIGHT, 4 + top, 46),
        xaxis=style.axis(_axis_title(word, ruler, style), **ruler.axis, tickangle=0), yaxis=y, showlegend=second is not None,
        legend=theme.legend_column(itemclick=False), meta={"table": table},
    )  # fmt: skip
    return {"data": data, "layout": layout}


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
    style: Style = PLAIN,
) -> dict:
    """Draws values (parts, steps) over training; NaN is a gap. The `strong` parts have a legend, whose names are wrapped to the figure's
    width; all others are faint lines.

    The axis ends at step `last`. `changes` are (step, word) of interventions in training. Each trace's meta is {"x": "step"}: a click on
    a point leads there. layout.shapes[0] is the replay's cursor, invisible without a step. Raises ValueError if the shapes don't fit.
    """
    values = theme.fit(values, kinds, steps)
    palette, ruler = style.colors, _Ruler(measure, values.ravel().tolist())
    data, room = [], style.width - LEFT - END - MARK
    legend = [_wrap(name, room) if at in strong else [name] for at, name in enumerate(names)]
    for at in sorted(range(len(names)), key=lambda at: at in strong):
        color, is_strong = style.hue(kinds[at]), at in strong
        curve = values[at].tolist()
        markers = {"size": 5, "color": color, "symbol": [_choose_symbol(kinds[at], value) for value in curve]}
        data.append({
            "type": "scatter", "mode": "lines+markers" if is_strong else "lines", "name": "<br>".join(map(tokens.escape, legend[at])),
            "x": list(steps), "y": ruler.places(curve), "customdata": _format_values(curve), "meta": {"x": "step", "part": at},
            "line": {"color": color, "width": 2.2 if is_strong else 1, "dash": DASHES[kinds[at]] if is_strong else "solid"},
            "opacity": 1 if is_strong else 0.35, "showlegend": is_strong, "connectgaps": False, "cliponaxis": False,
            "hovertemplate": f"<b>%{{fullData.name}}</b><br>{style.word('step')} %{{x}}: %{{customdata}}<extra></extra>",
        } | ({"marker": markers} if is_strong else {}))  # fmt: skip
    cursor = style.step_cursor(step)
    mark = cursor | {"visible": True, "line": {"color": palette["line"], "width": 1.5}}
    marks = [mark | {"x0": at + 0.5, "x1": at + 0.5} for at, _ in changes]
    notes = [
        {
            "text": word, "showarrow": False, "xref": "x", "x": at + 0.5, "xanchor": "left", "xshift": 3, "yref": "paper", "y": 1,
            "yanchor": "top", "yshift": -15 * (n % 3), "font": style.font("muted"), "bgcolor": palette["paper"],
        }
        for n, (at, word) in enumerate(changes)
    ]  # fmt: skip
    top = 12 + 18 * sum(len(legend[at]) for at in strong)
    layout = style.layout(
        max(HEIGHT, style.stage), (LEFT, END, top, 44), showlegend=True, shapes=[cursor, *marks], annotations=notes,
        xaxis=style.axis(style.word("step"), range=[0, max(last, 1)], showgrid=False, showline=True, nticks=6),
        yaxis=style.axis(_axis_title(style.word(f"health_{measure}"), ruler, style), **ruler.axis),
        legend=theme.legend_column(itemclick=False, itemdoubleclick=False),
    )  # fmt: skip
    head = [style.word("step"), *(names[at] for at in strong)]
    rows = [list(row) for row in zip(steps, *(_format_values(values[at].tolist()) for at in strong), strict=True)]
    return {"data": data, "layout": layout | {"meta": {"table": {"head": head, "rows": rows}}}}


def evenness(values: np.ndarray, names: Sequence[str], *, style: Style = PLAIN) -> dict:
    """Draws each head's entropy as a share of the largest possible: (attentions, H), one row for each, NaN where no query had a choice.
    Raises ValueError if the shapes don't fit."""
    rows, heads = theme.fit(values, names, values[0]).shape
    y, left = _names_axis(names, style)
    down = rows * 26
    hover = style.hover("hover_evenness", row="%{y}", head="%{x}", value="%{z:.3f}")
    bar = style.colorbar(style.word("health_entropy"), round(-46 / down, 4), 140)
    places = {"x": list(range(1, heads + 1)), "y": list(range(rows))}
    data = style.heat(theme.rounded(values), hover, **places, xgap=1, ygap=1, colorbar=bar)
    if (style.width - left - 20) / heads >= 30:
        data |= {"texttemplate": "%{z:.2f}", "textfont": {"size": theme.SIZE - 1}}
    x = style.axis(style.word("health_head"), tickvals=data["x"], showgrid=False)
    layout = style.layout(down + 104, (left, 20, 4, 100), xaxis=x, yaxis=y | {"showgrid": False})
    meta = {"rows": list(names), "columns": [f"{style.word('health_head')} {at}" for at in data["x"]], "none": "–"}
    return {"data": [data], "layout": layout | {"meta": meta}}


class _Ruler:
    """Maps values to places on an axis. A logarithmic one is drawn by hand, in decades, so that 0 has a place on it."""

    def __init__(self, measure: str, values: Sequence[float], most: int = 6) -> None:
        """Chooses at most `most` ticks, and one for 0."""
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
        ticks = _choose_ticks(low, high, most)
        texts = [_format_tick(tick) for tick in ticks]
        places = [math.log10(tick) for tick in ticks]
        if self.zero is not None:
            places, texts = [self.zero, *places], ["0", *texts]
        self.axis = {"range": [round(bottom, 4), round(high + 0.1, 4)], "tickvals": theme.rounded(places), "ticktext": texts}

    def places(self, values: Sequence[float]) -> list[float | None]:
        if self.plain:
            return theme.rounded(values, 6)
        return [None if not math.isfinite(value) else self.zero if value <= 0 else round(math.log10(value), 4) for value in values]


def _axis_title(word: str, ruler: _Ruler, style: Style) -> str:
    """Returns the title of an axis, marked if it is logarithmic."""
    return word if ruler.plain else style.phrase("log_axis", what=word)


def _choose_ticks(low: float, high: float, most: int) -> list[float]:
    """Returns at most `most` round numbers from 10^low to 10^high: powers of ten, and 2 and 5 times these if they are few."""
    decades = range(math.floor(low), math.ceil(high) + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        ticks = [f * 10.0**e for e in decades for f in factors if low <= math.log10(f) + e <= high]
        if len(ticks) <= most:
            return ticks
    return ticks[:: -(-len(ticks) // most)]


def _format_tick(tick: float) -> str:
    if 1e-4 < tick < 1e5:
        return f"{tick:.4f}".rstrip("0").rstrip(".")
    return theme.minus(f"{tick:.0e}".replace("e-0", "e-").replace("e+0", "e"))


def _format_values(values: Sequence[float]) -> list[str]:
    return ["–" if not math.isfinite(value) else theme.minus(f"{value:.3g}") for value in values]


def _choose_symbol(kind: str, value: float) -> str:
    """Returns the symbol of a kind; an open one for exactly 0."""
    return SYMBOLS[kind] if value else f"{SYMBOLS[kind]}-open"


def _names_axis(names: Sequence[str], style: Style) -> tuple[dict, float]:
    """Returns the axis of the parts' names, first on top, and its left margin."""
    longest = 26 if style.width >= 380 else 20 if style.width >= 330 else 14
    short = [name if len(name) <= longest else f"{name[: longest - 1]}…" for name in names]
    axis = style.axis("", range=[len(names) - 0.5, -0.5], tickvals=list(range(len(names))), ticktext=list(map(tokens.escape, short)))
    axis |= {"ticks": "", "ticklabelstandoff": 6, "tickfont": style.font()}
    return axis, 18 + max(map(_text_width, short))


def _wrap(name: str, room: float) -> list[str]:
    """Wraps a name into lines of `room` pixels."""
    return textwrap.wrap(name, max(int(room / (_text_width(name) / len(name))), 1)) or [name]


def _text_width(text: str) -> float:
    """Estimates the width of a text in pixels."""
    return sum(WIDE if ord(character) > 0x2E7F else NARROW for character in text)
