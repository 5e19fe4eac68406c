"""The counts of a corpus, by hand and for every task."""

import math

import pytest

from playground.config import DataConfig
from playground.data.corpus import SAMPLE, Corpus, Item, build_corpus
from playground.data.statistics import FREQUENT, statistics
from playground.data.tokenizers import WordTokenizer


def item(src: str, tgt: str, tokenizers) -> Item:
    return Item(src, tgt, *(tuple(tokenizer.encode(text)) for tokenizer, text in zip(tokenizers, (src, tgt), strict=True)))


def test_by_hand():
    tokenizers = WordTokenizer(["a", "b", "c"]), WordTokenizer(["x", "y"])
    train = [item(*pair, tokenizers) for pair in (("a b", "x"), ("a b", "x"), ("a b", "y x"), ("a", "a"), ("c a a", "y"))]
    heldout, test = (item("b d", "x", tokenizers),), (item("e f", "x y", tokenizers),)
    counted = statistics(Corpus("toy", *tokenizers, train, heldout, (), {}, test))
    assert counted.sizes == {"train": 5, "heldout": 1, "test": 1, "harder": 0}
    assert (counted.sources, counted.several, counted.most_answers, counted.repeated, counted.same) == (3, 1, 2, 1, 1)
    assert counted.src.lengths.tolist() == [2, 2, 2, 1, 3]
    assert counted.src.frequent == (("a", 6), ("b", 3), ("c", 1))
    assert counted.src.counts.tolist() == [6, 3, 1]
    assert (counted.src.vocabulary, counted.tgt.vocabulary) == (7, 6)
    assert counted.src.known == pytest.approx(1 / 4)  # b is known; d, e and f are not
    assert counted.tgt.known == 1
    assert math.isnan(statistics(Corpus("toy", *tokenizers, train, (), (), {})).src.known), "nothing is held out"


def test_a_sample_of_a_large_corpus_is_counted():
    counted = statistics(build_corpus(DataConfig(task="german_english", train_size=4000, validation_size=20)))
    for side in (counted.src, counted.tgt):
        assert side.counts.sum() == side.lengths.sum() > 0
        assert len(side.lengths) == min(SAMPLE, counted.sizes["train"])
        assert len(side.frequent) == min(FREQUENT, len(side.counts))
        assert side.known == pytest.approx(1, abs=0.02)
