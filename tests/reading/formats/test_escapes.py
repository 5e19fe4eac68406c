"""Truths about the traces that other tools leave in sentences."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.reading.formats.escapes import KINDS, found, undo
from tests.thoroughness import every_case


@every_case(
    ("kind", "left", "clean"),
    [
        ("moses", "I don &apos;t &quot; know &quot; &#91; x &#93; &#124; A &amp; B &lt; C &gt;", 'I don \'t " know " [ x ] | A & B < C >'),
        ("moses", "&amp;apos; &amp;amp;", "&apos; &amp;"),  # undone once
        ("moses", "a well @-@ known and @/@ or", "a well-known and/or"),
        ("moses", "state ##AT##-##AT## of", "state-of"),
        ("moses", "&bar; &bra; &ket;", "| [ ]"),
        ("bpe", "un@@ believ@@ able , ni@@ cht wahr", "unbelievable , nicht wahr"),
        ("bpe", "cut o@@", "cut o"),  # cut off in the middle of a word
        ("bpe", "机@@ 器 翻@@ 译", "机器 翻译"),
        ("pieces", "▁Hello ▁wor ld .", "Hello world."),
        ("pieces", "▁ 我 喜欢 ▁BLE U", "我喜欢 BLEU"),
        ("html", "<b>Hallo</b><br>Welt &amp; &eacute;", "Hallo Welt & é"),
    ],
)
def test_each_is_found_and_undone(kind, left, clean):
    assert found([left])[kind] == 1
    assert undo(left, [kind]) == clean


def test_several_at_once():
    assert found(["▁don &apos; t ▁&lt; x"]) == {"pieces": 1, "moses": 1}
    assert undo("▁don &apos; t ▁&lt; x", ["moses", "pieces"]) == "don't <x"
    assert undo("do@@ n &apos;t", {"bpe", "moses"}) == "don 't"
    assert undo("as it is &amp;", []) == "as it is &amp;"


@pytest.mark.parametrize(
    "sentences",
    [
        [],
        ["", " "],
        ["AT&T", "a & b", "R&D; and more"],
        ["me@example.org", "@@ alone", "wait @@"],
        ["1 < 2 > 0", "<s> </s>", "<unk>", "{{x}} <url>"],
        ["▁ is a sign", "one", "two", "three"],
        ["你好", "привет", "سلام"],
    ],
)
def test_ordinary_text_has_no_traces(sentences):
    assert found(sentences) == {}


def test_how_many_sentences():
    assert found(["a &quot; b &quot;", "c", "d &apos; e"]) == {"moses": 2}
    assert found(["▁a", "▁b", "c"]) == {"pieces": 2}


def test_numbers_of_characters_are_moses_or_html():
    assert found(["a &#124; b &#91; c &#93;"]) == {"moses": 1}
    assert found(["&#228; &#x41;", "&#1240;", "&#124; <b>x</b>"]) == {"moses": 1, "html": 3}


@given(st.text(max_size=40), st.lists(st.sampled_from(KINDS), max_size=4))
def test_anything_can_be_undone(text, kinds):
    assert isinstance(undo(text, kinds), str)
    assert set(found([text])) <= set(KINDS)


@given(st.lists(st.text(st.sampled_from("abcé中"), min_size=1, max_size=6), min_size=1, max_size=6), st.randoms())
def test_what_a_tool_cuts_is_put_together_again(words, random):
    joints, pieces = [], []
    for word in words:
        place = random.randint(1, len(word))
        parts = [part for part in (word[:place], word[place:]) if part]
        joints.append("@@ ".join(parts))
        pieces.append("▁" + " ".join(parts))
    assert undo(" ".join(joints), ["bpe"]) == undo(" ".join(pieces), ["pieces"]) == " ".join(words)


@pytest.mark.parametrize("unit", ["&", "&am", "@@", "@@ ", "▁", "<b", " @-@", "&quot;", "##AT##-"])
def test_time_grows_with_the_length(unit):
    text = "a" + unit * (200_000 // len(unit))
    start = time.process_time()
    found([text])
    undo(text, KINDS)
    assert time.process_time() - start < 3
