import math

import pytest

from playground.config import DataConfig
from playground.data.corpus import SAMPLE, Corpus, Item, build_corpus
from playground.data.statistics import FREQUENT, statistics
from playground.data.tokenizers import WordTokenizer
from playground.tasks.toy_tasks import TASKS


def item(src: str, tgt: str, tokenizers) -> Item:
    return Item(src, tgt, *(tuple(tokenizer.encode(text)) for tokenizer, text in zip(tokenizers, (src, tgt), strict=True)))


def test_by_hand():
    tokenizers = WordTokenizer(["a", "b", "c"]), WordTokenizer(["x", "y"])
    train = [item(*pair, tokenizers) for pair in (("a b", "x"), ("a b", "x"), ("a b", "y x"), ("a", "a"), ("c a a", "y"))]
    heldout, test = (item("b d", "x", tokenizers),), (item("e f", "x y", tokenizers),)
    found = statistics(Corpus("toy", *tokenizers, train, heldout, (), {}, test))
    assert found.sizes == {"train": 5, "heldout": 1, "test": 1, "harder": 0}
    assert (found.sources, found.several, found.most_answers, found.repeated, found.same) == (3, 1, 2, 1, 1)
    assert found.src.lengths.tolist() == [2, 2, 2, 1, 3]
    assert found.src.frequent == (("a", 6), ("b", 3), ("c", 1))
    assert found.src.counts.tolist() == [6, 3, 1]
    assert (found.src.vocabulary, found.tgt.vocabulary) == (7, 6)
    assert found.src.known == pytest.approx(1 / 4)  # b is known; d, e and f are not
    assert found.tgt.known == 1


@pytest.mark.sample(5)
@pytest.mark.parametrize("task", [task for task in TASKS if task != "beer"])
def test_every_task_has_them(task):
    found = statistics(build_corpus(DataConfig(task=task, train_size=4000, validation_size=20)))
    for side in (found.src, found.tgt):
        assert side.counts.sum() == side.lengths.sum() > 0
        assert len(side.lengths) == min(SAMPLE, found.sizes["train"])
        assert len(side.frequent) == min(FREQUENT, len(side.counts))
        assert side.known == pytest.approx(1, abs=0.02)


def test_nothing_unseen_is_neither_known_nor_unknown():
    tokenizers = WordTokenizer(["a"]), WordTokenizer(["x"])
    found = statistics(Corpus("toy", *tokenizers, [item("a", "x", tokenizers)], (), (), {}))
    assert math.isnan(found.src.known)
