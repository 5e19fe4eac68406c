"""Truths about workbooks and Parquet: cells as a person sees them, in the rows they stand in, whatever the file says about itself."""

import datetime
import io
import sys
import zipfile
from collections.abc import Callable
from itertools import product

import openpyxl
import pytest
from hypothesis import given, strategies as st
from openpyxl.chart import BarChart

from playground.config import Refusal
from playground.reading.formats import Source, items, sheets
from playground.reading.formats.parquet import read_parquet
from playground.reading.formats.sheets import read_workbook
from tests.reading import outcomes
from tests.reading.outcomes import refusal_of

SHEET = "xl/worksheets/sheet1.xml"
VALUES = [
    ("text", "text"), (" a\nb ", " a\nb "), (7, "7"), (7.0, "7"), (1.50, "1.5"), (0.1 + 0.2, "0.3"), (-3, "-3"), (1e20, "1e+20"),
    (True, "TRUE"), (False, "FALSE"), (None, ""), ("", ""), ("#N/A", "#N/A"), (datetime.datetime(2024, 5, 1), "2024-05-01"),
    (datetime.date(2024, 5, 1), "2024-05-01"), (datetime.datetime(2024, 5, 1, 13, 30), "2024-05-01 13:30"),
    (datetime.time(13, 30), "13:30:00"), (datetime.timedelta(hours=30, minutes=5), "30:05:00"), ("a_x000A_b", "a\nb"), ("_x_", "_x_"),
    ("=1+1", ""), ("007", "007"), ("NA", "NA"),
]  # fmt: skip
ENTITY = "<!DOCTYPE x [<!ENTITY e {}>]>"


def workbook(*rows: list, **more_sheets: list[list]) -> bytes:
    book = openpyxl.Workbook()
    book.active.title = "First"
    for row in rows:
        book.active.append(row)
    for name, more in more_sheets.items():
        sheet = book.create_sheet(name)
        for row in more:
            sheet.append(row)
    return saved(book)


def saved(book) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def changed(data: bytes, member: str, change: Callable[[bytes], bytes]) -> bytes:
    old, file = zipfile.ZipFile(io.BytesIO(data)), io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for name in dict.fromkeys([*old.namelist(), member]):
            content = old.read(name) if name in old.namelist() else b""
            new.writestr(name, change(content) if name == member else content)
    return file.getvalue()


def read(data: bytes):
    return read_workbook(Source("file.xlsx", data, []))


def rows(table) -> list:
    return [(row.line, row.cells) for row in table.rows]


def refusal(data: bytes, reader=read_workbook) -> Refusal:
    return refusal_of(reader, Source("file.xlsx", data, []))


def test_values_as_a_person_sees_them_and_of_a_formula_its_last_result():
    table = read(workbook(*(["a", value, "x"] for value, _ in VALUES)))
    assert (table.kind, table.unit, table.columns, table.pair) == ("xlsx", "row", (), None)
    assert rows(table) == [(line, ["a", text, "x"]) for line, (_, text) in enumerate(VALUES, 1)]
    data = workbook(["a", "=A1&A1"], ["b", "=A2"])
    empty = b"<f>A1&amp;A1</f><v></v>" if b"<v></v>" in zipfile.ZipFile(io.BytesIO(data)).read(SHEET) else b"<f>A1&amp;A1</f><v />"
    with_result = changed(data, SHEET, lambda xml: xml.replace(empty, b"<v>aa</v>").replace(b'r="B1"', b'r="B1" t="str"'))
    assert rows(read(with_result)) == [(1, ["a", "aa"]), (2, ["b"])]


