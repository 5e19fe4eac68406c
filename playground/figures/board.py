"""The runs of a class in one picture: the course of each, and what each came to against something that it has. An arm has one colour, one
dash and one mark; a click on a run opens it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from playground.figures import theme, tokens
from playground.figures.runs import DASHES, ENTRY, HEIGHT, MARKS, fitted

OPENS = {"field": "run", "to": {"tab": "training"}}  # of the cursor: what a click on a run changes


class Line(NamedTuple):
    """A run: which arm it is of, what it is called, and its values at its places."""

    run: str
    arm: int
    name: str
    places: Sequence[float]
    values: Sequence[float]


class Point(NamedTuple):
    """A run at one place: a number, or the text of a choice."""

    run: str
    arm: int
    name: str
    place: float | str
    value: float


class Shade(NamedTuple):
    """What the runs of an arm have in common: their mean, and the ends between which they lie."""

    arm: int
    places: Sequence[float]
    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def look(arm: int, dark: bool) -> dict[str, str]:
    """Colour, dash and mark of an arm; no two of the first 36 have the same colour and dash."""
    colors = theme.lines(dark)
    return {
        "color": colors[arm % len(colors)], "dash": DASHES[(arm + arm // len(colors)) % len(DASHES)],
        "mark": MARKS[(arm + arm // len(colors)) % len(MARKS)],
    }  # fmt: skip


def course(
    lines: Sequence[Line],
    shades: Sequence[Shade],
    arms: Sequence[str],
    *,
    last: float | None = None,
    width: int = 720,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """The exact match of every run over the steps, thin; of an arm with several runs their mean, thick, and between the ends a shade. The
    legend names the `arms` of which there is a line. The axis goes on to the step `last`, also where no curve does."""
    shown = sorted({line.arm for line in lines})
    data = [_shade(shade, dark) for shade in shades]
    data += [_line(line, dark) for line in lines]
    data += [_mean(shade, dark) for shade in shades]
    data += [_entry(arm, arms[arm], width, dark) for arm in shown]
    x = theme.axis(theme.word(labels, "step"), dark, rangemode="tozero", showgrid=False, showline=True, nticks=6)
    x |= {"fixedrange": False} | ({"range": [0, last]} if last else {})
    return {"data": data, "layout": _layout(len(shown), x, dark)}


def scores(points: Sequence[Point], arms: Sequence[str], across: str, *, width: int = 720, dark: bool = False) -> dict:
    """The exact match of every run against a number that it has, or the choice of a knob, which `across` names."""
    shown = sorted({point.arm for point in points})
    data = []
    for arm in shown:
        own, how = [point for point in points if point.arm == arm], look(arm, dark)
        data.append({
            "type": "scatter", "mode": "markers", "name": tokens.escape(fitted(arms[arm], width - 110)),
            "x": [point.place for point in own], "y": theme.rounded([point.value for point in own]), "customdata": [one.run for one in own],
            "text": [tokens.escape(point.name) for point in own], "meta": OPENS, "cliponaxis": False,
            "marker": {"symbol": how["mark"], "size": 10, "color": how["color"], "opacity": 0.85},
            "hovertemplate": "%{text}: %{y:.1%}<br>%{x}<extra></extra>",
        })  # fmt: skip
    is_text = any(isinstance(point.place, str) for point in points)
    x = theme.axis(tokens.escape(across), dark, showgrid=False, showline=True, nticks=6)
    x |= {"type": "category"} if is_text else {"rangemode": "tozero"}
    return {"data": data, "layout": _layout(len(shown), x | {"fixedrange": False}, dark) | {"hovermode": "closest"}}


def _layout(entries: int, x: dict[str, Any], dark: bool) -> dict:
    top = 10 + ENTRY * entries
    y = theme.axis("", dark) | {"range": [-0.03, 1.03], "tickvals": [0, 0.5, 1], "tickformat": ".0%", "fixedrange": False}
    return theme.layout(
        HEIGHT + top, {"l": 52, "r": 18, "t": top, "b": 44}, dark, hovermode="closest", showlegend=True, dragmode="zoom", xaxis=x, yaxis=y,
        legend={
            "orientation": "v", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)", "itemwidth": 46,
            "tracegroupgap": 0,
        },
    )  # fmt: skip


def _line(line: Line, dark: bool) -> dict:
    how = look(line.arm, dark)
    return {
        "type": "scatter", "mode": "lines+markers", "name": tokens.escape(line.name), "x": theme.rounded(line.places, 1),
        "y": theme.rounded(line.values), "customdata": [line.run] * len(line.places), "meta": OPENS, "showlegend": False, "opacity": 0.6,
        "line": {"color": how["color"], "width": 1.4, "dash": how["dash"]},
        "marker": {"symbol": how["mark"], "size": 4, "color": how["color"]},
        "hovertemplate": f"{tokens.escape(line.name)}: %{{y:.1%}}<extra></extra>", "cliponaxis": False, "legendgroup": f"arm-{line.arm}",
    }  # fmt: skip


def _mean(shade: Shade, dark: bool) -> dict:
    how = look(shade.arm, dark)
    return {
        "type": "scatter", "mode": "lines", "x": theme.rounded(shade.places, 1), "y": theme.rounded(shade.mean), "hoverinfo": "skip",
        "line": {"color": how["color"], "width": 3.5, "dash": how["dash"]}, "showlegend": False, "legendgroup": f"arm-{shade.arm}",
    }  # fmt: skip


def _shade(shade: Shade, dark: bool) -> dict:
    red, green, blue = (int(look(shade.arm, dark)["color"][start : start + 2], 16) for start in (1, 3, 5))
    x = theme.rounded(shade.places, 1)
    return {
        "type": "scatter", "mode": "lines", "x": [*x, *x[::-1]], "y": theme.rounded([*shade.high, *shade.low[::-1]]), "fill": "toself",
        "fillcolor": f"rgba({red},{green},{blue},0.15)", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False,
        "legendgroup": f"arm-{shade.arm}",
    }  # fmt: skip


def _entry(arm: int, name: str, width: int, dark: bool) -> dict:
    """What stands in the legend for all runs of an arm."""
    how = look(arm, dark)
    return {
        "type": "scatter", "mode": "lines+markers", "x": [None], "y": [None], "name": tokens.escape(fitted(name, width - 110)),
        "line": {"color": how["color"], "width": 3, "dash": how["dash"]},
        "marker": {"symbol": how["mark"], "size": 6, "color": how["color"]},
        "legendgroup": f"arm-{arm}", "hoverinfo": "skip",
    }  # fmt: skip
