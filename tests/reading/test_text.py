"""Truths about sentences in canonical form."""

import random
import re
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from playground.reading import text
from playground.reading.text import MAX_MARKS, is_symbol, normalise

any_text = st.text(st.characters(codec=None), max_size=30)  # lone surrogates and control characters too
# what works on its neighbours, and neighbours of every kind
ODD = (
    *"\u200b\u200c\u200d\u00ad\u061c\u034f\ufe00\ufe0e\ufe0f\u180b\u180e\u2060\ufeff\u2066\u202e\u2028\u2029\u0085\u00a0\u202f\u2800\u3164",
    *"\u0301\u0316\u0338\u0344\u093c\u20e3\u0653\u3099\u1160\u115f\U000e0100\U000e0067\U000e007f\U0001f3fb\U0001f3f4\U0001f1e9\ud83d\ufdd0",
    *"ae1#= \t\n«ש",
    *"مكतिকᠠ葛か各가ᄀ",
    *"←☺❤👩🔬♂〈\u2329\u2adc",
)  # fmt: skip
SCOTLAND = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
odd_text = st.lists(st.sampled_from(ODD), max_size=12).map("".join)


CLEAN = [
    ("  two   words\t", "two words"), ("e\u0301", "é"), ("no\u00a0break\u3000space", "no break space"),
    ("«\u202fnon\u202f»\u2007!", "« non » !"),
    ("soft\u00adhyphen", "softhyphen"), ("non\u2011breaking", "non\u2011breaking"),  # which can be seen
    ("\ufeffzero\u200bwidth\u2060", "zerowidth"), ("bell\x07 nul\0", "bell nul"), ("half\ud83d", "half"),
    ("line\u2028separator\x0bhere\u2029and\x85there\x1cnow", "line separator here and there now"),
    ("no\ufdd0 character\uffff", "no character"), ("\u061cالعربية\u061c", "العربية"),  # the Arabic letter mark
    ("\u202eright to left\u202c \u2066isolated\u2069\u200e\u200f", "right to left isolated"),
    *((kept, kept) for kept in (
        "می\u200cخواهم",  # Persian is spelt with joiners
        "क्\u200dष और क्\u200cष",  # Hindi: two ways to write one cluster
        "ന്\u200d", "ශ්\u200dරී", "ᠬᠠᠨ\u180b ᠠᠮᠠ\u180eᠠ",  # Malayalam, at the end of a word, Sinhala, Mongolian
        "👩\u200d🔬 👩🏽\u200d🚒 🏳\ufe0f\u200d🌈", "👨\u200d👩\u200d👧\u200d👦", "❤\ufe0f and ❤\ufe0e", "1\ufe0f\u20e3 #\ufe0f\u20e3",
        "🇩🇪🇨🇳", SCOTLAND,
        "葛\U000e0100城 字\ufe00",  # variants of Chinese characters
        "NA null 007 <s>", "=1+1 {{x}} $$y$$",
    )),
    ("می\u200c خواهم\u200c", "می خواهم"), ("می\u200c\u200cخواهم", "میخواهم"),  # which do nothing at the end of a word
    ("hel\u200dlo wor\u200cld", "hello world"), ("a\u180eb 1\ufe0f x\ufe0f", "ab 1 x"), ("👩\u200d", "👩"),
    ("plain\U000e0068\U000e0069\U000e007f 🏴\U000e0067", "plain 🏴"),  # tags of no flag are hidden text
    *((hidden, "") for hidden in ("\u200d\u200c \ufe0f", "\u2800\u3164 \uffa0", "\u115f\u1160", "")),
]  # fmt: skip


def test_normalise_by_hand():
    for raw, clean in CLEAN:
        assert normalise(raw) == clean, ascii(raw)
    assert normalise("a" + "\u0316" * 99 + "b") == "a" + "\u0316" * MAX_MARKS + "b", "no more than a character can carry"
    assert not any(map(is_symbol, ("", "two words", " a", "\0", "\ud800", "\u200b", None, 3, ["a"])))


@given(any_text | odd_text)
@example("e\u200d\u0301")
@example("क\u200d\u200dक")
@example("a" + "\u0344" * 40)
@example("ṩ" + "\u0301" * 30)
@example("=\u200d\u0338\ufe00")
@example("👩\ufe0f\ufe0f\u200d\u200c👩")
def test_normalised_text_is_clean_and_stays_as_it_is(raw):
    text = normalise(raw)
    assert normalise(text) == text
    assert unicodedata.is_normalized("NFC", text)
    assert text == " ".join(text.split())
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in text)
    text.encode("utf-8")
    assert all(map(is_symbol, text))
    assert all(map(is_symbol, text.split()))
    letters = "".join(character for character in raw if character.isalnum() and character not in "\u115f\u1160\u3164\uffa0")
    assert normalise(letters) == unicodedata.normalize("NFC", letters)


@given(odd_text, odd_text)
def test_what_is_hidden_makes_no_difference(one, two):
    for hidden in "\u200b\u00ad\u202e\u2060\ufeff\x07":
        assert normalise(f"{one}{hidden}{two}") == normalise(one + two)


def test_the_quick_way_changes_nothing(monkeypatch):
    settled = [character for character in map(chr, range(0x110000)) if text._SETTLED.fullmatch(character)]
    assert len(settled) > 30_000
    lines = ["".join(random.Random(seed).choices(settled, k=50)) for seed in range(2000)]
    quick = [normalise(line) for line in (*settled, *lines)]
    monkeypatch.setattr(text, "_SETTLED", re.compile("(?!)"))  # matches nothing: all go the long way
    assert [normalise(line) for line in (*settled, *lines)] == quick
