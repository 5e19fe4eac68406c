"""The runs of a class in one figure: their learning curves, and their scores against a knob or a number. An arm has one colour, dash and
mark; a click on a run opens it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from playground.features.shared.figures import theme, tokens
from playground.features.shared.figures.runs import DASHES, MARKS, SHARES, axes, shade, small_key, truncate

OPENS = {"field": "run", "to": {"tab": "training"}}  # the cursor's change by a click on a run


class Line(NamedTuple):
    """A run's curve: its id, arm and name, and its values at its places."""

    run: str
    arm: int
    name: str
    places: Sequence[float]
    values: Sequence[float]


class Point(NamedTuple):
    """A run's value at one place: a number, or the text of a choice."""

    run: str
    arm: int
    name: str
    place: float | str
    value: float


class Shade(NamedTuple):
    """Mean and range of the runs of an arm."""

    arm: int
    places: Sequence[float]
    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def arm_style(arm: int, dark: bool) -> dict[str, str]:
    """Returns colour, dash and mark of an arm; no two of the first 36 have the same colour and dash."""
    colors = theme.lines(dark)
    return {
        "color": colors[arm % len(colors)], "dash": DASHES[(arm + arm // len(colors)) % len(DASHES)],
        "mark": MARKS[(arm + arm // len(colors)) % len(MARKS)],
    }  # fmt: skip


def course(
    lines: Sequence[Line],
    bands: Sequence[Shade],
    arms: Sequence[str],
    *,
    column: str = "exact_match",
    last: float | None = None,
    width: int = 720,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """Draws the exact match of every run, or another `column` of the validations, over the steps, as a thin line; the mean of an arm with
    several runs as a thick one, with its range as a shade. The legend names the `arms` that have a line. The axis reaches the step `last`,
    also where no curve does."""
    present = sorted({line.arm for line in lines})
    data = [_draw_range(band, dark) for band in bands]
    is_share = column == "exact_match"
    data += [_draw_line(line, is_share, dark) for line in lines]
    data += [_draw_mean(band, dark) for band in bands]
    data += [_draw_entry(arm, arms[arm], width, dark) for arm in present]
    x = theme.axis(theme.word(labels, "step"), dark, rangemode="tozero", showgrid=False, showline=True)
    x |= {"range": [0, last]} if last else {}
    return {"data": data, "layout": _lay_out(len(present), x, dark, is_share)}


def scores(
    points: Sequence[Point], arms: Sequence[str], across: str, *, column: str = "exact_match", width: int = 720, dark: bool = False
) -> dict:
    """Draws the exact match, or another `column`, of every run against one of its numbers or a knob, which `across` names."""
    is_share = column == "exact_match"
    present = sorted({point.arm for point in points})
    data = []
    for arm in present:
        own, style = [point for point in points if point.arm == arm], arm_style(arm, dark)
        data.append({
            "type": "scatter", "mode": "markers", "name": tokens.escape(truncate(arms[arm], width - 110)),
            "x": [point.place for point in own], "y": theme.rounded([point.value for point in own]), "customdata": [dot.run for dot in own],
            "text": [tokens.escape(point.name) for point in own], "meta": OPENS, "cliponaxis": False,
            "marker": {"symbol": style["mark"], "size": 10, "color": style["color"], "opacity": 0.85},
            "hovertemplate": f"%{{text}}: %{{y:{'.1%' if is_share else '.3f'}}}<br>%{{x}}<extra></extra>",
        })  # fmt: skip
    is_text = any(isinstance(point.place, str) for point in points)
    x = theme.axis(tokens.escape(across), dark, showgrid=False, showline=True)
    x |= {"type": "category"} if is_text else {"rangemode": "tozero"}
    return {"data": data, "layout": _lay_out(len(present), x, dark, is_share)}


def _lay_out(entries: int, x: dict[str, Any], dark: bool, is_share: bool = True) -> dict:
    y = theme.axis("", dark) | (SHARES if is_share else {"rangemode": "tozero"})
    return axes(entries, x, y, dark, hovermode="closest")


def arm_key(arm: int, dark: bool) -> dict[str, str]:
    """Returns the colour and the dashes of an arm's lines, for a small SVG key."""
    style = arm_style(arm, dark)
    return small_key(style["color"], style["dash"])


def _draw_line(line: Line, is_share: bool, dark: bool) -> dict:
    style = arm_style(line.arm, dark)
    return {
        "type": "scatter", "mode": "lines+markers", "name": tokens.escape(line.name), "x": theme.rounded(line.places, 1),
        "y": theme.rounded(line.values), "customdata": [line.run] * len(line.places), "meta": OPENS, "showlegend": False, "opacity": 0.6,
        "line": {"color": style["color"], "width": 1.4, "dash": style["dash"]},
        "marker": {"symbol": style["mark"], "size": 4, "color": style["color"]},
        "hovertemplate": f"{tokens.escape(line.name)}: %{{y:{'.1%' if is_share else '.3f'}}}<extra></extra>", "cliponaxis": False,
        "legendgroup": f"arm-{line.arm}",
    }  # fmt: skip


def _draw_mean(band: Shade, dark: bool) -> dict:
    style = arm_style(band.arm, dark)
    return {
        "type": "scatter", "mode": "lines", "x": theme.rounded(band.places, 1), "y": theme.rounded(band.mean), "hoverinfo": "skip",
        "line": {"color": style["color"], "width": 3.5, "dash": style["dash"]}, "showlegend": False, "legendgroup": f"arm-{band.arm}",
    }  # fmt: skip


def _draw_range(band: Shade, dark: bool) -> dict:
    low, high = theme.rounded(band.low), theme.rounded(band.high)
    return shade(theme.rounded(band.places, 1), low, high, arm_style(band.arm, dark)["color"], 0.15, f"arm-{band.arm}")


def _draw_entry(arm: int, name: str, width: int, dark: bool) -> dict:
    """Draws the legend's entry of an arm."""
    style = arm_style(arm, dark)
    return {
        "type": "scatter", "mode": "lines+markers", "x": [None], "y": [None], "name": tokens.escape(truncate(name, width - 110)),
        "line": {"color": style["color"], "width": 3, "dash": style["dash"]},
        "marker": {"symbol": style["mark"], "size": 6, "color": style["color"]},
        "legendgroup": f"arm-{arm}", "hoverinfo": "skip",
    }  # fmt: skip
