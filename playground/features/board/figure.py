"""The runs of a class in one figure: their learning curves, and their scores against a knob or a number. An arm has one colour, dash and
mark; a click on a run opens it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from playground.features.shared.figures import theme, tokens
from playground.features.shared.figures.graph import log_axis
from playground.features.shared.figures.runs import DASHES, MARKS, SHARES, axes, shade, small_key, truncate
from playground.features.shared.figures.theme import PLAIN, Style

FORMATS = {"exact_match": ".1%", "validation_loss": ".3f"}
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
    turned = arm + arm // len(colors)
    return {"color": colors[arm % len(colors)], "dash": DASHES[turned % len(DASHES)], "mark": MARKS[turned % len(MARKS)]}


def arm_key(arm: int, dark: bool) -> dict[str, str]:
    """Returns the colour and the dashes of an arm's lines, for a small SVG key."""
    look = arm_style(arm, dark)
    return small_key(look["color"], look["dash"])


def course(
    lines: Sequence[Line],
    bands: Sequence[Shade],
    arms: Sequence[str],
    *,
    column: str = "exact_match",
    last: float | None = None,
    style: Style = PLAIN,
) -> dict:
    """Draws the exact match of every run, or another `column` of the validations, over the steps, as a thin line; the mean of an arm with
    several runs as a thick one, with its range as a shade. The legend names the `arms` that have a line, or all before the first. The axis
    reaches the step `last`, also where no curve does."""
    present = sorted({line.arm for line in lines}) or range(len(arms))
    data = [_draw_range(band, style) for band in bands]
    for line in lines:
        name = tokens.escape(line.name)
        data.append(_draw(line.arm, style, 1.4, theme.rounded(line.places, 1), theme.rounded(line.values), size=4) | {
            "name": name, "customdata": [line.run] * len(line.places), "meta": OPENS, "showlegend": False, "opacity": 0.6,
            "hovertemplate": f"{name}: %{{y:{FORMATS[column]}}}<extra></extra>", "cliponaxis": False,
        })  # fmt: skip
    for band in bands:
        mean = _draw(band.arm, style, 3.5, theme.rounded(band.places, 1), theme.rounded(band.mean))
        data.append(mean | {"hoverinfo": "skip", "showlegend": False})
    for arm in present:  # the legend's entries
        data.append(_draw(arm, style, 3, [None], [None], size=6) | {"name": _cut_name(arms[arm], style), "hoverinfo": "skip"})
    x = style.axis(style.word("step"), rangemode="tozero", showgrid=False, showline=True, **({"range": [0, last]} if last else {}))
    return {"data": data, "layout": _lay_out(len(present), x, column, style)}


def scores(
    points: Sequence[Point],
    arms: Sequence[str],
    across: str,
    *,
    column: str = "exact_match",
    logarithmic: bool = False,
    fit: Sequence[Sequence[float]] = (),
    style: Style = PLAIN,
) -> dict:
    """Draws the exact match, or another `column`, of every run against one of its numbers or a knob, which `across` names; on `logarithmic`
    axes, with a `fit`: places, values, and the lower and upper ends of their interval."""
    present = sorted({point.arm for point in points})
    data = []
    if fit:
        ink, (places, values, low, high) = style.colors["text"], [theme.rounded(each, 5) for each in fit]
        data.append(shade(places, low, high, ink, 0.12, "fit"))
        data.append({
            "type": "scatter", "mode": "lines", "x": places, "y": values, "line": {"color": ink, "width": 1.5},
            "hoverinfo": "skip", "showlegend": False, "legendgroup": "fit",
        })  # fmt: skip
    for arm in present:
        own, look = [point for point in points if point.arm == arm], arm_style(arm, style.dark)
        data.append({
            "type": "scatter", "mode": "markers", "name": _cut_name(arms[arm], style),
            "x": [point.place for point in own], "y": theme.rounded([point.value for point in own]), "customdata": [dot.run for dot in own],
            "text": [tokens.escape(point.name) for point in own], "meta": OPENS, "cliponaxis": False,
            "marker": {"symbol": look["mark"], "size": 10, "color": look["color"], "opacity": 0.85},
            "hovertemplate": f"%{{text}}: %{{y:{FORMATS[column]}}}<br>%{{x}}<extra></extra>",
        })  # fmt: skip
    is_text = any(isinstance(point.place, str) for point in points)
    kind = {"type": "category"} if is_text else {"rangemode": "tozero"}
    kind = log_axis([point.place for point in points]) if logarithmic else kind
    layout = _lay_out(len(present), style.axis(tokens.escape(across), showgrid=False, showline=True, **kind), column, style)
    if logarithmic:
        layout["yaxis"] |= log_axis([point.value for point in points])
    return {"data": data, "layout": layout}


def _lay_out(entries: int, x: dict[str, Any], column: str, style: Style) -> dict:
    return axes(entries, x, style.axis("") | (SHARES if column == "exact_match" else {"rangemode": "tozero"}), style)


def _cut_name(name: str, style: Style) -> str:
    return tokens.escape(truncate(name, style.width - 110))


def _draw(arm: int, style: Style, width: float, x: list, y: list, size: int = 0) -> dict:
    """Draws a line of an arm, with marks of this size if it has one."""
    look = arm_style(arm, style.dark)
    marks = {"marker": {"symbol": look["mark"], "size": size, "color": look["color"]}} if size else {}
    return {
        "type": "scatter", "mode": "lines+markers" if size else "lines", "x": x, "y": y, "legendgroup": f"arm-{arm}",
        "line": {"color": look["color"], "width": width, "dash": look["dash"]}, **marks,
    }  # fmt: skip


def _draw_range(band: Shade, style: Style) -> dict:
    low, high = theme.rounded(band.low), theme.rounded(band.high)
    return shade(theme.rounded(band.places, 1), low, high, arm_style(band.arm, style.dark)["color"], 0.15, f"arm-{band.arm}")
