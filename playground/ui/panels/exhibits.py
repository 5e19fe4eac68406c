"""Exhibits of a lab: its grids, lines and tables as blocks, named in the page's language."""

from __future__ import annotations

from playground.figures import graph, tensor
from playground.figures.tokens import Name
from playground.lessons.lab import Grid, Lab, Lines, Outcome, Table
from playground.ui import blocks
from playground.ui.view import View


def exhibits(view: View, lab: Lab, outcome: Outcome) -> list[dict]:
    width = view.width if view.width < 700 else view.width // 2 - 26
    return [_exhibit(view, lab, exhibit, width) for exhibit in outcome.exhibits]


def _exhibit(view: View, lab: Lab, exhibit: Grid | Lines | Table, width: int) -> dict:
    title = lab.say(view.language, f"show_{exhibit.name}")
    caption = lab.say(view.language, f"caption_{exhibit.name}", **exhibit.said)
    if isinstance(exhibit, Table):
        rows = [[label(view, lab, cell) for cell in row] for row in exhibit.rows]
        table = blocks.table(f"{exhibit.name}-table", [label(view, lab, name) for name in exhibit.columns], rows, title)
        return blocks.column(exhibit.name, table, blocks.text(f"{exhibit.name}-caption", caption, css="pg-caption"))
    if isinstance(exhibit, Grid) and not tensor.readable(len(exhibit.rows), len(exhibit.columns), width, exhibit.digits):
        return blocks.figure(exhibit.name, _picture(view, lab, exhibit, view.width), caption, title, css="wide")
    return blocks.figure(exhibit.name, _picture(view, lab, exhibit, width), caption, title)


def _picture(view: View, lab: Lab, exhibit: Grid | Lines, width: int) -> dict:
    if isinstance(exhibit, Lines):
        named = {label(view, lab, name): line for name, line in exhibit.lines.items()}
        axis = lab.say(view.language, f"axis_{exhibit.name}")
        return graph.lines(exhibit.x, named, title=axis, log_x=exhibit.log_x, log_y=exhibit.log_y, dark=view.dark)
    rows, columns = ([Name(label(view, lab, name)) for name in names] for names in (exhibit.rows, exhibit.columns))
    return tensor.heatmap(
        exhibit.values, rows, columns, kind=exhibit.hue, scale=exhibit.scale, mask=exhibit.mask, digits=exhibit.digits, width=width,
        dark=view.dark, labels=view.labels,
    )  # fmt: skip


def label(view: View, lab: Lab, name: str, otherwise: str = "") -> str:
    """What a label is called in this language; labels that are no words stay as they are."""
    return lab.say(view.language, f"name_{name}") if lab.knows(view.language, f"name_{name}") else otherwise or name
