"""Truths about delimited and marked text: which rows are in a file, and on which line each begins."""

import csv
import io
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.reading.formats import delimited, marked
from playground.reading.formats.limits import COLUMN_LIMIT
from playground.reading.formats.records import csv_rows, measure, row_width
from playground.reading.formats.table import Row, Source
from tests.thoroughness import every_case, examples_at_night

IN_ORDER = (delimited.read_tsv, marked.read_marked, delimited.read_csv, marked.read_loose)
cells = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0") | st.sampled_from('",;\\ '), max_size=12)
tables = st.integers(2, 4).flatmap(lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=6))


def source(content: str) -> Source:
    lines = content.split("\n")
    return Source("file.txt", content.encode("utf-8", "replace"), lines if lines[-1] else lines[:-1])


def table_of(content: str):
    return next((table for table in (read([source(content)]) for read in IN_ORDER) if table), None)


def understood(content: str):
    """(kind, [(line, cells or fault)])"""
    table = table_of(content)
    return (table.kind, [(row.line, row.fault or row.cells) for row in table.rows]) if table else (None, [])


def plain(*rows) -> list:
    return list(enumerate(map(list, rows), 1))


# --- tabs ---


@every_case(
    ("content", "rows"),
    [
        ("a\tb\nc\td", plain("ab", "cd")),
        ("Guten Tag\tДобрый день\n早安\tصباح الخير\n", plain(("Guten Tag", "Добрый день"), ("早安", "صباح الخير"))),
        ('"a\tb\n"c"\td', plain(('"a', "b"), ('"c"', "d"))),  # quotes are text
        ('"Hi," he said.\t"Hallo"\n"Who?" "Me."\tWer?', plain(('"Hi," he said.', '"Hallo"'), ('"Who?" "Me."', "Wer?"))),
        ('"Hi\tHallo\nBye"\tTschüss', plain(('"Hi', "Hallo"), ('Bye"', "Tschüss"))),  # an even table as it stands
        ('"Hi\tHallo\t\nBye"\tTschüss\tx', plain(('"Hi', "Hallo", ""), ('Bye"', "Tschüss", "x"))),
        ("a, b\tc; d\ne\tf", plain(("a, b", "c; d"), "ef")),
        ("a\tb\t\n\nc", [(1, ["a", "b", ""]), (2, [""]), (3, ["c"])]),
        ("\ta\nb\t\n", plain(("", "a"), ("b", ""))),
        ("x\ty\n" + "x" * 10_001 + "\ty\nc\td", [(1, ["x", "y"]), (2, "long"), (3, ["c", "d"])]),
        ("a\tb\nc,d\ne f\ng\th", plain("ab", ("c,d",), ("e f",), "gh")),  # other separators are text
        ("1\tdog\tHund\n2\t\tKatze\n", plain(("1", "dog", "Hund"), ("2", "", "Katze"))),  # an empty cell, not a wide gap
        ("a\tb\n" * 10 + "c\t\td\n" + "a\tb", plain(*["ab"] * 10, ("c", "", "d"), "ab")),  # one slip of a finger
        ("NA\tnull\n007\t<s>\n=1+1\t{{x}}", plain(("NA", "null"), ("007", "<s>"), ("=1+1", "{{x}}"))),
    ],
)
def test_tabs(content, rows):
    assert understood(content) == ("tsv", rows)
    assert not table_of(content).notes


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ('a\t"say ""b"""\nc\td', [(1, ["a", 'say "b"']), (2, ["c", "d"])]),
        ('"two\nlines"\t"a\tb"\nc\td', [(1, ["two\nlines", "a\tb"]), (3, ["c", "d"])]),  # Excel's "Unicode text"
        ('"Hello"\t"Hallo"\n"Bye"\t"Tschüss"', [(1, ["Hello", "Hallo"]), (2, ["Bye", "Tschüss"])]),
        ('"id"\t"en"\n1\t"Hello"\n2\t""', [(1, ["id", "en"]), (2, ["1", "Hello"]), (3, ["2", ""])]),  # all but numbers
    ],
)
def test_tabs_with_the_quotes_of_a_spreadsheet(content, rows):
    assert understood(content) == ("csv", rows)
    assert table_of(content).notes == (("data.note_quoted", {}),)


def test_a_quoted_column_of_long_cells_is_found_by_its_records():
    content = "".join(f'{n}\t"a\nb\nc\nd"\n' for n in range(9))
    assert understood(content) == ("csv", [(1 + 4 * n, [str(n), "a\nb\nc\nd"]) for n in range(9)])


# --- commas, semicolons, bars ---


