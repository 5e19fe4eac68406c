"""Several runs in one picture, and one behind the curves of another."""


import numpy as np
import pytest

from playground.figures import curves, runs, theme
from tests.figures.test_theme import contrast


def six(**more):
    return runs.overlay("exact_match", [[1, 2]] * 6, [[0.1, 0.2]] * 6, [*"abcdef"], **more)


def test_each_run_is_a_line_with_its_numbers():
    figure = runs.overlay("validation_loss", [[10, 20], [10]], [[3.0, float("nan")], [2.5]], ["brisk-otter · Heads 4", "b"])
    assert [(trace["x"], trace["y"]) for trace in figure["data"]] == [([10, 20], [3.0, None]), ([10], [2.5])]
    assert [trace["name"] for trace in figure["data"]] == ["brisk-otter · Heads 4", "b"]


@pytest.mark.parametrize("dark", [False, True])
def test_lines_can_be_seen_on_the_page(dark):
    assert min(contrast(color, theme.colors(dark)["paper"]) for color in theme.lines(dark)) > 3


def test_a_line_is_drawn_small_as_it_is_drawn_large():
    for at, trace in enumerate(six(dark=True)["data"]):
        assert runs.key(at, dark=True)["color"] == trace["line"]["color"]
        assert runs.key(at)["dash"].replace(",", "px,") + "px" * bool(runs.key(at)["dash"]) == trace["line"]["dash"].replace("solid", "")


def test_the_pinned_run_stands_behind_and_names_no_columns():
    """The page fills what names columns of a history; this has its numbers already."""
    figure = curves.skeletons()["accuracy"]
    *own, pinned = runs.behind(figure, "exact_match", [10, 20], [0, 0.5], "pinned: a")["data"]
    assert own == figure["data"]
    assert (pinned["x"], pinned["y"]) == ([10, 20], [0, 0.5])
    assert "meta" not in pinned
    assert pinned["zorder"] < 0
    assert pinned["line"]["color"] == theme.colors()["line"]
    assert pinned["line"]["dash"] not in {trace["line"]["dash"] for trace in own}


def test_a_difference_is_symmetric_about_zero_and_hides_what_is_masked():
    change, mask = np.array([[0.2, -0.354], [0.9, 0.0]]), np.array([[True, True], [False, True]])
    heat, hatching = runs.difference(change, ["a", "b"], ["c", "d"], mask=mask)["data"]
    assert heat["z"] == [[0.2, -0.354], [None, 0]]
    assert (heat["zmin"], heat["zmax"]) == (-0.36, 0.36)
    assert heat["colorscale"][5][1] == theme.diverging()[5]
    assert hatching
    with pytest.raises(ValueError, match="do not fit"):
        runs.difference(change, ["a"], ["c", "d"])


def test_a_band_lies_behind_the_line_of_its_colour():
    shade, first, second = runs.overlay(
        "exact_match", [[1, 2], [1, 2]], [[0.2, 0.5], [0, 0]], ["mean", "alone"], bands=[([0.1, 0.4], [0.3, 0.6]), None]
    )["data"]
    assert (shade["x"], shade["y"]) == ([1, 2, 2, 1], [0.3, 0.6, 0.4, 0.1])
    assert shade["showlegend"] is False
    assert [line["name"] for line in (first, second)] == ["mean", "alone"]
