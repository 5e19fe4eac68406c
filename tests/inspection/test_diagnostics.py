"""Sentences about health, on numbers small enough to check by hand."""

import math

import pytest

from playground.inspection import diagnostics


def test_largest_and_smallest():
    key, answer = diagnostics.extremes({"a": 0.5, "b": 2.0, "c": 0.1}, "diagnostics.gradient")
    assert key == "diagnostics.gradient"
    assert (answer["most"], answer["largest"], answer["least"], answer["smallest"], answer["times"]) == ("b", 2.0, "c", 0.1, "20")


def test_what_is_exactly_0_is_said_apart():
    key, answer = diagnostics.extremes({"a": 0.0, "b": 2.0, "c": 0.0}, "diagnostics.gradient")
    assert key == "diagnostics.gradient_zero"
    assert (answer["zeros"], answer["most"], answer["least"]) == (2, "b", "b")
    assert diagnostics.extremes({"a": 0.0}, "diagnostics.update").key == "diagnostics.update_none"


def test_dead_units_are_counted():
    key, answer = diagnostics.dead({"a": 0.25, "b": 0.5}, units=8)
    assert key == "diagnostics.dead"
    assert (answer["count"], answer["all"], answer["most"], answer["there"]) == (6, "16", "b", 4)
    assert diagnostics.dead({"a": 0.0}, units=1024).values["all"] == "1,024"
    assert diagnostics.dead({"a": 0.0}, units=8).key == "diagnostics.dead_none"


def test_the_sharpest_and_the_most_even_head():
    key, answer = diagnostics.spread({"a": [0.5, 0.2], "b": [0.9, math.nan]})
    assert key == "diagnostics.entropy"
    assert (answer["least"], answer["sharp_head"], answer["smallest"]) == ("a", 2, 0.2)
    assert (answer["most"], answer["head"], answer["largest"]) == ("b", 1, 0.9)
    assert diagnostics.spread({"a": [math.nan]}).key == "diagnostics.entropy_none"


@pytest.mark.parametrize(
    ("values", "key", "more"),
    [
        ([1.0, 0.5, 0.2], "course", {"began": 1.0, "ended": 0.2}),
        ([1.0, 3.0, 0.2], "course_peak", {"highest": 3.0, "peak": "1,500"}),
        ([1.0, 0.0, 0.9], "course_dip", {"lowest": 0.0, "dip": "1,500"}),
        ([1.0, 1.02, 0.99], "course", {}),
        ([math.nan, 2.0, 2.0], "course", {"first": "1,500", "began": 2.0}),
        ([0.0, 0.0, 0.0], "course", {"ended": 0.0}),
        ([math.nan] * 3, "course_none", {}),
    ],
)
def test_the_course_of_a_curve(values, key, more):
    fact = diagnostics.course([10, 1500, 2000], values)
    assert fact.key == f"diagnostics.{key}"
    assert fact.values.items() >= more.items()


def test_shares_of_the_cost():
    flops = {"src_embedding": 0, "encoder.0.self_attention": 100, "decoder.0.cross_attention": 200, "projection": 700}
    answer = diagnostics.cost({"a": 1200, "b": 34}, flops).values
    assert (answer["parameters"], answer["flops"], answer["attention"], answer["decoder"]) == ("1,234", "1,000", "30", "90")
    assert (answer["most"], answer["share"]) == ("projection", "70")


def test_what_another_number_of_heads_costs():
    key, answer = diagnostics.heads({1: (1200, 34_000), 2: (1200, 34_000)})
    assert (key, answer) == ("diagnostics.heads_same", {"parameters": "1,200", "flops": "34,000"})
    key, answer = diagnostics.heads({1: (1200, 34_000), 2: (1200, 34_000), 4: (2400, 56_000)})
    assert key == "diagnostics.heads_differ"
    assert answer == {"fewest": 1, "most": 4, "parameters": "1,200", "more_parameters": "2,400"}
