"""Exhibits of a lab: its grids, lines and tables as blocks, named in the page's language."""

from __future__ import annotations

from collections.abc import Sequence

from playground.figures import graph, tensor
from playground.figures.tokens import Name
from playground.lessons.lab import Dots, Grid, Lab, Lines, TextTable
from playground.ui import blocks
from playground.ui.view import View
from playground.words import printed

Exhibit = Grid | Lines | Dots | TextTable
BESIDE = 6  # columns of a table that find room beside another exhibit


def exhibits(view: View, lab: Lab, shown: Sequence[Exhibit]) -> list[dict]:
    """A table stands beside other tables, but has a row of its own among figures, whose captions and plots are in line."""
    width = view.room(2, gap=26)
    tables = all(isinstance(exhibit, TextTable) for exhibit in shown)
    return [_exhibit(view, lab, exhibit, width, tables) for exhibit in shown]


def _exhibit(view: View, lab: Lab, exhibit: Exhibit, width: int, tables: bool) -> dict:
    title = lab.say(view.language, f"show_{exhibit.name}")
    caption = lab.say(view.language, f"caption_{exhibit.name}", **exhibit.caption)
    if isinstance(exhibit, TextTable):
        rows = [[label(view, lab, cell) for cell in row] for row in exhibit.rows]
        table = blocks.table(f"{exhibit.name}-table", [label(view, lab, name) for name in exhibit.columns], rows, title)
        css = "column" if tables and len(exhibit.columns) <= BESIDE else "column wide"
        return blocks.row(exhibit.name, table, blocks.text(f"{exhibit.name}-caption", caption, css="pg-caption"), css=css)
    if isinstance(exhibit, Dots):
        named = {label(view, lab, name): row for name, row in exhibit.values.items()}
        drawn = view.draw(graph.dots, named, percent=lab.say(view.language, "axis_percent"), width=width)
        return blocks.figure(exhibit.name, drawn, caption, title)
    if isinstance(exhibit, Lines):
        named = {label(view, lab, name): line for name, line in exhibit.lines.items()}
        axis = lab.say(view.language, f"axis_{exhibit.name}")
        percent = lab.say(view.language, "axis_percent") if exhibit.percent else ""
        bands = {label(view, lab, name): band for name, band in exhibit.bands.items()}
        logs = {"log_x": exhibit.log_x, "log_y": exhibit.log_y, "bands": bands}
        drawn = view.draw(graph.lines, exhibit.x, named, title=axis, percent=percent, width=width, **logs)
        return blocks.figure(exhibit.name, drawn, caption, title)
    drawn, css = _grid(view, lab, exhibit, width)
    return blocks.figure(exhibit.name, drawn, caption, title, css=css)


def _grid(view: View, lab: Lab, exhibit: Grid, width: int) -> tuple[dict, str]:
    """A grid with every number on its cell: as wide as its neighbours, or the page, or scrolling sideways in a box of its own."""
    rows, columns = ([Name(label(view, lab, name)) for name in names] for names in (exhibit.rows, exhibit.columns))
    numbers, digits = exhibit.values.size <= tensor.CELLS, exhibit.digits if exhibit.scale != "plain" else 0
    needed = tensor.needed(exhibit.values, rows, columns, width, digits) if numbers else view.width
    css = "" if needed <= width else "wide" if needed <= view.width else "wide scrolls"
    drawn = view.draw(
        tensor.heatmap, exhibit.values, rows, columns, kind=exhibit.hue, scale=exhibit.scale, mask=exhibit.mask, digits=exhibit.digits,
        numbers=numbers, width=max(needed, view.width if css else width), labels=_labels(view, lab, exhibit),
    )  # fmt: skip
    if "scrolls" in css:
        drawn["layout"]["width"] = needed
    return drawn, css


def _labels(view: View, lab: Lab, exhibit: Grid) -> dict[str, str]:
    """The words of the figures; what its hatching means is said by a lab where it means no mask."""
    key = f"hatched_{exhibit.name}"
    return view.labels | ({"masked": lab.say(view.language, key)} if lab.knows(view.language, key) else {})


def label(view: View, lab: Lab, name: str, otherwise: str = "") -> str:
    """What a label is called in this language; labels that are no words stay as they are."""
    return lab.say(view.language, f"name_{name}") if lab.knows(view.language, f"name_{name}") else otherwise or printed(name)
