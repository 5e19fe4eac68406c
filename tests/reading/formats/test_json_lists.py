"""JSON: what has no pairs is refused where it is wrong, whatever its size; the common shapes stand in tests/reading/cases.py."""

import json

from hypothesis import given
from hypothesis import strategies as st

from playground.reading.formats import items
from playground.reading.formats.json_lists import read_json
from playground.reading.formats.table import Source
from tests.reading.outcomes import named, outcome, read, read_or_refused, refused


def test_values_as_a_person_sees_them():
    for value, seen in (
        *((same, same) for same in ("7", "1.50", "-0.0", "1E400", "9" * 5000, "true", "false", "Infinity")), ("null", ""), ("[]", ""),
        ("{}", ""), ("NaN", ""), ('"null"', "null"), ('"\\u00e9\\n"', "é\n"), ('"\\ud800x"', "\ud800x"), ('"raw\ttab"', "raw\ttab"),
        ('"\\ud83d\\ude00"', "😀"), ('"NA"', "NA"),
    ):  # fmt: skip
        text = f'[{{"src": "a", "tgt": {value}}}, {{"src": "c", "tgt": "d"}}]'
        assert [row.cells for row in read_json([Source("a.json", text.encode(), [text])]).rows] == [["a", seen], ["c", "d"]]


def test_broken_documents_are_refused_with_line_and_column():
    for content, line, column in (
        ('[\n  ["a", "b"],\n  ["c", "d"],\n]', 4, 1), ('[["a", "b"]] // pairs\n', 1, 14), ('// pairs\n[["a", "b"]]', 1, 1),
        ("[['a', 'b']]", 1, 3), ('[\n["a", "b"]\n"c"\n]', 3, 1), ('[{"en": "a", "de": "b"},\n {"en": "c", "de": "d"},\n {"en": "tr', 3, 9),
        ('{"en": "a"', 1, 11), ('[["a", "b"], ["c", "d"', 1, 23),
    ):  # fmt: skip
        refusal = refused({"pairs.json": content})
        assert (refusal.key, refusal.values["line"]) == ("data.json_broken", line)
        assert abs(refusal.values["column"] - column) <= 2  # versions of Python differ in where they see a trailing comma


def test_documents_that_are_too_much():
    for content, key in (
        ("[" * 100_000, "data.json_deep"), ('{"a":' * 5000, "data.json_deep"), ("[" + "1," * 2_100_000 + "1]", "data.too_many_values"),
        (json.dumps([{f"k{n}": "x" for n in range(65)}]), "data.too_many_columns"),
        (json.dumps([{"src": "a" * 9000, "tgt": ["b"] * 6000}]), "data.unpacked_too_large"),
    ):  # fmt: skip
        assert refused({"a.json": content}).key == key


def test_too_many_items(monkeypatch):
    monkeypatch.setattr(items, "MAX_LINES", 3)
    pair = '["a", "b"]'
    assert outcome(f"[{pair}, {pair}, {pair}]") == "json/item: a→b · a→b · a→b"
    for content in (f"[{', '.join([pair] * 4)}]", '[["a", ["b", "b", "b", "b"]]]', "\n".join([pair] * 4)):
        assert refused(content).key == "data.too_many_items"
    for limit, is_read in ((6, True), (5, False)):  # six characters in all
        monkeypatch.setattr(items, "UNPACKED_LIMIT", limit)
        assert (outcome("\n".join([pair] * 3)) == "json_lines: a→b · a→b · a→b") == is_read


def test_what_is_too_long_or_too_deep_costs_itself():
    assert outcome(json.dumps([["a" * 10_000_000, "b"], ["c", "d"]])) == "json/item: (long) · c→d"
    assert outcome(f'["a", "b"]\n{"[" * 100_000}\n["c", "d"]') == "json_lines: a→b · (broken) · c→d"
    assert outcome(json.dumps([{"src": "a", "tgt": "b", "context": "x" * 20_000}])) == "json/item src→tgt: a→b +columns"
    assert len(read(json.dumps([["[,{" * 40, '\\",' * 40]] * 3)).pairs) == 3  # signs in strings are no values


names = st.sampled_from(["en", "de", "src", "tgt", "data", "x"]) | st.text(max_size=3)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_any_document_is_read_or_refused(value):
    read_or_refused(named({"a.json": json.dumps(value)}))
