"""Beam search: against all sentences there are (that meet constraints), its record of what it considered, and many side by side."""

import importlib
import random
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from playground.config import BOS, EOS, PAD, UNK, Refusal
from playground.decoding import Constraints, best, classify, greedy, search, searches
from playground.decoding.constraints import FREE
from tests.decoding.test_sampling import SOURCES, every_sentence, logprobs_by_teacher_forcing, untaught

PHRASES = st.lists(st.lists(st.sampled_from([PAD, BOS, UNK]), min_size=1, max_size=2).map(tuple), max_size=2, unique=True).map(tuple)
CONTINUING = st.sampled_from([frozenset(), frozenset({UNK})])


def contains(ids, phrase, continuing=frozenset()) -> bool:
    """Whether the phrase stands in the sentence, with no token after it that makes a longer word of it."""
    ends = [at + len(phrase) for at in range(len(ids)) if ids[at : at + len(phrase)] == phrase]
    return any(not continuing.intersection(ids[end : end + 1]) for end in ends)


def meets(ids, constraints) -> bool:
    must = all(contains(ids, phrase, constraints.continuing) for phrase in constraints.must)
    return must and not any(contains(ids, phrase) for phrase in constraints.must_not)


@cache
def all_totals(model, source, vocab: int, longest: int) -> dict[tuple[int, ...], float]:
    """The log probability of every sentence there is, each asked for the plain way, by teacher forcing."""
    totals, known = {}, {}  # a sentence begins as another one ends
    for ids in every_sentence(vocab, longest):
        if ids[:-1] not in known:
            known[ids[:-1]] = logprobs_by_teacher_forcing(model, source, (*ids[:-1], EOS)).tolist()
        totals[ids] = sum(known[ids[:-1]][t][token] for t, token in enumerate(ids))
    assert sum(map(np.exp, totals.values())) == pytest.approx(1, abs=1e-3)  # these are all the sentences there are
    return totals


