"""Grids and curves: every number at its row, column or step, what is masked or no number is a gap, and scales are what they say."""

import math

import numpy as np
import plotly.graph_objects as go
import pytest
import torch
from hypothesis import given
from hypothesis.extra.numpy import arrays

from playground import plot
from playground.features import attention as heads
from playground.features.board import figure as board
from playground.features.data import panel as data
from playground.features.embeddings import figure as vectors
from playground.features.positions import panel as positions
from playground.features.shared.figures import attention, cells, graph, runs, sublayers, tensor, theme
from playground.features.shared.figures.cells import fit_to_page
from playground.features.shared.figures.theme import Style
from playground.features.teacher_forcing import figure as lens_figure
from playground.features.train import panel as curves
from playground.rooms.experiment import MOST_ARMS

ROWS, COLUMNS = ["o", "l", "l", "<eos>"], ["l", "l", "o"]
WEIGHTS = np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25], [1.0, 0.0, 0.0], [0.0, 0.12345678, 0.87654322]])
HEAT, HATCH, UNSEEN, RINGS = range(4)
TOKENS, CAUSAL, PADDING = ["<bos>", "a", "<pad>"], np.tri(3, dtype=bool), np.array([[True, True, False]])
VALUES = np.array([[1.0, -2.0, 0.5, 0.0], [0.25, 3.0, -1.0, 1.5], [0.0, 0.0, 0.125, -0.5]])


def heatmap(values=VALUES, rows=("a", "b", "a"), columns=("1", "2", "3", "4"), **more):
    return tensor.heatmap(values, rows, columns, **{"kind": "cross", **more})


def covered(trace):
    return {(row, int(base + 0.5) + i) for row, base, n in zip(trace["y"], trace["base"], trace["x"], strict=True) for i in range(n)}


def hidden(mask):
    return {tuple(cell) for cell in np.argwhere(~mask).tolist()}


def test_attention_asks_downwards_has_one_scale_and_rings_where_it_should_look_and_bars_name_the_largest():
    figure = attention.matrix(WEIGHTS, ROWS, COLUMNS, alignment=[2, None, 0, 9])
    layout, (heat, *_) = figure["layout"], figure["data"]
    assert layout["yaxis"]["range"] == [3.5, -0.5]  # the first token on top
    assert (layout["xaxis"]["range"], layout["xaxis"]["side"]) == ([-0.5, 2.5], "top")
    assert layout["yaxis"]["ticktext"] == ["o", "l", "l", "&lt;eos&gt;"]
    assert layout["meta"] == {"kind": "cross", "cells": True, "rows": ROWS, "columns": COLUMNS}
    assert heat["z"] == [[0.1, 0.2, 0.7], [0.5, 0.25, 0.25], [1.0, 0.0, 0.0], [0.0, 0.1235, 0.8765]]
    assert heat["colorscale"] == theme.scale(theme.sequential())
    small = attention.matrix(WEIGHTS / 1000, ROWS, COLUMNS)["data"][HEAT]  # never stretched to what is there
    assert (heat["zmin"], heat["zmax"]) == (small["zmin"], small["zmax"]) == (0, 1)
    x, y = figure["data"][RINGS]["x"], figure["data"][RINGS]["y"]
    centres = [(np.mean(y[i : i + 4]), np.mean(x[i : i + 4])) for i in range(0, len(x), 6)]
    assert centres == [(0.0, 2.0), (2.0, 0.0)]  # None and a column outside have no ring
    assert x[5] is None  # the pen is lifted between rings
    for pinned, visible in (((1, 2), True), (None, False), ((4, 0), False), ((0, 3), False), ((-1, 0), False)):
        shapes = attention.matrix(WEIGHTS, ROWS, COLUMNS, pinned=pinned)["layout"]["shapes"]
        assert [shape["visible"] for shape in shapes] == [visible] * 4
        cell = [[shapes[at][side] for side in ("x0", "x1", "y0", "y1")] for at in (2, 3)]
        assert not visible or cell == [[1.5, 2.5, 0.5, 1.5]] * 2
    figure = attention.step_bars(WEIGHTS[0], COLUMNS, right=2)
    bars, frame = figure["data"][0], figure["layout"]["shapes"][0]
    assert (bars["x"], bars["y"], bars["text"]) == ([0, 1, 2], [0.1, 0.2, 0.7], ["", "", "0.70"])
    assert (figure["layout"]["yaxis"]["range"], frame["x0"], frame["x1"], frame["visible"]) == ([0, 1], 1.5, 2.5, True)
    bars, hatching = attention.step_bars(WEIGHTS[0], COLUMNS, mask=[True, True, False])["data"][:2]
    assert (bars["y"], bars["text"]) == ([0.1, 0.2, 0.0], ["", "0.20", ""])
    assert (hatching["x"], hatching["y"], hatching["visible"]) == ([2], [1], True)


