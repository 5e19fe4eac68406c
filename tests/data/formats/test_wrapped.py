"""Tables in wrappings of their own, and what looks like one."""

import pytest

from playground.config import Refusal
from playground.data.formats.table import Source
from playground.data.formats.wrapped import read_wrapped
from playground.data.uploads import read_files

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


@pytest.mark.parametrize("head", ["", "translation\n", '"translation"\n'])
def test_dictionaries_of_python(head):
    lines = [quoted(str({"en": src, "de": tgt})) for src, tgt in PAIRS]
    found = read_files([("a.csv", (head + "\n".join(lines)).encode())])
    assert [(src, tgt) for src, tgt, _ in found.pairs] == PAIRS
    assert sum(map(len, found.dropped.values())) + len(found.pairs) == found.lines


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


@pytest.mark.parametrize(
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
