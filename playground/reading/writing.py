"""Writing: pairs of sentences as files for other programs, which `uploads.read_files` reads back as the same pairs.

Cells that a spreadsheet would run as formulas get an apostrophe, which is removed when they are read back. A file with any such cell marks
every name in its header with an apostrophe; in such a file, and no other, one apostrophe before a possible formula is not text.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from xml.sax.saxutils import escape

from playground.config import Refusal
from playground.reading.formats import SAMPLE, Row, Table
from playground.reading.formats.languages import is_language
from playground.reading.header import find_header
from playground.reading.text import normalise

SHEET_LIMIT = 50_000  # pairs in a workbook, the reader's limit too
NAMES = ("source", "target")
CREDIT, GROUP = "credit", "group"
BARS = "|||"
_NO_TEXT = re.compile(r"#|1[.)] ")  # the beginning of a comment, and of the first numbered line
SIGN = "'"
# Fullwidth signs count as such in East Asian text. ui/static/downloads.js has the same rule; tests/js/test_scripts.py compares them.
_DANGEROUS = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_LANGUAGES = ("x-source", "x-target")  # TMX requires languages; these declare them unknown

Pairs = Sequence[tuple[str, str]]
File = tuple[str, bytes]


def write(pairs: Iterable[Sequence], kind: str, credit: str = "") -> list[File]:
    """Returns the files of one of KINDS as (name, content); `pairs` are (source, target, …), normalised here.

    The credit is in the file, or in a separate one where the format has no place for it. Cells that a spreadsheet would run as formulas are
    guarded. Raises ValueError for an unknown kind, Refusal where the format can't hold these pairs.
    """
    if kind not in _WRITERS:
        raise ValueError(f"no such kind: {kind!r}")
    clean = [(normalise(pair[0]), normalise(pair[1])) for pair in pairs]
    return _WRITERS[kind]([(src, tgt) for src, tgt in clean if src and tgt], normalise(credit))


def write_grouped(pairs: Sequence[Sequence], groups: Sequence[str], credit: str = "") -> bytes:
    """Writes pairs as TSV, with a column of the groups that are not split, if there are any."""
    rows = [(src, tgt, *([groups[place]] if groups else [])) for place, (src, tgt, *_) in enumerate(pairs)]
    return _write_tsv(rows, credit, [GROUP] if groups else [])[0][1]


# --- tables of text ---


def guard_rows(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[list[str]]:
    """Returns the rows to write, header first, with guards."""
    written = [[SIGN + cell if _DANGEROUS.match(cell) else cell for cell in row] for row in rows]
    marked = any(cell.startswith(SIGN) and _DANGEROUS.match(cell) for row in written for cell in row)
    return [[(SIGN if marked else "") + name for name in header], *written]


def unguard_rows(rows: Sequence[Row]) -> Sequence[Row]:
    """Returns rows without guards; unchanged if the first row declares none."""
    first = [normalise(cell) for cell in rows[0].cells] if rows else []
    if len(first) < 2 or not all(len(name) > 1 and name.startswith(SIGN) for name in first):
        return rows
    header = rows[0]._replace(cells=[name.removeprefix(SIGN) for name in first])
    unguarded = ([cell.removeprefix(SIGN) if _DANGEROUS.match(cell) else cell for cell in row.cells] for row in rows[1:])
    return [header, *(row._replace(cells=cells) for row, cells in zip(rows[1:], unguarded, strict=True))]


def _build_table(pairs: Sequence[Sequence[str]], credit: str, extra_names: Sequence[str] = ()) -> list[list[str]]:
    """Builds the rows; `extra_names` names the columns after source and target."""
    header, more = (*NAMES, *extra_names, *([CREDIT] if credit else [])), [credit] if credit else []
    return guard_rows(header, ([*pair, *more] for pair in pairs))


def _write_csv(pairs: Pairs, credit: str) -> list[File]:
    """Writes CSV for spreadsheets: every cell quoted, CRLF, and a byte order mark, without which Excel guesses the encoding."""
    return [("pairs.csv", _format_delimited(_build_table(pairs, credit), ",", "\r\n").encode("utf-8-sig"))]


def _write_tsv(pairs: Sequence[Sequence[str]], credit: str, extra_names: Sequence[str] = ()) -> list[File]:
    """Writes plain TSV, as sentences hold no tabs; quoted only where a cell begins with a quotation mark."""
    rows = _build_table(pairs, credit, extra_names)
    quoted = any(cell.startswith('"') for row in rows for cell in row)
    text = _format_delimited(rows, "\t", "\n") if quoted else "".join("\t".join(row) + "\n" for row in rows)
    return [("pairs.tsv", text.encode())]


def _format_delimited(rows: Sequence[Sequence[str]], delimiter: str, end: str) -> str:
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator=end).writerows(rows)
    return file.getvalue()


# --- lines ---


def _write_bars(pairs: Pairs, credit: str) -> list[File]:
    """Writes lines for aligners, without a header unless the first pair would be read as a header or a comment."""
    for place, pair in enumerate(pairs, 1):
        if any(BARS in text for text in pair):
            raise Refusal("data.bars_inside", place=place)
    rows = _add_header(pairs, Table("bars", ()))
    return [("pairs.txt", "".join(f"{src} {BARS} {tgt}\n" for src, tgt in rows).encode()), *_write_credit(credit)]


def _add_header(pairs: Pairs, table: Table) -> Pairs:
    """Puts a header above the pairs if the first would be read as something else."""
    rows = [Row(line, list(pair)) for line, pair in enumerate(pairs[:SAMPLE], 1)]
    odd = pairs and (_NO_TEXT.match(pairs[0][0]) or all(map(is_language, pairs[0])))
    return [NAMES, *pairs] if odd or find_header(rows, table) else pairs


def _write_two_files(pairs: Pairs, credit: str) -> list[File]:
    """Writes two files like bars, without a header where none is needed."""
    rows = _add_header(pairs, Table("two_files", (), NAMES))
    files = ((f"{name}.txt", "".join(f"{pair[side]}\n" for pair in rows).encode()) for side, name in enumerate(NAMES))
    return [*files, *_write_credit(credit)]


def _write_credit(credit: str) -> list[File]:
    return [("_about.txt", f"{credit}\n".encode())] if credit else []


# --- structured ---


def _write_json(pairs: Pairs, credit: str) -> list[File]:
    items = [dict(zip(NAMES, pair, strict=True)) for pair in pairs]
    document = {CREDIT: credit, "data": items} if credit else items
    return [("pairs.json", json.dumps(document, ensure_ascii=False, indent=1).encode())]


def _write_jsonl(pairs: Pairs, credit: str) -> list[File]:
    more = {CREDIT: credit} if credit else {}
    lines = (json.dumps({**dict(zip(NAMES, pair, strict=True)), **more}, ensure_ascii=False) + "\n" for pair in pairs)
    return [("pairs.jsonl", "".join(lines).encode())]


def _write_tmx(pairs: Pairs, credit: str) -> list[File]:
    note = f'\n    <prop type="x-{CREDIT}">{escape(credit)}</prop>\n  ' if credit else ""
    header = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
        '  <header creationtool="playground" creationtoolversion="1" segtype="sentence" o-tmf="pairs" adminlang="en" '
        f'srclang="{_LANGUAGES[0]}" datatype="plaintext">{note}</header>\n  <body>\n'
    )
    units = (
        "    <tu>" + "".join(map('<tuv xml:lang="{}"><seg>{}</seg></tuv>'.format, _LANGUAGES, map(escape, pair))) + "</tu>\n"
        for pair in pairs
    )
    return [("pairs.tmx", (header + "".join(units) + "  </body>\n</tmx>\n").encode())]


def _write_po(pairs: Pairs, credit: str) -> list[File]:
    """Writes PO; a repeated source needs a context to keep its translations apart."""
    import polib

    file = polib.POFile(wrapwidth=0)
    file.metadata = {"Content-Type": "text/plain; charset=utf-8", "Content-Transfer-Encoding": "8bit"}
    if credit:
        file.metadata["X-Credit"] = credit
    counts: dict[str, int] = {}
    for src, tgt in pairs:
        counts[src] = counts.get(src, 0) + 1
        file.append(polib.POEntry(msgid=src, msgstr=tgt, msgctxt=str(counts[src]) if counts[src] > 1 else None))
    return [("pairs.po", f"{file}\n".encode())]


def _write_xlsx(pairs: Pairs, credit: str) -> list[File]:
    """Writes XLSX. Every cell is typed as text, so formulas need no guard."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.packaging.custom import StringProperty

    if len(pairs) > SHEET_LIMIT:
        raise Refusal("data.too_many_for_sheet", limit=SHEET_LIMIT)
    book = Workbook(write_only=True)
    sheet = book.create_sheet("pairs")
    for row in [NAMES, *pairs]:
        cells = [WriteOnlyCell(sheet, value=text.replace("_x", "_x005F_x")) for text in row]
        for cell in cells:
            cell.data_type = "s"
        sheet.append(cells)
    if credit:
        book.custom_doc_props.append(StringProperty(name=CREDIT, value=credit))
    file = io.BytesIO()
    book.save(file)
    return [("pairs.xlsx", file.getvalue())]


_WRITERS: dict[str, Callable[[Pairs, str], list[File]]] = {
    "tsv": _write_tsv,
    "csv": _write_csv,
    "bars": _write_bars,
    "two_files": _write_two_files,
    "json": _write_json,
    "jsonl": _write_jsonl,
    "tmx": _write_tmx,
    "po": _write_po,
    "xlsx": _write_xlsx,
}
KINDS = tuple(_WRITERS)
