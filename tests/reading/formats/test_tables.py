"""Tables in lines: delimited, marked, wrapped, and Anki's notes; the small ones stand in tests/reading/cases.py."""

import csv
import io
import json
from itertools import product

from hypothesis import example, given, strategies as st

from playground.reading.formats import delimited, marked
from playground.reading.formats.records import csv_rows
from playground.reading.formats.table import COLUMN_LIMIT, Source
from playground.reading.text import strip_markup
from tests.reading.outcomes import outcome, read, refused, two

IN_ORDER = (delimited.read_tsv, marked.read_marked, delimited.read_csv, marked.read_loose)
PAIRS = [("Hello, world!", "Hallo, Welt!"), ("It's me.", "Ich bin's."), ('"Yes" or no?', "Ja oder nein?")]
cells = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0") | st.sampled_from('",;\\ '), max_size=12)
tables = st.integers(2, 4).flatmap(lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=6))


def rows_of(content: str) -> list:
    lines = content.split("\n")
    source = Source("file.txt", content.encode("utf-8", "replace"), lines if lines[-1] else lines[:-1])
    result = next((table for table in (reader(source) for reader in IN_ORDER) if table), None)
    return list(result.rows) if result else []


def table(rows: list, delimiter: str = ",", quoting: int = csv.QUOTE_MINIMAL) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator="\n").writerows(rows)
    return file.getvalue()


@given(tables, st.sampled_from(",;|\t"), st.booleans())
@example([["", 'a, "b"']], ",", False)
def test_well_formed_csv_reads_as_python_reads_it(rows, delimiter, quote_all):
    rows = [[cell.replace(" ", "\n", 1) for cell in row] for row in rows]
    lines = table(rows, delimiter, csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL).split("\n")[:-1]
    trusted, line = csv.reader([line + "\n" for line in lines], delimiter=delimiter), 1
    for row, expected in zip(csv_rows(lines, delimiter), trusted, strict=True):
        assert (row.line, row.cells) == (line, expected)
        line = trusted.line_num + 1


@given(st.text(st.sampled_from('ab",;|=-:\n\t \\'), max_size=60))
def test_rows_cover_every_line_once_and_in_order(content):
    rows = rows_of(content)
    assert [row.line for row in rows] == [1 + sum(row.height for row in rows[:n]) for n in range(len(rows))]
    assert not rows or sum(row.height for row in rows) == len(content.removesuffix("\n").split("\n"))


@given(st.text(st.sampled_from('ab,"\n'), max_size=40))
def test_a_broken_quote_never_eats_the_rows_below(content):
    good = "\n".join(f"s{n},t{n}" for n in range(200))
    assert [row.cells for row in rows_of(f"{good}\n{content}\n{good}")[-99:]] == [[f"s{n}", f"t{n}"] for n in range(101, 200)]


def test_a_quote_over_long_stretches_long_lines_and_ten_thousand_columns():
    pairs = read('a,b\n"open,x\n' + "hello,hallo\n" * 40_000)
    assert (pairs.dropped, len(pairs.pairs), pairs.pairs[0]) == ({"quote": (2,)}, 40_001, ("a", "b", 1))
    pairs = read("".join(f'{n}\t"a\nb\nc\nd"\n' for n in range(9)))
    assert (pairs.kind, pairs.pairs) == ("csv", tuple((str(n), "a b c d", 1 + 4 * n) for n in range(9)))
    for separator in "\t,;|":
        content = f"x{separator}y\n{'x' * 10_001}{separator}y\nc{separator}d"
        assert outcome(content) == f"{'tsv' if separator == chr(9) else 'csv'}: x→y · (long) · c→d"
        for cell in ("x", '"x"'):
            assert [len(row.cells) for row in rows_of(separator.join([cell] * 10_000))] == [COLUMN_LIMIT + 1]