@pytest.mark.trust
@settings(max_examples=settings.default.max_examples // 4)
@example((4, 5), 0.6, FREE)
@example((5, 4), 2, FREE)
@example((6, 3), 0, FREE)
@given(st.sampled_from([(4, 5), (5, 4), (6, 3)]), st.sampled_from([0, 0.6, 2]), st.builds(Constraints, PHRASES, PHRASES, CONTINUING))
def test_a_beam_as_wide_as_there_are_sentences_finds_the_best_of_all(size, length_penalty, constraints):
    vocab, longest = size
    model, source = untaught(vocab=vocab, seed=vocab), SOURCES[0]
    every = all_totals(model, source, vocab, longest)
    scores = {ids: total / ((5 + len(ids)) / 6) ** length_penalty for ids, total in every.items() if meets(ids, constraints)}
    if not scores:
        with pytest.raises(Refusal, match="finds no output"):
            search(model, source, len(every), length_penalty, longest, constraints=constraints)
        return
    result = search(model, source, len(every), length_penalty, longest, constraints=constraints)
    assert {hypothesis.ids: pytest.approx(hypothesis.score, abs=1e-4) for hypothesis in result.hypotheses} == scores
    assert scores[result.hypotheses[0].ids] == pytest.approx(max(scores.values()), abs=1e-4)
    assert [h.score for h in result.hypotheses] == sorted((h.score for h in result.hypotheses), reverse=True)


@pytest.mark.night
@given(st.integers(1, 9), st.sampled_from([1, 2, 5]), st.builds(Constraints, PHRASES), st.integers(0, 1))
def test_a_narrow_beam_meets_constraints_too_for_one_sentence_and_for_two(seed, width, constraints, spare):
    model, sources, limits = untaught(seed=seed), SOURCES[:2], [constraints.tokens + 1 + spare, 9]
    outputs = best(model, sources, limits, width, 0.6, constraints)
    assert all(meets(ids, constraints) for ids in outputs)
    for source, limit, ids in zip(sources, limits, outputs, strict=True):
        assert search(model, source, width, 0.6, limit, constraints=constraints).hypotheses[0].ids == ids
        without = Constraints(must_not=(ids[:1], ids[1:3] or ids[:1]))
        assert EOS in ids[:2] or all(meets(ids, without) for ids in best(model, [source], [9], width, 0.6, without))


@given(st.integers(1, 3), st.sampled_from([1, 2, 5]), st.sampled_from([(), (4, 8), (EOS,)]))
def test_the_record_is_a_tree_and_says_what_happened(seed, width, prefix):
    model, source, most = untaught(seed=seed), SOURCES[0], 7
    passes = []
    result = search(model, source, width, 0.6, most, prefix, record=passes)
    nodes = result.nodes
    assert (nodes[0].parent, nodes[0].token, nodes[0].length) == (None, BOS, 0)
    for at, node in enumerate(nodes[1:], start=1):
        parent = nodes[node.parent]
        assert node.parent < at
        assert parent.entered
        assert parent.token != EOS
        assert (node.length, node.total) == (parent.length + 1, pytest.approx(parent.total + node.logprob))
        assert node.score == pytest.approx(node.total / ((5 + node.length) / 6) ** 0.6)
    for step in range(len(prefix) + 1, max(node.length for node in nodes) + 1):
        born = [node for node in nodes if node.length == step]
        waiting = [node for node in nodes if node.token == EOS and node.length < step and (node.pruned is None or node.pruned >= step)]
        stay = [node.score for node in born + waiting if node.pruned is None or node.pruned > step]
        assert stay == [node.score for node in born + waiting if node.is_in_beam(step)]
        go = [node.score for node in born + waiting if node.pruned == step]
        assert len(stay) == min(width, len(born) + len(waiting))
        assert not go or max(go) <= min(stay)
    grew = [len({node.parent for node in nodes if node.length == step}) for step in range(len(prefix) + 1, most + 1)]
    assert [entry.rows for entry in passes[bool(prefix) :]] == [rows for rows in grew if rows]
    assert all(nodes[at].pruned is None for at in result.ends)
    for at, hypothesis in zip(result.ends, result.hypotheses, strict=True):
        ids, logprobs = [], []
        while at:
            ids, logprobs, at = [nodes[at].token, *ids], [nodes[at].logprob, *logprobs], nodes[at].parent
        assert (tuple(ids), tuple(logprobs)) == (hypothesis.ids, hypothesis.logprobs)
        assert hypothesis.ids[: len(prefix)] == prefix
        expected = logprobs_by_teacher_forcing(model, source, hypothesis.ids)
        assert hypothesis.logprobs == pytest.approx([expected[t, token].item() for t, token in enumerate(hypothesis.ids)], abs=1e-5)


def test_the_verdict_compares_the_scores_and_says_where_the_reference_was_pruned_unless_it_begins_otherwise():
    model, source = untaught(vocab=5, seed=10), SOURCES[0]
    kinds = set()
    narrow = search(model, source, 1, 0.0, 4)
    best = narrow.hypotheses[0]
    for ids in every_sentence(5, 4):  # of every short one as the reference some are lost, most the model doesn't want
        if ids[-1] != EOS:
            continue
        verdict = classify(model, source, narrow, [ids])
        assert verdict.reference.ids == ids
        assert verdict.kind == ("found" if best.ids == ids else "search" if verdict.reference.score > best.score else "model")
        kinds.add(verdict.kind)
        if verdict.kind == "found":
            assert (verdict.pruned, verdict.reference, verdict.path[-1], verdict.nodes) == (None, best, narrow.ends[0], narrow.nodes)
        tokens = [verdict.nodes[at].token for at in verdict.path]
        assert tuple(tokens) == ids[: len(tokens)]
        assert [verdict.nodes[at].length for at in verdict.path] == list(range(1, len(tokens) + 1))
        last = verdict.nodes[verdict.path[-1]]
        agreed = next((n for n, (a, b) in enumerate(zip(ids, narrow.hypotheses[0].ids, strict=False)) if a != b), None)
        if agreed is not None:  # a beam of one follows one sentence: the reference falls out where it leaves it
            assert verdict.pruned == last.length == agreed + 1
            assert len(verdict.nodes) == len(narrow.nodes) + 1  # it was never among the likeliest, so it has a node of its own
        expected = logprobs_by_teacher_forcing(model, source, ids)
        assert last.logprob == pytest.approx(expected[last.length - 1, last.token].item(), abs=1e-5)
    assert kinds == {"found", "search", "model"}
    every = [ids for ids in every_sentence(5, 3) if ids[-1] == EOS]
    rivals = [classify(model, source, narrow, [ids]).reference.score for ids in every if ids != best.ids]
    assert classify(model, source, narrow, [ids for ids in every if ids != best.ids]).reference.score == max(rivals), "the likeliest one"
    model, source = untaught(), SOURCES[0]
    result = search(model, source, 3, 0.6, 7, (5,))
    for references, judged in (([(4, 4, EOS)], False), ([(5, 4, EOS)], True), ([], False)):
        assert (classify(model, source, result, references) is not None) == judged
    model = untaught(seed=10)
    ids = (*greedy(model, [source], 3)[0].ids, 4, 4, 4, EOS)
    assert EOS not in ids[:-1]
    verdict = classify(model, source, search(model, source, 1, 0.0, 3), [ids])
    assert (len(verdict.path), verdict.pruned) == (3, None)


DICE = random.Random(1)
MANY = [tuple(DICE.randrange(4, 9) for _ in range(DICE.randint(1, 12))) for _ in range(40)]
LIMITS = [DICE.randint(1, 14) for _ in MANY]


@pytest.mark.trust
@settings(max_examples=8)
@given(st.integers(1, 2), st.sampled_from([1, 2, 5]), st.sampled_from([(), (4, 8)]))
def test_searches_side_by_side_are_the_searches_one_by_one(seed, width, prefix):
    """Every hypothesis, and every node that was considered on the way."""
    model, limits = untaught(seed=seed), [3, 12, 2, 7]
    results = searches(model, SOURCES, width, 0.6, limits, prefix)
    for source, limit, result in zip(SOURCES, limits, results, strict=True):
        alone = search(model, source, width, 0.6, limit, prefix)
        assert [hypothesis.ids for hypothesis in result.hypotheses] == [hypothesis.ids for hypothesis in alone.hypotheses]
        assert [(node.parent, node.token, node.pruned) for node in result.nodes] == [(n.parent, n.token, n.pruned) for n in alone.nodes]
        assert [node.total for node in result.nodes] == pytest.approx([node.total for node in alone.nodes], abs=1e-4)


@pytest.mark.parametrize("tokens", [30, *(pytest.param(tokens, marks=pytest.mark.night) for tokens in (1, 2048))])
def test_the_best_of_each_in_the_order_of_the_sources(tokens, monkeypatch):
    module = importlib.import_module(search.__module__)  # its name in the package is the function's
    monkeypatch.setattr(module, "TOKENS", tokens)
    model, sizes = untaught(seed=3), []
    monkeypatch.setattr(module, "searches", lambda model, texts, *a, **b: sizes.append(len(texts)) or searches(model, texts, *a, **b))
    alone = [greedy(model, [source], limit)[0].ids for source, limit in zip(MANY, LIMITS, strict=True)]
    assert best(model, MANY, LIMITS) == alone
    beams = [search(model, source, 3, 1.0, limit).hypotheses[0].ids for source, limit in zip(MANY, LIMITS, strict=True)]
    assert best(model, MANY, LIMITS, 3, 1.0) == beams
    assert max(sizes) <= max(1, tokens // 3 // (1 + min(map(len, MANY)))), "a beam of three is three rows"
    assert best(model, [], []) == []
