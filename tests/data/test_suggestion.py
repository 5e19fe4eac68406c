"""Suggestions for own pairs follow from their properties, and every choice has its reason."""

from __future__ import annotations

import random

import pytest

from playground.config import Experiment, default
from playground.data.corpus import build_corpus
from playground.data.statistics import statistics
from playground.data.suggestion import KNOBS, Facts, suggest
from playground.reading.filtering import Pair
from playground.reading.pairs import Pairs
from playground.words import LANGUAGES
from tests.reading.outcomes import word

CHINESE = [chr(0x4E00 + n) for n in range(600)]


def pairs_of(rows) -> Pairs:
    return Pairs(tuple(Pair(src, tgt, line) for line, (src, tgt) in enumerate(rows, 1)), {}, len(rows), "tsv", ("own.tsv",))


def sentences(count: int, words: int, length: int = 6) -> Pairs:
    """Sentences of `words` different words of two languages with one script; of few words the same ones come again and again."""
    dice = random.Random(1)
    vocabulary = [(word(dice), word(dice) + "x") for _ in range(words)]
    rows = [dice.choices(vocabulary, k=length) for _ in range(count)]
    return pairs_of([(" ".join(src for src, _ in row), " ".join(tgt for _, tgt in row)) for row in rows])


def inflections() -> Pairs:
    dice = random.Random(1)
    lemmas = [word(dice) for _ in range(300)]
    cells = {"PRS": "t", "PST": "te", "PTCP": "nd"}
    return pairs_of([(f"{lemma}n V;{tense}", lemma + end) for lemma in lemmas for tense, end in cells.items()])


def pronunciations() -> Pairs:
    dice = random.Random(1)
    words = {word(dice) for _ in range(500)}
    return pairs_of([(text.upper(), " ".join(f"{letter.upper()}0" for letter in text)) for text in words])


def translations() -> Pairs:
    dice = random.Random(1)
    rows = [[dice.randrange(600) for _ in range(6)] for _ in range(1500)]
    return pairs_of([("".join(CHINESE[n] for n in row), " ".join(f"w{n * 7 % 600}{dice.randrange(9)}" for n in row)) for row in rows])


CASES = {
    "few words": (sentences(2000, 100), {"tokenizer": "auto", "share_embeddings": "none"}, "words"),
    "many words, one script": (sentences(2000, 3000), {"tokenizer": "bpe", "share_embeddings": "all", "vocab_size": 504}, "shared_pieces"),
    "two scripts": (translations(), {"tokenizer": "bpe", "share_embeddings": "none", "vocab_size": 760}, "pieces"),
    "lemma and features": (inflections(), {"tokenizer": "characters", "share_embeddings": "none"}, "letters"),
    "a word and its sounds": (pronunciations(), {"tokenizer": "auto", "share_embeddings": "none"}, "both"),
}


@pytest.mark.parametrize("name", CASES)
def test_how_sentences_are_cut_and_why(name):
    pairs, knobs, reason = CASES[name]
    suggested = suggest(pairs)
    assert (suggested.choices[0].reason, suggested.knobs) == (reason, suggested.knobs | knobs)
    assert set(suggested.knobs) == set(KNOBS)
    corpus = build_corpus(Experiment().with_(task="own", **suggested.knobs).data, pairs, suggested.knobs["share_embeddings"] == "all")
    assert not corpus.left_out
    assert 1 - statistics(corpus).tgt.known < 0.01, "hardly a target can't be written"
    assert (corpus.src_tokenizer is corpus.tgt_tokenizer) == (knobs["share_embeddings"] == "all")
    data = Experiment().with_(task="own").data
    counted, (src, tgt) = statistics(build_corpus(data, pairs)), Facts(pairs, data).sides
    assert (src.unknown, tgt.unknown) == pytest.approx((1 - counted.src.known, 1 - counted.tgt.known)), "before there is a tokenizer"
    for language in LANGUAGES:
        reasons = suggested.sentences(language)
        assert len(set(reasons)) == 6
        assert not any("{" in sentence for sentence in reasons)


def test_the_size_follows_the_number_and_length_of_the_pairs():
    one_long = pairs_of([*[pair[:2] for pair in sentences(500, 100).pairs], (" ".join("a" * 90), "b")])  # which alone is left out
    for pairs, knobs in (
        (sentences(2000, 100), {"d_model": default("d_model"), "steps": 100, "learning_rate": 0.05, "dropout": 0, "max_tokens": 64}),
        (sentences(25_000, 100, 3), {"d_model": 128, "steps": pytest.approx(6 * 24_000 / 64, abs=3), "learning_rate": 0.02, "dropout": 0}),
        (sentences(300, 50), {"steps": 100, "dropout": 0.1}),  # seen often enough, and not learnt by heart
        (sentences(500, 100, 90), {"max_tokens": 90}), (one_long, {"max_tokens": 64}),
    ):  # fmt: skip
        suggested = suggest(pairs).knobs
        assert {name: suggested[name] for name in knobs} == knobs


def test_facts_are_counted_by_hand():
    pairs = pairs_of([("a b", "x"), ("a b", "y z"), *((f"{word} a", word) for word in "cdefghij")])
    facts = Facts(pairs, Experiment().with_(task="own").data)
    assert facts.ambiguous == 1 / 9
    assert facts.lengths("words", 100, False).mean == pytest.approx((3 + 4 + 8 * 3) / 10)


def test_what_was_chosen_stays_and_the_rest_follows():
    assert suggest(sentences(500, 100, 90)).choices[1].slots["lost"] == "50", "of the longest that were looked at"
    pairs = sentences(2000, 3000)
    suggested = suggest(pairs, {"tokenizer": "words", "batch_size": 48, "d_model": 128, "task": "own"})
    expected = {"tokenizer": "words", "batch_size": 48, "share_embeddings": "none", "d_model": 128, "steps": round(6 * 1600 / 48)}
    assert expected.items() <= suggested.knobs.items()
    assert len(suggested.sentences("en")) == 5, "none on how they are cut: that was chosen"
    assert suggest(pairs, suggest(pairs).knobs).choices == []
