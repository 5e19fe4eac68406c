"""A sequence that is made while it is read is the sequence it would be if it had been made at once."""

import threading
from itertools import count

import pytest

from playground.config import DataConfig
from playground.data.batches import batches
from playground.data.corpus import SAMPLE, build_corpus
from playground.data.lazy_sequence import LazySequence
from playground.tasks.toy_tasks import TASKS, examples


def test_entries_are_made_when_they_are_read_and_once():
    made = []
    lazy = LazySequence((made.append(n) or n * n for n in count()), 100)
    assert (len(lazy), made) == (100, [])
    assert (lazy[3], made) == (9, [0, 1, 2, 3])
    assert lazy[2:5] == [4, 9, 16]
    assert lazy[-1] == 99 * 99
    assert lazy == [n * n for n in range(100)]
    assert lazy != "abc"
    assert made == list(range(100))
    assert list(LazySequence(iter("abc"))) == ["a", "b", "c"]
    assert not LazySequence(iter(()))
    for place in (5, -6):
        with pytest.raises(IndexError):
            LazySequence(count(), 5)[place]
    with pytest.raises(ValueError, match="5 were promised, 2 came"):
        LazySequence(iter("ab"), 5)[3]


def test_many_threads_see_the_same():
    lazy, lists, start = LazySequence((n for n in count()), 5000), [], threading.Barrier(4)

    def read() -> None:
        start.wait()
        lists.append(list(lazy))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lists == [list(range(5000))] * 4


def test_a_first_pass_draws_no_more_than_it_needs():
    corpus = build_corpus(DataConfig(train_size=20_000, validation_size=20))
    first = next(batches(corpus.train, 64, "sentences", seed=1))
    assert [item.src for item in first] == [example.src for example in examples("reverse", "train", 64, 1)]
    assert len(corpus.train._known) == 64


@pytest.mark.night
@pytest.mark.parametrize("task", TASKS)
def test_a_sample_has_the_vocabulary_of_all_sentences(task):
    sizes = [DataConfig(task=task, train_size=pairs, validation_size=10, data_seed=5) for pairs in (2 * SAMPLE, SAMPLE)]
    whole, sample = map(build_corpus, sizes)
    assert not [item for item in whole.train if 3 in item.src_ids + item.tgt_ids]
    assert whole.src_tokenizer.to_bytes() == sample.src_tokenizer.to_bytes()
