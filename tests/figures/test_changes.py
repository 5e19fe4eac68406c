"""Two probabilities on one line, and what is lost without a head."""

import plotly.graph_objects as go
import pytest

from playground.figures import changes

NAMES = ["a", "<b>", "c"]


def numbers(picture: dict) -> list[str]:
    return [note["text"] for note in picture["layout"]["annotations"]]


def test_before_and_after_stand_on_one_line_and_differ_in_shape():
    picture = changes.pairs(NAMES, [0.9, 0.0, 1.0], [0.2, 0.001, 0.999])
    between, before, after = picture["data"]
    assert (before["x"], after["x"]) == ([0.9, 0.0, 1.0], [0.2, 0.001, 0.999])
    assert before["y"] == after["y"] == [0, 1, 2]
    assert between["x"] == [0.9, 0.2, None, 0.0, 0.001, None, 1.0, 0.999, None]
    assert before["marker"]["symbol"] != after["marker"]["symbol"]
    assert (before["name"], after["name"]) == ("before", "after")
    assert numbers(picture) == ["0.90 → 0.20", "0.00 → &lt;0.01", "1.00 → &gt;0.99"]
    assert picture["layout"]["yaxis"]["range"] == [2.5, -0.5], "the first token on top"
    assert picture["layout"]["showlegend"]
    rows = [["a", "0.900", "0.200"], ["<b>", "0.000", "0.001"], ["c", "1.000", "0.999"]]
    assert picture["layout"]["meta"]["table"] == {"head": ["pair token", "before", "after"], "rows": rows}


@pytest.mark.parametrize(("chosen", "seen"), [(None, False), (1, True), (3, False), (-1, False)])
def test_the_chosen_row_is_framed(chosen, seen):
    frame = changes.pairs(NAMES, [0.1] * 3, [0.2] * 3, chosen=chosen)["layout"]["shapes"][0]
    assert frame["visible"] == seen
    if seen:
        assert (frame["y0"], frame["y1"]) == (0.5, 1.5)


def test_a_bar_for_each_head_with_its_number_and_one_scale_for_all():
    names, lost, fewer = ["1.1", "1.2", "2.1"], [41.0, 0.0, -2.5], [9.0, 0.0, -0.4]
    picture = changes.losses(names, lost, fewer, kind="cross", least=-2.5, most=60.0, off=[False, True])
    bar, diamonds = picture["data"]
    assert bar["x"] == [41.0, 0.0, -2.5]
    assert diamonds["x"] == [9.0, 0.0, -0.4]
    assert numbers(picture) == ["41", "0", "−2"]
    assert picture["layout"]["xaxis"]["range"] == [-2.5, 60.0]
    assert picture["layout"]["yaxis"]["ticktext"] == ["1.1", "<b>1.2</b>", "2.1"]


def test_small_losses_keep_a_digit_and_no_loss_at_all_still_has_a_scale():
    picture = changes.losses(["1.1", "1.2"], [0.4, 0.0], [0.0, 0.0], kind="encoder", most=0.4)
    assert numbers(picture) == ["0.4", "0"]
    assert picture["layout"]["xaxis"]["range"] == [0, 1]


def test_a_legend_of_two_lines_has_room():
    long = {"before": "without the change", "after": "with the change"}
    one, two = (changes.pairs(NAMES, [0.1] * 3, [0.2] * 3, width=width, labels=long)["layout"] for width in (700, 340))
    assert one["margin"]["t"] < two["margin"]["t"]
    assert two["height"] - one["height"] == two["margin"]["t"] - one["margin"]["t"], "the rows stay as high as they were"


def test_many_rows_are_thinned_and_stay_on_the_screen():
    names = [str(n) for n in range(200)]
    for picture in (changes.pairs(names, [0.5] * 200, [0.4] * 200), changes.losses(names, [1.0] * 200, [1.0] * 200, kind="cross", most=1)):
        go.Figure(picture)
        assert picture["layout"]["height"] <= 860
        assert len(numbers(picture)) == len(picture["layout"]["yaxis"]["tickvals"]) < 60


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="3 tokens"):
        changes.pairs(NAMES, [0.1] * 3, [0.1] * 2)
    with pytest.raises(ValueError, match="3 heads"):
        changes.losses(NAMES, [0.1] * 2, [0.1] * 2, kind="cross", most=1)
