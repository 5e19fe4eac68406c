"""Curves: every value at its step, gaps where there is no number, and each line told by its name."""

import math

import numpy as np
import plotly.graph_objects as go
import pytest

from playground.features.attention import figure as heads, figure as products
from playground.features.board import figure as board
from playground.features.data import figure as data
from playground.features.positions import figure as positions
from playground.features.shared.figures import graph, runs, sublayers, theme
from playground.features.shared.figures.theme import Style
from playground.features.train import figure as curves
from playground.rooms.experiment import MOST_ARMS

HISTORY = {"step", "loss", "learning_rate", "grad_norm", "tokens_per_second"}
HISTORY |= {"validation_step", "validation_loss", "token_accuracy", "exact_match"}
NAMES, KINDS = ["first", "second", "third"], ["encoder", "cross", "decoder"]
COURSES = np.array([[0.1, 0.0], [1.0, math.nan], [10.0, 100.0]])
STEPS = [0, 5, 20]
VALUES = np.array([[[0.1, 0.2, 0.9], [0.3, 0.3, 0.3]], [[0.0, 0.0, 0.1], [0.5, 0.6, 0.7]]])
TABLE = np.array([[0.0, 1.0], [0.8415, 0.5403], [0.9093, -0.4161]])


def drawn(figure):
    return [(trace["x"], trace["y"]) for trace in figure["data"]]


def cursor(figure):
    shape = figure["layout"]["shapes"][0]
    return (shape["x0"], shape["x1"]) if shape["visible"] else None


def test_curves_of_a_run_are_empty_and_their_meta_names_the_columns():
    skeletons = curves.skeletons(steps=300).values()
    assert {trace["meta"][side] for figure in skeletons for trace in figure["data"] for side in "xy"} == HISTORY
    for figure in skeletons:
        assert not any(trace["x"] or trace["y"] for trace in figure["data"])
        assert cursor(figure) is None
        assert figure["layout"]["xaxis"]["range"] == [0, 300]


def test_several_runs_are_lines_with_their_names_and_numbers_and_the_pinned_one_stands_behind():
    style, losses = Style(width=280), [[3.0, float("nan")], [2.5]]
    figure = runs.overlay("validation_loss", [[10, 20], [10]], losses, ["brisk-otter", "x" * 300], end=60, style=style)
    assert drawn(figure) == [([10, 20], [3.0, None]), ([10], [2.5])]
    first, second = (trace["name"] for trace in figure["data"])
    assert (first, second[-1], len(second) < 40, cursor(figure)) == ("brisk-otter", "…", True, (60, 60))
    bands = [([0.1, 0.4], [0.3, 0.6]), None]
    shade, *lines = runs.overlay("exact_match", [[1, 2], [1, 2]], [[0.2, 0.5], [0, 0]], ["mean", "alone"], bands=bands)["data"]
    assert (shade["x"], shade["y"], shade["showlegend"]) == ([1, 2, 2, 1], [0.3, 0.6, 0.4, 0.1], False)
    assert [line["name"] for line in lines] == ["mean", "alone"]
    figure = curves.skeletons()["accuracy"]
    *own, pinned = runs.add_pinned(figure, "exact_match", [10, 20], [0, 0.5], "pinned: a")["data"]
    assert own == figure["data"]
    assert (pinned["x"], pinned["y"], "meta" in pinned, pinned["zorder"] < 0) == ([10, 20], [0, 0.5], False, True)


def test_a_graph_holds_its_values_and_zero_is_a_gap_where_there_are_powers_only():
    picture = graph.lines([1, 10, 100], {"raw": [1.0, 10.123456, 1e5], "scaled": [1, 1, float("nan")]}, title="d_k", log_x=True)
    assert drawn(picture) == [([1, 10, 100], [1, 10.123, 1e5]), ([1, 10, 100], [1, 1, None])]
    assert (picture["layout"]["xaxis"]["type"], picture["layout"]["showlegend"]) == ("log", True)
    line = {"slope": [1e-3, 0.0, 1e-40]}
    assert graph.lines([1, 2, 3], line, log_y=True)["data"][0]["y"] == [1e-3, None, None]
    plain = graph.lines([1, 2, 3], line)
    assert (plain["data"][0]["y"], plain["layout"]["showlegend"]) == ([1e-3, 0, 1e-40], False)
    low, high = (graph.lines([1, 2], {"a": values}, percent="percent correct")["layout"]["yaxis"] for values in ([0, 1], [98, 100]))
    assert low == high  # one axis, whatever came out
    assert low["range"][0] <= 0 < 100 <= low["range"][1]


