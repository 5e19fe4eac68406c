"""Truths about readers: which rows are in a file, and on which line each begins."""

import codecs
import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.config import Refusal
from playground.data.readers import COLUMN_LIMIT, READERS, Text, csv_rows, read_text

cells = st.text(st.characters(codec="utf-8", exclude_characters="\r\0") | st.sampled_from('",;\n '), max_size=12)
tables = st.integers(2, 4).flatmap(lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=6))


def rows_of(*contents: str):
    texts = [read_text(f"file{n}", content.encode()) for n, content in enumerate(contents)]
    reader = next((reader for reader in READERS if reader.recognises(texts)), None)
    return (reader.kind, list(reader.rows(texts))) if reader else (None, [])


def brief(rows) -> list:
    return [(row.line, row.fault or row.cells) for row in rows]


# --- lines ---


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_line_ends_of_every_system(end, last, mark):
    content = end.join(["one", "", "three", ""][: 4 if last else 3])
    assert read_text("f", mark + content.encode()).lines == ["one", "", "three"]


def test_only_line_ends_end_lines():
    odd = "a\u2028b\x0bc\x0cd\x85e\x1cf"
    assert odd.splitlines() != [odd]
    assert read_text("f", odd.encode()).lines == [odd]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a/b/words.tsv", "words.tsv"),
        ("C:\\w.txt", "w.txt"),
        ("../../etc", "etc"),
        ("", "?"),
        ("a\nb\u202e", "a b"),
        ("x" * 99, "x" * 60),
    ],
)
def test_names_are_labels(name, shown):
    assert read_text(name, b"x").name == shown


@pytest.mark.parametrize(
    ("data", "key", "line"),
    [
        (b"a\tb\nc\t\xe9\n", "data.not_utf8", 2),
        (b"\xe9", "data.not_utf8", 1),
        (b"a\r\nb\r\nc\xff", "data.not_utf8", 3),
        (b"a\tb\n\xed\xa0\x80", "data.not_utf8", 2),  # half a surrogate pair
        ("a\tb\n".encode("utf-16"), "data.not_utf8", 1),
        ("a\tb\n".encode("utf-16-le"), "data.binary", 1),
        (b"a\tb\nc\0\td\n", "data.binary", 2),
        (b"\xef\xbb\xbfok\n\n\0", "data.binary", 3),
    ],
)
def test_what_is_no_text_is_refused_with_its_line(data, key, line):
    with pytest.raises(Refusal) as refused:
        read_text("f", data)
    assert (refused.value.key, refused.value.values["line"]) == (key, line)


@pytest.mark.parametrize("data", [b"PK\x03\x04..", b"\x1f\x8b\x08..", b"%PDF-1.7", b"PAR1....", b"\xd0\xcf\x11\xe0"])
def test_known_other_formats_are_named(data):
    with pytest.raises(Refusal) as refused:
        read_text("f", data)
    assert refused.value.key == "data.packed"


# --- tables ---


@pytest.mark.parametrize(
    ("content", "kind", "rows"),
    [
        ("a\tb\nc\td", "tsv", [(1, ["a", "b"]), (2, ["c", "d"])]),
        ('"a\tb\n"c"\td', "tsv", [(1, ['"a', "b"]), (2, ['"c"', "d"])]),  # quotes are text in a TSV
        ("a, b\tc; d\ne\tf", "tsv", [(1, ["a, b", "c; d"]), (2, ["e", "f"])]),
        ("a,b\nc,d", "csv", [(1, ["a", "b"]), (2, ["c", "d"])]),
        ("a;b\nc;d", "csv", [(1, ["a", "b"]), (2, ["c", "d"])]),
        ("Ja, gut;Yes, good\nNein;No", "csv", [(1, ["Ja, gut", "Yes, good"]), (2, ["Nein", "No"])]),
        ('"a, ""b""","c"\n"d" , "e"', "csv", [(1, ['a, "b"', "c"]), (2, ["d", "e"])]),
        ('"two\nlines",b\nc,"x\n\ny"\nd,e', "csv", [(1, ["two\nlines", "b"]), (3, ["c", "x\n\ny"]), (6, ["d", "e"])]),
        ('say "hi",sag "hi"', "csv", [(1, ['say "hi"', 'sag "hi"'])]),
        ('a,b\n"open,c\nd,e\nf,g', "csv", [(1, ["a", "b"]), (2, "quote"), (3, ["d", "e"]), (4, ["f", "g"])]),
        ('a,b\n"x" y,c\nd,e', "csv", [(1, ["a", "b"]), (2, "quote"), (3, ["d", "e"])]),
        ('a,b\n"open,c\nd,e\n"f","g"', "csv", [(1, ["a", "b"]), (2, "quote"), (3, ["d", "e"]), (4, ["f", "g"])]),
        ('a,b\nx,"y\nc,d\nz",w\ne,f', "csv", [(1, ["a", "b"]), (2, "quote"), (3, ["c", "d"]), (4, ['z"', "w"]), (5, ["e", "f"])]),
        ("a,b\n\nc,d", "csv", [(1, ["a", "b"]), (2, [""]), (3, ["c", "d"])]),
        ("a,b\n" + "x" * 10_001 + ",y\nc,d", "csv", [(1, ["a", "b"]), (2, "long"), (3, ["c", "d"])]),
        ("a\tb\n" + "x" * 10_001 + "\ty\nc\td", "tsv", [(1, ["a", "b"]), (2, "long"), (3, ["c", "d"])]),
        ("just one column\nof text", None, []),
        ("time 10:30\nat 11:45", None, []),  # where csv.Sniffer would see a colon
        ("", None, []),
        ('""', None, []),
        (",,,", None, []),
    ],
)
def test_tables_by_hand(content, kind, rows):
    found, parsed = rows_of(content)
    assert (found, brief(parsed)) == (kind, rows)


@given(tables, st.sampled_from(",;"))
@settings(max_examples=60, deadline=None)
def test_well_formed_csv_reads_as_python_reads_it(table, delimiter):
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(table)
    lines = file.getvalue().split("\n")[:-1]
    trusted, line = csv.reader([line + "\n" for line in lines], delimiter=delimiter), 1
    for row, expected in zip(csv_rows(Text("f", lines), delimiter), trusted, strict=True):
        assert (row.line, row.cells) == (line, expected)
        line = trusted.line_num + 1


@given(st.text(st.sampled_from('ab",;\n\t '), max_size=60))
@settings(max_examples=300, deadline=None)
def test_rows_cover_every_line_once_and_in_order(content):
    _, rows = rows_of(content)
    assert [row.line for row in rows] == [1 + sum(row.height for row in rows[:n]) for n in range(len(rows))]
    assert not rows or sum(row.height for row in rows) == len(read_text("f", content.encode()).lines)


@given(st.text(st.sampled_from('ab,"\n'), max_size=40))
@settings(max_examples=50, deadline=None)
def test_a_broken_quote_never_eats_the_rows_below(content):
    good = "\n".join(f"s{n},t{n}" for n in range(200))
    rows = rows_of(f"{good}\n{content}\n{good}")[1]
    assert [row.cells for row in rows[-99:]] == [[f"s{n}", f"t{n}"] for n in range(101, 200)]


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
def test_ten_thousand_columns_stay_small(separator):
    _, rows = rows_of(separator.join("x" * 5000))
    assert [len(row.cells) for row in rows] == [COLUMN_LIMIT + 1]


def test_two_files():
    assert rows_of("a\nb\n", "c\r\nd") == ("two_files", [(1, ["a", "c"], "", 1), (2, ["b", "d"], "", 1)])
