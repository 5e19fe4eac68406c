"""OpenDocument spreadsheets (.ods): the sheets in content.xml, cells with their displayed text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

from playground.config import Refusal
from playground.reading.formats.limits import COLUMN_LIMIT
from playground.reading.formats.table import Source
from playground.reading.formats.xml_events import Events, parse

CELLS = 100_000  # limit of cells read from any workbook, for lack of time
_BLANKS = {"tab": "\t", "line-break": "\n", "s": " "}


class Sheet:
    def __init__(self, name: str, is_visible: bool) -> None:
        self.name, self.is_visible = name, is_visible
        self.rows: list[tuple[list[str | None], int]] = []  # cells, number of equal rows
        self.merged: dict[int, list[tuple[int, int]]] = {}  # first row -> (column, last row)
        self.height = 0

    def values(self) -> Iterator[list[str | None]]:
        for cells, count in self.rows:
            yield from repeat(cells, count)


class _Content(Events):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.sheets: list[Sheet] = []
        self.hidden: set[str] = set()  # styles
        self.style = ""
        self.aside = 0  # nesting depth within a comment or a drawing
        self.row: list[str | None] = []
        self.count = self.across = self.down = 1  # repeated rows; repeated cells; rows that a cell spans
        self.texts: list[str] = []
        self.value = ""  # of a cell without displayed text
        self.cells = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self.aside or tag in ("annotation", "shapes", "frame"):
            self.aside += 1
        elif tag == "style":
            self.style = attributes.get("style:name", "")
        elif tag == "table-properties" and attributes.get("table:display") == "false":
            self.hidden.add(self.style)
        elif tag == "table":
            self.sheets.append(Sheet(attributes.get("table:name", ""), attributes.get("table:style-name") not in self.hidden))
        elif tag == "table-row":
            self.row, self.count = [], int(attributes.get("table:number-rows-repeated", 1))
        elif tag in ("table-cell", "covered-table-cell"):
            self.across, self.down = (int(attributes.get(f"table:number-{name}", 1)) for name in ("columns-repeated", "rows-spanned"))
            self.texts, self.value = [], attributes.get("office:string-value") or attributes.get("office:value", "")
        elif tag == "p":
            self.begin()
        elif tag in _BLANKS and self.text is not None:
            self.text.append(_BLANKS[tag] * min(int(attributes.get("text:c", 1)), COLUMN_LIMIT))

    def stop(self, tag: str) -> None:
        if self.aside:
            self.aside -= 1
        elif tag == "p":
            self.texts.append(self.end())
        elif tag in ("table-cell", "covered-table-cell"):
            text = "\n".join(self.texts) or self.value
            if text and self.down > 1:
                first = self.sheets[-1].height + 1
                self.sheets[-1].merged.setdefault(first, []).append((len(self.row), first + self.down - 1))
            self.row += [text or None] * min(self.across, COLUMN_LIMIT + 1 - len(self.row))
        elif tag == "table-row":
            self.cells += (len(self.row) - self.row.count(None)) * self.count
            if self.cells > CELLS:
                raise Refusal("data.workbook_too_large", name=self.name, limit=CELLS)
            self.sheets[-1].rows.append((self.row, self.count))
            self.sheets[-1].height += self.count

    def characters(self, content: str) -> None:
        if not self.aside:
            super().characters(content)


def read_sheets(name: str, content: bytes) -> list[Sheet]:
    """Parses content.xml. Raises Refusal, and the errors of int(), for invalid content."""
    return parse(Source(name, content, []), _Content).sheets