@every_case(
    ("content", "rows"),
    [
        ("a,b\nc,d", plain("ab", "cd")),
        ("a;b\nc;d", plain("ab", "cd")),
        ("a|b\nc|d", plain("ab", "cd")),
        ("Ja, gut;Yes, good\nNein;No", plain(("Ja, gut", "Yes, good"), ("Nein", "No"))),
        ("1;Hello, you;Hallo, du\n2;Bye, all;Tschüss, alle", plain(("1", "Hello, you", "Hallo, du"), ("2", "Bye, all", "Tschüss, alle"))),
        ("Preis;1,50\nRabatt;0,20", plain(("Preis", "1,50"), ("Rabatt", "0,20"))),  # the comma of a decimal
        ("sep=;\na,b;c", [(1, "header"), (2, ["a,b", "c"])]),
        ("sep=\t\na\tb", [(1, "header"), (2, ["a", "b"])]),
        ('"sep=|"\na,b|c\nd|e', [(1, "header"), (2, ["a,b", "c"]), (3, ["d", "e"])]),
        (",en,de\n0,dog,Hund\n1,cat,Katze", plain(("", "en", "de"), ("0", "dog", "Hund"), ("1", "cat", "Katze"))),  # pandas
        ('"a, ""b""","c"\n"d" , "e"', plain(('a, "b"', "c"), "de")),
        ('"two\nlines",b\nc,"x\n\ny"\nd,e', [(1, ["two\nlines", "b"]), (3, ["c", "x\n\ny"]), (6, ["d", "e"])]),
        ('a,b,c\n"x\ny",z,\nd,e,f', [(1, ["a", "b", "c"]), (2, ["x\ny", "z", ""]), (4, ["d", "e", "f"])]),
        ('a,b,\n"x\ny",z,w\nd,e,', [(1, ["a", "b", ""]), (2, ["x\ny", "z", "w"]), (4, ["d", "e", ""])]),  # a cell that few rows fill
        ('a,b,c\n"x\ny",z\nd,e\nf,g', [(1, ["a", "b", "c"]), (2, ["x\ny", "z"]), (4, ["d", "e"]), (5, ["f", "g"])]),
        ('a,b,c\n"x\ny",z,w\nd,e\nf,g', [(1, ["a", "b", "c"]), (2, ["x\ny", "z", "w"]), (4, ["d", "e"]), (5, ["f", "g"])]),
        ("a;b;;\nc;d;e;\nf;g;;h\n", plain(("a", "b", "", ""), ("c", "d", "e", ""), ("f", "g", "", "h"))),
        ('say "hi",sag "hi"', plain(('say "hi"', 'sag "hi"'))),
        ('"He said \\"no\\"","a, b"\n"c","d"', plain(('He said "no"', "a, b"), "cd")),  # escaped, not doubled
        ('a,b\n"open,c\nd,e\nf,g', [(1, ["a", "b"]), (2, "quote"), (3, ["d", "e"]), (4, ["f", "g"])]),
        ('a,b\n"x" y,c\nd,e', [(1, ["a", "b"]), (2, "quote"), (3, ["d", "e"])]),
        ('a,b\n"open,c\nd,e\n"f","g"', [(1, ["a", "b"]), (2, "quote"), (3, ["d", "e"]), (4, ["f", "g"])]),
        ('a,b\nx,"y\nc,d\nz",w\ne,f', [(1, ["a", "b"]), (2, "quote"), (3, ["c", "d"]), (4, ['z"', "w"]), (5, ["e", "f"])]),
        ("a,b\n\nc,d", [(1, ["a", "b"]), (2, [""]), (3, ["c", "d"])]),
        ("a,b\n" + "x" * 10_001 + ",y\nc,d", [(1, ["a", "b"]), (2, "long"), (3, ["c", "d"])]),
        ("hello, hallo\nbye, tschüss", plain(("hello", " hallo"), ("bye", " tschüss"))),
        ("a;b\nc,d\ne;f\n", plain("ab", ("c,d",), "ef")),
        ("| en | de |\n|:---|---:|\n| dog | Hund |", [(1, [" en ", " de ", ""]), (2, "header"), (3, [" dog ", " Hund ", ""])]),
        (
            "# Words\n\n|en|de|\n|--|--|\n|dog|Hund|\n",
            [(1, ["# Words"]), (2, [""]), (3, ["en", "de", ""]), (4, "header"), (5, ["dog", "Hund", ""])],
        ),
        ("en | de\n---|:---:\ndog | Hund", [(1, ["en ", " de"]), (2, "header"), (3, ["dog ", " Hund"])]),
        (
            "+---+---+\n|en|de|\n+---+---+\n|dog|Hund|\n|cat|Katze|\n+---+---+",
            [(1, "header"), (2, ["en", "de", ""]), (3, "header"), (4, ["dog", "Hund", ""]), (5, ["cat", "Katze", ""]), (6, "header")],
        ),
        ("é,\u2028a\nb\x0bc,d", plain(("é", "\u2028a"), ("b\x0bc", "d"))),  # no line ends
    ],
)
def test_separators(content, rows):
    assert understood(content) == ("csv", rows)


@pytest.mark.parametrize("content", ["just one column\nof text", "time 10:30\nat 11:45", "", '""', ",,,", "\n \n"])
def test_what_is_no_table(content):
    assert understood(content) == (None, [])  # csv.Sniffer would see a colon in the second


