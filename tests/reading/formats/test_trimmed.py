"""Truths about what stands around the lines of a file: remarks before them, and numbers that count them."""

import pytest

from playground.reading.uploads import Pairs, read_files, report
from playground.words import LANGUAGES

LINES = "Hund\tdog\nKatze\tcat\nKuh\tcow\n"
PAIRS = [("Hund", "dog"), ("Katze", "cat"), ("Kuh", "cow")]


def read(*contents: str) -> Pairs:
    return read_files([(f"file{n}.txt", content.encode()) for n, content in enumerate(contents, 1)])


def two(pairs: Pairs) -> list[tuple[str, str]]:
    return [pair[:2] for pair in pairs.pairs]


@pytest.mark.parametrize(
    ("content", "dropped"),
    [
        ("# a database\tcompiled by me\n# date\t2015\n\n" + LINES, {"header": (1, 2), "blank": (3,)}),
        ("\n# a\n\n# b\n" + LINES, {"header": (2, 4), "blank": (1, 3)}),
        ("# from example.org\nDeutsch\tEnglisch\n" + LINES, {"header": (1, 2)}),
        ("# Version :: 1.8\n" + LINES.replace("\t", " :: "), {"header": (1,)}),
        ("# x, y\n" + LINES.replace("\t", ","), {"header": (1,)}),
        ("# Words\n\n| Deutsch | Englisch |\n|---|---|\n" + LINES.replace("\t", " | "), {"header": (1, 3, 4), "blank": (2,)}),
    ],
)
def test_remarks_before_the_lines(content, dropped):
    pairs = read(content)
    assert two(pairs) == PAIRS
    assert pairs.dropped == dropped
    assert len(pairs.pairs) + sum(map(len, dropped.values())) == pairs.lines
    assert [pair.line for pair in pairs.pairs] == [
        content.split("\n").index(line) + 1 for line in content.split("\n") if line[:1] in "HK" and line
    ]


def test_a_licence_in_a_remark_is_the_credit():
    assert read("# some words\n# License\tCC-BY 2.0\n" + LINES).credit == "License CC-BY 2.0"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("#one\teins\n#two\tzwei\n", [("#one", "eins"), ("#two", "zwei")]),
        ("# one\teins\n" + LINES + "# two\tzwei\n", [("# one", "eins"), *PAIRS, ("# two", "zwei")]),
        ("#\tDeutsch\tEnglisch\n1\tHund\tdog\n2\tKatze\tcat\n3\tKuh\tcow\n", PAIRS),  # the name of a column
    ],
)
def test_lines_that_are_no_remarks(content, expected):
    assert two(read(content)) == expected


@pytest.mark.parametrize(
    "content",
    [
        "1. Hund\tdog\n2. Katze\tcat\n3. Kuh\tcow\n", "1) Hund - dog\n2) Katze - cat\n\n3) Kuh - cow\n",
        "1. Hund\t1. dog\n2. Katze\t2. cat\n3. Kuh\t3. cow\n", "# list\n1. Hund,dog\n2. Katze,cat\n3. Kuh,cow\n",
    ],
)  # fmt: skip
def test_numbers_that_count_the_lines(content):
    pairs = read(content)
    assert two(pairs) == PAIRS
    assert ("data.note_numbers", {}) in pairs.notes
    assert all(len(report(pairs, language)) > 1 for language in LANGUAGES)


def test_numbers_that_count_the_lines_of_two_files():
    assert two(read("1. Hund\n2. Katze\n3. Kuh\n", "1) dog\n2) cat\n3) cow\n")) == PAIRS
    assert two(read("1. Hund\n2. Katze\n3. Kuh\n", "dog\ncat\ncow\n"))[0] == ("1. Hund", "dog")  # they may belong to the text


@pytest.mark.parametrize("content", ["1. Hund\tdog\n2. Katze\tcat\n4. Kuh\tcow\n", "1. a\tb\n2. c\td\n", "1.5 a\tb\n2.5 c\td\n3.5 e\tf\n"])
def test_numbers_that_count_nothing_stay(content):
    pairs = read(content)
    assert two(pairs) == [tuple(line.split("\t")) for line in content.split("\n")[:-1]]
    assert not pairs.notes