def test_a_sign_separates_in_nine_of_ten_lines_and_nothing_within_a_cell_of_a_table():
    heads = (["question", "answer"], "{} + 4 = ?"), (["rule", "result"], "A{} -> B"), ([], "{} + 4 = ?"), (["en", "de"], "**x{}** => y")
    for delimiter, (head, cell) in product(",;", heads):
        rows = [(cell.format(n), str(n + 4)) for n in range(30)]
        pairs = read("\n".join(map(delimiter.join, [*filter(None, [head]), *rows])))
        assert (pairs.kind, pairs.header, two(pairs)) == ("csv", bool(head), rows)
    rules = ["id,rule,result", *(f"{n},A{n} -> B,C{n}" for n in range(30))]  # names tell it
    assert two(read("\n".join(rules))) == [(f"A{n} -> B", f"C{n}") for n in range(30)]
    good = [f"word {n} - Wort {n}" for n in range(18)]
    pairs = read("\n".join([*good, "a - b - c", "nothing"]))
    assert (two(pairs), pairs.dropped) == ([tuple(line.split(" - ")) for line in good], {"extra_columns": (19,), "one_column": (20,)})
    assert refused("\n".join([*good, "a - b - c", "nothing", "nothing again"])).key == "data.one_column"
    pairs = read("\n".join([*(f"wort слово{n}" for n in range(30)), "слово wort"]))  # the scripts the other way round
    assert (two(pairs), pairs.dropped) == ([("wort", f"слово{n}") for n in range(30)], {"one_column": (31,)})


WRITERS = {"json": lambda src, tgt: json.dumps({"en": src, "de": tgt}), "python": lambda src, tgt: str({"en": src, "de": tgt})}


def test_dictionaries_on_lines_and_in_a_column_and_what_is_none_costs_its_row_or_the_column():
    for write, delimiter in product(WRITERS.values(), ",;\t"):
        for head, quoting in product(["", "translation\n", '"translation"\n'], [csv.QUOTE_ALL, csv.QUOTE_MINIMAL]):
            pairs = read(head + table([[write(*pair)] for pair in PAIRS], delimiter, quoting))
            assert (two(pairs), pairs.dropped) == (PAIRS, {"header": (1,)} if head else {})
        for head in ([], ["", "translation"], ["id", "translation"]):
            rows = [[str(n), write(*pair)] for n, pair in enumerate(PAIRS)]
            pairs = read(table([head] * bool(head) + rows, delimiter))
            assert (two(pairs), pairs.dropped) == (PAIRS, {"header": (1,)} if head else {})
            assert [column.name for column in pairs.columns] == ["en", "de", (head or [""])[0] or "1"]
    good = [[str(n), WRITERS["python"](f"a{n}", f"b{n}")] for n in range(30)]
    pairs = read(table([["id", "translation"], *good, ["x", "{'en': open('x')}"], [""], ["y", ""]]))
    assert two(pairs) == [(f"a{n}", f"b{n}") for n in range(30)]
    assert pairs.dropped == {"header": (1,), "broken": (32,), "blank": (33,), "empty_source": (34,)}
    for cell in ('"{' + "'a': {" * 3000 + '"', '"{' + "'a': 9" * 4000 + '"', "\"{'a': " + "9" * 9000 + '}"'):
        assert refused("\n".join([cell] * 3)).key == "data.one_column"


def test_html_as_it_is_seen():
    for html, text in (
        ("a < b > c", "a < b > c"), ("a&nbsp;b &lt;i&gt; &auml; &#39; &#x4e2d;", "a\u00a0b <i> ä ' 中"), ("<b>Hal</b>lo", "Hallo"),
        ("one<br>two<br/>three<BR />", "one two three "), ("<div>one</div><div>two</div>", " one  two "),
        ('<span style="color: red">red</span>', "red"), ('<img src="x.jpg">cat[sound:x.mp3]', "cat "),
        ("<ruby>漢字<rt>かんじ</rt></ruby>", "漢字"), ("<style>.card { color: red }</style>text", "text"),
        ("<!-- remark -->text", "text"), ("{{c1::word}} [not a sound]", "{{c1::word}} [not a sound]"),
        ("<3 and <![ and <", "<3 and <![ and <"), ("<a href=unclosed", "<a href=unclosed"),
    ):  # fmt: skip
        assert strip_markup(html) == text
