"""Statements about numbers, about a stage and about lengths: the sentence and every value in it, by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from playground.features.attention import query as overviews
from playground.features.attention.query import HeadAt, overview
from playground.features.diagnostics import query
from playground.features.evaluation.lengths_query import exact_facts, line_fact, reach, token_facts
from playground.inspection import attention, heads, interventions, logits, percent, short
from playground.inspection.activations import Stage
from playground.inspection.tensors import facts, number, view_tensor

NAN = math.nan
TORN, LEANS = np.array([0.0, 0.5, 0.5, 0.0]), np.array([0.05, 0.7, 0.2, 0.05])
FLOPS = {"src_embedding": 0, "encoder.0.self_attention": 100, "decoder.0.cross_attention": 200, "projection": 700}
PAIR = np.array([1.0, -2.0]), np.array([3.0, 1.0]), np.array([0.5, -4.0, 9.0])  # a query, a key, the scores of a row
SMALL, WIDE = (1200, 34_000), (2400, 56_000)
FLOW, OWN = np.array([[0.2, 0.8], [0.9, 0.1]]), np.array([[0.9, 0.1, 0.0], [0.3, 0.7, 0.0], [0.2, 0.3, 0.5]])
MOST, BETTER = ("interventions.costs_most", {"head": "a", "points": "41"}), ("interventions.better_without", {"count": 1})
CAUSAL, SECOND = np.tri(4, dtype=bool), {"query_token": "y", "row": 2, "key_token": "a", "column": 1}
MASSES = np.zeros((2, 2, 4))  # of two layers with two heads, at four steps
MASSES[0, 1], MASSES[1, 0] = [0.2, 0.3, 0.9, 0.95], [0.1, 0.6, 0.4, 0.7]


def course(*values: float):
    return query.course([10, 1500, 2000], values)


def moved(*after: float):
    return interventions.probability_fact([0.9, 0.8, 0.5], after, ["a", "b", "c"])


def ran(first: str, began: float, ended: float, **more) -> dict:
    return {"first": first, "began": began, "last": "2,000", "ended": ended, **more}


@pytest.mark.parametrize(("ask", "key", "values"), [
    (lambda: query.extremes({"a": 0.5, "b": 2.0, "c": 0.1}, "diagnostics.gradient"), "diagnostics.gradient",
     {"most": "b", "largest": 2.0, "least": "c", "smallest": 0.1, "times": "20", "zeros": 0}),
    (lambda: query.extremes({"a": 0.0, "b": 2.0, "c": 0.0}, "diagnostics.gradient"), "diagnostics.gradient_zero",
     {"most": "b", "largest": 2.0, "least": "b", "smallest": 2.0, "times": "1", "zeros": 2}),
    (lambda: query.extremes({"a": 0.0}, "diagnostics.update"), "diagnostics.update_none", {}),
    (lambda: query.dead({"a": 0.25, "b": 0.5}, 8), "diagnostics.dead", {"count": 6, "all": "16", "most": "b", "there": 4}),
    (lambda: query.dead({"a": 0.0}, 1024), "diagnostics.dead_none", {"count": 0, "all": "1,024"}),
    (lambda: query.spread({"a": [0.5, 0.2], "b": [0.9, NAN]}), "diagnostics.entropy",
     {"most": "b", "head": 1, "largest": 0.9, "least": "a", "sharp_head": 2, "smallest": 0.2}),
    (lambda: query.spread({"a": [NAN]}), "diagnostics.entropy_none", {}),
    (lambda: course(1.0, 0.5, 0.2), "diagnostics.course", ran("10", 1.0, 0.2)),
    (lambda: course(1.0, 3.0, 0.2), "diagnostics.course_peak", ran("10", 1.0, 0.2, peak="1,500", highest=3.0)),
    (lambda: course(1.0, 0.0, 0.9), "diagnostics.course_dip", ran("10", 1.0, 0.9, dip="1,500", lowest=0.0)),
    (lambda: course(1.0, 1.02, 0.99), "diagnostics.course", ran("10", 1.0, 0.99)),
    (lambda: course(NAN, 2.0, 2.0), "diagnostics.course", ran("1,500", 2.0, 2.0)),
    (lambda: course(NAN, NAN, NAN), "diagnostics.course_none", {}),
    (lambda: query.cost({"a": 1200, "b": 34}, FLOPS), "diagnostics.cost",
     {"parameters": "1,234", "flops": "1,000", "most": "projection", "attention": "30", "decoder": "90", "share": "70"}),
    (lambda: query.heads({1: SMALL, 2: SMALL}), "diagnostics.heads_same", {"parameters": "1,200", "flops": "34,000"}),
    (lambda: query.heads({1: SMALL, 2: SMALL, 4: WIDE}), "diagnostics.heads_differ",
     {"fewest": 1, "most": 4, "parameters": "1,200", "more_parameters": "2,400"}),
    (lambda: attention.product_fact(*PAIR, np.array([True, True, False]), 0), "heads.product_caption",
     {"strong": 1, "dims": 2, "low": "−4.00", "high": "0.50"}),  # the masked score isn't counted
    (lambda: attention.product_fact(*PAIR, np.array([True, True, False]), 2), "heads.product_masked", {}),
    (lambda: attention.product_fact(*PAIR, np.array([True, False, False]), 0), "heads.product_alone", {}),
    (lambda: interventions.output_fact([4, 5, 2], (4, 5, 2)), "interventions.same", {}),
    (lambda: interventions.output_fact([4, 5], [4, 5, 6]), "interventions.different",
     {"gone": 0, "tokens": 2, "new": 1, "other": 3, "step": 3}),
    (lambda: moved(0.85, 0.1, 0.7), "interventions.moved", {"token": "b", "step": 2, "before": 0.8, "after": 0.1}),
    (lambda: moved(0.9, 0.8, 0.9), "interventions.moved", {"token": "c", "step": 3, "before": 0.5, "after": 0.9}),
    (lambda: moved(0.904, 0.8, 0.5), "interventions.unmoved", {}),
    (lambda: overviews.strongest(FLOW, ["x", "y"], ["a", "b"]), "heads.rollout_strongest", SECOND | {"percent": 90}),
    (lambda: overviews.own(OWN, list("xyz"), list("abc")), "heads.rollout_own", SECOND | {"percent": 30, "own": 70}),
    (lambda: heads.first_aligned_fact([0, 10, 20, 40], MASSES), "heads.found_first",
     {"layer": 2, "head": 1, "step": 10, "percent": 60, "last": 70}),
    (lambda: heads.first_aligned_fact([0, 10], MASSES[:, :, 2:]), "heads.found_at_once",
     {"layer": 1, "head": 2, "step": 0, "percent": 90, "last": 95}),
    (lambda: heads.first_aligned_fact([0, 10], MASSES[:, :, :1].repeat(2, axis=2)), "heads.found_none",
     {"layer": 1, "head": 2, "step": 10, "percent": 20}),
    (lambda: heads.entropy_change_fact(np.array([[[3.0, 2.0, 2.9], [3.0, 3.0, 2.0]]])), "heads.settled",
     {"layer": 1, "head": 2, "first": "3.00", "last": "2.00"}),
])  # fmt: skip
def test_what_is_said(ask, key, values):
    assert ask() == (key, values)


@pytest.mark.parametrize(("lost", "whole", "facts"), [
    ({"a": 41, "b": 3}, 99, [MOST, ("interventions.all_cost", {})]),
    ({"a": 41, "b": 0, "c": -3}, 90, [MOST, ("interventions.costs_nothing", {"count": 1, "heads": 3}), BETTER]),
    ({"a": -1, "b": 0}, 50, [("interventions.none_costs", {}), BETTER]), ({"a": -2, "b": 0}, 0, [("interventions.nothing_to_lose", {})]),
])  # fmt: skip
def test_what_heads_are_worth(lost, whole, facts):
    assert interventions.importance_facts(lost, whole) == facts


@given(st.lists(st.integers(0, 3), max_size=12), st.lists(st.integers(0, 3), max_size=12))
def test_what_is_not_marked_is_the_same_on_both_sides(before, after):
    removed, new = interventions.mark_changes(before, after)
    same = [token for token, marked in zip(before, removed, strict=True) if not marked]
    assert same == [token for token, marked in zip(after, new, strict=True) if not marked]
    assert any(removed + new) != (before == after)
    assert set(before) & set(after) == set() or same
    assert interventions.mark_changes([1, 2, 3, 3, 4], [1, 9, 2, 3, 4]) == ([0, 0, 0, 1, 0], [0, 1, 0, 0, 0])


def test_the_sharpest_the_widest_and_the_most_diagonal_head_are_found_among_all_kinds():
    """A row without a choice has no say."""
    diagonal, even, on_one = np.eye(4), np.full((4, 4), 0.25), np.tile([0.1, 0.7, 0.1, 0.1], (4, 1))
    stacks = {"encoder": np.array([[even, on_one]]), "cross": np.array([[even, diagonal]])}
    result = overview(stacks, dict.fromkeys(stacks, np.ones((4, 4), dtype=bool)))
    assert result.sharpest == result.most_diagonal == HeadAt("cross", 0, 1)
    assert result.widest == HeadAt("encoder", 0, 0)  # the first of equals
    assert [result.effective[head] for head in (result.sharpest, result.widest)] == pytest.approx([1, 4])
    assert [result.diagonal[head] for head in (result.most_diagonal, HeadAt("encoder", 0, 1))] == pytest.approx([1, 0.25])
    assert result.on_one_key == (HeadAt("encoder", 0, 1),)
    first = HeadAt("decoder", 0, 0)
    result = overview({"decoder": (CAUSAL / CAUSAL.sum(axis=1, keepdims=True))[None, None]}, {"decoder": CAUSAL})
    assert (result.effective[first], result.diagonal[first]) == pytest.approx(((2 + 3 + 4) / 3, (1 / 2 + 1 / 3 + 1 / 4) / 3))
    alone = overview({"decoder": np.ones((1, 1, 1, 1))}, {"decoder": np.ones((1, 1), dtype=bool)})
    assert (alone.effective, alone.on_one_key) == ({}, ())


AT, ALL = "encoder.0.self_attention", np.ones((1, 3, 3), dtype=bool)


def stage(address, axes, values, inputs=(), mask=None, layer=0, source=len):
    return Stage(address, address.rpartition(".")[2], "encoder", layer, axes, np.array(values), mask, inputs, source)


def answer(*stages, head=0, rows=("a", "b", "a"), columns=None):
    known = {entry.address: entry for entry in stages}
    this = stages[-1]
    columns = columns or [str(n + 1) for n in range(this.values.shape[-1])]
    result = facts(view_tensor(this, known, head, rows, columns))
    return {fact.key.removeprefix("map.fact_"): fact.values for fact in result}


IDS, OTHER_IDS = (stage("src.ids", "S", ids, layer=None) for ids in ([4, 7, 4], [4, 7, 5]))
EMBEDDING = stage("src.embedding", "SD", [[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]], ("src.ids",), layer=None)
PLACED = stage("src.positions", "SD", [[1.0, 3.0], [4.0, 4.0], [1.0, 1.0]], ("src.embedding",), layer=None)
PLAIN = stage("src.embedding", "SD", [[1.0, -1.0, 1.0, -1.0]] * 3, ("src.ids",), layer=None)
SCALED = stage("src.scaled", "SD", PLAIN.values * 2, ("src.embedding",), layer=None)
Q, V = stage(f"{AT}.q", "HSK", np.ones((1, 3, 4))), stage(f"{AT}.v", "HSK", [[[1.0, 0.0], [0.0, 2.0]]])
SCORES = stage(f"{AT}.scores", "HSS", [[[4.0, -4.0, 0.0]] * 3], (f"{AT}.q",))
DIVIDED = stage(f"{AT}.scaled", "HSS", SCORES.values / 2, (f"{AT}.scores",))
LOWER = np.tril(ALL)
MASKED = stage("decoder.0.self_attention.masked", "HTT", np.where(LOWER, [[1.0, 2.0, 3.0]] * 3, -1e30), mask=LOWER)
OPEN = stage("decoder.0.self_attention.masked", "HTT", np.ones((1, 3, 3)), mask=ALL)
TWO_HEADS = [[[1.0, 0.0, 0.0]] * 3, [[0.1, 0.9, 0.0], [0.4, 0.3, 0.3], [0.0, 0.2, 0.8]]]
WEIGHTS, HALF = stage(f"{AT}.weights", "HSS", TWO_HEADS, mask=ALL), stage(f"{AT}.weights", "HSS", [[[0.5, 0.5], [0.0, 1.0]]], mask=ALL)
MIXED = stage(f"{AT}.mixed", "HSK", HALF.values @ V.values, (f"{AT}.weights", f"{AT}.v"))
BOTH = stage(f"{AT}.mixed", "HSK", [[[1.0, 0.0], [0.0, 2.0]], [[3.0, 4.0], [0.0, 0.0]]])
CONCAT = stage(f"{AT}.concat", "SD", [[1.0, 0.0, 3.0, 4.0], [0.0, 2.0, 0.0, 0.0]], (f"{AT}.mixed",))
ALONE = stage(f"{AT}.concat", "SD", MIXED.values[0], (f"{AT}.mixed",))
ACTIVATED = "encoder.0.feed_forward.activated"
X, Y = stage("src.embedding", "SD", [[3.0, 4.0]] * 3), stage("encoder.0.feed_forward.W_2", "SD", [[0.0, -4.0]] * 3)
RESIDUAL = stage("encoder.0.feed_forward.residual", "SD", X.values + Y.values, (X.address, Y.address))
LOGITS = stage("logits", "TV", [[1.0, 5.0, 2.0], [3.0, 2.5, 0.0]], layer=None)
W_2 = stage("encoder.0.feed_forward.W_2", "SD", [[1.0, -2.0], [0.5, 1.5], [0.0, 2.0]])
XYZ = {"rows": ("x", "y", "z"), "columns": ["x", "y", "z"]}


@pytest.mark.parametrize(("stages", "more", "key", "values"), [
    ([W_2], {}, "range", {"low": "−2", "high": "2", "mean": "0.5", "row": "a", "column": "2", "value": "−2"}),  # the first of equals
    ([W_2], {}, "length", {"length": number((math.sqrt(5) + math.sqrt(2.5) + 2) / 3)}), ([IDS], {}, "ids", {"tokens": 3}),
    ([IDS], {}, "twin_ids", {"token": "a", "id": 4}), ([IDS, EMBEDDING], {}, "twins_same", {"token": "a", "first": 1, "second": 3}),
    ([OTHER_IDS, EMBEDDING], {}, "twins_same", None),
    ([IDS, EMBEDDING, PLACED], {}, "twins_differ", {"token": "a", "first": 1, "second": 3, "apart": "2"}),
    ([IDS, PLAIN, SCALED], {}, "times_root", {"width": 4, "factor": "2", "before": "1", "after": "2"}),
    ([Q, SCORES, DIVIDED], {}, "divided", {"size": 4, "factor": "2", "before": "3.27", "after": "1.63"}),
    ([MASKED], {}, "masked", {"hidden": 3, "cells": 9}),
    ([WEIGHTS], {"head": 1, **XYZ}, "weights",
     {"total": "1.000", "row": "x", "column": "y", "percent": 90, "other_row": "y", "other_column": "x", "other_percent": 40}),
    ([V, HALF, MIXED], {"rows": ("p", "q")}, "mixed", {"row": "q", "place": 2, "percent": 100, "cosine": "1.00"}),
    ([BOTH, CONCAT], {"rows": ("p", "q")}, "concat", {"heads": 2, "size": 2, "last": 1, "longest": 2, "length": "2.5"}),
    ([stage(ACTIVATED, "SF", [[0.0, 1.0, 0.0, 2.0], [0.0, 0.0, 3.0, 1.0], [0.0, 1.0, 0.0, 0.0]])], {}, "zeros",
     {"percent": 58, "units": 4, "silent": 1}),
    ([stage(ACTIVATED, "SF", [[-0.1, 1.0]] * 3)], {}, "no_zeros", {"units": 2, "percent": 50}),
    ([X, Y, RESIDUAL], {}, "residual", {"before": "5", "added": "4", "after": "3"}),
    ([LOGITS], {"rows": ("r", "s"), "columns": ["u", "v", "w"]}, "logits", {"row": "s", "best": "u", "next": "v", "lead": "0.5"}),
])  # fmt: skip
def test_what_is_said_of_a_stage(stages, more, key, values):
    assert answer(*stages, **more).get(key) == values


def test_what_is_not_so_is_said_otherwise_masked_cells_have_no_range_and_a_share_is_whole_only_if_it_is():
    cases = ((OPEN,), "nothing_masked", "masked"), ((WEIGHTS,), "weights_one", "weights"), ((MIXED, ALONE), "concat_one", "concat")
    for stages, key, other in cases:
        assert {key, other} & answer(*stages).keys() == {key}
    assert [answer(MASKED)["range"][end] for end in ("low", "high")] == ["1", "3"]
    assert answer(IDS, EMBEDDING, PLACED)["positions"]["added"] == "1"  # each row moved by a vector of length 1
    shares = {0.0: 0, 1e-9: 1, 0.004: 1, 0.125: 13, 0.914: 91, 0.995: 99, 0.9999999: 99, 1.0: 100}
    assert {share: percent(share) for share in shares} == shares
    assert [short(value) for value in (0.03141, 2.3e-16, 0.0, 12.0)] == ["0.031", "2.3e-16", "0", "12"]
    assert logits.top(LEANS, 3) == [(1, 0.7), (2, 0.2), (0, 0.05)]
    assert logits.top(TORN, 10) == [(1, 0.5), (2, 0.5), (0, 0.0), (3, 0.0)]
    for values, count in (([3, -1, 1], 1), ([1, 1, 1, 1], 3), ([-5, 4, 1], 2), ([-6, 4, 1], 1), ([4, 4, 1], 2), ([0, 0], 0), ([2], 1)):
        assert attention.carriers(np.array(values, dtype=float)) == count


def row(text, whole=None):
    """ "110" is a target of two tokens that are right, and an end that is not."""
    right = np.array([mark == "1" for mark in text])
    return right, bool(right.all()) if whole is None else whole


def of(shares, each=10):
    """A reach in which this share of `each` sentences is right at each length, but for the first token; None where there are none."""
    rows = []
    for length, share in enumerate(shares, 1):
        if share is not None:
            right = round(share * each)
            rows += [row("1" * (length + 1))] * right + [row("0" + "1" * length)] * (each - right)
    return reach(rows, len(shares))


@pytest.mark.trust
def test_lengths_are_counted_by_hand_and_said_of_a_line_and_token_by_token():
    result = reach([row("11"), row("01"), row("1101"), row("1111"), row("0111", whole=True)], 4)
    assert result.counts.tolist() == [2, 0, 3, 0]
    np.testing.assert_array_equal(result.exact, [0.5, NAN, 2 / 3, NAN])  # the last one is right by another answer
    np.testing.assert_array_equal(
        result.tokens, [[0.5, NAN, 2 / 3, NAN], [1, NAN, 1, NAN], [NAN, NAN, 2 / 3, NAN], [NAN, NAN, 1, NAN], [NAN, NAN, NAN, NAN]],
    )
    assert reach([row("1111")], 1).tokens.shape == (4, 3)
    assert line_fact(of([1, 0.5, 0.4]), (1, 2)).values == {"percent": 75, "span": "1–2", "length": 3, "next": 40}
    assert line_fact(of([1, 0.5]), (1, 2)).key == "evaluation.line_end"
    inside, hardest = {"percent": 100, "beyond": 88, "span": "1–2"}, {"length": 3, "place": 1, "percent": 50}
    assert [fact.values for fact in token_facts(of([1, 1, 0.5]), (1, 2))] == [inside, hardest]  # of 4 tokens of each half, one is wrong
    assert [fact.key for fact in token_facts(of([1, 1, 1]), (1, 2))] == ["evaluation.tokens_beyond"]
    assert token_facts(of([1, 1]), (2, 2)) == [("evaluation.tokens_trained", {"percent": 100, "span": "2"})]


@pytest.mark.parametrize(("shares", "trained", "keys", "values"), [
    ([0.5, 1, 1], (2, 3), "trained shorter end", {}),
    ([0, 0.5, 1, 1], (3, 4), "trained shorter end", {"shorter": {"percent": 25, "low": 3}}), ([1, 1, 0.5], (1, 2), "trained next", {}),
    ([1, 0.5, 0.4, 0.2, 0, 0], (1, 2), "trained beyond",
     {"trained": {"percent": 75, "span": "1–2"}, "beyond": {"length": 3, "percent": 40, "zero": 5}}),
    ([1, 1, 0.5, 0, 0.1], (1, 2), "trained alive", {"alive": {"length": 3, "percent": 50, "last": 5, "left": 10}}),
    ([None, None, 1, 0, 0], (1, 3), "trained missing none", {"missing": {"count": 2, "lengths": ("1", "2")}}),
    ([1, None, 1, None, 1], (1, 5), "trained missing end", {"missing": {"count": 2, "lengths": ("2", "4")}}),
    ([1, *[None] * 9, 1], (1, 11), "trained missing end", {"missing": {"count": 9, "lengths": ("2", "3", "4", "5", "6", "7", "…")}}),
])  # fmt: skip
def test_what_is_said_of_lengths(shares, trained, keys, values):
    facts = {fact.key.removeprefix("evaluation.lengths_"): fact.values for fact in exact_facts(of(shares), trained)}
    assert (list(facts), {key: facts[key] for key in values}) == (keys.split(), values)
