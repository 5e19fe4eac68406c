
import pytest

from playground.config import Refusal
from playground.model.size import training_bytes
from playground.runs import corpora as module
from playground.runs.corpora import MAX_CORPORA, Corpora, sizes
from playground.runs.engines import host
from playground.runs.lru import size_of
from tests.runs.tiny import PAIRS, tiny


def test_a_process_beside_the_page_keeps_little_of_what_nobody_trains_on(monkeypatch):
    """The page can't have it give anything up. The newest is there for the next run, however large it is."""
    monkeypatch.setattr(host, "CORPORA_BYTES", 1)
    corpora = host.Host()._corpora
    first = corpora.get(tiny())
    newest = corpora.get(tiny(task="sort"))
    assert len(corpora.caches[0]) == 1
    assert corpora.get(tiny(task="sort")) is newest
    assert corpora.get(tiny()) is not first


def test_the_same_data_are_built_once_a_failure_is_no_memory_and_only_the_last_few_are_there():
    corpora = Corpora()
    first = corpora.get(tiny())
    assert corpora.get(tiny(seed=2)) is first
    assert corpora.get(tiny(task="sort")) is not first
    assert corpora.get(tiny(share_embeddings="all")) is not first
    own = corpora.get(tiny(task="own", own="one"), PAIRS)
    assert corpora.get(tiny(task="own", own="two"), PAIRS) is own
    for _ in range(2):
        with pytest.raises(Refusal):
            corpora.get(tiny(task="own"))
    assert corpora.get(tiny()) is first
    for seed in range(MAX_CORPORA):
        corpora.get(tiny(data_seed=seed + 10))
    assert corpora.get(tiny()) is not first


@pytest.mark.trust
def test_a_corpus_weighs_about_what_its_sentences_take():
    corpus = Corpora().get(tiny(train_size=3000, validation_size=100))
    whole = size_of((tuple(corpus.train), corpus.heldout))
    assert whole / 2 < module._size(corpus) < 2 * whole


def real_sizes(experiment, pairs=None):
    corpus = Corpora().get(experiment, pairs)
    return corpus.src_tokenizer.size, corpus.tgt_tokenizer.size, corpus.longest


@pytest.mark.parametrize("knobs", [{}, {"task": "numbers_zh"}, {"task": "german_english"}, {"task": "commands"}, {"task": "beer"}])
def test_sizes_are_near_the_truth(knobs):
    """Close enough to admit by: the memory they stand for is within a tenth of the real corpus's. Those of own data are never too small."""
    experiment = tiny(train_size=2000, d_model=64, d_ff=256, **knobs)
    assert training_bytes(experiment, *sizes(experiment)) == pytest.approx(training_bytes(experiment, *real_sizes(experiment)), rel=0.1)
    for tokenizer in ("auto", "characters", "words", "bpe"):
        own = tiny(task="own", tokenizer=tokenizer, vocab_size=64)
        assert all(size >= real for size, real in zip(sizes(own, PAIRS), real_sizes(own, PAIRS), strict=True))
