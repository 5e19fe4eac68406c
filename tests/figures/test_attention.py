"""The large matrix of one head, and the bars of one step."""

import numpy as np
import pytest

from playground.figures import attention, theme

ROWS, COLUMNS = ["o", "l", "l", "<eos>"], ["l", "l", "o"]
WEIGHTS = np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25], [1.0, 0.0, 0.0], [0.0, 0.12345678, 0.87654322]])
HEAT, HATCH, UNSEEN, RINGS, KEY = range(5)


def test_rows_ask_downwards_and_columns_answer_from_left_to_right():
    figure = attention.matrix(WEIGHTS, ROWS, COLUMNS)
    layout = figure["layout"]
    assert layout["yaxis"]["range"] == [3.5, -0.5]  # the first token on top
    assert layout["xaxis"]["range"] == [-0.5, 2.5]
    assert layout["xaxis"]["side"] == "top"
    assert layout["yaxis"]["ticktext"] == ["o", "l", "l", "&lt;eos&gt;"]
    assert layout["xaxis"]["tickvals"] == [0, 1, 2]
    assert layout["meta"] == {"kind": "cross", "cells": True, "rows": ROWS, "columns": COLUMNS}  # as they came, for the page


def test_probabilities_have_one_fixed_scale():
    heat = attention.matrix(WEIGHTS, ROWS, COLUMNS)["data"][HEAT]
    assert heat["z"] == [[0.1, 0.2, 0.7], [0.5, 0.25, 0.25], [1.0, 0.0, 0.0], [0.0, 0.1235, 0.8765]]
    assert (heat["zmin"], heat["zmax"]) == (0, 1)
    assert heat["colorscale"] == theme.scale(theme.sequential())
    assert heat["colorbar"]["tickvals"] == [0, 0.5, 1]
    tiny = attention.matrix(WEIGHTS / 1000, ROWS, COLUMNS)["data"][HEAT]
    assert (tiny["zmin"], tiny["zmax"]) == (0, 1)  # never stretched to what is there


def test_masked_cells_are_gaps_with_hatching_and_never_a_value():
    mask = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1]], dtype=bool)
    data = attention.matrix(WEIGHTS, ROWS, COLUMNS, mask=mask, labels={"hover_masked": "{row} {column} masked"})["data"]
    assert data[HEAT]["z"] == [[0.1, None, None], [0.5, 0.25, None], [1.0, 0.0, 0.0], [0.0, 0.1235, 0.8765]]
    assert data[UNSEEN]["z"] == [[None, 0, 0], [None, None, 0], [None] * 3, [None] * 3]
    assert "masked" in data[UNSEEN]["hovertemplate"]
    assert all(color == "rgba(0,0,0,0)" for _, color in data[UNSEEN]["colorscale"])
    hatch = data[HATCH]  # one bar for each run: row 0 from 0.5, two wide; row 1 from 1.5, one wide
    assert (hatch["y"], hatch["base"], hatch["x"]) == ([0, 1], [0.5, 1.5], [2, 1])
    assert hatch["marker"]["pattern"]["shape"] == "/"
    assert hatch["visible"]


def test_a_mask_of_one_row_holds_for_all():
    data = attention.matrix(WEIGHTS, ROWS, COLUMNS, mask=np.array([[True, True, False]]))["data"]
    assert [row[2] for row in data[HEAT]["z"]] == [None] * 4
    assert data[HATCH]["base"] == [1.5] * 4


def test_the_hatching_covers_exactly_the_masked_cells():
    rng = np.random.default_rng(3)
    mask = rng.random((9, 11)) < 0.5
    hatch = attention.matrix(rng.random((9, 11)), list("abcdefghi"), list("abcdefghijk"), mask=mask)["data"][HATCH]
    covered = np.zeros((9, 11), dtype=bool)
    for row, start, length in zip(hatch["y"], hatch["base"], hatch["x"], strict=True):
        covered[row, int(start + 0.5) : int(start + 0.5) + length] = True
    np.testing.assert_array_equal(covered, ~mask)


def test_aligned_cells_are_ringed():
    data = attention.matrix(WEIGHTS, ROWS, COLUMNS, alignment=[2, None, 0, 9])["data"]
    x, y = data[RINGS]["x"], data[RINGS]["y"]
    centres = [(np.mean(y[i : i + 4]), np.mean(x[i : i + 4])) for i in range(0, len(x), 6)]
    assert centres == [(0.0, 2.0), (2.0, 0.0)]  # None and a column outside have no ring
    assert x[5] is None  # the pen is lifted between rings
    assert data[KEY]["visible"]


@pytest.mark.parametrize(("pinned", "visible"), [((1, 2), True), (None, False), ((4, 0), False), ((0, 3), False), ((-1, 0), False)])
def test_the_cursor_is_four_shapes_that_the_page_can_move(pinned, visible):
    shapes = attention.matrix(WEIGHTS, ROWS, COLUMNS, pinned=pinned)["layout"]["shapes"]
    assert [shape["visible"] for shape in shapes] == [visible] * 4
    if visible:
        row, column, halo, cell = ([shape[side] for side in ("x0", "x1", "y0", "y1")] for shape in shapes)
        assert row == [-0.5, 2.5, 0.5, 1.5]
        assert column == [1.5, 2.5, -0.5, 3.5]
        assert cell == halo == [1.5, 2.5, 0.5, 1.5]


@pytest.mark.parametrize(("rows", "columns", "width"), [(6, 6, 360), (6, 6, 1100), (30, 20, 720), (12, 40, 500), (60, 60, 1000)])
def test_cells_are_square(rows, columns, width):
    layout = attention.matrix(np.full((rows, columns), 1 / columns), ["t"] * rows, ["s"] * columns, width=width)["layout"]
    across = (width - layout["margin"]["l"] - layout["margin"]["r"]) * layout["xaxis"]["domain"][1] / columns
    down = (layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]) / rows
    assert across == pytest.approx(down, rel=0.08)


def test_step_bars_stand_over_the_tokens_and_name_the_largest():
    figure = attention.step_bars(WEIGHTS[0], COLUMNS, right=2)
    bars = figure["data"][0]
    assert bars["x"] == [0, 1, 2]
    assert bars["y"] == [0.1, 0.2, 0.7]
    assert bars["text"] == ["", "", "0.70"]
    assert figure["layout"]["yaxis"]["range"] == [0, 1]
    shape = figure["layout"]["shapes"][0]
    assert (shape["x0"], shape["x1"], shape["visible"]) == (1.5, 2.5, True)


def test_masked_tokens_have_no_bar_but_hatching():
    figure = attention.step_bars(WEIGHTS[0], COLUMNS, mask=[True, True, False], labels={"hover_bar_masked": "{token} masked"})
    assert figure["data"][0]["y"] == [0.1, 0.2, 0.0]
    assert figure["data"][0]["text"] == ["", "0.20", ""]  # the largest that may be looked at
    hatched = figure["data"][1]
    assert (hatched["x"], hatched["y"], hatched["visible"]) == ([2], [1], True)
    assert "masked" in hatched["hovertemplate"]
