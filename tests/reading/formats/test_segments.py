"""Truths about segments: files of test sets, joined by document and number."""

import pytest

from playground.config import Refusal
from playground.reading.formats import segments
from playground.reading.formats.table import Source


def table_of(*contents: str, named=("file1", "file2")):
    return segments.read_segments([Source(name, text.encode(), text.split("\n")) for text, name in zip(contents, named, strict=False)])


def refused(*contents: str) -> str:
    with pytest.raises(Refusal) as raised:
        table_of(*contents)
    return raised.value.key


def campaign(kind: str, language: str, *texts: str, doc: str = "7") -> str:
    said = "".join(f'<seg id="{number}"> {text} </seg>\n' for number, text in enumerate(texts, 1))
    attribute = {"srcset": "srclang", "refset": "trglang"}.get(kind, "lang")
    body = f'<doc docid="{doc}">\n<url>u</url>\n{said}</doc>'
    return f'<?xml version="1.0"?>\n<mteval>\n<{kind} setid="x" {attribute}="{language}">\n{body}\n</{kind}>\n</mteval>\n'


def test_segments_of_two_files():
    one, two = campaign("srcset", "de", "Vielen Dank.", "A &amp; B", "nur hier"), campaign("refset", "en", "Thanks.", "A & B")
    table = table_of(one, two)
    assert (table.kind, table.columns, table.pair, table.unit) == ("segments", ("de", "en"), (0, 1), "item")
    assert list(table.rows) == [
        (1, [" Vielen Dank. ", " Thanks. "], "", 1),
        (2, [" A & B ", " A & B "], "", 1),
        (3, [" nur hier ", ""], "", 1),
    ]
    assert table_of(two, one).pair == (1, 0)
    assert [row.cells for row in table_of(campaign("doc_", "", "a", "b"), campaign("doc_", "", "c", "d", doc="other")).rows] == [
        [" a ", " c "],
        [" b ", " d "],
    ]  # documents of other names are joined by their order


def test_segments_of_xml_that_comes_without_lines():
    files = [campaign("srcset", "de", "Grüße"), campaign("refset", "zh", "你好")]
    table = segments.read_segments([Source(f"file{n}", content.encode(), []) for n, content in enumerate(files)])
    assert [row.cells for row in table.rows] == [[" Grüße ", " 你好 "]]
    assert segments.read_segments([Source("x", b"PK<seg id=1>", [])]) is None


def test_segments_of_several_documents_in_another_order():
    one = '<doc docid="a"><seg id="1">a1</seg><seg id="2">a2</seg></doc><doc docid="b"><seg id="1">b1\nb1</seg></doc>'
    two = '<DOC docid="b"><SEG id="1">B1</SEG></DOC>\n<DOC docid="a"><hl><seg id="2">A2</seg></hl><seg id=1>A1</DOC>'
    table = table_of(one, two, named=("x.de.sgm", "x.en.sgm"))
    assert (table.columns, table.pair) == (("de", "en"), None)
    assert [row.cells for row in table.rows] == [["a1", "A1"], ["a2", "A2"], ["b1\nb1", "B1"]]


def test_segments_of_one_file():
    content = """<?xml version='1.0' encoding='utf-8'?><dataset id="newstest"><doc id="d1" origlang="en">
<src lang="en"><p><seg id="1">Hello.</seg><seg id="2">Bye.</seg></p></src>
<ref lang="de" translator="A"><p><seg id="1">Hallo.</seg><seg id="2">Tschüss.</seg></p></ref></doc>
<doc id="d2"><src lang="en"><seg id="1">Yes</seg></src><ref lang="de" translator="A"><seg id="1">Ja</seg></ref></doc></dataset>"""
    table = table_of(content)
    assert (table.columns, table.pair) == (("en", "de"), (0, 1))
    assert [row.cells for row in table.rows] == [["Hello.", "Hallo."], ["Bye.", "Tschüss."], ["Yes", "Ja"]]


def test_what_segments_are_refused_for(monkeypatch):
    assert refused(campaign("srcset", "de", "a")) == "data.one_side"
    other = campaign("refset", "en", "b").replace('seg id="1"', 'seg id="9"')
    assert refused(campaign("srcset", "de", "a"), other) == "data.no_common_segments"
    monkeypatch.setattr(segments, "MAX_LINES", 3)
    assert refused("<seg id=1>\n" * 4) == "data.too_many_lines"
    assert table_of("<tmx><tu><tuv><seg>a</seg></tuv></tu></tmx>") is None
