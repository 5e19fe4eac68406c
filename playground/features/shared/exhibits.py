"""The exhibits of a lab: its grids, lines and tables as blocks, named in the page's language."""

from __future__ import annotations

from collections.abc import Sequence

from playground.features.shared import blocks
from playground.features.shared.figures import graph, tensor
from playground.features.shared.figures.tokens import Name
from playground.features.shared.view import View
from playground.lessons.lab import Dots, Grid, Lab, Lines, TextTable
from playground.words import printed

Exhibit = Grid | Lines | Dots | TextTable
MAX_NARROW_COLUMNS = 6  # of a table that fits beside another


def build_exhibits(view: View, lab: Lab, exhibits: Sequence[Exhibit]) -> list[dict]:
    """Builds exhibits; a table is placed beside other tables, but in its own row among figures, whose captions and plots align."""
    width = view.room(2, gap=26)
    only_tables = all(isinstance(exhibit, TextTable) for exhibit in exhibits)
    return [_build_exhibit(view, lab, exhibit, width, only_tables) for exhibit in exhibits]


def _build_exhibit(view: View, lab: Lab, exhibit: Exhibit, width: int, only_tables: bool) -> dict:
    title = lab.say(view.language, f"show_{exhibit.name}")
    caption = lab.say(view.language, f"caption_{exhibit.name}", **exhibit.caption)
    if isinstance(exhibit, TextTable):
        rows = [[say_label(view, lab, cell) for cell in row] for row in exhibit.rows]
        table = blocks.table(f"{exhibit.name}-table", [say_label(view, lab, name) for name in exhibit.columns], rows, title)
        css = "column" if only_tables and len(exhibit.columns) <= MAX_NARROW_COLUMNS else "column wide"
        return blocks.row(exhibit.name, table, blocks.text(f"{exhibit.name}-caption", caption, css="pg-caption"), css=css)
    if isinstance(exhibit, Dots):
        by_label = {say_label(view, lab, name): row for name, row in exhibit.values.items()}
        figure = view.draw(graph.dots, by_label, percent=lab.say(view.language, "axis_percent"), width=width)
        return blocks.figure(exhibit.name, figure, caption, title)
    if isinstance(exhibit, Lines):
        by_label = {say_label(view, lab, name): line for name, line in exhibit.lines.items()}
        axis = lab.say(view.language, f"axis_{exhibit.name}")
        percent = lab.say(view.language, "axis_percent") if exhibit.percent else ""
        bands = {say_label(view, lab, name): band for name, band in exhibit.bands.items()}
        logs = {"log_x": exhibit.log_x, "log_y": exhibit.log_y, "bands": bands}
        figure = view.draw(graph.lines, exhibit.x, by_label, title=axis, percent=percent, width=width, **logs)
        return blocks.figure(exhibit.name, figure, caption, title)
    figure, css = _draw_grid(view, lab, exhibit, width)
    return blocks.figure(exhibit.name, figure, caption, title, css=css)


def _draw_grid(view: View, lab: Lab, exhibit: Grid, width: int) -> tuple[dict, str]:
    """Draws a grid with every number on its cell: as wide as its neighbours, or as the page, or scrolling sideways in its own box."""
    rows, columns = ([Name(say_label(view, lab, name)) for name in names] for names in (exhibit.rows, exhibit.columns))
    numbers, digits = exhibit.values.size <= tensor.CELLS, exhibit.digits if exhibit.scale != "plain" else 0
    needed_width = tensor.needed_width(exhibit.values, rows, columns, width, digits) if numbers else view.width
    css = "" if needed_width <= width else "wide" if needed_width <= view.width else "wide scrolls"
    figure = view.draw(
        tensor.heatmap, exhibit.values, rows, columns, kind=exhibit.hue, scale=exhibit.scale, mask=exhibit.mask, digits=exhibit.digits,
        numbers=numbers, width=max(needed_width, view.width if css else width), labels=_build_labels(view, lab, exhibit),
    )  # fmt: skip
    if "scrolls" in css:
        figure["layout"]["width"] = needed_width
    return figure, css


def _build_labels(view: View, lab: Lab, exhibit: Grid) -> dict[str, str]:
    """Returns the figure's words; a lab defines its hatching if that isn't a mask."""
    key = f"hatched_{exhibit.name}"
    return view.labels | ({"masked": lab.say(view.language, key)} if lab.knows(view.language, key) else {})


def say_label(view: View, lab: Lab, name: str, otherwise: str = "") -> str:
    """Translates a label; labels that aren't words stay as they are."""
    return lab.say(view.language, f"name_{name}") if lab.knows(view.language, f"name_{name}") else otherwise or printed(name)
