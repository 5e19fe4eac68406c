"""The curves of a run."""

from itertools import combinations

import pytest

from playground.figures import curves
from tests.figures.gallery import HISTORY


def test_skeletons_are_empty_and_name_their_columns():
    figures = curves.skeletons()
    assert list(figures) == ["loss", "accuracy", "learning_rate", "grad_norm", "tokens_per_second"]
    for figure in figures.values():
        for trace in figure["data"]:
            assert trace["x"] == trace["y"] == []
            assert set(trace["meta"]) == {"x", "y", "past_color"}
    assert set(curves.COLUMNS) == set(HISTORY)


def test_validation_has_steps_of_its_own():
    metas = [(trace["meta"]["x"], trace["meta"]["y"]) for trace in curves.skeletons()["loss"]["data"]]
    assert metas == [("step", "loss"), ("validation_step", "validation_loss")]


def test_fill_puts_each_column_where_its_meta_says():
    filled = {name: curves.fill(figure, HISTORY) for name, figure in curves.skeletons().items()}
    training, validation = filled["loss"]["data"]
    assert training["x"] == [1, 2, 3, 4]
    assert training["y"] == [3.0, 2.0, None, 1.0]  # NaN is a gap, not a number
    assert (validation["x"], validation["y"]) == ([2, 4], [2.5, 1.5])
    assert [trace["y"] for trace in filled["accuracy"]["data"]] == [[0.3, 0.9], [0.0, 0.5]]
    assert filled["learning_rate"]["data"][0]["y"] == [1e-5, 2e-5, 3e-5, 4e-5]  # not rounded away


def test_fill_leaves_the_skeleton_alone_and_bears_a_short_history():
    figure = curves.skeletons()["loss"]
    filled = curves.fill(figure, {"step": [1], "loss": [2.0]}, step=1)
    assert figure["data"][0]["x"] == []
    assert not figure["layout"]["shapes"][0]["visible"]
    assert filled["data"][1]["x"] == []


def test_the_first_shape_is_the_replays_cursor():
    for figure in curves.skeletons().values():
        cursor = figure["layout"]["shapes"][0]
        assert (cursor["type"], cursor["yref"], cursor["visible"]) == ("line", "paper", False)
        moved = curves.fill(figure, HISTORY, step=340)["layout"]["shapes"][0]
        assert (moved["x0"], moved["x1"], moved["visible"]) == (340, 340, True)


def test_lines_of_one_picture_differ_in_more_than_colour():
    for figure in curves.skeletons().values():
        for a, b in combinations(figure["data"], 2):
            assert a["line"]["color"] != b["line"]["color"]
            assert a["line"]["dash"] != b["line"]["dash"]
            assert a.get("marker", {}).get("symbol") != b.get("marker", {}).get("symbol")


def test_shares_have_a_fixed_axis_and_zoom_survives():
    figures = curves.skeletons()
    low, high = figures["accuracy"]["layout"]["yaxis"]["range"]
    assert low <= 0 < 1 <= high
    assert {figure["layout"]["uirevision"] for figure in figures.values()} == {curves.skeletons()["loss"]["layout"]["uirevision"]}


@pytest.mark.parametrize("steps", [None, 300])
def test_the_axis_shows_the_whole_run_when_it_is_known(steps):
    axis = curves.skeletons(steps=steps)["loss"]["layout"]["xaxis"]
    assert axis.get("range") == ([0, 300] if steps else None)
    assert axis["autorange"] == (steps is None)
