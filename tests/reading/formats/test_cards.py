"""Truths about cards and entries: Quizlet's sets with a sign between the cards, and dictionaries made like CEDICT."""

import pytest

from playground.reading.formats.cards import read_cards, read_entries
from playground.reading.uploads import read_files
from tests.reading.formats.aligned import source
from tests.thoroughness import every_case

CARDS = [["Hello, you", "Hallo, du"], ["Bye", "Tschüss"], ["Dog", "Hund"]]


@pytest.mark.parametrize(
    "content",
    ["Hello, you\tHallo, du;Bye\tTschüss;Dog\tHund", "Hello, you\tHallo, du;\nBye\tTschüss;\nDog\tHund;\n",
     "Hello, you\tHallo, du;Bye\tTschüss;Dog\tHund;\n\n"],
)  # fmt: skip
def test_cards_with_tabs(content):
    table = read_cards([source(content)])
    assert (table.kind, table.unit) == ("cards", "item")
    assert [(row.line, row.cells) for row in table.rows] == list(enumerate(CARDS, 1))


def test_cards_with_commas_on_one_line():
    assert [row.cells for row in read_cards([source("a,b;c,d;e,f")]).rows] == [["a", "b"], ["c", "d"], ["e", "f"]]


@every_case(
    "content",
    [
        "a\tb\nc\td", "a\tb; x\nc\td; y", "a\tb;c\td", "a,b;c,d\ne,f;g,h", "Well, yes; no, no; so, so", "a;b;c", ";\n;", "", "a\tb;c\td;e",
        "1;a\tb\n2;c\td",
    ],
)  # fmt: skip
def test_what_is_no_set_of_cards(content):
    assert read_cards([source(content)]) is None
    assert read_cards([source("a\tb;"), source("c\td;")]) is None


def test_a_dictionary():
    content = "# CC-CEDICT\n#! license=CC BY-SA\n漢語 汉语 [Han4 yu3] /Chinese/the language/\n狗 狗 [gou3] /dog/\n"
    pairs = read_files([("cedict_ts.u8", content.encode())])
    assert pairs.pairs == (("汉语", "Chinese; the language", 3), ("狗", "dog", 4))
    assert (pairs.kind, pairs.dropped, pairs.credit) == ("entries", {"header": (1, 2)}, "license=CC BY-SA")
    table = read_entries([source("犬 [いぬ] /(n) dog/\n" * 9 + "\nno entry")])
    assert [row.fault or row.cells for row in table.rows][8:] == [["犬", "(n) dog", "犬", "いぬ"], [""], "broken"]
    assert read_entries([source("犬 dog\n")]) is None
    assert read_entries([source("")]) is None