def test_each_head_of_any_model_is_drawn_as_one_is_and_cells_of_the_lens_hold_their_tokens_and_rings():
    whole, matrix = plot.attention(torch.tensor(WEIGHTS), ROWS, COLUMNS), attention.matrix(WEIGHTS, ROWS, COLUMNS)["data"][HEAT]
    assert [list(row) for row in whole.data[HEAT].z] == matrix["z"]
    small = plot.attention(np.stack([[WEIGHTS, 1 - WEIGHTS]] * 3), ROWS, COLUMNS, width=500)
    assert [[list(row) for row in heat.z] for heat in small.data[:2]] == [matrix["z"], theme.rounded(1 - WEIGHTS)]
    assert [note.text for note in small.layout.annotations] == [f"layer {layer}, head {head}" for layer in (1, 2, 3) for head in (1, 2)]
    assert small.layout.xaxis2.domain[0] > small.layout.xaxis.domain[1]
    assert small.layout.yaxis3.domain[1] < small.layout.yaxis.domain[0]
    with pytest.raises(ValueError, match="shape 4 × 3 don’t fit 3 rows and 4 columns"):
        plot.attention(WEIGHTS, COLUMNS, ROWS)
    drawn = lens_figure.grid(
        np.array([[0.2, 0.9, 0.5], [0.7, 1.0, 0.6]]), [["a", "b", "<s>"], ["c", "b", "d"]], ["embedding", "layer 1"], ["c", "b", "d"],
        decided=[1, 0, 1],
    )  # fmt: skip
    assert drawn["data"][0]["z"] == [[0.2, 0.9, 0.5], [0.7, 1.0, 0.6]]
    texts = {(note["y"], note["x"]): note["text"] for note in drawn["layout"]["annotations"]}
    assert texts == {(0, 0): "a", (0, 1): "b", (0, 2): "&lt;s&gt;", (1, 0): "c", (1, 1): "b", (1, 2): "d"}
    x, y = (drawn["data"][1][axis] for axis in "xy")
    assert {(round(np.mean(x[at : at + 5])), round(np.mean(y[at : at + 5]))) for at in range(0, len(x), 6)} == {(0, 1), (1, 0), (2, 1)}


@given(arrays(bool, (4, 3)))
def test_masked_cells_are_gaps_with_hatching_and_never_a_value(mask):
    figure = attention.matrix(WEIGHTS, ROWS, COLUMNS, mask=mask, style=Style({"hover_masked": "{row} {column} masked"}))
    data = figure["data"]
    assert {(q, k) for q, row in enumerate(data[HEAT]["z"]) for k, value in enumerate(row) if value is None} == hidden(mask)
    assert {(q, k) for q, row in enumerate(data[UNSEEN]["z"]) for k, value in enumerate(row) if value == 0} == hidden(mask)
    assert covered(data[HATCH]) == hidden(mask)
    assert data[HATCH]["visible"] == data[UNSEEN]["visible"] == (not mask.all())
    assert "masked" in data[UNSEEN]["hovertemplate"]
    assert all(color == "rgba(0,0,0,0)" for _, color in data[UNSEEN]["colorscale"])


@pytest.mark.parametrize(("causes", "expected"), [
    ({"padding": PADDING, "future": CAUSAL}, {"padding": {(2, 2)}, "future": {(0, 1)}, "both": {(0, 2), (1, 2)}}),
    ({"padding": PADDING, "segment": np.eye(3, dtype=bool), "future": CAUSAL},
     {"padding": {(2, 2)}, "segment": {(1, 0), (2, 0), (2, 1)}, "several": {(0, 1), (0, 2), (1, 2)}}),
    ({"future": CAUSAL}, {"future": {(0, 1), (0, 2), (1, 2)}}), ({"padding": PADDING}, {"padding": {(0, 2), (1, 2), (2, 2)}}),
])  # fmt: skip
def test_each_cause_of_a_mask_has_hatching_and_words_of_its_own(causes, expected):
    mask = np.logical_and.reduce([np.broadcast_to(cause, (3, 3)) for cause in causes.values()])
    figure = attention.grid(mask, TOKENS, TOKENS, kind="decoder", causes=causes)
    bars = [trace for trace in figure["data"] if trace["type"] == "bar" and trace["visible"]]
    assert {trace["name"]: covered(trace) for trace in bars} == expected
    assert figure["data"][0]["z"] == [[1 if seen else None for seen in row] for row in mask]
    patterns = [trace["marker"]["pattern"]["shape"] for trace in bars]
    assert len(set(patterns)) == len(patterns)
    answered = [np.array([[value is not None for value in row] for row in trace["z"]]) for trace in figure["data"] if "z" in trace]
    assert (sum(answered) == 1).all(), "one answer a cell"
    (joined, *_) = attention.grid(np.ones((3, 3), bool), TOKENS, TOKENS, kind="decoder", source=2)["data"]
    assert joined["z"] == [[0, 0, 1], [0, 0, 1], [0.5, 0.5, 1]], "each block has the hue of its kind of attention"


