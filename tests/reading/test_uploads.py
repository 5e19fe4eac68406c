"""Uploads: the account of every row, the limits, what is told and kept; small ones stand in cases.py. And what is written reads back."""

import csv
import io
import json
import re
import sys
from types import SimpleNamespace
from unittest.mock import patch

import openpyxl
import polib
import pytest
from hypothesis import given, strategies as st

from playground.config import Refusal
from playground.reading import filtering, formats as limits, opening, pairs as module, writing
from playground.reading.filtering import ERRORS, Pair, PreviewRow
from playground.reading.formats import Row, program_texts
from playground.reading.opening import load_from_hub, read_stream
from playground.reading.pairs import Pairs, json_parts, report, to_json
from playground.reading.text import normalise
from playground.reading.uploads import read_files, read_sentences
from playground.reading.writing import KINDS, unguard_rows, write
from tests.reading.cases import CASES, PO
from tests.reading.outcomes import clean, named, outcome, read, refusal_of, refused, two

cells = st.text(st.sampled_from('ab"\\é狗𝄞👍 <&'), min_size=1, max_size=30)
CREDIT = "CC-BY 2.0 (France) Attribution: tatoeba.org"
AWKWARD = [
    ("hello", "hallo"), ("=1+1", "+2"), ("-3", "@x"), ("'=x", "''-y"), ("'", "'apostrophe"), ('"quoted"', 'a "b" c'), ('""', '"'),
    ("a, b; c", "x | y"), ("NA", "null"), ("nan", "None"), ("007", "1.50"), ("TRUE", "2024-01-01"), ("#N/A.", "#REF"), ("<s>", "</s>&amp;"),
    ("{{t}}", "{x} %s"), ("\\n", "back\\"), ("_x0041_", "_x005F_x0041_"), ("run", "rennen"), ("run", "laufen"), ("日本", "👩\u200d🔬"),
    ("＝1", "\uff20x"), ("//", "--"), ("[a]", "(b)"), ("http://x.y/?a=b&c", "a\\tb"), ("same", "same"), ("]]>", "<![CDATA["),
]  # fmt: skip
FIRST = [("en", "de"), ("source", "target"), ("word", "Wort"), ("text", "text"), ("formal", "informal"), ("English", "Englisch")]
REMARKS = [[("#", "0"), ("0", "0")], [("# a", "# b"), ("c", "d")], [(f"{n}. a", f"{n}. b") for n in range(1, 9)]]
texts = st.text(st.characters(codec="utf-8") | st.sampled_from("=+-@'\"\t,;|\\_x<&"), min_size=1, max_size=12)
RECORDS = [{"id": str(n), "translation": {"en": f"a {n}", "de": f"b {n}"}} for n in range(5)]


def only_of(formats, sources):
    """Reads as `read_first`; no two readers of one confidence take the same file."""
    tables = [(entry.confidence, table) for entry in formats if (table := entry.read(sources))]
    assert len(dict(tables)) == len(tables)
    return tables[0][1] if tables else None


@pytest.mark.parametrize("title", CASES)
def test_what_becomes_of_a_small_upload(title, monkeypatch):
    monkeypatch.setattr(opening, "read_first", only_of)
    for content, expected, *choices in CASES[title]:
        assert outcome(*(content if isinstance(content, tuple) else (content,)), **dict(*choices)) == expected


