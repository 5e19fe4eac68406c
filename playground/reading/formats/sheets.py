"""Sheets: workbooks of Excel (.xlsx), read with openpyxl row by row, and OpenDocument (.ods), with cells as displayed."""

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from playground.config import Refusal
from playground.reading.formats import COLUMN_LIMIT, SAMPLE, UNPACKED_LIMIT, Confidence, Notes, Row, Source, Table, reads
from playground.reading.formats.column_names import CREDITS
from playground.reading.formats.items import check_totals, make_row
from playground.reading.formats.xml_events import Element, Events, parse
from playground.reading.text import normalise

CELLS = 100_000  # limit of cells read from any workbook, for lack of time
_TAGS = 10 * CELLS  # a cell and its text take up to eight tags; rows and styles come on top
_DECLARATION = re.compile(rb"<\0?!\0?(?:E\0?N\0?T\0?I\0?T\0?Y|D\0?O\0?C\0?T\0?Y\0?P\0?E)")  # in UTF-8 or UTF-16; no workbook has one
_MERGED = re.compile(rb'mergeCell ref="([A-Z]{1,2})(\d{1,7}):[A-Z]{1,3}(\d{1,7})"')
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
_LAST_ROW = 1_048_576  # the last row of any sheet
_GAP = 1000  # a longer run of empty rows separates two tables
_PIECE, _OVERLAP = 1024 * 1024, 64
_SHEETS = 20  # examined for sentences
_ASIDE = ("annotation", "shapes", "frame")  # comments and drawings
_BLANKS = {"tab": "\t", "line-break": "\n", "s": " "}  # elements of OpenDocument

Merged = dict[int, list[tuple[int, int]]]  # first row -> (column, last row) of cells over several rows


class _Sheet(NamedTuple):
    name: str
    is_visible: bool
    values: Callable[[], Iterable[Sequence[Any]]]
    merged: Merged


@reads(Confidence.SIGNATURE, is_whole=True)
def read_workbook(source: Source) -> Table | None:
    """Reads the first sheet with two filled columns, by the sheet's row numbers. A formula is its cached value, or empty."""
    if not source.data.startswith(b"PK"):
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            names = archive.namelist()
            if "xl/workbook.xml" not in names and "content.xml" not in names:
                return None
            merged = _scan_archive(archive, source.name)
            if "xl/workbook.xml" not in names:
                return _build_table("ods", source, parse(Source(source.name, archive.read("content.xml"), []), _Content).sheets)
        return _read_xlsx(source, merged)
    except MemoryError:
        raise
    except Refusal as refusal:
        if refusal.key.startswith("data.xml_"):
            raise Refusal("data.workbook_broken", name=source.name) from None
        raise
    except Exception:  # openpyxl raises arbitrary exceptions on damaged files
        raise Refusal("data.workbook_broken", name=source.name) from None


