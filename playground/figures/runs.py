"""Several runs in one picture: exact match or validation loss, a line for each run; and a pinned run behind the curves of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from playground.figures import theme, tokens

HEIGHT = 300  # px, without the legend
ENTRY = 18  # px, of a legend's line
DASHES = ("solid", "10px,4px", "2px,3px", "10px,4px,2px,4px", "5px,3px", "16px,4px,5px,4px")
MARKS = ("circle", "diamond", "square", "triangle-up", "cross", "x")
NARROWER = 1.05  # a legend's letters, which are not all alike, than those of the tokens under a tick
MOST_MARKS = 24  # of one line


def overlay(
    column: str,
    places: Sequence[Sequence[float]],
    values: Sequence[Sequence[float]],
    names: Sequence[str],
    *,
    over: str = "steps",
    end: float | None = None,
    width: int = 720,
    dark: bool = False,
    labels: Mapping[str, str] | None = None,
) -> dict:
    """A line for each run: its `values` of `column` ("exact_match" or "validation_loss") at its `places`, which are "steps" or "seconds".

    Lines differ in dash and mark besides colour; there are at most six. `end` is where they are compared: a dotted line, shapes[0].
    Raises ValueError if the lists differ in length.
    """
    if not len(places) == len(values) == len(names) <= len(DASHES):
        raise ValueError(f"{len(names)} names for {len(places)} and {len(values)} lines of at most {len(DASHES)}")
    share = column == "exact_match"
    shown = [tokens.escape(fitted(name, width - 110)) for name in names]
    data = [
        _line(at, theme.rounded(x, 3), theme.rounded(y, 5), name, share, dark)
        for at, (x, y, name) in enumerate(zip(places, values, shown, strict=True))
    ]
    top = 10 + ENTRY * len(names)
    x = theme.axis(theme.word(labels, "seconds" if over == "seconds" else "step"), dark, rangemode="tozero", showgrid=False, showline=True)
    y = theme.axis("", dark, rangemode="tozero", nticks=5)
    y |= {"range": [-0.03, 1.03], "tickvals": [0, 0.5, 1], "tickformat": ".0%"} if share else {"autorange": True}
    layout = theme.layout(
        HEIGHT + top, {"l": 52, "r": 18, "t": top, "b": 44}, dark, hovermode="x unified", showlegend=True, dragmode="zoom",
        xaxis=x | {"nticks": 6, "fixedrange": False}, yaxis=y | {"fixedrange": False},
        legend={
            "orientation": "v", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)", "itemwidth": 46,
        },
        shapes=[{
            "type": "line", "xref": "x", "yref": "paper", "x0": end or 0, "x1": end or 0, "y0": 0, "y1": 1, "visible": end is not None,
            "line": {"color": theme.colors(dark)["line"], "width": 1, "dash": "dot"},
        }],
    )  # fmt: skip
    return {"data": data, "layout": layout}


def key(at: int, dark: bool = False) -> dict[str, str]:
    """How the line number `at` is drawn, for who draws it small: its colour and its dashes."""
    return {"color": theme.lines(dark)[at], "dash": DASHES[at].replace("px", "").replace("solid", "")}


def behind(figure: dict, column: str, places: Sequence[float], values: Sequence[float], name: str, *, dark: bool = False) -> dict:
    """A copy of a figure of curves with one more line behind the others, grey and dashed: another run's `values` of `column`."""
    grey, layout = theme.colors(dark)["line"], figure["layout"]
    line = {
        "type": "scatter", "mode": "lines", "name": tokens.escape(name), "x": theme.rounded(places, 0), "y": theme.rounded(values, 5),
        "line": {"color": grey, "width": 2, "dash": "6px,4px"}, "zorder": -1,
        "hovertemplate": "%{y:.1%}" if column == "exact_match" else "%{y:.4~g}",
    }  # fmt: skip
    margin = layout["margin"] | {"t": layout["margin"]["t"] + ENTRY}
    return {"data": [*figure["data"], line], "layout": layout | {"margin": margin, "height": layout["height"] + ENTRY}}


def fitted(name: str, room: float) -> str:
    """A name, cut where it would leave its `room` in pixels."""
    fits = next((n for n in range(len(name), 1, -1) if NARROWER * tokens.extent(name, n) <= room), 1)
    return name if fits == len(name) else f"{name[: fits - 1]}…"


def _line(at: int, x: list, y: list, name: str, share: bool, dark: bool) -> dict:
    color = theme.lines(dark)[at]
    return {
        "type": "scatter", "mode": "lines+markers" if len(x) <= MOST_MARKS else "lines", "name": name, "x": x, "y": y,
        "line": {"color": color, "width": 2, "dash": DASHES[at]}, "marker": {"symbol": MARKS[at], "size": 6, "color": color},
        "hovertemplate": "%{y:.1%}" if share else "%{y:.4~g}", "cliponaxis": not share,
    }  # fmt: skip