def test_every_reason_has_its_lines_and_rows_and_the_report_says_what_is_worth_knowing():
    lines = [
        "source,target", "a,b", "", " , ", ",only target", "only source,", "one column", "Hello, you,Hallo, du", "x" * 10_001 + ",y",
        '"multi', 'line",c', '"open,d', "e,f", '"broken" quote,g', *["schöne Grüße,kind regards"] * 9,
    ]  # fmt: skip
    pairs = read("\n".join(lines).encode() + b"\nbroken \xff byte,h\n")
    assert pairs.pairs[:3] == (("a", "b", 2), ("multi line", "c", 10), ("e", "f", 13))
    assert pairs.dropped == {
        "header": (1,), "blank": (3, 4), "empty_source": (5,), "empty_target": (6,), "one_column": (7,), "extra_columns": (8,),
        "long": (9,), "quote": (12, 14), "damaged": (24,),
    }  # fmt: skip
    pairs = read("source,target\na,b\n" + ",only target\n" * 60 + '"open,d\ne,' + "x" * 999 + ",y\n")
    assert pairs.dropped_rows["header"] == (PreviewRow(1, ("source", "target"), "header"),)
    assert pairs.dropped_rows["empty_source"] == tuple(PreviewRow(line, ("", "only target"), "empty_source") for line in range(3, 53))
    assert pairs.dropped_rows["quote"] == (PreviewRow(63, ('"open,d',), "quote"),)
    assert pairs.dropped_rows["extra_columns"] == (PreviewRow(64, ("e", "x" * 200, "y"), "extra_columns"),)
    assert len(pairs.dropped["empty_source"]) == 60
    first = read("a\tb\n\nc\t\n" + "d\te\n" * 9).preview
    assert first[:3] == (PreviewRow(1, ("a", "b")), PreviewRow(2, ("",), "blank"), PreviewRow(3, ("c", ""), "empty_target"))
    sentences = report(read("a\tb\n" + "\n" * 10 + "c\t\nd\td\n"), "en")
    assert [re.findall(r"\d+", sentence) for sentence in sentences] == [["13", "2", "11"], ["10", *"23456789"], ["1", "12"], ["1", "13"]]
    assert "9, …" in sentences[1]
    notes = read('a,b,z\nsame,same,z\n"x\ny",z,z\nalso,also\n').notes
    assert notes == (
        ("data.note_columns", {"width": 3, "source": "1", "target": "2"}), ("data.note_tall", {"count": 1, "line": 3}),
        ("data.note_same", {"count": 2, "line": 2}),
    )  # fmt: skip
    doubtful = read("".join(f"T{n}\t{'n/a' if n % 2 else 'x' * (n + 1)}\n" for n in range(9))).notes
    often = {"value": "n/a", "count": 4, "of": 9, "line": 2}
    assert doubtful == (("data.note_ids_source", {"example": "T0"}), ("data.note_often_target", often))
    left = "don &apos;t go\tgeh ni@@ cht\nR &amp; B\tein Bier\n"
    assert read(left).notes == (("data.note_bpe", {"count": 1}), ("data.note_moses", {"count": 2}))
    assert [read(left).traces, read(left).undone, read(left, undo=True).undone] == [("bpe", "moses"), False, True]
    assert read(left, undo=True).notes == (("data.note_undone", {"count": 3}),)
    listed = read('{"pairs": [["a", "b"]], "authors": [{"name": "x", "mail": "y"}]}').notes
    assert listed == (("data.note_lists", {"taken": "pairs", "others": "authors"}),)


def test_each_file_has_an_encoding_of_its_own_and_those_scored_together_are_decoded_once():
    chinese, german = "早上好。\n明天见！\n我喜欢看书。\n", "Guten Morgen.\nTschüß!\nIch lese gerne Bücher.\n"
    for choice in ("", "gbk,latin-1", "gbk,", ",latin-1"):
        pairs = read(chinese.encode("gbk"), german.encode("latin-1"), encoding=choice)
        assert two(pairs) == list(zip(chinese.split(), german.splitlines(), strict=True))
        assert [encoding.name for encoding in pairs.encodings] == ["gb18030", "windows-1252"]
        assert [encoding.guessed for encoding in pairs.encodings] == [not part for part in (choice or ",").split(",")]
    joined = [content for cases in CASES.values() for content, expected, *choices in cases if "/item" in expected and not choices]
    for files in (named(*content) if isinstance(content, tuple) else named(content) for content in joined):
        with patch.object(opening, "decode", wraps=opening.decode) as decode:
            assert list(zip(*read_sentences(files), strict=True)) == two(read_files(files))
        assert decode.call_count == 2 * len(files), "once here and once there"


