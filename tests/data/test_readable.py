"""What a vocabulary can't read, and the nearest sentence that it can."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.data.readable import replaced, unknown
from playground.data.tokenizers import CharacterTokenizer, WordTokenizer, train_tokenizer

LETTERS = CharacterTokenizer([*"abcdefghijklmnopqrstuvwxyz"])
GERMAN = WordTokenizer(["Frau", "Ärztin", "der", "die", "findet", "Hund"])
PIECES = train_tokenizer("bpe", ["der hund", "die katze"], 64)


@pytest.mark.parametrize(
    ("tokenizer", "text", "tokens", "readable"),
    [
        (LETTERS, "Hello world", ("H", "␣"), "helloworld"), (LETTERS, "HELLO", ("H", "E", "L", "O"), "hello"),
        (LETTERS, "naïve", ("ï",), "nave"), (LETTERS, "你好", ("你", "好"), ""),
        (GERMAN, "Die frau", ("Die", "frau"), "die Frau"), (GERMAN, "die Frau findet.", ("findet.",), "die Frau findet"),
        (GERMAN, "die Arztin findet den hund", ("Arztin", "den", "hund"), "die Ärztin findet Hund"),
        (GERMAN, "xylophone", ("xylophone",), ""),
    ],
)  # fmt: skip
def test_unknown_tokens_and_the_nearest_sentence(tokenizer, text, tokens, readable):
    result = unknown(tokenizer, text)
    assert (result.tokens, result.readable) == (tokens, readable)
    assert (result.runs, result.size, bool(result.nearest)) == (((("a", "z"),), 26, False) if tokenizer is LETTERS else ((), 6, True))


@pytest.mark.parametrize(
    ("word", "nearest"),
    [("frau", ("Frau",)), ("Arztin", ("Ärztin",)), ("findest", ("findet",)), ("dee", ("die", "der")), ("xylophone", ())],
)
def test_known_words_that_are_spelt_like_an_unknown_one(word, nearest):
    result = unknown(GERMAN, f"die {word}").nearest
    assert set(result) == {word}
    assert set(result[word][: len(nearest)]) == set(nearest)
    assert bool(result[word]) == bool(nearest)
    for known in result[word]:
        assert unknown(GERMAN, replaced(f"die {word}", word, known)) is None


def test_all_known_and_only_whole_words_are_replaced():
    assert [unknown(LETTERS, "hello"), unknown(PIECES, "der hund")] == [None, None]
    assert unknown(CharacterTokenizer([*"abdxz"]), "!").runs == (("a", "b"), ("d", "d"), ("x", "x"), ("z", "z"))
    assert replaced("der den  Hund den", "den", "die") == "der die Hund die"


@given(st.sampled_from([LETTERS, GERMAN, PIECES]), st.text(st.sampled_from("dDieErHundKatze Ä3,你"), max_size=30))
def test_the_sentence_that_is_offered_can_be_read(tokenizer, text):
    result = unknown(tokenizer, text)
    assert result is None or not result.readable or unknown(tokenizer, result.readable) is None
