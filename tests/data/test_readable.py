"""What a vocabulary can't read, and the nearest sentence that it can."""

import pytest

from playground.data.readable import replaced, unknown
from playground.data.tokenizers import CharacterTokenizer, WordTokenizer, train_tokenizer

LETTERS = CharacterTokenizer([*"abcdefghijklmnopqrstuvwxyz"])
GERMAN = WordTokenizer(["Frau", "Ärztin", "der", "die", "findet", "Hund"])


@pytest.mark.parametrize(
    ("text", "tokens", "readable"),
    [
        ("Hello world", ("H", "␣"), "helloworld"),
        ("HELLO", ("H", "E", "L", "O"), "hello"),
        ("naïve", ("ï",), "nave"),
        ("你好", ("你", "好"), ""),
    ],
)
def test_characters(text, tokens, readable):
    found = unknown(LETTERS, text)
    assert (found.tokens, found.readable) == (tokens, readable)
    assert (found.runs, found.size) == ((("a", "z"),), 26)


@pytest.mark.parametrize(
    ("text", "tokens", "readable"),
    [
        ("Die frau", ("Die", "frau"), "die Frau"),
        ("die Arztin findet den hund", ("Arztin", "den", "hund"), "die Ärztin findet Hund"),
        ("die Frau findet.", ("findet.",), "die Frau findet"),
        ("xylophone", ("xylophone",), ""),
    ],
)
def test_words(text, tokens, readable):
    found = unknown(GERMAN, text)
    assert (found.tokens, found.readable, found.runs, found.size) == (tokens, readable, (), 6)


@pytest.mark.parametrize(
    ("word", "nearest"),
    [("frau", ("Frau",)), ("Arztin", ("Ärztin",)), ("findest", ("findet",)), ("dee", ("die", "der")), ("xylophone", ())],
)
def test_known_words_that_are_spelt_like_an_unknown_one(word, nearest):
    found = unknown(GERMAN, f"die {word}").nearest
    assert set(found) == {word}
    assert set(found[word][: len(nearest)]) == set(nearest)
    assert bool(found[word]) == bool(nearest)
    for known in found[word]:
        assert unknown(GERMAN, replaced(f"die {word}", word, known)) is None


def test_characters_have_no_words_like_them():
    assert unknown(LETTERS, "HELLO").nearest == {}


def test_only_whole_words_are_replaced():
    assert replaced("der den  Hund den", "den", "die") == "der die Hund die"


@pytest.mark.parametrize("tokenizer", [LETTERS, GERMAN, train_tokenizer("bpe", ["der hund", "die katze"], 64)])
def test_what_is_offered_can_be_read(tokenizer):
    for text in ("Hello World", "DER HUND", "die Katze!", "Der kleine Hund, 3 Katzen", "Ärztin 你"):
        found = unknown(tokenizer, text)
        if found and found.readable:
            assert unknown(tokenizer, found.readable) is None


def test_all_known():
    assert unknown(LETTERS, "hello") is None
    assert unknown(train_tokenizer("bpe", ["der hund"], 64), "der hund") is None