def test_every_head_has_a_line_and_the_chosen_one_lies_on_top_in_its_colour():
    figure = heads.over_training(STEPS, VALUES, chosen=(0, 1), kind="cross", step=5)
    lines = figure["data"]
    assert [(line["meta"]["layer"], line["meta"]["head"]) for line in lines] == [(0, 0), (1, 0), (1, 1), (0, 1)]
    assert [line["y"] for line in lines] == [VALUES[line["meta"]["layer"], line["meta"]["head"]].tolist() for line in lines]
    assert [line["line"]["color"] == theme.hue("cross") for line in lines] == [False, False, False, True]
    assert all(line["meta"]["x"] == "step" and line["x"] == STEPS for line in lines)
    assert cursor(figure) == (5, 5)


def test_products_add_up_to_the_score_and_query_and_key_share_a_scale():
    query, key = np.array([1.0, -2.0, 0.5]), np.array([3.0, 1.0, -4.0])
    figure = products.bars(query, key)
    assert drawn(figure) == [([1, 2, 3], values) for values in ([1.0, -2.0, 0.5], [3.0, 1.0, -4.0], [3.0, -2.0, -2.0])]
    axes = [figure["layout"][name] for name in ("yaxis", "yaxis2", "yaxis3")]
    assert all(axis["range"][0] == -axis["range"][1] for axis in axes)
    assert axes[0]["range"] == axes[1]["range"]


def parts(values, measure="gradient", **more):
    texts, style = [str(value) for value in values], Style(width=420)
    return sublayers.parts(values, NAMES, KINDS, texts, measure=measure, chosen=1, style=style, **more)


def test_gauges_stand_at_the_logarithm_and_0_below_all_of_them():
    figure = parts([0.01, 0.0, 10.0])
    dots, axis = figure["data"][0], figure["layout"]["xaxis"]
    assert dots["x"] == [-2, pytest.approx(-2 - sublayers.ZERO), 1]
    assert dict(zip(axis["tickvals"], axis["ticktext"], strict=True))[dots["x"][1]] == "0"
    assert axis["range"][0] < dots["x"][1] < dots["x"][2] < axis["range"][1]
    assert dots["marker"]["symbol"] == ["circle", "square-open", "diamond"]  # kinds differ in shape, and 0 is open
    assert (dots["meta"]["field"], dots["customdata"]) == ("route", [0, 1, 2])  # a click chooses the part
    assert figure["layout"]["meta"]["table"]["rows"] == [["first", "0.01"], ["second", "0.0"], ["third", "10.0"]]
    figure = parts([0.5, 1.0, 2.0], measure="activation", second=[-0.4, 0.1, 0.0])
    assert [trace["x"] for trace in figure["data"]] == [[0.5, 1.0, 2.0], [-0.4, 0.1, 0.0]]


@pytest.mark.parametrize("values", [[1e-7, 1.0, 30.0], [0.11, 0.12, 0.13], [0.0, 0.0, 0.0], [3e5, 4e6, 0.0]])
def test_ticks_are_where_they_say(values):
    axis = parts(values)["layout"]["xaxis"]
    assert 2 <= len(axis["ticktext"]) <= 7 or not any(values)
    for place, text in zip(axis["tickvals"], axis["ticktext"], strict=True):
        assert text == "0" or float(text.replace("−", "-")) == pytest.approx(10**place, rel=1e-3)


