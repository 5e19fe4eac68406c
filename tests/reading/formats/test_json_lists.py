"""Truths about JSON: every common shape of pairs is read in full, and what is none is refused where it is wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.config import Refusal
from playground.reading.formats import items
from playground.reading.formats.json_lists import read_json
from playground.reading.formats.table import Source
from playground.reading.formats.values import Number
from playground.words import LANGUAGES
from tests.thoroughness import every_case, examples_at_night


def source(text: str, name: str = "file.json") -> Source:
    return Source(name, text.encode("utf-8", "surrogatepass"), text.split("\n"))


def read(value, name: str = "file.json"):
    return read_json([source(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), name)])


def rows(table) -> list:
    return [(row.line, row.fault or row.cells) for row in table.rows]


def refusal(value, name: str = "file.json") -> Refusal:
    with pytest.raises(Refusal) as refused:
        read(value, name)
    assert all(refused.value.say(language) for language in LANGUAGES)
    return refused.value


AB, CD = ["a", "b"], ["c", "d"]
TWO = [(1, AB), (2, CD)]

# shape: (document, columns, pair, rows)
SHAPES = {
    "the Hub's translations": (
        [{"translation": {"en": "a", "de": "b"}}, {"translation": {"en": "c", "de": "d"}}], ("en", "de"), None, TWO,
    ),
    "the Hub's translations with ids": (
        [{"id": "0", "translation": {"en": "a", "de": "b"}}, {"id": "1", "translation": {"en": "c", "de": "d"}}],
        ("en", "de", "id"), None, [(1, ["a", "b", "0"]), (2, ["c", "d", "1"])],
    ),
    "translations in variable languages": (
        [{"translation": {"language": ["de", "en", "de"], "translation": ["die Katze", "the cat", "der Kater"]}}],
        ("de", "en"), None, [(1, ["die Katze", "the cat"]), (1, ["der Kater", "the cat"])],
    ),
    "rows of the datasets server": (
        {"features": [{"feature_idx": 0, "name": "translation"}], "rows": [
            {"row_idx": 0, "row": {"translation": {"en": "a", "de": "b"}}, "truncated_cells": []},
            {"row_idx": 1, "row": {"translation": {"en": "c", "de": "…"}}, "truncated_cells": ["translation"]},
        ]},
        ("en", "de"), None, [(1, AB), (2, "broken")],
    ),
    "src and tgt": ([{"src": "a", "tgt": "b"}, {"src": "c", "tgt": "d"}], ("src", "tgt"), (0, 1), TWO),
    "target before source": ([{"target": "b", "source": "a"}, {"target": "d", "source": "c"}], ("source", "target"), (0, 1), TWO),
    "text and target": ([{"id": 7, "text": "a", "target": "b"}], ("text", "target", "id"), (0, 1), [(1, ["a", "b", "7"])]),
    "input and output": ([{"input": "a", "output": "b"}], ("input", "output"), (0, 1), [(1, AB)]),
    "prompt and completion": (
        [{"prompt": "a", "completion": "b"}, {"prompt": "c", "completion": "d"}],
        ("prompt", "completion"), (0, 1), TWO,
    ),
    "instruction and output, empty inputs": (
        [{"instruction": "a", "input": "", "output": "b"}, {"instruction": "c", "input": "", "output": "d"}],
        ("instruction", "output", "input"), (0, 1), [(1, ["a", "b", ""]), (2, ["c", "d", ""])],
    ),
    "the same instruction everywhere": (
        [{"instruction": "Translate!", "input": f"s{n}", "output": f"t{n}"} for n in range(10)],
        ("input", "output", "instruction"), (0, 1), [(n + 1, [f"s{n}", f"t{n}", "Translate!"]) for n in range(10)],
    ),
    "question and answers": (
        [{"id": "x1", "context": "c", "question": "q", "answers": {"text": ["a", "b"], "answer_start": [3, 4]}}],
        ("question", "answers.text", "context", "answers.answer_start", "id"), (0, 1),
        [(1, ["q", "a", "c", "3 4", "x1"]), (1, ["q", "b", "c", "3 4", "x1"])],
    ),
    "sentences that say their languages": (
        [{"id": 4, "translations": [{"lang": "en", "text": "a"}, {"lang": "de", "text": "b"}]},
         {"id": 6, "translations": [{"lang": "de", "text": "d"}, {"lang": "en", "text": "c"}]}],
        ("en", "de", "id"), None, [(1, ["a", "b", "4"]), (2, ["c", "d", "6"])],
    ),
    "sentences that say their languages and more": (
        [[{"id": "x", "locale": "en-US", "value": "a"},
          {"id": "y", "locale": "de", "value": "b"}, {"locale": "de", "value": "c"}], ["d", "e"]],
        ("en-US", "de", "0", "1"), None, [(1, ["a", "b", "", ""]), (1, ["a", "c", "", ""]), (2, ["", "", "d", "e"])],
    ),
    "languages beside more than one text": (
        [{"t": [{"lang": "en", "text": "a", "note": "n"}, {"lang": "de", "text": "b", "note": "m"}], "en": "x", "fr": "y"}],
        ("en", "fr", "t.text", "t.note", "t.lang"), None, [(1, ["x", "y", "a b", "n m", "en de"])],
    ),
    "questions in paragraphs in articles": (
        {"version": "1.1", "data": [{"title": "t", "paragraphs": [{"context": "c", "qas": [
            {"id": "x1", "question": "a", "answers": [{"text": "b", "answer_start": 3}]},
            {"id": "x2", "question": "c", "answers": [{"text": "d", "answer_start": 4}, {"text": "e", "answer_start": 5}]},
        ]}, {"context": "d", "qas": True}, None]}, 7]},
        ("question", "answers.text", "answers.answer_start", "id"), (0, 1),
        [(1, ["a", "b", "3", "x1"]), (2, ["c", "d", "4 5", "x2"]), (2, ["c", "e", "4 5", "x2"])],
    ),
    "a chatbot's patterns and responses": (
        {"intents": [{"tag": "t", "patterns": ["a", "c", "x y"], "responses": ["b", "d"]},
                     {"tag": "u", "patterns": ["e"], "responses": []}]},
        ("pattern", "response", "tag"), None,
        [*((1, [said, answer, "t"]) for said in ("a", "c", "x y") for answer in ("b", "d")), (2, ["e", "", "u"])],
    ),
    "sentences that are not as many on both sides": (
        [{"en": ["I am.", "You are."], "de": ["Ich bin. Du bist."]}, {"en": "a", "de": "b"}], ("en", "de"), None,
        [(1, "unpaired"), (2, ["a", "b"])],
    ),
    "a conversation": (
        [{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
                       {"role": "user", "content": "c"}, {"role": "assistant", "content": "d"}]}],
        ("user", "assistant"), (0, 1), [(1, AB), (1, CD)],
    ),
    "languages, what is no text last": (
        [{"id": 1, "score": 0.5, "en": "a", "fr": "b"}, {"id": 2, "score": 1.50, "en": "c", "fr": "d"}],
        ("en", "fr", "id", "score"), None, [(1, ["a", "b", "1", "0.5"]), (2, ["c", "d", "2", "1.5"])],
    ),
    "Indonesian": (
        [{"id": "kucing", "en": "cat"}, {"id": "anjing", "en": "dog"}],
        ("id", "en"), None, [(1, ["kucing", "cat"]), (2, ["anjing", "dog"])],
    ),
    "other names": ([{"wort": "a", "mot": "b"}, {"wort": "c", "mot": "d"}], ("wort", "mot"), None, TWO),
    "a name that is there at times only": ([{"en": "a"}, {"en": "c", "de": "d"}], ("en", "de"), None, [(1, ["a", ""]), (2, CD)]),
    "numbers on one side": (
        [{"digits": 12, "word": "zwölf"}, {"digits": 7, "word": "sieben"}],
        ("digits", "word"), None, [(1, ["12", "zwölf"]), (2, ["7", "sieben"])],
    ),
    "several right targets": (
        [{"src": "run", "tgt": ["rennen", "laufen"]}],
        ("src", "tgt"), (0, 1), [(1, ["run", "rennen"]), (1, ["run", "laufen"])],
    ),
    "sentences cut into words": (
        [{"src": ["I", "am"], "tgt": ["ich", "bin", "es"]}],
        ("src", "tgt"), (0, 1), [(1, ["I am", "ich bin es"])],
    ),
    "sentence by sentence": (
        [{"en": ["Good day.", "Bye."], "de": ["Guten Tag.", "Tschüss."]}], ("en", "de"), None,
        [(1, ["Good day.", "Guten Tag."]), (1, ["Bye.", "Tschüss."])],
    ),
    "what is no item": (
        [{"en": "a", "de": "b"}, None, 7, "x", {"en": "c", "de": "d"}],
        ("en", "de"), None, [(1, AB), (2, []), (3, "broken"), (4, "broken"), (5, CD)],
    ),
    "pairs": ([AB, CD], (), None, TWO),
    "a pair and its credit": ([["a", "b", "x"], ["c"]], (), None, [(1, ["a", "b", "x"]), (2, ["c", "", ""])]),
    "a pair with several targets": ([["a", ["b", "c"]]], (), None, [(1, AB), (1, ["a", "c"])]),
    "pairs in one more list": ([[AB, CD]], (), None, TWO),
    "two long lists": ([["a", "c", "e"], ["b", "d", "f"]], (), None, [*TWO, (3, ["e", "f"])]),
    "lines with tabs": (["a\tb", "c\td"], (), None, TWO),
    "two named lists": ({"en": ["a", "c"], "de": ["b", "d"]}, ("en", "de"), None, TWO),
    "two lists of other names": ({"one": ["a", "c", "e"], "two": ["b", "d", "f"]}, ("one", "two"), None, [*TWO, (3, ["e", "f"])]),
    "two lists and a number": ({"version": 1, "src": ["a", "c"], "tgt": ["b", "d"]}, ("src", "tgt"), (0, 1), TWO),
    "pandas: columns": ({"en": {"0": "a", "1": "c"}, "de": {"0": "b", "1": "d"}}, ("en", "de"), None, TWO),
    "pandas: index": ({"0": {"en": "a", "de": "b"}, "1": {"en": "c", "de": "d"}}, ("en", "de"), None, TWO),
    "pandas: split": ({"columns": ["en", "de"], "index": [0, 1], "data": [AB, CD]}, ("en", "de"), None, TWO),
    "word to word": ({"a": "b", "c": "d"}, (), None, TWO),
    "word to word, though words are names": (
        {"question": "Frage", "answer": "Antwort"},
        (), None, [(1, ["question", "Frage"]), (2, ["answer", "Antwort"])],
    ),
    "word to several": ({"a": ["b", "x"], "c": "d"}, (), None, [(1, AB), (1, ["a", "x"]), (2, CD)]),
    "a word in each object": ([{"a": "b"}, {"c": "d"}], (), None, TWO),
    "words in groups": ({"animals": {"a": "b"}, "colours": {"c": "d"}}, (), None, TWO),
    "words under a name": ({"language": "de", "words": {"a": "b", "c": "d"}}, (), None, TWO),
    "texts of a program": ({"en": {"menu": {"x": "a"}, "y": "c"}, "de": {"menu": {"x": "b"}, "y": "d"}}, ("en", "de"), None, TWO),
    "one item": ({"source": "a", "target": "b"}, ("source", "target"), (0, 1), [(1, AB)]),
    "a list under a name": ({"data": [{"en": "a", "de": "b"}]}, ("en", "de"), None, [(1, AB)]),
    "a list two names deep": ({"result": {"pairs": [AB, CD]}}, (), None, TWO),
    "all splits": (
        {"train": [{"en": "a", "de": "b"}], "test": [{"en": "c", "de": "d"}]}, ("en", "de"), None, TWO,
    ),
}  # fmt: skip


@every_case("shape", SHAPES)
@every_case("indent", [None, 2])
def test_shapes(shape, indent):
    document, columns, pair, expected = SHAPES[shape]
    table = read(json.dumps(document, ensure_ascii=False, indent=indent))
    assert (table.kind, table.unit, table.columns, table.pair) == ("json", "item", columns, pair)
    assert rows(table) == expected


@every_case(
    "shape", ["the Hub's translations", "src and tgt", "languages, what is no text last", "pairs", "a word in each object"]
)
@every_case("name", ["file.jsonl", "file.json", "file.txt"])
def test_lines_whatever_the_file_is_called(shape, name):
    document, columns, pair, expected = SHAPES[shape]
    table = read("\n".join(map(json.dumps, document)), name)
    assert (table.kind, table.unit, table.columns, table.pair) == ("json_lines", "line", columns, pair)
    assert rows(table) == expected


def test_blank_and_broken_lines_keep_their_numbers():
    table = read('{"en": "a", "de": "b"}\n\n{"en": "x", "de": \n{"en": "c", "de": "d"},\noops\n')
    assert table.kind == "json_lines"
    assert rows(table) == [(1, AB), (2, []), (3, "broken"), (4, CD), (5, "broken"), (6, [])]


def test_a_broken_first_line():
    assert rows(read('["x"\n["a", "b"]\n["c", "d"]')) == [(1, "broken"), (2, AB), (3, CD)]


def test_objects_one_after_the_other():
    text = '{\n"en": "a",\n"de": "b"\n}\n{\n"en": "c",\n"de": "d"\n}\n'
    assert rows(read(text)) == TWO
    assert rows(read('[["a", "b"]]\n[\n["c", "d"]]')) == TWO


def test_a_key_that_is_there_twice_loses_nothing():
    assert rows(read('{"a": "b", "c": "d", "a": "x"}')) == [(1, AB), (1, ["a", "x"]), (2, CD)]
    assert rows(read('[{"src": "a", "tgt": "b", "tgt": ["x", "y"]}]')) == [(1, AB), (1, ["a", "x"]), (1, ["a", "y"])]


@every_case(
    ("value", "seen"),
    [
        ("7", "7"), ("1.50", "1.50"), ("-0.0", "-0.0"), ("1E400", "1E400"), ("9" * 5000, "9" * 5000), ("true", "true"), ("false", "false"),
        ("null", ""), ("NaN", ""), ("Infinity", "Infinity"), ('"null"', "null"), ('"NA"', "NA"), ('"\\u00e9\\n"', "é\n"),
        ('"\\ud83d\\ude00"', "😀"), ('"\\ud800x"', "\ud800x"), ('"raw\ttab"', "raw\ttab"), ("[]", ""), ("{}", ""),
    ],
)  # fmt: skip
def test_values_as_a_person_sees_them(value, seen):
    table = read(f'[{{"src": "a", "tgt": {value}}}, {{"src": "c", "tgt": "d"}}]')
    assert rows(table) == [(1, ["a", seen]), (2, CD)]


def test_a_name_with_half_a_character_can_be_shown():
    assert read('[{"a\\ud800": "a", "b": "b"}]').columns == ("a", "b")


def test_the_credit_that_stands_in_every_item():
    items = [{"src": "a", "tgt": "b", "credit": "CC BY (A)"}, {"src": "c", "tgt": "d", "credit": "CC BY (B)"}]
    assert read(items).credit == "CC BY (A); CC BY (B)"
    assert read({"credit": "CC BY (C)", "data": [AB, CD]}).credit == "CC BY (C)"


def test_which_list_was_read_is_said():
    table = read({"pairs": [AB, CD], "authors": [{"name": "x", "mail": "y"}]})
    assert rows(table) == TWO
    assert table.notes == (("data.note_lists", {"taken": "pairs", "others": "authors"}),)


def test_what_stands_around_questions_is_said_to_be_left_aside():
    document = SHAPES["questions in paragraphs in articles"][0]
    assert read(document).notes == (("data.note_lists", {"taken": "qas", "others": "title, context"}),)


# --- two documents ---


def two(one, other):
    return read_json([source(json.dumps(one), "en.json"), source(json.dumps(other), "de.json")])


def test_two_lists_in_two_files():
    assert rows(two(["a", "c"], ["b", "d"])) == TWO
    with pytest.raises(Refusal) as refused:
        two(["a", "c"], ["b"])
    assert (refused.value.key, refused.value.values["count_one"], refused.value.values["count_two"]) == ("data.unequal_lists", 2, 1)


def test_texts_of_a_program_in_two_files():
    table = two({"menu": {"x": "a", "y": "c"}, "z": "e"}, {"menu": {"y": "d", "x": "b"}, "z": "f"})
    assert rows(table) == [*TWO, (3, ["e", "f"])]


def test_two_files_of_pairs_are_not_mixed():
    with pytest.raises(Refusal) as refused:
        two([AB], [CD])
    assert refused.value.key == "data.two_tables"


def test_two_files_of_lines_are_left_to_others():
    assert read_json([source("[a]\nb", "one.txt"), source("[c]\nd", "two.txt")]) is None
    assert read_json([source("a", "one.json"), source("b", "two.json")]) is None


# --- what is no JSON, or none with pairs ---


@pytest.mark.parametrize(
    "text", ["", "\n \n", "a\tb", "[Music]\t[Musik]\n[x]\t[y]", "{{name}}\tb\n{x}\ty", "[1] a\n[2] b", "42", '"x"', "(a, b)"]
)
def test_other_texts_are_left_to_others(text):
    assert read(text, "file.txt") is None


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('[\n  ["a", "b"],\n  ["c", "d"],\n]', 4, 1),
        ('[["a", "b"]] // pairs\n', 1, 14),
        ('// pairs\n[["a", "b"]]', 1, 1),
        ("[['a', 'b']]", 1, 3),
        ('[\n["a", "b"]\n"c"\n]', 3, 1),
        ('[{"en": "a", "de": "b"},\n {"en": "c", "de": "d"},\n {"en": "tr', 3, 9),
        ('{"en": "a"', 1, 11),
        ('[["a", "b"], ["c", "d"', 1, 23),
    ],
)
def test_broken_documents_are_refused_with_line_and_column(text, line, column):
    refused = refusal(text) if not text.startswith("//") else refusal(text, "pairs.json")
    assert (refused.key, refused.values["line"]) == ("data.json_broken", line)
    assert abs(refused.values["column"] - column) <= 2  # versions of Python differ in where they see a trailing comma
    assert str(line) in str(refused)


@every_case(
    ("value", "key"),
    [
        ({"en": ["a"], "de": ["b", "c"]}, "data.unequal_lists"),
        ([["a", "b", "c"], ["d", "e", "f", "g"]], "data.unequal_lists"),
        ([], "data.json_no_pairs"),
        ({}, "data.json_no_pairs"),
        ([1, 2, 3], "data.json_no_pairs"),
        (["hello", "hallo"], "data.json_no_pairs"),
        ({"a": {"b": {"c": {"d": {"e": ["x"]}}}}}, "data.json_no_pairs"),
        ("[" * 100_000, "data.json_deep"),
        ('{"a":' * 5000, "data.json_deep"),
        ([{f"k{n}": "x" for n in range(65)}], "data.too_many_columns"),
        ("[" + "[]," * 2_100_000 + "[]]", "data.too_many_values"),
        ("[" + "1," * 2_100_000 + "1]", "data.too_many_values"),
    ],
)
def test_refusals(value, key):
    assert refusal(value).key == key


def test_a_line_that_is_nested_too_deeply_is_broken():
    deep = "[" * 100_000
    assert rows(read(f'["a", "b"]\n{deep}\n["c", "d"]')) == [(1, AB), (2, "broken"), (3, CD)]


def test_signs_in_strings_are_not_counted_as_values():
    text = json.dumps([["[,{" * 40, '\\",' * 40]] * 3)
    assert len(read(text).rows) == 3


def test_a_sentence_of_ten_megabytes_is_too_long_and_costs_no_memory():
    table = read([["a" * 10_000_000, "b"], ["c", "d"]])
    assert [(row.line, row.fault) for row in table.rows] == [(1, "long"), (2, "")]
    assert len(table.rows[0].cells[0]) < 20_000


def test_a_long_text_beside_the_pair_costs_nothing():
    table = read([{"src": "a", "tgt": "b", "context": "x" * 20_000}])
    assert [(row.fault, row.cells[:2]) for row in table.rows] == [("", AB)]


def test_too_many_items(monkeypatch):
    monkeypatch.setattr(items, "MAX_LINES", 3)
    assert len(read([AB] * 3).rows) == 3
    assert refusal([AB] * 4).key == "data.too_many_items"
    assert refusal([["a", ["b"] * 4]]).key == "data.too_many_items"
    assert refusal("\n".join(['["a", "b"]'] * 4)).key == "data.too_many_items"


def test_one_long_source_with_many_targets_does_not_fill_the_memory():
    assert refusal([{"src": "a" * 9000, "tgt": ["b"] * 6000}]).key == "data.unpacked_too_large"


# --- properties ---

names = st.sampled_from(["en", "de", "src", "tgt", "data", "x"]) | st.text(max_size=3)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def read_or_refused(text: str, name: str) -> None:
    try:
        table = read_json([source(text, name)])
    except Refusal as refused:
        assert all(refused.say(language) for language in LANGUAGES)  # noqa: PT017 (anything but a Refusal fails the test)
        return
    for row in table.rows if table else ():
        assert row.line >= 1
        assert all(type(cell) in (str, Number) for cell in row.cells)
        assert not table.columns or len(row.cells) <= len(table.columns)


@given(values)
@examples_at_night(300)
def test_any_document_is_read_or_refused(value):
    read_or_refused(json.dumps(value), "file.json")


@given(st.sampled_from(list(SHAPES)), st.data())
@examples_at_night(300)
def test_damaged_documents_are_read_or_refused(shape, data):
    text = json.dumps(SHAPES[shape][0], ensure_ascii=False, indent=data.draw(st.sampled_from([None, 0])))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text)))
        piece = data.draw(st.sampled_from(['"', ",", ":", "[", "]", "{", "}", "\\", "\n", "\0", "x", ""]))
        text = text[:place] + piece + text[place + data.draw(st.integers(0, 3)) :]
    read_or_refused(text, data.draw(st.sampled_from(["file.json", "file.txt"])))


@given(st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=6), st.sampled_from([None, 1]))
def test_pairs_come_back_as_they_were(pairs, indent):
    document = [{"src": src, "tgt": tgt} for src, tgt in pairs]
    table = read(json.dumps(document, indent=indent))
    assert [(row.line, row.cells) for row in table.rows] == [(number, list(pair)) for number, pair in enumerate(pairs, 1)]
