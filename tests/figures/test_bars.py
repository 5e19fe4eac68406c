"""Bars beside words."""

from html import unescape

import pytest

from playground.figures import bars, theme


def test_the_likeliest_tokens_stand_in_order_with_what_was_taken_and_what_is_right():
    figure = bars.top_tokens(["dog", "cat", "<eos>"], [0.5, 0.3, 0.2], chosen=1, right=0, labels={"taken": "taken", "right": "right"})
    trace = figure["data"][0]
    assert trace["x"] == [0.5, 0.3, 0.2]
    assert trace["text"] == ["0.50 · right", "0.30 · taken", "0.20"]
    assert trace["marker"]["line"]["width"] == [0.5, 2, 0.5]  # a shape, not only a colour
    assert figure["layout"]["xaxis"]["range"] == [0, 1]
    assert figure["layout"]["yaxis"]["range"] == [2.5, -0.5]  # the first on top
    assert figure["layout"]["yaxis"]["ticktext"] == ["dog", "cat", "&lt;eos&gt;"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.00"), (0.001, "<0.01"), (0.0049, "<0.01"), (0.005, "0.01"), (0.994, "0.99"), (0.9999, ">0.99"), (1.0, "1.00")],
)
def test_no_number_claims_certainty_where_there_is_none(value, text):
    assert unescape(bars.top_tokens(["a"], [value])["data"][0]["text"][0]) == text


def test_the_most_frequent_come_first_and_only_so_many():
    figure = bars.frequencies(["a", "b", "c", "d"], [5, 9, 5, 1], most=3, kind="decoder")
    assert figure["data"][0]["x"] == [9, 5, 5]
    assert figure["layout"]["meta"]["tokens"] == ["b", "a", "c"]  # ties as they came
    assert figure["data"][0]["marker"]["color"] == theme.hue("decoder")
    assert figure["layout"]["xaxis"]["range"] == [0, 9]
