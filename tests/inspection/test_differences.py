"""What is said of a before and an after, over sequences and numbers small enough to check by eye."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.inspection import differences


@pytest.mark.parametrize(
    ("before", "after", "gone", "new"),
    [
        ("olleh", "olleh", "     ", "     "),
        ("olleh", "oleh", " x   ", "    "),  # which of two equal letters it was, nobody can tell
        ("olleh", "oxleh", " x   ", " x   "),
        ("ab", "xyz", "xx", "xxx"),
        ("", "ab", "", "xx"),
        ("ab", "", "xx", ""),
    ],
)
def test_marks(before, after, gone, new):
    result = differences.marks([*map(ord, before)], [*map(ord, after)])
    assert result == ([mark == "x" for mark in gone], [mark == "x" for mark in new])


@given(st.lists(st.integers(0, 3), max_size=12), st.lists(st.integers(0, 3), max_size=12))
def test_what_is_not_marked_is_the_same_on_both_sides(before, after):
    gone, new = differences.marks(before, after)
    stored = [token for token, marked in zip(before, gone, strict=True) if not marked]
    assert stored == [token for token, marked in zip(after, new, strict=True) if not marked]


def test_what_was_written():
    assert differences.written([4, 5, 2], (4, 5, 2)) == ("interventions.same", {})
    key, values = differences.written([4, 5, 6, 2], [4, 6, 2])
    assert (key, values) == ("interventions.different", {"gone": 1, "tokens": 4, "new": 0, "other": 3, "step": 2})
    assert differences.written([4, 5], [4, 5, 6]).values["step"] == 3


def test_the_probability_that_moved_most():
    names = ["a", "b", "c"]
    assert differences.moved([0.9, 0.8, 0.5], [0.85, 0.1, 0.7], names) == (
        "interventions.fell", {"token": "b", "step": 2, "before": 0.8, "after": 0.1},
    )  # fmt: skip
    assert differences.moved([0.1, 0.2, 0.3], [0.1, 0.2, 0.9], names).key == "interventions.rose"
    assert differences.moved([0.1, 0.2, 0.3], [0.104, 0.2, 0.3], names) == ("interventions.unmoved", {})


@pytest.mark.parametrize(
    ("lost", "whole", "keys"),
    [
        ({"a": 41, "b": 0, "c": 0}, 99, ["costs_most", "costs_nothing"]),
        ({"a": 41, "b": 3}, 99, ["costs_most", "all_cost"]),
        ({"a": 41, "b": -3}, 90, ["costs_most", "better_without"]),
        ({"a": 41, "b": 0, "c": -3}, 90, ["costs_most", "costs_nothing", "better_without"]),
        ({"a": 0, "b": 0}, 100, ["none_costs"]),
        ({"a": -1, "b": 0}, 50, ["none_costs", "better_without"]),
        ({"a": 0, "b": 0}, 0, ["nothing_to_lose"]),
        ({"a": -2, "b": 0}, 0, ["nothing_to_lose"]),
    ],
)
def test_what_heads_are_worth(lost, whole, keys):
    facts = differences.importance(lost, whole)
    assert [fact.key for fact in facts] == [f"interventions.{key}" for key in keys]
    values = {name: value for fact in facts for name, value in fact.values.items()}
    if "costs_most" in keys:
        assert (values["head"], values["points"]) == ("a", "41")
    if "costs_nothing" in keys:
        assert values["count"] == 1 or values["heads"] == 3