def test_a_tensors_numbers_stand_at_their_places_masked_ones_count_for_nothing_and_one_may_be_kept_secret():
    figure = heatmap(titles=("token", "dimension"), at=[40, 41, 42, 43], sides=("src", ""))
    layout = figure["layout"]
    assert figure["data"][0]["z"] == VALUES.tolist()
    assert [*layout["meta"]["rows"]] == [*layout["yaxis"]["ticktext"]] == ["a", "b", "a"]  # a repeated token has a row of its own
    assert layout["yaxis"]["range"] == [2.5, -0.5]
    assert (layout["yaxis"]["title"]["text"], layout["xaxis"]["title"]["text"]) == ("token", "dimension")
    meta = layout["meta"]
    assert (meta["fields"], meta["at"], meta["sides"]) == (["row", "col"], [40, 41, 42, 43], ["src", ""])
    trace = heatmap(np.array([[7], [12], [7]]), columns=["id"], scale="plain")["data"][0]
    assert (trace["z"], trace["texttemplate"], trace["showscale"]) == ([[7], [12], [7]], "%{z:d}", False)
    mask = np.tri(3, 4, dtype=bool)
    figure = heatmap(np.where(mask, VALUES, -1e30), mask=mask)
    assert [[value is None for value in row] for row in figure["data"][0]["z"]] == (~mask).tolist()
    assert figure["data"][0]["zmax"] == 3  # not 1e30
    assert covered(figure["data"][1]) == hidden(mask)
    values = np.array([[np.nan, 1.0], [2.0, np.nan]])
    layout = heatmap(values, ["a", "b"], ["c", "d"], mask=np.array([[True, True], [True, False]]))["layout"]
    assert [(note["x"], note["y"], note["text"]) for note in layout["annotations"]] == [(0, 0, "NaN")]
    assert heatmap(values, ["a", "b"], ["c", "d"])["layout"]["meta"]["none"] == "NaN"
    framed = heatmap(chosen=(1, 2))["layout"]["shapes"][3]
    assert (framed["visible"], framed["x0"], framed["y0"], framed["x1"], framed["y1"]) == (True, 1.5, 0.5, 2.5, 1.5)
    figure = heatmap(chosen=(1, 2), secret=True)
    assert figure["data"][0]["z"][1] == [0.25, 3.0, None, 1.5]
    assert [[text == "?" for text in row] for row in figure["data"][3]["text"]] == [[False] * 4, [False, False, True, False], [False] * 4]
    assert "-1.0" not in str(figure["data"])