def test_uploads_that_are_too_much(monkeypatch):
    for contents, expected in (
        ([], "!how_many_files count=0"), (["a\tb"] * 3, "!how_many_files count=3"), ([",".join("x" * 5000)], "!too_many_columns"),
        (["x" * 10_001 + "\ty"], "!none_kept_long lines=1 line=1"), (["a\tb\n" + "x" * 100_001], "!endless_line line=2"),
        (["a\r\n" * 400_001], "!too_many_lines"), (["\r\n" * 400_001], "!nothing_inside"),
        ([b"\n" * 9_000_000], "!too_many_lines"), ([b"x" * (20 * 1024 * 1024 + 1)], "!too_large"),
        ([PO + 'msgid "a"\n' + '"xxxxxxxxxx"\n' * 20_000 + 'msgstr "b"'], "!endless_text line=7"),
        ([PO + "# x\n" * 50_000 + 'msgid "a"\nmsgstr "b"'], "!endless_text line=6"),
    ):  # fmt: skip
        assert outcome(*contents) == expected
    assert [read(f'"a"{sign}b\n"{"x" * 100_001}"{sign}y\n"c"{sign}d').dropped for sign in ("\t", ",", " ||| ")] == [{"long": (2,)}] * 3
    monkeypatch.setattr(filtering, "PAIR_LIMIT", 3)
    assert (len(read("a\tb\n" * 3 + "\n").pairs), refused("a\tb\n" * 4).key) == (3, "data.too_many_pairs")
    monkeypatch.setattr(program_texts, "MAX_LINES", 2)
    assert len(read('msgid "a"\nmsgstr "b"\n\n' * 2).pairs) == 2
    assert refused('msgid "a"\nmsgstr "b"\n\n' * 3).key == "data.too_many_items"
    assert read("a\tb\nabc\td\ne\tfgh", max_characters=2).dropped == {"long": (2, 3)}


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=20), st.sampled_from([1, 3, 5000]))
def test_pairs_of_the_largest_size_are_read_and_larger_ones_refused(rows, part):
    content = "\n".join(["source\ttarget", *("\t".join(row) for row in rows), "alone\t"]).encode()
    try:
        pairs = read_files([("a.tsv", content)])
    except Refusal:  # nothing but spaces
        return
    plain = json.dumps(to_json(pairs) | {"pairs": pairs.pairs}, ensure_ascii=False, separators=(",", ":")).encode()
    with patch.object(module, "_PART", part):
        assert b"".join(json_parts(pairs)) == plain
    with patch.object(limits, "JSON_LIMIT", len(plain)):
        assert read_files([("a.tsv", content)]) == pairs
    with patch.object(limits, "JSON_LIMIT", len(plain) - 1), pytest.raises(Refusal) as refusal:
        read_files([("a.tsv", content)])
    values = {"name": "a.tsv", "size": "0.1", "limit": f"{(len(plain) - 1) / 1e6:g}"}  # of sizes the next tenth
    assert (refusal.value.key, refusal.value.values) == ("data.too_large_to_keep", values)


@given(st.lists(st.tuples(st.text(st.sampled_from("ab e\u0301é"), max_size=3), st.sampled_from("xyz")), max_size=20))
def test_references_are_what_a_search_through_all_pairs_finds(rows):
    pairs = Pairs(tuple(Pair(src, tgt, line) for line, (src, tgt) in enumerate(rows, 1)), {}, len(rows), "tsv", ("a.tsv",))
    sources = {normalise(src) for src, _ in rows}
    assert pairs.references == {source: tuple(dict.fromkeys(tgt for src, tgt in rows if normalise(src) == source)) for source in sources}


def content(files) -> bytes:
    return files[0][1]


def back(files):
    return read_files([file for file in files if file[0] != "_about.txt"])


@pytest.mark.parametrize("kind", KINDS)
def test_awkward_pairs_read_back(kind):
    for credit in ("", CREDIT):
        pairs = back(write(AWKWARD, kind, credit))
        assert (two(pairs), pairs.chosen, pairs.credit) == (AWKWARD, (0, 1), (credit if kind not in ("bars", "two_files") else ""))
    for first in FIRST:  # which could name columns
        for below in ([("a", "b")], [("a b", "c d"), ("e f", "g h")], [first, first]):
            assert two(back(write([first, *below], kind))) == [first, *below]
    for remarks in REMARKS:
        assert two(back(write(remarks, kind))) == remarks
    if kind == "po":
        file = polib.pofile(content(write(AWKWARD, "po", CREDIT)).decode())
        assert [(entry.msgid, entry.msgstr) for entry in file] == AWKWARD
        assert (len({(entry.msgid, entry.msgctxt) for entry in file}), file.metadata["X-Credit"]) == (len(AWKWARD), CREDIT)


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


@pytest.mark.parametrize("kind", KINDS)
@given(pairs=st.lists(st.tuples(texts, texts), min_size=1, max_size=6))
def test_read_of_write_is_normalise(kind, pairs):
    expected = [pair for pair in clean(pairs) if ERRORS.isdisjoint(pair)]
    if expected and not (kind == "bars" and any("|||" in text for pair in expected for text in pair)):
        assert two(back(write(pairs, kind))) == expected


