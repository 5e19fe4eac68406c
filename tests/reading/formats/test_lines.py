"""Truths about lines that belong together: two files, talks, and two labels on a line."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.config import Refusal
from playground.reading.formats import names
from tests.reading.formats.aligned import table_of, understood
from tests.thoroughness import every_case, examples_at_night


def test_two_files_with_the_same_numbers_before_their_lines():
    found = table_of("7\tone\n8\ttwo\n", "7\teins\n8\tzwei\n", named=("a.en", "a.de"))
    assert [row.cells for row in found.rows] == [["one", "eins"], ["two", "zwei"]]
    for other in ("7\teins\n9\tzwei\n", "7\teins\tx\n8\tzwei\n", "7\teins\n"):
        with pytest.raises(Refusal) as refused:
            table_of("7\tone\n8\ttwo\n", other)
        assert refused.value.key == "data.two_tables"


def refused(*contents: str, named=("file1", "file2")):
    with pytest.raises(Refusal) as raised:
        table_of(*contents, named=named)
    return raised.value.key, raised.value.values


# --- two files ---


@every_case(
    ("one", "two", "rows"),
    [
        ("a\nb\n", "c\nd", [(1, ["a", "c"]), (2, ["b", "d"])]),
        ("a\n\nc\n", "\nB\n\n", [(1, ["a", ""]), (2, ["", "B"]), (3, ["c", ""])]),
        ("a\nb\n\n\n", "c\nd\n", [(1, ["a", "c"]), (2, ["b", "d"]), (3, ["", ""]), (4, ["", ""])]),  # blank lines at one end
        ("a\nb", "c\nd\n \n", [(1, ["a", "c"]), (2, ["b", "d"]), (3, ["", " "])]),
        ("a,b\nc", "d\ne;f", [(1, ["a,b", "d"]), (2, ["c", "e;f"])]),
        ("a\tb\nc\n\nd", "e\nf\n\ng", [(1, ["a\tb", "e"]), (2, ["c", "f"]), (3, ["", ""]), (4, ["d", "g"])]),  # a tab in a text
        ("1,2,3\n4,5,6", "3,2,1\n6,5,4", [(1, ["1,2,3", "3,2,1"]), (2, ["4,5,6", "6,5,4"])]),
        ('"a, b"\n"c"', '"d"\ne', [(1, ["a, b", "d"]), (2, ["c", "e"])]),
        ('"a" b\n"c" d\n"e"', "d\ne\nf", [(1, ['"a" b', "d"]), (2, ['"c" d', "e"]), (3, ['"e"', "f"])]),  # what is said
        ('"a"\nb\nc', "d\ne\nf", [(1, ['"a"', "d"]), (2, ["b", "e"]), (3, ["c", "f"])]),
        ("English\na", "German\nb", [(1, ["English", "German"]), (2, ["a", "b"])]),  # a person may want them (see test_heading)
        ("it\na", "es\nb", [(1, ["it", "es"]), (2, ["a", "b"])]),  # words, as likely as languages
        ("猫\nпёс", "قط\nσκύλος", [(1, ["猫", "قط"]), (2, ["пёс", "σκύλος"])]),
        ("x\n" + "y" * 10_001, "a\nb", [(1, ["x", "a"]), (2, "long")]),
        ("<title>a</title>\nb", "<title>c</title>\nd", [(1, ["<title>a</title>", "<title>c</title>"]), (2, ["b", "d"])]),  # text
    ],
)
def test_two_files(one, two, rows):
    assert understood(one, two) == ("two_files", rows)


@pytest.mark.parametrize(
    ("one", "two", "rows"),
    [
        ('text\n"a, b"\nc', "text\nd\ne", [(1, "header"), (2, ["a, b", "d"]), (3, ["c", "e"])]),
        ('en\n"a\nb"\nc', 'de\n"d, e"\nf', [(1, "header"), (2, ["a\nb", "d, e"]), (4, ["c", "f"])]),
        ('a\n"b ""c"""', 'd\n"e', [(1, ["a", "d"]), (2, ['b "c"', '"e'])]),  # the second was written by nobody's spreadsheet
        (',text\n0,a\n1,"b, c"', ",text\n0,d\n1,e", [(1, "header"), (2, ["a", "d"]), (3, ["b, c", "e"])]),  # pandas' index
        ("7\ta\n\n8\tb", "7\tc\n\n8\td", [(1, ["a", "c"]), (2, []), (3, ["b", "d"])]),
        ("Hello, you\nBye, you", "Hallo, du\nAde, du", [(1, ["Hello, you", "Hallo, du"]), (2, ["Bye, you", "Ade, du"])]),
    ],
)
def test_two_files_of_a_spreadsheet(one, two, rows):
    assert understood(one, two, named=("en.csv", "de.csv")) == ("two_files", rows)