def test_courses_leave_gaps_fall_to_0_and_carry_the_true_numbers():
    more = {"measure": "gradient", "strong": [0], "last": 20, "step": 9, "changes": [(7, "cut")]}
    figure = sublayers.over_training([5, 9], COURSES, NAMES, KINDS, **more)
    by_name = {trace["name"]: trace for trace in figure["data"]}
    assert by_name["first"] is figure["data"][-1]  # the strong one lies on top
    assert by_name["first"]["y"] == [-1, pytest.approx(-1 - sublayers.ZERO)]
    assert by_name["first"]["customdata"] == ["0.1", "0"]
    assert (by_name["second"]["y"], by_name["third"]["y"]) == ([0, None], [1, 2])
    assert (figure["layout"]["xaxis"]["range"], cursor(figure)) == ([0, 20], (9, 9))
    assert figure["layout"]["shapes"][1]["x0"] == 7.5  # what was done to the run stands between two steps
    assert [(note["text"], note["x"]) for note in figure["layout"]["annotations"]] == [("cut", 7.5)]
    cells = sublayers.evenness(np.array([[0.5, math.nan], [1.0, 0.25]]), NAMES[:2])["data"][0]
    assert (cells["z"], cells["zmin"], cells["zmax"]) == ([[0.5, None], [1.0, 0.25]], 0, 1)


def test_each_length_is_counted_once_and_coverage_is_the_share_of_the_most_frequent():
    figure = data.lengths([2, 2, 4], [3, 5, 5])
    assert drawn(figure) == [([0, 1, 2, 3, 4, 5], [0, 0, 2, 0, 1, 0]), ([0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 0, 2])]
    assert figure["layout"]["yaxis"]["range"] == figure["layout"]["yaxis2"]["range"]
    assert data.lengths(range(1, 251), range(1, 251))["data"][0]["customdata"][:2] == ["0–6", "7–13"]
    assert drawn(data.coverage([6, 3, 1], [4])) == [([1, 2, 3], [0.6, 0.9, 1.0]), ([1], [1.0])]
    (x, y), _ = drawn(data.coverage([1] * 5000, []))
    assert (len(x) <= 60, x[0], x[-1], y[-1]) == (True, 1, 5000, 1.0)


def test_every_run_of_a_class_is_a_line_that_a_click_opens():
    arms = [f"arm {at}" for at in range(MOST_ARMS)]
    lines = [board.Line(f"run-{at}", at % 8, f"<b>{at}</b>", [10, 20], [0.1, at / 30]) for at in range(30)]
    figure = board.course(lines, [board.Shade(arm, [10, 20], [0.1, 0.5], [0.0, 0.2], [0.2, 0.9]) for arm in range(8)], arms, last=90)
    opened = {trace["customdata"][0]: trace for trace in go.Figure(figure).to_dict()["data"] if trace.get("meta") == board.OPENS}
    assert {run: (tuple(trace["y"]), trace["name"]) for run, trace in opened.items()} == {
        line.run: (tuple(theme.rounded(line.values)), f"&lt;b&gt;{at}&lt;/b&gt;") for at, line in enumerate(lines)
    }
    for some, legend in ((figure, arms), (board.course(lines[3:4], [], arms), ["arm 3"])):
        assert [trace["name"] for trace in some["data"] if trace.get("showlegend", True)] == legend
    for place, kind in ((0.02, None), ("sinusoids", "category")):
        figure = board.scores([board.Point(f"run-{at}", at % 2, f"{at}", place, at / 4) for at in range(4)], arms, "knob")
        points = [(trace["customdata"], trace["y"]) for trace in go.Figure(figure).to_dict()["data"]]
        assert points == [(["run-0", "run-2"], [0, 0.5]), (["run-1", "run-3"], [0.25, 0.75])]
        assert figure["layout"]["xaxis"].get("type") == kind


@pytest.mark.parametrize(("trained", "lines"), [(None, []), (3, []), (0, []), (2, [1.5])])
def test_the_line_lies_after_the_last_trained_position(trained, lines):
    for figure in (positions.heatmap(TABLE, trained=trained), positions.similarity(np.eye(3), trained=trained)):
        assert [shape["y0"] for shape in figure["layout"]["shapes"]] == [shape["y1"] for shape in figure["layout"]["shapes"]] == lines
    assert [shape["x0"] for shape in positions.waves({"learned": TABLE}, [0], trained=trained)["layout"]["shapes"]] == lines
