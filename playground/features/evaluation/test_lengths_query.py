"""How far a run reaches is asked with sentences it never saw, of every length there can be."""

import numpy as np
import pytest

from playground.config import EOS
from playground.decoding import greedy
from playground.features.conftest import complete
from playground.features.evaluation import lengths_query
from playground.tasks.toy_tasks import split_of
from tests.runs.tiny import CORPORA, alone, tiny

KNOBS = {"task": "copy", "steps": 60, "dropout": 0.0, "d_model": 16, "learning_rate": 0.02}


def test_every_length_up_to_three_times_that_of_training(reader, run, monkeypatch):
    monkeypatch.setattr(lengths_query, "affordable", lambda run, tokens, most, least: least)  # two sentences of each length
    corpus = CORPORA.get(run.experiment)
    result = complete(lambda: lengths_query.lengths(reader, CORPORA, run, None))
    longest = max(len(item.src_ids) for item in corpus.train)
    assert result.generated
    assert result.trained == (min(len(item.tgt_ids) for item in corpus.train), longest)
    assert result.reach.counts.tolist()[2:] == [2] * (3 * longest - 2)
    made = lengths_query._generate(run, corpus)
    assert not {item.src for item in corpus.train} & {item.src for item in made}
    assert {split_of("copy", item.src) for item in made} == {"heldout", "harder"}


@pytest.mark.trust
def test_right_is_what_greedy_decoding_writes(run, model):
    corpus = CORPORA.get(run.experiment)
    items = [item for item in corpus.train if len(item.src_ids) < 7][:30] + list(corpus.heldout)
    written = greedy(model, [item.src_ids for item in items], 40)
    for item, hypothesis, (right, whole) in zip(items, written, lengths_query.teacher_forced(model, corpus, items), strict=True):
        target = (*item.tgt_ids, EOS)
        assert whole == right.all() == (hypothesis.ids == target)
        wrong = np.flatnonzero(~right)
        if len(wrong):  # up to the first wrong one both see the same tokens
            assert hypothesis.ids[: wrong[0]] == target[: wrong[0]]
            assert hypothesis.ids[wrong[0]] != target[wrong[0]]


def test_the_lengths_there_are_where_none_can_be_made(reader):
    run = alone(tiny(task="numbers_de", steps=5))[0]
    corpus = CORPORA.get(run.experiment)
    result = complete(lambda: lengths_query.lengths(reader, CORPORA, run, None))
    assert not result.generated
    assert result.total == result.reach.counts.sum() == len(corpus.heldout) + len(corpus.harder)
    sizes = [len(item.tgt_ids) for item in corpus.train]
    assert result.trained == (min(sizes), max(sizes))