@pytest.mark.parametrize(
    ("one", "two", "named"),
    [
        ("en,de\na,b\nc,d", "en,de\ne,f\ng,h", ("train.csv", "test.csv")),
        ("en,de\na,b\nc,d", "en,de\ne,f\n", ("train.csv", "test.csv")),
        ("a;b\nc;d", "e;f\ng;h", ("one.CSV", "two.csv")),
        ("en,de\na,b\nc,d", "en,de\ne,f\ng,h", ("one.txt", "two.txt")),  # the same head
        (",en\n0,a\n1,b", ",en\n0,c\n2,d", ("one.csv", "two.csv")),  # other numbers
    ],
)
def test_two_tables_are_not_paired(one, two, named):
    assert refused(one, two, named=named) == ("data.two_tables", {"one": named[0], "two": named[1]})


@pytest.mark.parametrize("other", ["e\nf", "e", "e\nf\ng"])
def test_a_table_and_another_file_are_not_paired(other):
    assert refused("a\tb\nc\td", other, named=("deu.txt", "_about.txt")) == ("data.one_table", {"table": "deu.txt", "other": "_about.txt"})
    assert refused(other, "a,b\nc,d", named=("x.txt", "voc.csv")) == ("data.one_table", {"table": "voc.csv", "other": "x.txt"})


@every_case(
    ("named", "columns", "pair"),
    [
        (("train.de-en.de", "train.de-en.en"), ("de", "en"), None),
        (("tatoeba.en.txt", "tatoeba.zh.txt"), ("en", "zh"), None),
        (("de", "en"), ("de", "en"), None),
        (("train.zh_CN.txt", "train.en.txt"), ("zh_CN", "en"), None),
        (("English.txt", "German.txt"), ("English", "German"), None),
        (("中文.txt", "英文.txt"), ("中文", "英文"), None),
        (("a.en", "b.fr"), ("en", "fr"), None),
        (("src-train.txt", "tgt-train.txt"), ("src", "tgt"), (0, 1)),
        (("test.trg", "test.src"), ("trg", "src"), (1, 0)),
        (("target.txt", "source.txt"), ("target", "source"), (1, 0)),
        (("newstest-src.de", "newstest-ref.en"), ("de", "en"), (0, 1)),
        (("newstest-ref.en", "newstest-src.de"), ("en", "de"), (1, 0)),
        (("test.hyp", "test.ref"), ("test.hyp", "test.ref"), (0, 1)),
        (("questions.txt", "answers.txt"), ("questions", "answers"), (0, 1)),
        (("q.txt", "a.txt"), ("q", "a"), (0, 1)),
        (("a.txt", "b.txt"), ("a.txt", "b.txt"), None),  # "a" is no answer
        (("one.txt", "two.txt"), ("one.txt", "two.txt"), None),
        (("same.txt", "same.txt"), (), None),
        (("", "?"), ("", "?"), None),
    ],
)
def test_what_names_say(named, columns, pair):
    table = table_of("a\nb", "c\nd", named=named)
    assert (table.columns, table.pair) == (columns, pair)


@given(st.text(max_size=12), st.text(max_size=12))
@examples_at_night(200)
def test_any_names(one, two):
    columns = names.columns_of(one, two)
    assert len(columns) == 2
    assert names.direction_of(one, two) in (None, (0, 1), (1, 0))
    back = names.direction_of(two, one)
    assert names.direction_of(one, two) == (back and (back[1], back[0]))


