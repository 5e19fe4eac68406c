"""Grids: every number stands at its row and column, masked cells have none and are hatched, and scales are what they say."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis.extra.numpy import arrays

from playground import plot
from playground.features.embeddings import figure as vectors
from playground.features.positions import figure as positions
from playground.features.shared.figures import attention, cells, runs, tensor, theme
from playground.features.shared.figures.cells import fit_to_page
from playground.features.shared.figures.theme import Style
from playground.features.teacher_forcing import figure as lens_figure

ROWS, COLUMNS = ["o", "l", "l", "<eos>"], ["l", "l", "o"]
WEIGHTS = np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25], [1.0, 0.0, 0.0], [0.0, 0.12345678, 0.87654322]])
HEAT, HATCH, UNSEEN, RINGS = range(4)
TOKENS, CAUSAL, PADDING = ["<bos>", "a", "<pad>"], np.tri(3, dtype=bool), np.array([[True, True, False]])
VALUES = np.array([[1.0, -2.0, 0.5, 0.0], [0.25, 3.0, -1.0, 1.5], [0.0, 0.0, 0.125, -0.5]])


def heatmap(values=VALUES, rows=("a", "b", "a"), columns=("1", "2", "3", "4"), **more):
    return tensor.heatmap(values, rows, columns, **{"kind": "cross", **more})


def covered(trace):
    return {(row, int(base + 0.5) + i) for row, base, n in zip(trace["y"], trace["base"], trace["x"], strict=True) for i in range(n)}


def hatched(figure):
    return {trace["name"]: covered(trace) for trace in figure["data"] if trace["type"] == "bar" and trace["visible"]}


def hidden(mask):
    return {tuple(cell) for cell in np.argwhere(~mask).tolist()}


def test_attention_asks_downwards_has_one_scale_for_all_heads_and_rings_where_it_should_look():
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


def test_each_head_of_any_model_is_drawn_as_one_is():
    whole, matrix = plot.attention(torch.tensor(WEIGHTS), ROWS, COLUMNS), attention.matrix(WEIGHTS, ROWS, COLUMNS)["data"][HEAT]
    assert [list(row) for row in whole.data[HEAT].z] == matrix["z"]
    small = plot.attention(np.stack([[WEIGHTS, 1 - WEIGHTS]] * 3), ROWS, COLUMNS, width=500)
    assert [[list(row) for row in heat.z] for heat in small.data[:2]] == [matrix["z"], theme.rounded(1 - WEIGHTS)]
    assert [note.text for note in small.layout.annotations] == [f"layer {layer}, head {head}" for layer in (1, 2, 3) for head in (1, 2)]
    assert small.layout.xaxis2.domain[0] > small.layout.xaxis.domain[1]
    assert small.layout.yaxis3.domain[1] < small.layout.yaxis.domain[0]
    with pytest.raises(ValueError, match="shape 4 × 3 don’t fit 3 rows and 4 columns"):
        plot.attention(WEIGHTS, COLUMNS, ROWS)


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


def test_bars_of_a_step_name_the_largest_that_may_be_looked_at():
    figure = attention.step_bars(WEIGHTS[0], COLUMNS, right=2)
    bars, frame = figure["data"][0], figure["layout"]["shapes"][0]
    assert (bars["x"], bars["y"], bars["text"]) == ([0, 1, 2], [0.1, 0.2, 0.7], ["", "", "0.70"])
    assert (figure["layout"]["yaxis"]["range"], frame["x0"], frame["x1"], frame["visible"]) == ([0, 1], 1.5, 2.5, True)
    bars, hatching = attention.step_bars(WEIGHTS[0], COLUMNS, mask=[True, True, False])["data"][:2]
    assert (bars["y"], bars["text"]) == ([0.1, 0.2, 0.0], ["", "0.20", ""])
    assert (hatching["x"], hatching["y"], hatching["visible"]) == ([2], [1], True)


PAIR = np.eye(3, dtype=bool)
CAUSES = [
    ({"padding": PADDING, "future": CAUSAL}, {"padding": {(2, 2)}, "future": {(0, 1)}, "both": {(0, 2), (1, 2)}}),
    ({"padding": PADDING, "segment": PAIR, "future": CAUSAL},
     {"padding": {(2, 2)}, "segment": {(1, 0), (2, 0), (2, 1)}, "several": {(0, 1), (0, 2), (1, 2)}}),
    ({"future": CAUSAL}, {"future": {(0, 1), (0, 2), (1, 2)}}),
    ({"padding": PADDING}, {"padding": {(0, 2), (1, 2), (2, 2)}}),
]  # fmt: skip


@pytest.mark.parametrize(("causes", "expected"), CAUSES)
def test_each_cause_of_a_mask_has_hatching_and_words_of_its_own(causes, expected):
    mask = np.logical_and.reduce([np.broadcast_to(cause, (3, 3)) for cause in causes.values()])
    figure = attention.grid(mask, TOKENS, TOKENS, kind="decoder", causes=causes)
    assert hatched(figure) == expected
    assert figure["data"][0]["z"] == [[1 if seen else None for seen in row] for row in mask]
    patterns = [trace["marker"]["pattern"]["shape"] for trace in figure["data"] if trace["type"] == "bar" and trace["visible"]]
    assert len(set(patterns)) == len(patterns)
    answered = [np.array([[value is not None for value in row] for row in trace["z"]]) for trace in figure["data"] if "z" in trace]
    assert (sum(answered) == 1).all(), "one answer a cell"


def test_a_tensors_numbers_stand_at_their_rows_and_columns():
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


def test_masked_cells_of_a_tensor_count_for_nothing_and_what_is_no_number_says_so():
    mask = np.tri(3, 4, dtype=bool)
    figure = heatmap(np.where(mask, VALUES, -1e30), mask=mask)
    assert [[value is None for value in row] for row in figure["data"][0]["z"]] == (~mask).tolist()
    assert figure["data"][0]["zmax"] == 3  # not 1e30
    assert covered(figure["data"][1]) == hidden(mask)
    values = np.array([[np.nan, 1.0], [2.0, np.nan]])
    layout = heatmap(values, ["a", "b"], ["c", "d"], mask=np.array([[True, True], [True, False]]))["layout"]
    assert [(note["x"], note["y"], note["text"]) for note in layout["annotations"]] == [(0, 0, "NaN")]
    assert heatmap(values, ["a", "b"], ["c", "d"])["layout"]["meta"]["none"] == "NaN"


def test_the_chosen_cell_is_framed_and_may_be_kept_secret():
    framed = heatmap(chosen=(1, 2))["layout"]["shapes"][3]
    assert (framed["visible"], framed["x0"], framed["y0"], framed["x1"], framed["y1"]) == (True, 1.5, 0.5, 2.5, 1.5)
    figure = heatmap(chosen=(1, 2), secret=True)
    assert figure["data"][0]["z"][1] == [0.25, 3.0, None, 1.5]
    assert [[text == "?" for text in row] for row in figure["data"][3]["text"]] == [[False] * 4, [False, False, True, False], [False] * 4]
    assert "-1.0" not in str(figure["data"])


def test_cells_of_the_lens_hold_their_tokens_and_rings():
    drawn = lens_figure.grid(
        np.array([[0.2, 0.9, 0.5], [0.7, 1.0, 0.6]]), [["a", "b", "<s>"], ["c", "b", "d"]], ["embedding", "layer 1"], ["c", "b", "d"],
        decided=[1, 0, 1],
    )  # fmt: skip
    assert drawn["data"][0]["z"] == [[0.2, 0.9, 0.5], [0.7, 1.0, 0.6]]
    texts = {(note["y"], note["x"]): note["text"] for note in drawn["layout"]["annotations"]}
    assert texts == {(0, 0): "a", (0, 1): "b", (0, 2): "&lt;s&gt;", (1, 0): "c", (1, 1): "b", (1, 2): "d"}
    x, y = (drawn["data"][1][axis] for axis in "xy")
    assert {(round(np.mean(x[at : at + 5])), round(np.mean(y[at : at + 5]))) for at in range(0, len(x), 6)} == {(0, 1), (1, 0), (2, 1)}


def test_signed_grids_are_centred_at_zero():
    cells = vectors.cosines(np.array([[1.0, -0.5], [-0.5, 1.0]]), ["a", "<b>"])["data"][0]
    assert (cells["zmin"], cells["zmid"], cells["zmax"], cells["z"]) == (-1, 0, 1, [[1.0, -0.5], [-0.5, 1.0]])
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
    table = np.array([[0.0, 1.0], [0.8415, 0.5403], [0.9093, -0.4161]])
    heat = positions.heatmap(table * 2)["data"][0]
    assert (heat["zmin"], heat["zmid"], heat["zmax"], heat["z"][1]) == (-2.0, 0, 2.0, [1.683, 1.081])
    assert positions.heatmap(table * 0)["data"][0]["zmax"] == 1.0


def test_signed_colours_reach_as_far_as_the_largest_value():
    heat = heatmap(VALUES / 8)["data"][HEAT]
    assert (heat["zmin"], heat["zmax"]) == (-0.375, 0.375)


def test_a_presented_grid_leaves_room_for_each_entry_of_its_legend():
    figure = heatmap() | {"data": [{"name": "a"}, {"name": "b", "visible": False}, {"name": "c", "showlegend": False}, {}]}
    figure["layout"]["showlegend"] = True
    assert fit_to_page(figure, 1600, 900)["layout"]["meta"]["legend"] == cells.LEGEND