def _scan_archive(archive: zipfile.ZipFile, name: str) -> dict[str, Merged]:
    """Scans the archive before openpyxl does: limits its size, refuses XML declarations of entities, and returns the merged cells."""
    from openpyxl.utils import column_index_from_string

    size = tags = 0
    merged: dict[str, Merged] = {}
    for info in archive.infolist():
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 1:
            raise zipfile.BadZipFile
        before = b""
        with archive.open(info) as member:
            while piece := member.read(_PIECE):
                size += len(piece)
                if size > UNPACKED_LIMIT:
                    raise Refusal("data.unpacked_too_large", name=name, limit=UNPACKED_LIMIT // 1024**2)
                tags += piece.count(b"<") if info.filename.endswith(".xml") else 0
                both = before + piece
                if not info.filename.startswith(("xl/media/", "Pictures/", "Thumbnails/")) and _DECLARATION.search(both):
                    raise Refusal("data.workbook_entities", name=name)
                for column, first, last in _MERGED.findall(both):
                    place = column_index_from_string(column.decode()) - 1
                    merged.setdefault(info.filename, {}).setdefault(int(first), []).append((place, int(last)))
                before = piece[-_OVERLAP:]
        if tags > _TAGS:
            raise Refusal("data.workbook_too_large", name=name, limit=CELLS)
    return merged


def _read_xlsx(source: Source, merged: dict[str, Merged]) -> Table:
    from openpyxl import load_workbook

    workbook = load_workbook(io.BytesIO(source.data), read_only=True, data_only=True, keep_links=False)
    sheets = []
    for sheet in workbook.worksheets:
        sheet.reset_dimensions()  # a workbook's declared size may be wrong
        values = partial(sheet.iter_rows, values_only=True, max_row=_LAST_ROW, max_col=COLUMN_LIMIT + 1)
        sheets.append(_Sheet(sheet.title, sheet.sheet_state == "visible", values, merged.get(sheet._worksheet_path, {})))
    credits = [str(property.value) for property in workbook.custom_doc_props.props if str(property.name).casefold() in CREDITS]
    return _build_table("xlsx", source, sheets, normalise("; ".join(credits))[:1000])


def _build_table(kind: str, source: Source, sheets: Sequence[_Sheet], credit: str = "") -> Table:
    visible = [sheet for sheet in sheets if sheet.is_visible] or sheets
    chosen, notes = _choose_sheet(visible[:_SHEETS], source.name)
    rows = list(_iterate_rows(chosen))
    used = sorted({place for row in rows for place, cell in enumerate(row.cells) if cell})
    table = (make_row(row.line, [row.cells[place] for place in used if place < len(row.cells)]) for row in rows)
    return Table(kind, list(check_totals(table, source.name)), unit="row", credit=credit, notes=notes)


def _choose_sheet(sheets: Sequence[_Sheet], name: str) -> tuple[_Sheet, Notes]:
    """Returns the first sheet most of whose rows have two filled cells, else the first where any row has, and a note on others."""
    samples = [[row.cells for row in islice(_iterate_rows(sheet), SAMPLE) if any(row.cells)] for sheet in sheets]
    wide = [sum(sum(map(bool, cells)) > 1 for cells in sample) for sample in samples]
    tables = [sheet for sheet, sample, count in zip(sheets, samples, wide, strict=True) if count and 2 * count >= len(sample)]
    tables = tables or [sheet for sheet, count in zip(sheets, wide, strict=True) if count]
    if not tables:
        raise Refusal("data.workbook_one_column", name=name)
    other_names = ", ".join(normalise(sheet.name)[:40] for sheet in tables[1:6])
    return tables[0], (("data.note_sheet", {"sheet": normalise(tables[0].name)[:40], "others": other_names}),) if other_names else ()


def _iterate_rows(sheet: _Sheet) -> Iterator[Row]:
    """Yields rows with their text; empty ones only before nearby rows. Merged cells repeat their first row's text."""
    open_cells: dict[int, tuple[int, str]] = {}  # column -> last row, text
    empty = 0
    for number, row in enumerate(islice(sheet.values(), _LAST_ROW), 1):
        if not open_cells and row.count(None) == len(row):
            empty += 1
            continue
        width = max((place for place, value in enumerate(row, 1) if value is not None), default=0)
        cells = [_format_value(value) for value in row[:width]]
        for place, (last, text) in list(open_cells.items()):
            if number > last:
                del open_cells[place]
            elif place >= len(cells) or not cells[place]:
                cells += [""] * (place + 1 - len(cells))
                cells[place] = text
        for place, last in sheet.merged.get(number, ()):
            if last > number and place < len(cells):
                open_cells[place] = (last, cells[place])
        if not cells:
            empty += 1
            continue
        for empty_row in range(number - empty, number) if empty <= _GAP else ():
            yield Row(empty_row, [])
        empty = 0
        yield Row(number, cells)


def _format_value(value: Any) -> str:
    """Formats a value as Excel does by default."""
    if value is None:
        return ""
    if isinstance(value, str):
        return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), value) if "_x" in value else value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return f"{value:.15g}"  # rounds 0.1 + 0.2 to 0.3, as a sheet does
    if isinstance(value, datetime):
        return str(value.date()) if value.time() == value.time().min else value.isoformat(" ", "minutes" if not value.second else "seconds")
    if isinstance(value, timedelta):
        minutes, seconds = divmod(int(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    return str(value)


# --- OpenDocument ---


class _Content(Events):
    """The sheets in content.xml, cells with their displayed text."""

    whole = ("table-row",)
    aside = _ASIDE

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.sheets: list[_Sheet] = []
        self.rows: list[tuple[list[str | None], int]] = []  # of the last sheet: cells, number of equal rows
        self.height = 0
        self.hidden: set[str] = set()  # styles
        self.style = ""
        self.cells = 0

    def open(self, element: Element) -> None:
        tag, attributes = element.tag, element.attributes
        if tag == "style":
            self.style = attributes.get("style:name", "")
        elif tag == "table-properties" and attributes.get("table:display") == "false":
            self.hidden.add(self.style)
        elif tag == "table":
            self.rows, self.height = [], 0
            is_visible = attributes.get("table:style-name") not in self.hidden
            values = partial(lambda rows: (cells for cells, count in rows for _ in range(count)), self.rows)
            self.sheets.append(_Sheet(attributes.get("table:name", ""), is_visible, values, {}))

    def take(self, element: Element) -> None:
        row: list[str | None] = []
        count = int(element.attributes.get("table:number-rows-repeated", 1))
        for cell in element.children("table-cell", "covered-table-cell"):
            across, down = (int(cell.attributes.get(f"table:number-{name}", 1)) for name in ("columns-repeated", "rows-spanned"))
            value = cell.attributes.get("office:string-value") or cell.attributes.get("office:value", "")
            text = "\n".join(_iterate_paragraphs(cell)) or value  # a cell without displayed text
            if text and down > 1:
                first = self.height + 1
                self.sheets[-1].merged.setdefault(first, []).append((len(row), first + down - 1))
            row += [text or None] * min(across, COLUMN_LIMIT + 1 - len(row))
        self.cells += (len(row) - row.count(None)) * count
        if self.cells > CELLS:
            raise Refusal("data.workbook_too_large", name=self.name, limit=CELLS)
        self.rows.append((row, count))
        self.height += count


def _iterate_paragraphs(element: Element) -> Iterator[str]:
    for child in element.children():
        if child.tag == "p":
            yield child.text(_read_inline)
        elif child.tag not in _ASIDE:
            yield from _iterate_paragraphs(child)


def _read_inline(part: Element) -> str:
    if part.tag in _ASIDE:
        return ""
    return _BLANKS.get(part.tag, "") * min(int(part.attributes.get("text:c", 1)), COLUMN_LIMIT) + part.text(_read_inline)