def test_what_two_files_are_refused_for():
    assert refused("a\nb\nc", "d\ne") == ("data.unequal", {"one": "file1", "lines_one": 3, "two": "file2", "lines_two": 2})
    assert refused("a\tb\nc\td", "e\tf\ng\th") == ("data.two_tables", {"one": "file1", "two": "file2"})
    assert understood('{"a": 1}\n{"a": 2}', '{"a": 3}\n{"a": 4}') == (None, [])  # not for lines to judge


@pytest.mark.parametrize("lost", [0, 13, 60, 119])
@pytest.mark.parametrize("side", [0, 1])
def test_where_lines_begin_to_drift(lost, side):
    numbers = random.Random(lost).choices(range(1, 40), k=120)
    files = [["word " * number for number in numbers], ["Wörter " * number for number in numbers]]
    del files[side][lost]
    key, values = refused(*map("\n".join, files))
    if lost == 119:  # the last one: nothing after it drifts
        assert key == "data.unequal"
    else:
        assert key == "data.unequal_from"
        assert 0 <= lost + 1 - values["line"] <= 1
        assert values["lines_one"] - values["lines_two"] == (-1 if side == 0 else 1)


def test_lines_of_equal_length_say_nothing_about_a_drift():
    assert refused("same\n" * 50, "gleich\n" * 49)[0] == "data.unequal"
    assert refused("a\n" * 50, "b\n" * 10)[0] == "data.unequal"


# --- talks and segments ---

TALK_DE = """<url>http://www.ted.com/talks/1</url>
<keywords>talks, climate</keywords>
<speaker>Al Gore</speaker>
<title>Die Krise</title>
<description>Ein Vortrag.</description>
Vielen Dank.
Wirklich <em>sehr</em>.

<reviewer href="http://x">Jemand</reviewer>
<url>http://www.ted.com/talks/2</url>
Noch etwas.
"""
TALK_EN = TALK_DE.replace("Vielen Dank.", "Thank you.").replace("Wirklich <em>sehr</em>.", "Really, <em>so</em> much.")
TALK_EN = TALK_EN.replace("Noch etwas.", "One more thing.").replace('<reviewer href="http://x">Jemand</reviewer>\n', "")


def test_talks():
    table = table_of(TALK_DE, TALK_EN, named=("train.tags.de-en.de", "train.tags.de-en.en"))
    assert (table.kind, table.columns, table.pair) == ("tagged", ("de", "en"), None)
    assert [(row.line, row.fault or row.cells) for row in table.rows] == [
        *[(line, "header") for line in range(1, 6)],
        (6, ["Vielen Dank.", "Thank you."]),
        (7, ["Wirklich <em>sehr</em>.", "Really, <em>so</em> much."]),
        (8, ["", ""]),
        (9, "header"),
        (10, "header"),
        (11, ["Noch etwas.", "One more thing."]),
    ]
    assert refused(TALK_DE, TALK_EN + "Zu viel.\n")[0] == "data.unequal_tagged"
    assert [row.cells for row in table_of(TALK_DE, TALK_EN + "\n").rows][-1] == ["", ""]


# --- labels ---


@pytest.mark.parametrize(
    ("content", "columns", "pair", "rows"),
    [
        (
            "IN: jump twice OUT: I_JUMP I_JUMP\nIN: walk OUT: I_WALK\n\nnothing",
            ("IN", "OUT"),
            (0, 1),
            [(1, [" jump twice", " I_JUMP I_JUMP"]), (2, [" walk", " I_WALK"]), (3, [""]), (4, ["nothing"])],
        ),
        ("Q: 1+1? A: 2\nQ: 2+2? A: 4", ("Q", "A"), (0, 1), [(1, [" 1+1?", " 2"]), (2, [" 2+2?", " 4"])]),
        ("EN: hello, you DE: hallo\nEN: bye DE: tschüss", ("EN", "DE"), None, [(1, [" hello, you", " hallo"]), (2, [" bye", " tschüss"])]),
        ("IN: a OUT:\nIN:\tb\tOUT: c", ("IN", "OUT"), (0, 1), [(1, [" a", ""]), (2, ["\tb", " c"])]),
    ],
)
def test_two_labels_on_a_line(content, columns, pair, rows):
    table = table_of(content)
    assert (table.kind, table.columns, table.pair) == ("scan", columns, pair)
    assert [(row.line, row.cells) for row in table.rows] == rows