def test_rows_keep_their_numbers_in_the_first_sheet_with_two_columns_and_two_files_are_joined_by_their_ids():
    for cells, merged, expected in (
        ({"B2": "a", "D2": "b", "B3": "c", "B6": "d", "D6": "e"}, (),
         [(1, []), (2, ["a", "b"]), (3, ["c"]), (4, []), (5, []), (6, ["d", "e"])]),
        ({"A1": "a", "B1": "b", "A1048576": "c", "B1048576": "d"}, (), [(1, ["a", "b"]), (1_048_576, ["c", "d"])]),  # another table begins
        ({"A1": "run", "B1": "rennen", "B2": "laufen", "A3": "A title over both"}, ("A1:A2", "A3:B3"),
         [(1, ["run", "rennen"]), (2, ["run", "laufen"]), (3, ["A title over both"])]),
    ):  # fmt: skip
        book = openpyxl.Workbook()
        for place, text in cells.items():
            book.active[place] = text
        for place in merged:
            book.active.merge_cells(place)
        assert rows(read(saved(book))) == expected
    table = read(workbook(["About"], ["us"], Words=[["a", "b"], ["c", "d"]], More=[["e", "f"]], Empty=[]))
    assert rows(table) == [(1, ["a", "b"]), (2, ["c", "d"])]
    assert table.notes == (("data.note_sheet", {"sheet": "Words", "others": "More"}),)
    cover = [["A book of words"], [None, "by A."], ["chapter 1"], ["chapter 2", "p. 3"], ["end"]]
    assert rows(read(workbook(*cover, Words=[["a", "b"], ["c", "d"]]))) == [(1, ["a", "b"]), (2, ["c", "d"])]
    book = openpyxl.Workbook()
    book.active.append(["hidden", "hidden"])
    book.active.sheet_state = "hidden"
    book.create_sheet("Visible").append(["a", "b"])
    book.create_chartsheet("Chart", 0).add_chart(BarChart())
    assert rows(read(saved(book))) == [(1, ["a", "b"])]
    sides = [("id", "text"), (1, "Hi"), (2, "Bye"), (3, "x")], [("id", "text"), (2, "Ade"), (1, "Hallo")]
    files = {"csv": ["".join(f"{key},{text}\n" for key, text in side) for side in sides], "xlsx": [workbook(*side) for side in sides]}
    for left, right in product(files, repeat=2):
        pairs = outcomes.read({f"en.{left}": files[left][0], f"de.{right}": files[right][1]})
        assert (pairs.pairs, pairs.dropped) == ((("Hi", "Hallo", 2), ("Bye", "Ade", 3)), {"header": (1,), "empty_target": (4,)})
    assert outcomes.refused({"en.xlsx": files["xlsx"][0], "de.txt": "Hallo\nAde"}).key == "data.one_table"


GOOD = workbook(["a", "b"], ["c", "d"], ["e", "f"])


@pytest.mark.night
def test_the_size_that_a_sheet_declares_is_not_believed():
    for dimension in ("A1", "A1:XFD1048576", "A1:B1", "Q7:Q9"):
        data = changed(GOOD, SHEET, lambda xml, dimension=dimension: xml.replace(b'ref="A1:B3"', f'ref="{dimension}"'.encode()))
        assert data != GOOD
        assert rows(read(data)) == [(1, ["a", "b"]), (2, ["c", "d"]), (3, ["e", "f"])]
    far = changed(GOOD, SHEET, lambda xml: xml.replace(b'<row r="3"', b'<row r="99999999999"').replace(b'3"', b'99999999999"'))
    assert rows(read(far))[:2] == [(1, ["a", "b"]), (2, ["c", "d"])]


