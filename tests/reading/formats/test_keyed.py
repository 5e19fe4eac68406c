"""Truths about texts behind keys: those of a program in two files, words in quotation marks, and what fairseq writes."""

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.config import Refusal
from playground.reading.formats.keyed import read_fairseq, read_texts
from playground.words import LANGUAGES
from tests.reading.formats.aligned import source
from tests.thoroughness import examples_at_night


def rows(table) -> list:
    return [(row.line, row.fault or row.cells) for row in table.rows]


def two(one: str, other: str, ending: str):
    return read_texts([source(one, f"en.{ending}"), source(other, f"de.{ending}")])


def refused(*sources) -> str:
    with pytest.raises(Refusal) as raised:
        read_texts(sources)
    assert all(raised.value.say(language) for language in LANGUAGES)
    return raised.value.key


@pytest.mark.parametrize(
    ("ending", "one", "other", "expected"),
    [
        ("properties", "# x\na.b=Hi\na.c = Bye \\\n   now\n",
         "a.c:Tsch\\u00fcss\n\n! y\na.b=Hallo # 1\n", [["Hi", "Hallo # 1"], ["Bye now", "Tschüss"]]),
        ("properties", "a=Hi\nb=Bye", "a=Hallo\nc=Neu", [["Hi", "Hallo"], ["Bye", ""], ["", "Neu"]]),
        ("strings", '/* x */\n"a b" = "Say \\"hi\\"";\n"c" = "d";', '"c" = "D";\n"a b" = "Sag;";', [['Say "hi"', "Sag;"], ["d", "D"]]),
        ("yml", "en:\n  a: Hi # x\n  m:\n    b: 'It''s'\n  c: \"y # z\"\n",
         "de:\n  m:\n    b: Es\n  c: Y\n  a: Hallo", [["Hi", "Hallo"], ["It's", "Es"], ["y # z", "Y"]]),
        ("yaml", "a: Hi\nb:\n  a: Bye", "a: Hallo\nb:\n  a: Ade", [["Hi", "Hallo"], ["Bye", "Ade"]]),
    ],
)  # fmt: skip
def test_texts_of_a_program_in_two_files(ending, one, other, expected):
    table = two(one, other, ending)
    assert (table.kind, table.columns, table.unit) == ("keyed", ("en", "de"), "item")
    assert rows(table) == list(enumerate(expected, 1))


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        ('hi: "hallo"\ngood day: "Guten \\"Tag\\", Tom"\n\n# x\n', "a.txt",
         [(1, ["hi", "hallo"]), (2, ["good day", 'Guten "Tag", Tom']), (3, [""]), (4, "header")]),
        ('"hi": "hallo",\n"bye": "ade"', "a.txt", [(1, ["hi", "hallo"]), (2, ["bye", "ade"])]),
        ("'hi' = 'hallo';\n'bye' = 'ade';", "a.txt", [(1, ["hi", "hallo"]), (2, ["bye", "ade"])]),
        ("hi: hallo\nbye: ade", "a.yml", [(1, ["hi", "hallo"]), (2, ["bye", "ade"])]),
        ("hi=hallo\nbye=ade", "a.properties", [(1, ["hi", "hallo"]), (2, ["bye", "ade"])]),
    ],
)  # fmt: skip
def test_words_with_their_translation(content, name, expected):
    assert rows(read_texts([source(content, name)])) == expected


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("a.b=Hi\na.c=Bye\na.d=No", "a.txt"),
        ("menu.open=Hi\nmenu.close=Bye", "a.properties"),
        ("openMenu=Hi\nclose_menu=Bye", "a.properties"),
        ("en:\n  a: Hi\n  b: Bye", "a.yml"),
        ('"menu.open" = "Hi";\n"menu.close" = "Bye";', "a.strings"),
    ],
)
def test_identifiers_have_no_translation(content, name):
    assert refused(source(content, name)) == "data.one_side"


def test_two_files_that_do_not_go_together():
    assert refused(source("a=b", "en.properties"), source("c=d", "de.properties")) == "data.no_common_keys"
    assert refused(source("a: |\n  b", "en.yml"), source("a: c", "de.yml")) == "data.not_understood"


@pytest.mark.parametrize(
    "content",
    ["hi: hallo\nbye: ade", "a,b\nc,d",
     'he: "hi" she said\nx: "y"', "- en: a\n  de: b\n- en: c\n  de: d", '"hi"\n"bye"', "", "www.a.de: x\nb: y"],
)  # fmt: skip
def test_other_files_are_left_to_others(content):
    assert read_texts([source(content, "a.yml" if content.startswith("-") else "a.txt")]) is None
    assert read_texts([source("a: b", "a.txt"), source("a: c", "b.txt")]) is None


def test_fairseq():
    content = (
        "INFO x\nS-7\tHi\nT-7\tHallo\nH-7\t-0.3\tHal\nD-7\t-0.3\tHal\nP-7\t-0.3 -0.2\nS-0\tBye\nH-0\t-1\tAde\n\nS-1\tx\nT-1\ty\nBLEU = 3\n"
    )
    table = read_fairseq([source(content)])
    assert (table.columns, table.pair) == (("S", "T"), (0, 1))
    assert rows(table) == [(1, "header"), (2, ["Hi", "Hallo"]), (7, ["Bye", ""]), (9, [""]), (10, ["x", "y"]), (12, "header")]
    without = "\n".join(line for line in content.split("\n") if line[:1] != "T")
    assert rows(read_fairseq([source(without)]))[1] == (2, ["Hi", "Hal"])
    assert read_fairseq([source("S-1 a\nT-1 b")]) is None


@given(st.text(st.sampled_from("ab.:=\"'\\;,# \n|{}-"), max_size=50), st.sampled_from(["txt", "yml", "properties"]))
@examples_at_night(400)
def test_anything_is_a_table_or_not(content, ending):
    try:
        table = read_texts([source(content, f"a.{ending}")])
    except Refusal:
        return
    lines = [row.line for row in table.rows] if table else []
    assert not table or lines == list(range(1, len(source(content).lines) + 1))


@pytest.mark.parametrize(
    "line", ["a: " + " " * 90_000 + "b", "a" + " " * 90_000, '"' + "\\" * 90_000, "a: '" + "'" * 90_001,
              "_" * 90_000 + " :b", "a: \"x\"" + " " * 90_000 + "y"]
)  # fmt: skip
def test_hostile_lines_take_time_by_their_length(line):
    start = time.process_time()
    for ending in ("yml", "txt"):
        with contextlib.suppress(Refusal):
            read_texts([source("\n".join([line] * 3), f"a.{ending}")])
    read_texts([source("a=b\\\n" * 100_000, "a.properties")])
    assert time.process_time() - start < 5