def test_two_files_are_not_for_these():
    assert not any(read([source("a\tb"), source("a\tb")]) for read in IN_ORDER)


# --- what is hostile ---


@pytest.mark.parametrize("separator", ["\t", ",", ";", "|"])
def test_ten_thousand_columns_stay_small(separator):
    for cell in ("x", '"x"'):
        assert [len(row.cells) for row in table_of(separator.join([cell] * 10_000)).rows] == [COLUMN_LIMIT + 1]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "content",
    [
        '"open,x\n' + "a,b\n" * 100_000,
        '"' * 99_999 + "\n" + "a,b\n" * 9,
        'a,"b\n' * 50_000,
        ('"' + "x\n" * 99) * 2000,
        "-" * 99_999 + "\n" + "=" * 99_999 + "\n",
        ("| " * 40_000 + "\n") * 9,
        ("- " * 40_000 + "\n") * 9,
        "\t" * 99_999 + "\n" + "a\t\tb\n" * 50_000,
        '""\t""\n' * 30_000,
        "a\0b,c\n" * 50_000,
        '\\",' * 30_000,
    ],
    ids=range(11),
)
def test_hostile_text_takes_time_by_its_length(content):
    start = time.process_time()
    understood(content)
    assert time.process_time() - start < 8


def test_an_open_quote_in_a_million_characters_costs_its_line():
    kind, rows = understood('a,b\n"open,x\n' + "hello,hallo\n" * 90_000)
    assert (kind, len(rows)) == ("csv", 90_002)
    assert [row for row in rows if row[1] != ["hello", "hallo"]] == [(1, ["a", "b"]), (2, "quote")]


def test_why_nothing_was_recognised():
    for content, key, values in [
        ("one column\nonly", "data.one_column", {"name": "file.txt", "line": 1}),
        ("a,b\nno\nnone\nnothing", "data.one_column", {"name": "file.txt", "line": 2}),
        ('"a,b\n"c,d\n"e,f', "data.open_quotes", {"name": "file.txt", "count": 3, "line": 1}),
    ]:
        refused = delimited.refusal([source(content)])
        assert (refused.key, refused.values) == (key, values)


# --- records ---


@given(tables, st.sampled_from(",;|\t"), st.booleans())
@examples_at_night(100)
def test_well_formed_csv_reads_as_python_reads_it(table, delimiter, quote_all):
    file = io.StringIO()
    table = [[cell.replace(" ", "\n", 1) for cell in row] for row in table]
    csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL).writerows(table)
    lines = file.getvalue().split("\n")[:-1]
    trusted, line = csv.reader([line + "\n" for line in lines], delimiter=delimiter), 1
    for row, expected in zip(csv_rows(lines, delimiter), trusted, strict=True):
        assert (row.line, row.cells) == (line, expected)
        line = trusted.line_num + 1


@given(st.text(st.sampled_from('ab",;|=-:\n\t \\'), max_size=60))
@examples_at_night(400)
def test_rows_cover_every_line_once_and_in_order(content):
    table = table_of(content)
    rows = list(table.rows) if table else []
    assert [row.line for row in rows] == [1 + sum(row.height for row in rows[:n]) for n in range(len(rows))]
    assert not rows or sum(row.height for row in rows) == len(source(content).lines)


@given(st.text(st.sampled_from('ab,"\n'), max_size=40))
@examples_at_night(50)
def test_a_broken_quote_never_eats_the_rows_below(content):
    good = "\n".join(f"s{n},t{n}" for n in range(200))
    rows = list(table_of(f"{good}\n{content}\n{good}").rows)
    assert [row.cells for row in rows[-99:]] == [[f"s{n}", f"t{n}"] for n in range(101, 200)]


def test_widths():
    assert [row_width(cells) for cells in (["a"], ["a", ""], ["a", "", " "], ["a", "", "b", ""], [])] == [1, 2, 2, 3, 0]


@pytest.mark.parametrize(
    ("table", "cells", "usual", "widest"),
    [
        (["a", "ab", "abc", "ab "], 3, 2, 3),  # an empty cell at the end is there for what stands in it in another row
        (["ab ", "cd ", "ef "], 3, 2, 2),  # separators at the end of all rows
        (["ab", "cd", "efg"], 2, 2, 2),  # a stray one
        (["ab", "efg"], 2, 2, 2),
        (["ab", "cd ", "ef  ", "gh   "], 2, 2, 2),  # separators at the end of some
        (["1ab ", "2cd ", "3ef ", "4ghi"], 4, 3, 4),
        (["   ", "   ", "   ", "ab"], 2, 2, 2),
        ([], 2, 2, 2),
    ],
)
def test_how_wide_most_rows_are(table, cells, usual, widest):
    assert measure([Row(line, list(row)) for line, row in enumerate(table, 1)])[:3] == (cells, usual, widest)