def test_refusals_and_limits_of_workbooks(monkeypatch):
    for data in (
        GOOD[:-200], GOOD[: len(GOOD) // 2], b"PK\x03\x04" + b"x" * 100, changed(GOOD, SHEET, lambda xml: xml[:-40]),
        changed(GOOD, SHEET, lambda xml: xml.replace(b'r="A2"', b'r="2A"')), changed(GOOD, "xl/workbook.xml", lambda xml: b""),
        changed(GOOD, SHEET, lambda xml: xml.replace(b"<t>c</t>", b"<t>&c;</t>")), changed(GOOD, "xl/styles.xml", lambda xml: b"<a/>\0"),
        changed(GOOD, "[Content_Types].xml", lambda xml: b"<a/>"),
    ):  # fmt: skip
        assert refusal(data).key == "data.workbook_broken"
    for data, key in (
        (workbook(["a"], ["b"]), "data.workbook_one_column"), (workbook(), "data.workbook_one_column"),
        (changed(GOOD, SHEET, lambda xml: b"<c/>" * 1_350_001), "data.workbook_too_large"),
        (changed(GOOD, "xl/sharedStrings.xml", lambda xml: b"<si><t/></si>" * 450_001), "data.workbook_too_large"),
        (changed(GOOD, "xl/media/a.png", lambda xml: b"\0" * 52_428_801), "data.unpacked_too_large"),
    ):  # fmt: skip
        assert refusal(data).key == key
    assert [len(row.cells) for row in read(workbook(["x"] * 10_000)).rows] == [65]
    monkeypatch.setattr(items, "MAX_LINES", 2)
    assert refusal(GOOD).key == "data.too_many_items"
    monkeypatch.setattr(sheets, "_PIECE", 7)  # a declaration may stand between two pieces
    assert refusal(changed(GOOD, SHEET, lambda xml: ENTITY.format('"a"').encode() + xml)).key == "data.workbook_entities"


@given(
    st.sampled_from(['"aaaa"', 'SYSTEM "file:///etc/passwd"', 'SYSTEM "http://127.0.0.1:1/"']),
    st.sampled_from([SHEET, "xl/workbook.xml", "xl/styles.xml", "docProps/core.xml", "[Content_Types].xml"]),
    st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]),
)
def test_entities_are_refused_before_any_parser_sees_them(declared, member, encoding):
    text = zipfile.ZipFile(io.BytesIO(GOOD)).read(member).decode()
    start = text.find("?>") + 2 if text.startswith("<?xml") else 0
    hostile = (text[:start] + ENTITY.format(declared) + text[start:]).encode(encoding)
    assert refusal(changed(GOOD, member, lambda xml: hostile)).key == "data.workbook_entities"


def parquet(**columns: list) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    file = io.BytesIO()
    write_table(pyarrow.table(columns), file, row_group_size=2)
    return file.getvalue()


def test_columns_of_text_and_refusals_of_parquet(monkeypatch):
    for columns, names, pair, cells in (
        ({"id": [1, 2, 3], "source": ["a", "c", None], "target": ["b", "d", "f"]}, ("source", "target", "id"), (0, 1),
         [(1, ["a", "b", "1"]), (2, ["c", "d", "2"]), (3, ["", "f", "3"])]),
        ({"id": ["0", "1", "2"], "translation": [{"en": "a", "de": "b"}, {"en": "c", "de": None}, None]}, ("en", "de", "id"), None,
         [(1, ["a", "b", "0"]), (2, ["c", "", "1"]), (3, ["", "", "2"])]),
        ({"ids": [True, False], "src": ["run", "go"], "tgt": [["rennen", "laufen"], []]}, ("src", "tgt", "ids"), (0, 1),
         [(1, ["run", "rennen", "true"]), (1, ["run", "laufen", "true"]), (2, ["go", "", "false"])]),
    ):  # fmt: skip
        table = read_parquet(Source("file.parquet", parquet(**columns), []))
        assert (table.kind, table.unit, table.columns, table.pair, rows(table)) == ("parquet", "row", names, pair, cells)
    pyarrow = pytest.importorskip("pyarrow")
    from playground.reading.formats import parquet as module

    good = parquet(source=["a", "c", "e"], target=["b", "d", "f"])
    for data in (*(good[:-cut] for cut in (4, 8, 50, 200)), b"PAR1" + b"x" * 50 + b"PAR1"):
        assert refusal(data, read_parquet).key == "data.parquet_broken"
    assert refusal(parquet(**{f"c{n}": ["a"] for n in range(65)}), read_parquet).key == "data.too_many_columns"
    once = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 7000, pyarrow.int32()), ["x" * 9000])
    assert refusal(parquet(source=once, target=["b"] * 7000), read_parquet).key == "data.unpacked_too_large"
    monkeypatch.setattr(module, "MAX_LINES", 2)
    assert refusal(parquet(source=["a"] * 3, target=["b"] * 3), read_parquet).key == "data.too_many_items"
    monkeypatch.setattr(module, "VALUE_LIMIT", 3)
    assert refusal(parquet(source=["a"], target=[["b"] * 4]), read_parquet).key == "data.too_many_values"
    monkeypatch.setattr(module, "UNPACKED_LIMIT", 30)
    assert refusal(parquet(source=["a"], target=["b"]), read_parquet).key == "data.unpacked_too_large"
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert refusal(b"PAR1....PAR1", read_parquet).key == "data.parquet_missing"
