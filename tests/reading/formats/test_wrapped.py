"""Tables in wrappings of their own, and what looks like one."""

import csv
import io
import json

import pytest

from playground.config import Refusal
from playground.reading.formats.table import Source
from playground.reading.formats.wrapped import read_wrapped
from playground.reading.uploads import read_files
from tests.thoroughness import every_case

PAIRS = [("Hello, world!", "Hallo, Welt!"), ("It's me.", "Ich bin's."), ('"Yes" or no?', "Ja oder nein?")]


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def pairs_of(text: str, name: str = "a.csv") -> list[tuple[str, str]]:
    return [(src, tgt) for src, tgt, _ in read_files([(name, text.encode())]).pairs]


@pytest.mark.parametrize("head", ["", '"english,german"\n'])
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_lines_quoted_as_a_whole(head, delimiter):
    lines = [quoted(delimiter.join(map(quoted, pair))) for pair in PAIRS]
    text = head.replace(",", delimiter) + "\n".join(lines)
    assert pairs_of(text) == PAIRS


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", ", "])
def test_cells_in_single_quotes(delimiter):
    lines = [delimiter.join("'" + cell.replace("'", "''") + "'" for cell in pair) for pair in PAIRS]
    assert pairs_of("\n".join(lines)) == PAIRS
    assert pairs_of("\n".join(lines).replace("''", "\\'")) == PAIRS


WRITERS = {"json": lambda src, tgt: json.dumps({"en": src, "de": tgt}), "python": lambda src, tgt: str({"en": src, "de": tgt})}


@every_case("head", ["", "translation\n", '"translation"\n'])
@every_case("written", WRITERS)
@every_case("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
@every_case("delimiter", [",", ";", "\t"])
def test_lines_of_dictionaries(head, written, quoting, delimiter):
    content = table([[WRITERS[written](*pair)] for pair in PAIRS], delimiter, quoting)
    found = read_files([("a.csv", (head + content).encode())])
    assert [(src, tgt) for src, tgt, _ in found.pairs] == PAIRS
    assert found.dropped == ({"header": (1,)} if head else {})
    assert found.lines == len(PAIRS) + bool(head)


def table(rows: list[list[str]], delimiter: str = ",", quoting: int = csv.QUOTE_MINIMAL) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator="\n").writerows(rows)
    return file.getvalue()


@every_case("head", [[], ["", "translation"], ["id", "translation"]])
@every_case("written", WRITERS)
@every_case("delimiter", [",", ";", "\t"])
def test_a_column_of_dictionaries(head, written, delimiter):
    rows = [[str(n), WRITERS[written](*pair)] for n, pair in enumerate(PAIRS)]
    found = read_files([("a.csv", table([head] * bool(head) + rows, delimiter).encode())])
    assert [(src, tgt) for src, tgt, _ in found.pairs] == PAIRS
    assert found.dropped == ({"header": (1,)} if head else {})
    assert [column.name for column in found.columns] == ["en", "de", (head or [""])[0] or "1"]


def test_what_else_stands_in_a_column_of_dictionaries():
    rows = [
        ["id", "translation"],
        *([str(n), WRITERS["python"](f"a{n}", f"b{n}")] for n in range(30)),
        ["x", "{'en': open('x')}"],
        [""],
        ["y", ""],
    ]
    found = read_files([("a.csv", table(rows).encode())])
    assert [pair[:2] for pair in found.pairs] == [(f"a{n}", f"b{n}") for n in range(30)]
    assert found.dropped == {"header": (1,), "broken": (32,), "blank": (33,), "empty_source": (34,)}


def test_a_dictionary_that_is_none_is_named():
    lines = [quoted(str({"en": src, "de": tgt})) for src, tgt in PAIRS]
    lines[1] = quoted("{'en': open('x')}")
    found = read_files([("a.csv", "\n".join(lines).encode())])
    assert [(src, tgt) for src, tgt, _ in found.pairs] == [PAIRS[0], PAIRS[2]]
    assert found.dropped == {"broken": (2,)}


@pytest.mark.parametrize("text", ["<!DOCTYPE html><p>a\tb", "\n  <html lang=en>\n<td>a</td>"])
def test_a_web_page_is_refused(text):
    with pytest.raises(Refusal) as refused:
        read_files([("page.html", text.encode())])
    assert refused.value.key == "data.web_page"


@every_case(
    "lines",
    [
        [], [""], ["a"], ["'a'", "'b'"], ["'a','b'", "c,d"], ['"a"', '"b"'], ["\"a\",\"b\"", '"c","d"'], ['"a', 'b"'], ["'", "'"],
        ['"', '"'],
        ["{'a': 1}", "{'a': 2}"], ["'twas, he said'", "'tis, she said'"],
    ],
)  # fmt: skip
def test_other_files_are_left_to_others(lines):
    assert read_wrapped([Source("a.csv", "\n".join(lines).encode(), lines)]) is None


def test_deep_and_endless_dictionaries_end():
    deep = '"{' + "'a': {" * 3000 + '"'
    for cell in (deep, '"{' + "'a': 9" * 4000 + '"', "\"{'a': " + "9" * 9000 + '}"'):
        with pytest.raises(Refusal):
            read_files([("a.csv", "\n".join([cell] * 3).encode())])