def library(monkeypatch, load) -> list:
    """A stand-in for the library, and its calls."""
    calls = []
    load_dataset = lambda *arguments, **options: (calls.append((arguments, options)), load())[1]  # noqa: E731
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    monkeypatch.setattr(opening, "_is_reachable", lambda: True)
    return calls


def cells_of(table) -> list:
    return [row.cells for row in table.rows]


class Stream(list):
    """As the library streams rows, with pictures that may be left as they are."""

    info, features = SimpleNamespace(license="cc-by-4.0"), ("image",)

    def decode(self, wanted):
        assert wanted is False
        return [{"src": "a", "tgt": "b", "image": {"bytes": b"\x89PNG", "path": "x.png"}}]


def test_all_columns_and_only_the_first_rows_are_read(monkeypatch):
    library(monkeypatch, Stream)
    table = load_from_hub("a/b")
    assert (table.credit, cells_of(table)[0][:2]) == ("huggingface.co/datasets/a/b (cc-by-4.0)", ["a", "b"])
    calls = library(monkeypatch, lambda: iter(RECORDS))
    for written in ("{}", " {}\n", "https://huggingface.co/datasets/{}/"):
        table = load_from_hub(written.format("Helsinki-NLP/opus_books"), "de-en")
        assert (table.kind, table.unit, table.columns, table.pair, table.notes) == ("hub", "item", ("en", "de", "id"), None, ())
        assert cells_of(table) == [[f"a {n}", f"b {n}", str(n)] for n in range(5)]
        assert table.credit == "huggingface.co/datasets/Helsinki-NLP/opus_books"
        assert calls.pop() == (("Helsinki-NLP/opus_books", "de-en"), {"split": "train", "streaming": True, "token": False})
    stream = iter(RECORDS)
    table = read_stream(stream, "x", rows=2)
    assert (len(table.rows), table.notes, len(list(stream))) == (2, (("data.note_first_rows", {"rows": 2}),), 2)
    assert read_stream(RECORDS, "x", rows=5).notes == ()


def test_what_is_no_name_an_error_of_the_library_and_what_is_missing_become_refusals(monkeypatch, tmp_path):
    def stream(first, error):
        yield from first
        raise error

    for error, key, values in (
        (type("DatasetNotFoundError", (FileNotFoundError,), {})("It doesn't exist."), "data.hub_unknown", {}),
        (RuntimeError("Dataset scripts are no longer supported, but found b.py"), "data.hub_script", {}),
        (ConnectionError("Couldn't reach 'a/b' on the Hub (ConnectError)"), "data.hub_away", {}),
        (ValueError("Config name is missing.\nPlease pick one among the available configs: ['de-en', 'de-fr']\nExample:\n\t`f('a/b')`"),
         "data.hub_config", {"configs": "de-en, de-fr"}),
        (ValueError("BuilderConfig 'c' not found. Available: ['de-en']"), "data.hub_config", {"config": "c", "configs": "de-en"}),
        (ValueError("Bad split: s. Available splits: ['train', 'test']"), "data.hub_split", {"split": "s", "splits": "train, test"}),
        (KeyError("what"), "data.hub_failed", {}),
    ):  # fmt: skip
        for failing in (lambda error=error: next(stream([], error)), lambda error=error: stream(RECORDS, error)):  # at once, or while read
            library(monkeypatch, failing)
            refused = refusal_of(load_from_hub, "a/b", "c", "s")
            assert refused.key == key
            assert values.items() <= refused.values.items()
    library(monkeypatch, lambda: iter([]))
    assert refusal_of(load_from_hub, "a/b").key == "data.hub_empty"
    calls = library(monkeypatch, lambda: iter(RECORDS))
    for dataset in ("", "squad", "../etc", "a/..", "a/b/c", "/etc/passwd", "a b/c", "http://x/y", "é/a", "a" * 200 + "/b"):
        assert refusal_of(load_from_hub, dataset).key == "data.hub_id", dataset
    (tmp_path / "a" / "b").mkdir(parents=True)
    with monkeypatch.context() as patch:
        patch.chdir(tmp_path)
        assert refusal_of(load_from_hub, "a/b").key == "data.hub_unknown"  # a folder here is no data set
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "datasets", None)
        assert refusal_of(load_from_hub, "a/b").key == "data.hub_missing"
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=lambda *a, **o: calls.append(a)))
    monkeypatch.setattr(opening, "getproxies", dict)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert refusal_of(load_from_hub, "a/b").key == "data.hub_away"
    assert not calls
