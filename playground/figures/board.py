"""The runs of a class in one picture: the course of each, and what each came to against something that it has. An arm has one colour, one
dash and one mark; a click on a run opens it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from playground.figures import theme, tokens
from playground.figures.runs import DASHES, MARKS, SHARES, axes, fitted, shade, small_key

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
    column: str = "exact_match",
    last: float | None = None,
    width: int = 720,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """The exact match of every run, or another `column` of the validations, over the steps, thin; of an arm with several runs their mean,
    thick, and between the ends a shade. The legend names the `arms` of which there is a line. The axis goes on to the step `last`, also
    where no curve does."""
    shown = sorted({line.arm for line in lines})
    data = [_shade(one, dark) for one in shades]
    is_share = column == "exact_match"
    data += [_line(line, is_share, dark) for line in lines]
    data += [_mean(one, dark) for one in shades]
    data += [_entry(arm, arms[arm], width, dark) for arm in shown]
    x = theme.axis(theme.word(labels, "step"), dark, rangemode="tozero", showgrid=False, showline=True)
    x |= {"range": [0, last]} if last else {}
    return {"data": data, "layout": _layout(len(shown), x, dark, is_share)}


def scores(
    points: Sequence[Point], arms: Sequence[str], across: str, *, column: str = "exact_match", width: int = 720, dark: bool = False
) -> dict:
    """The exact match of every run, or another `column`, against a number that it has, or the choice of a knob, which `across` names."""
    is_share = column == "exact_match"
    shown = sorted({point.arm for point in points})
    data = []
    for arm in shown:
        own, how = [point for point in points if point.arm == arm], look(arm, dark)
        data.append({
            "type": "scatter", "mode": "markers", "name": tokens.escape(fitted(arms[arm], width - 110)),
            "x": [point.place for point in own], "y": theme.rounded([point.value for point in own]), "customdata": [one.run for one in own],
            "text": [tokens.escape(point.name) for point in own], "meta": OPENS, "cliponaxis": False,
            "marker": {"symbol": how["mark"], "size": 10, "color": how["color"], "opacity": 0.85},
            "hovertemplate": f"%{{text}}: %{{y:{'.1%' if is_share else '.3f'}}}<br>%{{x}}<extra></extra>",
        })  # fmt: skip
    is_text = any(isinstance(point.place, str) for point in points)
    x = theme.axis(tokens.escape(across), dark, showgrid=False, showline=True)
    x |= {"type": "category"} if is_text else {"rangemode": "tozero"}
    return {"data": data, "layout": _layout(len(shown), x, dark, is_share)}


def _layout(entries: int, x: dict[str, Any], dark: bool, is_share: bool = True) -> dict:
    y = theme.axis("", dark) | (SHARES if is_share else {"rangemode": "tozero"})
    return axes(entries, x, y, dark, hovermode="closest")


def key(arm: int, dark: bool) -> dict[str, str]:
    """How the lines of an arm are drawn, for who draws one small: its colour and its dashes."""
    how = look(arm, dark)
    return small_key(how["color"], how["dash"])


def _line(line: Line, is_share: bool, dark: bool) -> dict:
    how = look(line.arm, dark)
    return {
        "type": "scatter", "mode": "lines+markers", "name": tokens.escape(line.name), "x": theme.rounded(line.places, 1),
        "y": theme.rounded(line.values), "customdata": [line.run] * len(line.places), "meta": OPENS, "showlegend": False, "opacity": 0.6,
        "line": {"color": how["color"], "width": 1.4, "dash": how["dash"]},
        "marker": {"symbol": how["mark"], "size": 4, "color": how["color"]},
        "hovertemplate": f"{tokens.escape(line.name)}: %{{y:{'.1%' if is_share else '.3f'}}}<extra></extra>", "cliponaxis": False,
        "legendgroup": f"arm-{line.arm}",
    }  # fmt: skip


def _mean(one: Shade, dark: bool) -> dict:
    how = look(one.arm, dark)
    return {
        "type": "scatter", "mode": "lines", "x": theme.rounded(one.places, 1), "y": theme.rounded(one.mean), "hoverinfo": "skip",
        "line": {"color": how["color"], "width": 3.5, "dash": how["dash"]}, "showlegend": False, "legendgroup": f"arm-{one.arm}",
    }  # fmt: skip


def _shade(one: Shade, dark: bool) -> dict:
    low, high = theme.rounded(one.low), theme.rounded(one.high)
    return shade(theme.rounded(one.places, 1), low, high, look(one.arm, dark)["color"], 0.15, f"arm-{one.arm}")


def _entry(arm: int, name: str, width: int, dark: bool) -> dict:
    """What stands in the legend for all runs of an arm."""
    how = look(arm, dark)
    return {
        "type": "scatter", "mode": "lines+markers", "x": [None], "y": [None], "name": tokens.escape(fitted(name, width - 110)),
        "line": {"color": how["color"], "width": 3, "dash": how["dash"]},
        "marker": {"symbol": how["mark"], "size": 6, "color": how["color"]},
        "legendgroup": f"arm-{arm}", "hoverinfo": "skip",
    }  # fmt: skip