def test_signed_grids_are_centred_at_zero_a_presented_one_leaves_room_and_a_line_ends_what_was_trained():
    heat = vectors.cosines(np.array([[1.0, -0.5], [-0.5, 1.0]]), ["a", "<b>"])["data"][0]
    assert (heat["zmin"], heat["zmid"], heat["zmax"], heat["z"]) == (-1, 0, 1, [[1.0, -0.5], [-0.5, 1.0]])
    similar = positions.similarity(np.eye(5), style=Style(width=400))
    assert (similar["data"][0]["zmin"], similar["data"][0]["zmid"], similar["data"][0]["zmax"]) == (-1, 0, 1)
    change, mask = np.array([[0.2, -0.354], [0.9, 0.0]]), np.array([[True, True], [False, True]])
    heat, hatching = runs.difference(change, ["a", "b"], ["c", "d"], mask=mask)["data"]
    assert (heat["z"], heat["zmin"], heat["zmax"]) == ([[0.2, -0.354], [None, 0]], -0.36, 0.36)
    assert covered(hatching) == {(1, 0)}
    for values, more, ends, colors in (
        (VALUES, {}, (-3, 3), theme.diverging()), (VALUES, {"limit": 10}, (-10, 10), theme.diverging()),  # a window has the whole's colours
        (np.zeros((3, 4)), {}, (-1, 1), theme.diverging()), (np.abs(VALUES), {"scale": "positive"}, (0, 3), theme.sequential()),
        (np.abs(VALUES) / 10, {"scale": "probability"}, (0, 1), theme.sequential()),
    ):  # fmt: skip
        trace = heatmap(values, **more)["data"][0]
        assert (trace["zmin"], trace["zmax"], trace["colorscale"]) == (*ends, theme.scale(colors))
        assert ends[0] == 0 or trace["zmid"] == 0
    heat = positions.heatmap(TABLE * 2)["data"][0]
    assert (heat["zmin"], heat["zmid"], heat["zmax"], heat["z"][1]) == (-2.0, 0, 2.0, [1.683, 1.081])
    assert positions.heatmap(TABLE * 0)["data"][0]["zmax"] == 1.0
    figure = heatmap() | {"data": [{"name": "a"}, {"name": "b", "visible": False}, {"name": "c", "showlegend": False}, {}]}
    figure["layout"]["showlegend"] = True
    assert fit_to_page(figure, 1600, 900)["layout"]["meta"]["legend"] == cells.LEGEND
    for trained, lines in ((None, []), (3, []), (0, []), (2, [1.5])):
        for figure in (positions.heatmap(TABLE, trained=trained), positions.similarity(np.eye(3), trained=trained)):
            assert [shape["y0"] for shape in figure["layout"]["shapes"]] == [shape["y1"] for shape in figure["layout"]["shapes"]] == lines
        assert [shape["x0"] for shape in positions.waves({"learned": TABLE}, [0], trained=trained)["layout"]["shapes"]] == lines


HISTORY = {"step", "loss", "learning_rate", "grad_norm", "tokens_per_second"}
HISTORY |= {"validation_step", "validation_loss", "token_accuracy", "exact_match"}
NAMES, KINDS = ["first", "second", "third"], ["encoder", "cross", "decoder"]
COURSES = np.array([[0.1, 0.0], [1.0, math.nan], [10.0, 100.0]])
BY_HEAD = np.array([[[0.1, 0.2, 0.9], [0.3, 0.3, 0.3]], [[0.0, 0.0, 0.1], [0.5, 0.6, 0.7]]])
TABLE = np.array([[0.0, 1.0], [0.8415, 0.5403], [0.9093, -0.4161]])


def drawn(figure):
    return [(trace["x"], trace["y"]) for trace in figure["data"]]


def cursor(figure):
    shape = figure["layout"]["shapes"][0]
    return (shape["x0"], shape["x1"]) if shape["visible"] else None


def test_curves_of_a_run_are_empty_several_are_lines_with_their_names_and_the_pinned_one_stands_behind():
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
    picture = runs.add_pinned(figure, "exact_match", [10, 20], [0, 0.5], ("exact match", "otter"))
    *own, pinned = picture["data"]
    assert (own, pinned["name"], pinned.get("showlegend", True)) == (figure["data"], "exact match<br>otter", True)
    assert len({each["layout"]["height"] - each["layout"]["margin"]["t"] for each in (figure, picture)}) == 1, "its legend covers no curve"
    assert (pinned["x"], pinned["y"], "meta" in pinned, pinned["zorder"] < 0) == ([10, 20], [0, 0.5], False, True)
    skeletons = curves.skeletons(steps=300).values()
    assert {trace["meta"][side] for figure in skeletons for trace in figure["data"] for side in "xy"} == HISTORY
    for figure in skeletons:
        assert not any(trace["x"] or trace["y"] for trace in figure["data"])
        assert cursor(figure) is None
        assert figure["layout"]["xaxis"]["range"] == [0, 300]


