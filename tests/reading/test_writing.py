"""Truths about writing: what was written reads back as the same pairs, and nothing in it is a formula for a spreadsheet."""

import csv
import io
import json

import openpyxl
import polib
import pytest
from hypothesis import given, strategies as st

from playground.reading import writing
from playground.reading.filtering import ERRORS
from playground.reading.formats.table import Row
from playground.reading.uploads import read_files
from playground.reading.writing import KINDS, unguard_rows, write
from tests.reading.outcomes import clean, refusal_of, two

CREDIT = "CC-BY 2.0 (France) Attribution: tatoeba.org"
AWKWARD = [
    ("hello", "hallo"), ("=1+1", "+2"), ("-3", "@x"), ("'=x", "''-y"), ("'", "'apostrophe"), ('"quoted"', 'a "b" c'), ('""', '"'),
    ("a, b; c", "x | y"), ("NA", "null"), ("nan", "None"), ("007", "1.50"), ("TRUE", "2024-01-01"), ("#N/A.", "#REF"), ("<s>", "</s>&amp;"),
    ("{{t}}", "{x} %s"), ("\\n", "back\\"), ("_x0041_", "_x005F_x0041_"), ("run", "rennen"), ("run", "laufen"), ("日本", "👩\u200d🔬"),
    ("＝1", "\uff20x"), ("//", "--"), ("[a]", "(b)"), ("http://x.y/?a=b&c", "a\\tb"), ("same", "same"), ("]]>", "<![CDATA["),
]  # fmt: skip


def content(files) -> bytes:
    return files[0][1]


def back(files):
    """Reads the files that hold pairs."""
    return read_files([file for file in files if file[0] != "_about.txt"])


FIRST = [("en", "de"), ("source", "target"), ("word", "Wort"), ("text", "text"), ("formal", "informal"), ("English", "Englisch")]
REMARKS = [[("#", "0"), ("0", "0")], [("# a", "# b"), ("c", "d")], [(f"{n}. a", f"{n}. b") for n in range(1, 9)]]


@pytest.mark.parametrize("kind", KINDS)
def test_awkward_pairs_read_back(kind):
    for credit in ("", CREDIT):
        pairs = back(write(AWKWARD, kind, credit))
        assert (two(pairs), pairs.chosen) == (AWKWARD, (0, 1))
        assert pairs.credit == (credit if kind not in ("bars", "two_files") else "")
    for first in FIRST:  # which could name columns
        for below in ([("a", "b")], [("a b", "c d"), ("e f", "g h")], [first, first]):
            assert two(back(write([first, *below], kind))) == [first, *below]
    for remarks in REMARKS:
        assert two(back(write(remarks, kind))) == remarks
    if kind == "po":
        file = polib.pofile(content(write(AWKWARD, "po", CREDIT)).decode())
        assert [(entry.msgid, entry.msgstr) for entry in file] == AWKWARD
        assert len({(entry.msgid, entry.msgctxt) for entry in file}) == len(AWKWARD)
        assert file.metadata["X-Credit"] == CREDIT


def test_texts_by_hand_what_a_kind_can_not_hold_and_that_nothing_is_a_formula_for_a_spreadsheet(monkeypatch):
    pairs = [("a", "b"), ('"c', "d, e")]
    assert write(pairs[:1], "tsv") == [("pairs.tsv", b"source\ttarget\na\tb\n")]
    assert write(pairs[:1], "tsv", "CC0") == [("pairs.tsv", b"source\ttarget\tcredit\na\tb\tCC0\n")]
    assert content(write(pairs, "tsv")) == b'"source"\t"target"\n"a"\t"b"\n"""c"\t"d, e"\n'
    assert content(write(pairs, "csv")) == b'\xef\xbb\xbf"source","target"\r\n"a","b"\r\n"""c","d, e"\r\n'
    assert content(write(pairs, "bars")) == b'a ||| b\n"c ||| d, e\n'
    assert write(pairs, "two_files") == [("source.txt", b'a\n"c\n'), ("target.txt", b"b\nd, e\n")]
    assert json.loads(content(write(pairs, "json"))) == [{"source": "a", "target": "b"}, {"source": '"c', "target": "d, e"}]
    assert json.loads(content(write(pairs[:1], "json", "CC0"))) == {"credit": "CC0", "data": [{"source": "a", "target": "b"}]}
    assert [write(pairs, kind, "CC0")[-1] for kind in ("bars", "two_files")] == [("_about.txt", b"CC0\n")] * 2, "no room within"
    assert content(write(pairs[:1], "jsonl", "CC0")) == b'{"source": "a", "target": "b", "credit": "CC0"}\n'
    monkeypatch.setattr(writing, "SHEET_LIMIT", 2)
    for pairs, kind, key in (
        ([("a", "b"), ("c|||", "d")], "bars", "data.bars_inside"), ([("a", "b")] * 3, "xlsx", "data.too_many_for_sheet"),
    ):  # fmt: skip
        assert refusal_of(write, pairs, kind).key == key
    monkeypatch.undo()
    for kind, delimiter in (("csv", ","), ("tsv", "\t")):
        text = content(write(AWKWARD, kind, "=credit()")).decode("utf-8-sig")
        cells = [cell for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) for cell in row]
        assert len(cells) == 3 * (len(AWKWARD) + 1)
        assert not [cell for cell in cells if cell[:1] in "=+-@\t\r＝＋－＠"]
    sheet = openpyxl.load_workbook(io.BytesIO(content(write(AWKWARD, "xlsx")))).active
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} == {"s"}
    assert [cell.value for cell in sheet["A"][:4]] == ["source", "hello", "=1+1", "-3"]
    assert two(read_files([("x.tsv", b"source\ttarget\n'=a\tb\n'-c\td\n")])) == [("'=a", "b"), ("'-c", "d")], "of others"
    assert [row.cells for row in unguard_rows([Row(2, ["'=a", "b"])])] == [["'=a", "b"]]


texts = st.text(st.characters(codec="utf-8") | st.sampled_from("=+-@'\"\t,;|\\_x<&"), min_size=1, max_size=12)


@pytest.mark.parametrize("kind", KINDS)
@given(pairs=st.lists(st.tuples(texts, texts), min_size=1, max_size=6))
def test_read_of_write_is_normalise(kind, pairs):
    expected = [pair for pair in clean(pairs) if ERRORS.isdisjoint(pair)]
    if expected and not (kind == "bars" and any("|||" in text for pair in expected for text in pair)):
        assert two(back(write(pairs, kind))) == expected
