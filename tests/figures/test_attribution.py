"""Votes as bars that lead to their head, and the path as arrows from one sublayer to the next."""

import numpy as np

from playground.figures import attribution

NAMES, VOTES = ["embedding", "self 1.1", "cross 1.1", "FFN 1"], [0.5, -1.25, 2.0, 0.0]
KINDS, HEADS = ["others", "decoder", "cross", "feed_forward"], ["", "d1.1", "c1.1", ""]


def test_each_part_is_one_bar_with_its_number_in_its_row():
    picture = attribution.votes(NAMES, VOTES, KINDS, HEADS, tokens_of=("a", "<b>"))
    bars = {row: value for trace in picture["data"] for row, value in zip(trace["y"], trace["x"], strict=True)}
    assert [bars[row] for row in range(4)] == VOTES
    assert [note["text"] for note in picture["layout"]["annotations"]] == ["+0.50", "−1.25", "+2.00", "+0.00"]
    assert picture["layout"]["yaxis"]["ticktext"] == NAMES
    assert "&lt;b&gt;" in picture["layout"]["xaxis"]["title"]["text"]


def test_only_heads_can_be_switched_off_by_a_click():
    picture = attribution.votes(NAMES, VOTES, KINDS, HEADS, tokens_of=("a", "b"))
    led = {trace["y"][0]: (trace["meta"].get("field"), trace["customdata"]) for trace in picture["data"]}
    assert led == {0: (None, [""]), 1: ("off", ["d1.1"]), 2: ("off", ["c1.1"]), 3: (None, [""])}


def test_arrows_go_from_each_point_to_the_next():
    points = np.array([[1.0, 0.5], [3.0, -1.0]])
    picture = attribution.path(["embedding", "FFN 1"], points, tokens_of=("a", "b"))
    arrows = [note for note in picture["layout"]["annotations"] if note["showarrow"]]
    assert [(note["ax"], note["ay"], note["x"], note["y"]) for note in arrows] == [(0, 0, 1, 0.5), (1, 0.5, 3, -1)]
    assert picture["data"][0]["x"] == [0, 1, 3]
    assert picture["layout"]["meta"]["table"]["rows"] == [["embedding", "1.0000", "0.5000"], ["FFN 1", "3.0000", "-1.0000"]]
