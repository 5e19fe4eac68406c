"""Bars and pairs beside words: every number in the row of its word, and no number claims a certainty that there is not."""

from html import unescape

import numpy as np
import pytest

from playground.features.interventions import figure as changes
from playground.features.lessons import figure as guesses
from playground.features.shared.figures import graph
from playground.features.shared.figures.theme import Style
from playground.features.teacher_forcing import figure as votes_figure

NAMES = ["a", "<b>", "c"]
PARTS, VOTES = ["embedding", "self 1.1", "cross 1.1", "FFN 1"], [0.5, -1.25, 2.0, 0.0]
KINDS, HEADS = ["others", "decoder", "cross", "feed_forward"], ["", "d1.1", "c1.1", ""]
DEGREES, COUNTS = ("50 %", "75 %", "95 %"), [[1, 0, 3], [0, 0, 0], [2, 2, 0]]


def notes(picture):
    return [note["text"] for note in picture["layout"]["annotations"]]


def test_the_likeliest_tokens_stand_in_order_with_what_was_taken_and_what_is_right():
    style = Style({"taken": "taken", "right": "right"})
    figure = graph.top_tokens(["dog", "cat", "<eos>"], [0.5, 0.3, 0.2], chosen=1, right=0, style=style)
    trace, layout = figure["data"][0], figure["layout"]
    assert (trace["x"], trace["text"]) == ([0.5, 0.3, 0.2], ["0.50 · right", "0.30 · taken", "0.20"])
    assert (layout["xaxis"]["range"], layout["yaxis"]["range"]) == ([0, 1], [2.5, -0.5])  # the first on top
    assert layout["yaxis"]["ticktext"] == ["dog", "cat", "&lt;eos&gt;"]
    figure = graph.frequencies(["a", "b", "c", "d"], [5, 9, 5, 1], most=3, kind="decoder")
    assert (figure["data"][0]["x"], figure["layout"]["xaxis"]["range"]) == ([9, 5, 5], [0, 9])
    assert figure["layout"]["meta"]["tokens"] == ["b", "a", "c"]  # ties as they came
    assert graph.frequencies([], [])["data"][0]["x"] == graph.top_tokens([], [])["data"][0]["x"] == []


def test_no_number_claims_certainty_where_there_is_none():
    for value, text in ((0.0, "0.00"), (0.001, "<0.01"), (0.0049, "<0.01"), (0.005, "0.01"), (0.994, "0.99"), (0.9999, ">0.99")):
        assert unescape(graph.top_tokens(["a"], [value])["data"][0]["text"][0]) == text


def test_before_and_after_stand_on_one_line_and_differ_in_shape():
    picture = changes.pairs(NAMES, [0.9, 0.0, 1.0], [0.2, 0.001, 0.999], chosen=1)
    between, before, after = picture["data"]
    assert (before["x"], after["x"]) == ([0.9, 0.0, 1.0], [0.2, 0.001, 0.999])
    assert before["y"] == after["y"] == [0, 1, 2]
    assert between["x"] == [0.9, 0.2, None, 0.0, 0.001, None, 1.0, 0.999, None]
    assert before["marker"]["symbol"] != after["marker"]["symbol"]
    assert notes(picture) == ["0.90 → 0.20", "0.00 → &lt;0.01", "1.00 → &gt;0.99"]
    rows = [["a", "0.900", "0.200"], ["<b>", "0.000", "0.001"], ["c", "1.000", "0.999"]]
    assert picture["layout"]["meta"]["table"]["rows"] == rows
    frame = picture["layout"]["shapes"][0]
    assert (frame["visible"], frame["y0"], frame["y1"]) == (True, 0.5, 1.5)
    assert not any(changes.pairs(NAMES, [0.1] * 3, [0.2] * 3, chosen=at)["layout"]["shapes"][0]["visible"] for at in (None, 3, -1))


def test_each_vote_is_one_bar_in_its_row_only_heads_can_be_switched_off_and_the_path_goes_from_point_to_point():
    picture = votes_figure.votes(PARTS, VOTES, KINDS, HEADS, tokens_of=("a", "<b>"))
    rows = {row: value for trace in picture["data"] for row, value in zip(trace["y"], trace["x"], strict=True)}
    assert [rows[row] for row in range(4)] == VOTES
    assert notes(picture) == ["+0.50", "−1.25", "+2.00", "+0.00"]
    assert picture["layout"]["yaxis"]["ticktext"] == PARTS
    clicks = {trace["y"][0]: (trace["meta"].get("field"), trace["customdata"]) for trace in picture["data"]}
    assert clicks == {0: (None, [""]), 1: ("off", ["d1.1"]), 2: ("off", ["c1.1"]), 3: (None, [""])}
    picture = votes_figure.path(["embedding", "FFN 1"], np.array([[1.0, 0.5], [3.0, -1.0]]), tokens_of=("a", "b"))
    arrows = [note for note in picture["layout"]["annotations"] if note["showarrow"]]
    assert [(note["ax"], note["ay"], note["x"], note["y"]) for note in arrows] == [(0, 0, 1, 0.5), (1, 0.5, 3, -1)]


def test_each_guess_has_a_bar_in_parts_and_its_sum_beside_it():
    figure = guesses.histogram(["yes", "no", "maybe"], COUNTS, DEGREES)
    assert [(trace["name"], trace["x"]) for trace in figure["data"]] == [("50 %", [1, 0, 2]), ("75 %", [0, 0, 2]), ("95 %", [3, 0, 0])]
    assert (notes(figure), "✓" in str(figure)) == (["yes", "no", "maybe", "4", "0", "4"], False)
    figure = guesses.histogram(["yes", "no"], COUNTS[:2], DEGREES, right=1)
    assert notes(figure)[:2] == ["yes", "<b>✓ no</b>"]  # by more than a colour
    figure = guesses.histogram(["a", "b"], [[2], [5]], [""], right=1)
    assert ([trace["x"] for trace in figure["data"]], figure["layout"]["showlegend"]) == ([[2, 5]], False)
    assert figure["layout"]["meta"]["table"]["rows"] == [["a", 2], ["✓ b", 5]]
    assert guesses.histogram(["yes"], [[0, 0, 0]], DEGREES)["layout"]["xaxis"]["range"] == [0, 1]


@pytest.mark.parametrize("text", ["It vanishes: no gradient passes through the softmax", "消失：几乎没有梯度能通过，训练因此停滞不前"])
def test_a_long_guess_is_broken_into_lines_and_none_of_it_is_lost(text):
    lines = guesses.wrap(text, 200)
    assert len(lines) > 1
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert not any(line.startswith(("：", "，", " ")) for line in lines)
