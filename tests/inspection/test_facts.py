"""Statements about numbers: the sentence and every value in it, by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from playground.inspection import attention, diagnostics, heads, interventions, logits, overview as overviews
from playground.inspection.fact import percent, short
from playground.inspection.overview import HeadAt, overview

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
    return diagnostics.course([10, 1500, 2000], values)


def moved(*after: float):
    return interventions.probability_fact([0.9, 0.8, 0.5], after, ["a", "b", "c"])


def ran(first: str, began: float, ended: float, **more) -> dict:
    return {"first": first, "began": began, "last": "2,000", "ended": ended, **more}


@pytest.mark.parametrize(("ask", "key", "values"), [
    (lambda: diagnostics.extremes({"a": 0.5, "b": 2.0, "c": 0.1}, "diagnostics.gradient"), "diagnostics.gradient",
     {"most": "b", "largest": 2.0, "least": "c", "smallest": 0.1, "times": "20", "zeros": 0}),
    (lambda: diagnostics.extremes({"a": 0.0, "b": 2.0, "c": 0.0}, "diagnostics.gradient"), "diagnostics.gradient_zero",
     {"most": "b", "largest": 2.0, "least": "b", "smallest": 2.0, "times": "1", "zeros": 2}),
    (lambda: diagnostics.extremes({"a": 0.0}, "diagnostics.update"), "diagnostics.update_none", {}),
    (lambda: diagnostics.dead({"a": 0.25, "b": 0.5}, 8), "diagnostics.dead", {"count": 6, "all": "16", "most": "b", "there": 4}),
    (lambda: diagnostics.dead({"a": 0.0}, 1024), "diagnostics.dead_none", {"count": 0, "all": "1,024"}),
    (lambda: diagnostics.spread({"a": [0.5, 0.2], "b": [0.9, NAN]}), "diagnostics.entropy",
     {"most": "b", "head": 1, "largest": 0.9, "least": "a", "sharp_head": 2, "smallest": 0.2}),
    (lambda: diagnostics.spread({"a": [NAN]}), "diagnostics.entropy_none", {}),
    (lambda: course(1.0, 0.5, 0.2), "diagnostics.course", ran("10", 1.0, 0.2)),
    (lambda: course(1.0, 3.0, 0.2), "diagnostics.course_peak", ran("10", 1.0, 0.2, peak="1,500", highest=3.0)),
    (lambda: course(1.0, 0.0, 0.9), "diagnostics.course_dip", ran("10", 1.0, 0.9, dip="1,500", lowest=0.0)),
    (lambda: course(1.0, 1.02, 0.99), "diagnostics.course", ran("10", 1.0, 0.99)),
    (lambda: course(NAN, 2.0, 2.0), "diagnostics.course", ran("1,500", 2.0, 2.0)),
    (lambda: course(NAN, NAN, NAN), "diagnostics.course_none", {}),
    (lambda: diagnostics.cost({"a": 1200, "b": 34}, FLOPS), "diagnostics.cost",
     {"parameters": "1,234", "flops": "1,000", "most": "projection", "attention": "30", "decoder": "90", "share": "70"}),
    (lambda: diagnostics.heads({1: SMALL, 2: SMALL}), "diagnostics.heads_same", {"parameters": "1,200", "flops": "34,000"}),
    (lambda: diagnostics.heads({1: SMALL, 2: SMALL, 4: WIDE}), "diagnostics.heads_differ",
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
    ({"a": -1, "b": 0}, 50, [("interventions.none_costs", {}), BETTER]),
    ({"a": -2, "b": 0}, 0, [("interventions.nothing_to_lose", {})]),
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


def test_numbers_as_they_stand_in_sentences():
    shares = {0.0: 0, 1e-9: 1, 0.004: 1, 0.125: 13, 0.914: 91, 0.995: 99, 0.9999999: 99, 1.0: 100}
    assert {share: percent(share) for share in shares} == shares
    assert [short(value) for value in (0.03141, 2.3e-16, 0.0, 12.0)] == ["0.031", "2.3e-16", "0", "12"]
    assert logits.top(LEANS, 3) == [(1, 0.7), (2, 0.2), (0, 0.05)]
    assert logits.top(TORN, 10) == [(1, 0.5), (2, 0.5), (0, 0.0), (3, 0.0)]
    for values, count in (([3, -1, 1], 1), ([1, 1, 1, 1], 3), ([-5, 4, 1], 2), ([-6, 4, 1], 1), ([4, 4, 1], 2), ([0, 0], 0), ([2], 1)):
        assert attention.carriers(np.array(values, dtype=float)) == count


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
