"""What is suggested for own pairs follows from what they are, and every choice has its reason."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from playground.config import Experiment, default
from playground.data.corpus import build_corpus
from playground.data.facts import Facts
from playground.data.statistics import statistics
from playground.data.suggestion import KNOBS, suggest
from playground.reading.uploads import Pair, Pairs
from playground.words import LANGUAGES
from tests.reading.formats.made_words import word

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
    return pairs_of([(one.upper(), " ".join(f"{letter.upper()}0" for letter in one)) for one in words])


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
def test_how_sentences_are_cut(name):
    pairs, knobs, reason = CASES[name]
    found = suggest(pairs)
    assert (found.choices[0].reason, found.knobs) == (reason, found.knobs | knobs)
    assert set(found.knobs) == set(KNOBS)
    corpus = build_corpus(Experiment().with_(task="own", **found.knobs).data, pairs, found.knobs["share_embeddings"] == "all")
    counted = statistics(corpus)
    assert not corpus.left_out
    assert 1 - counted.tgt.known < 0.01  # hardly a target that can't be written
    assert (corpus.src_tokenizer is corpus.tgt_tokenizer) == (knobs["share_embeddings"] == "all")


@pytest.mark.parametrize("name", CASES)
def test_what_is_unknown_is_what_the_corpus_will_not_know(name):
    """Counted before there is a tokenizer, of the very sentences that will be held out."""
    pairs, data = CASES[name][0], Experiment().with_(task="own").data
    counted, (src, tgt) = statistics(build_corpus(data, pairs)), Facts(pairs, data).sides
    assert (src.unknown, tgt.unknown) == pytest.approx((1 - counted.src.known, 1 - counted.tgt.known))


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_choice_says_why(language):
    for pairs, _, _ in CASES.values():
        said = suggest(pairs).sentences(language)
        assert len(said) == len(set(said)) == 6
        assert not any("{" in sentence for sentence in said)


def test_a_large_corpus_has_a_wider_model_and_as_many_passes():
    small, large = suggest(sentences(2000, 100)), suggest(sentences(25_000, 100, 3))
    assert (small.knobs["d_model"], large.knobs["d_model"]) == (default("d_model"), 128)
    assert [found.knobs["steps"] for found in (small, large)] == [100, pytest.approx(6 * 24_000 / 64, abs=3)]
    assert [found.knobs["learning_rate"] for found in (small, large)] == [0.05, 0.02]
    assert [found.knobs["dropout"] for found in (small, large)] == [0, 0]


def test_few_pairs_are_seen_often_enough_and_not_learnt_by_heart():
    few = suggest(sentences(300, 50))
    assert (few.knobs["steps"], few.knobs["dropout"]) == (100, 0.1)
    said = " ".join(suggest(sentences(20, 50)).sentences("en"))
    assert "600 epochs" in said
    assert "no pair is longer" in said, "not: about 0 pairs are"


def test_long_sentences_are_kept():
    usual = suggest(sentences(500, 100)).knobs["max_tokens"]
    found = suggest(sentences(500, 100, 90))
    assert (usual, found.knobs["max_tokens"]) == (64, 90)
    assert found.choices[1].said["lost"] == "50"  # of the longest that were looked at
    one = pairs_of([*[pair[:2] for pair in sentences(500, 100).pairs], (" ".join("a" * 90), "b")])
    assert suggest(one).knobs["max_tokens"] == 64  # it alone is left out


def test_what_somebody_chose_stays_and_the_rest_follows():
    pairs = sentences(2000, 3000)
    found = suggest(pairs, {"tokenizer": "words", "batch_size": 48, "d_model": 128, "task": "own"})
    assert {"tokenizer": "words", "batch_size": 48, "share_embeddings": "none", "d_model": 128}.items() <= found.knobs.items()
    assert found.knobs["steps"] == round(6 * 1600 / 48)
    assert len(found.sentences("en")) == 5  # nothing is said of how they are cut: that was somebody's choice
    assert [choice.reason for choice in suggest(pairs, suggest(pairs).knobs).choices] == []


def test_lemmas_that_are_held_out_are_new():
    """Pairs that stay together by a column: a model that knows the lemmas by heart is not judged by them."""
    found = inflections()
    pairs = replace(found, groups=tuple(pair.src.split()[0] for pair in found.pairs))
    corpus = build_corpus(Experiment().with_(task="own").data, pairs)
    lemmas = [{item.src.split()[0] for item in split} for split in (corpus.train, corpus.heldout, corpus.test)]
    assert all(len(one) > 20 for one in lemmas)
    assert not lemmas[0] & lemmas[1] | lemmas[0] & lemmas[2] | lemmas[1] & lemmas[2]
    assert min(side.unknown for side in Facts(pairs, Experiment().data).sides) < 0.01 < Facts(pairs, Experiment().data).sides[0].unknown
    assert suggest(pairs).knobs["tokenizer"] == "characters"