def test_a_graph_holds_its_values_each_length_is_counted_once_and_zero_is_a_gap_where_there_are_powers_only():
    picture = graph.lines([1, 10, 100], {"raw": [1.0, 10.123456, 1e5], "scaled": [1, 1, float("nan")]}, title="d_k", log_x=True)
    assert drawn(picture) == [([1, 10, 100], [1, 10.123, 1e5]), ([1, 10, 100], [1, 1, None])]
    assert str(theme.rounded([-1e-9])) == "[0.0]", "no minus zero"
    assert (picture["layout"]["xaxis"]["type"], picture["layout"]["showlegend"]) == ("log", True)
    line = {"slope": [1e-3, 0.0, 1e-40]}
    assert graph.lines([1, 2, 3], line, log_y=True)["data"][0]["y"] == [1e-3, None, None]
    plain = graph.lines([1, 2, 3], line)
    assert (plain["data"][0]["y"], plain["layout"]["showlegend"]) == ([1e-3, 0, 1e-40], False)
    low, high = (graph.lines([1, 2], {"a": values}, percent="percent correct")["layout"]["yaxis"] for values in ([0, 1], [98, 100]))
    assert low == high  # one axis, whatever came out
    assert low["range"][0] <= 0 < 100 <= low["range"][1]
    figure = data.lengths([2, 2, 4], [3, 5, 5])
    assert drawn(figure) == [([0, 1, 2, 3, 4, 5], [0, 0, 2, 0, 1, 0]), ([0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 0, 2])]
    assert (figure["layout"]["yaxis"]["range"], figure["layout"]["xaxis"]["dtick"]) == (figure["layout"]["yaxis2"]["range"], 1)
    assert data.lengths(range(1, 251), range(1, 251))["data"][0]["customdata"][:2] == ["0–6", "7–13"]
    assert drawn(data.coverage([6, 3, 1], [4])) == [([1, 2, 3], [0.6, 0.9, 1.0]), ([1], [1.0])]
    (x, y), _ = drawn(data.coverage([1] * 5000, []))
    assert (len(x) <= 60, x[0], x[-1], y[-1]) == (True, 1, 5000, 1.0)


def test_every_head_has_a_line_the_chosen_one_on_top_and_query_and_key_share_a_scale():
    figure = heads.over_training([0, 5, 20], BY_HEAD, chosen=(0, 1), kind="cross", step=5)
    lines = figure["data"]
    assert [(line["meta"]["layer"], line["meta"]["head"]) for line in lines] == [(0, 0), (1, 0), (1, 1), (0, 1)]
    assert [line["y"] for line in lines] == [BY_HEAD[line["meta"]["layer"], line["meta"]["head"]].tolist() for line in lines]
    assert [line["line"]["color"] == theme.hue("cross") for line in lines] == [False, False, False, True]
    assert all(line["meta"]["x"] == "step" and line["x"] == [0, 5, 20] for line in lines)
    assert cursor(figure) == (5, 5)
    query, key = np.array([1.0, -2.0, 0.5]), np.array([3.0, 1.0, -4.0])
    figure = heads.bars(query, key)
    assert drawn(figure) == [([1, 2, 3], values) for values in ([1.0, -2.0, 0.5], [3.0, 1.0, -4.0], [3.0, -2.0, -2.0])]
    axes = [figure["layout"][name] for name in ("yaxis", "yaxis2", "yaxis3")]
    assert all(axis["range"][0] == -axis["range"][1] for axis in axes)
    assert axes[0]["range"] == axes[1]["range"]


def parts(values, measure="gradient", **more):
    texts, style = [str(value) for value in values], Style(width=420)
    return sublayers.parts(values, NAMES, KINDS, texts, measure=measure, chosen=1, style=style, **more)


def test_gauges_and_ticks_stand_at_the_logarithm_0_below_all_of_them_and_courses_leave_gaps():
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
    for values in ([1e-7, 1.0, 30.0], [0.11, 0.12, 0.13], [0.0, 0.0, 0.0], [3e5, 4e6, 0.0]):
        axis = parts(values)["layout"]["xaxis"]
        assert 2 <= len(axis["ticktext"]) <= 7 or not any(values)
        for place, text in zip(axis["tickvals"], axis["ticktext"], strict=True):
            assert text == "0" or float(text.replace("−", "-")) == pytest.approx(10**place, rel=1e-3)


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
    (*_, long) = board.course(lines[:1], [], ["long " * 30], style=Style(width=280))["data"]
    assert 10 < len(long["name"]) < 40, "it fits into its column"
    for place, kind in ((0.02, None), ("sinusoids", "category")):
        figure = board.scores([board.Point(f"run-{at}", at % 2, f"{at}", place, at / 4) for at in range(4)], arms, "knob")
        points = [(trace["customdata"], trace["y"]) for trace in go.Figure(figure).to_dict()["data"]]
        assert points == [(["run-0", "run-2"], [0, 0.5]), (["run-1", "run-3"], [0.25, 0.75])]
        assert figure["layout"]["xaxis"].get("type") == kind
