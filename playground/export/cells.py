"""Cells: tables of numbers and of array formulas, one below the other on the sheets of a workbook, and their names in formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from xlsxwriter import Workbook
from xlsxwriter.utility import quote_sheetname, xl_range, xl_range_abs

DECIMALS, INPUT_COLOUR, FORMULA_COLOUR, WEIGHT_COLOUR = "0.000", "#FFF2CC", "#FFFFFF", "#3B6FB6"
LABEL_WIDTH, NUMBER_WIDTH, COLUMNS = 16, 8, 2_000  # in characters; columns of a sheet with the width of a number


@dataclass(frozen=True)
class Area:
    """A rectangle of cells of one sheet; row and column count from 0."""

    sheet: str
    row: int
    column: int
    height: int
    width: int

    @property
    def corners(self) -> tuple[int, int, int, int]:
        return self.row, self.column, self.row + self.height - 1, self.column + self.width - 1

    @property
    def here(self) -> str:
        """The cells for a formula of the same sheet, "B5:F9"."""
        return xl_range(*self.corners)

    @property
    def full(self) -> str:
        """The cells for any formula, "'Encoder 1'!$B$5:$F$9"."""
        return f"{quote_sheetname(self.sheet)}!{xl_range_abs(*self.corners)}"

    def part(self, row: int, column: int = 0, width: int = 1) -> Area:
        """Returns cells of one row."""
        return Area(self.sheet, self.row + row, self.column + column, 1, width)

    def columns(self, first: int, width: int) -> Area:
        """Returns whole columns."""
        return Area(self.sheet, self.row, self.column + first, self.height, width)


class CellWriter:
    """Writes tables below each other; `row` is the first free one of the newest sheet."""

    def __init__(self, book: Workbook) -> None:
        self.book, self.row = book, 0

    @cached_property
    def formats(self) -> dict[str, Any]:
        """The styles by name: a number or token to change, a formula, a title, a label, a paragraph."""
        styles = {
            "input": {"num_format": DECIMALS, "bg_color": INPUT_COLOUR}, "formula": {"num_format": DECIMALS},
            "title": {"bold": True}, "label": {"italic": True}, "text": {"text_wrap": True, "valign": "top"},
        }  # fmt: skip
        return {name: self.book.add_format(style) for name, style in styles.items()}

    def open_sheet(self, title: str) -> None:
        self.sheet, self.row = self.book.add_worksheet(title), 0
        self.sheet.set_column(0, 0, LABEL_WIDTH)
        self.sheet.set_column(1, COLUMNS, NUMBER_WIDTH)

    def write_title(self, text: str) -> None:
        self.sheet.write_string(self.row, 0, text, self.formats["title"])
        self.row += 1

    def place(
        self, values: np.ndarray | Sequence[Sequence], column: int = 1, formula: str | Callable[[int], str] | None = None,
        style: str = "", name: str = "",
    ) -> Area:  # fmt: skip
        """Writes values (R, C) from the first free row on, which stays free. A `formula` gives all of them, or as a function of the row
        those of one; without it they can be changed. A `name` is defined for the area."""
        rows = _shorten(values)
        area = Area(self.sheet.name, self.row, column, len(rows), len(rows[0]))
        form = self.formats[style or ("formula" if formula else "input")]
        lines = [area] if isinstance(formula, str) else [area.part(row, 0, area.width) for row in range(area.height)] if formula else []
        starts = set()
        for number, line in enumerate(lines):
            text = formula if isinstance(formula, str) else formula(number)
            self.sheet.write_array_formula(*line.corners, f"={text}", form, rows[line.row - area.row][0])
            starts.add((line.row - area.row, 0))
        for r, row in enumerate(rows):
            for c, value in enumerate(row):
                if (r, c) not in starts:
                    write = self.sheet.write_string if isinstance(value, str) else self.sheet.write_number
                    write(self.row + r, column + c, value, form)
        if name:
            self.define(name, area)
        return area

    def define(self, name: str, area: Area) -> None:
        """Gives an area a name, which every sheet's formulas know."""
        self.book.define_name(name, f"={area.full}")

    def advance(self, area: Area) -> None:
        """Goes on below an area, after an empty row."""
        self.row = area.row + area.height + 1

    def colour(self, area: Area) -> None:
        """Colours weights from 0 to 1."""
        scale = {"type": "2_color_scale", "min_type": "num", "max_type": "num", "min_value": 0, "max_value": 1}
        self.sheet.conditional_format(*area.corners, scale | {"min_color": FORMULA_COLOUR, "max_color": WEIGHT_COLOUR})


def _shorten(values: np.ndarray | Sequence[Sequence]) -> Sequence[Sequence]:
    """Returns the rows; float32 as the shortest numbers that are read back the same."""
    if isinstance(values, np.ndarray):
        return (values.astype(str).astype(float) if values.dtype == np.float32 else values).tolist()
    return values
