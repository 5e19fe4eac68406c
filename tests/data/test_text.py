"""Truths about sentences in canonical form."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.data.text import is_symbol, normalise

any_text = st.text(st.characters(codec=None), max_size=30)  # lone surrogates and control characters too


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("  two   words\t", "two words"),
        ("e\u0301", "é"),  # NFC
        ("no\u00a0break\u3000space", "no break space"),
        ("soft\u00adhyphen", "softhyphen"),
        ("\ufeffzero\u200bwidth", "zerowidth"),
        ("bell\x07 nul\0", "bell nul"),
        ("line\u2028separator\x0bhere", "line separator here"),
        ("half\ud83d", "half"),
        ("\u202eright to left\u202c", "right to left"),
        ("👩\u200d🔬", "👩\u200d🔬"),  # joiners spell emoji
        ("می\u200cخواهم", "می\u200cخواهم"),  # and Persian
        ("\u200d\u200c \ufe0f", ""),  # but show nothing alone
        ("NA null 007 <s>", "NA null 007 <s>"),
    ],
)
def test_normalise_by_hand(raw, clean):
    assert normalise(raw) == clean


@given(any_text)
def test_normalised_text_is_clean_and_stays_as_it_is(raw):
    text = normalise(raw)
    assert normalise(text) == text
    assert unicodedata.is_normalized("NFC", text)
    assert text == " ".join(text.split())
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in text)
    text.encode("utf-8")


@given(any_text)
def test_every_character_and_word_of_a_clean_text_is_a_symbol(raw):
    text = normalise(raw)
    assert all(map(is_symbol, text))
    assert all(map(is_symbol, text.split()))


@pytest.mark.parametrize("thing", ["", "two words", " a", "\0", "\ud800", "\u200b", None, 3, ["a"]])
def test_what_no_sentence_holds_is_no_symbol(thing):
    assert not is_symbol(thing)
