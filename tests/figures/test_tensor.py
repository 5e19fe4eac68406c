"""Any tensor as a labelled grid: its numbers, its scale, what is masked, what is hidden, and which cell a click means."""

import numpy as np
import pytest

from playground.figures import tensor, theme

ROWS = ["a", "b", "a"]
VALUES = np.array([[1.0, -2.0, 0.5, 0.0], [0.25, 3.0, -1.0, 1.5], [0.0, 0.0, 0.125, -0.5]])
COLUMNS = ["1", "2", "3", "4"]


def heatmap(values=VALUES, rows=ROWS, columns=COLUMNS, kind="cross", **more):
    return tensor.heatmap(values, rows, columns, kind=kind, **more)


def test_every_number_stands_at_its_row_and_column():
    figure = heatmap(titles=("token", "dimension"))
    assert figure["data"][0]["z"] == VALUES.tolist()
    layout = figure["layout"]
    assert layout["meta"]["rows"] == ROWS
    assert layout["meta"]["columns"] == COLUMNS
    assert layout["yaxis"]["ticktext"] == ROWS  # a repeated token has a row of its own
    assert layout["yaxis"]["range"] == [2.5, -0.5]  # the first row on top
    assert (layout["yaxis"]["title"]["text"], layout["xaxis"]["title"]["text"]) == ("token", "dimension")


def test_a_signed_scale_is_centred_at_0_and_reaches_the_largest_size():
    trace = heatmap()["data"][0]
    assert (trace["zmin"], trace["zmid"], trace["zmax"]) == (-3, 0, 3)
    assert trace["colorscale"] == theme.scale(theme.diverging())
    assert trace["colorbar"]["ticktext"] == ["−3", "0", "3"]
    assert heatmap(limit=10)["data"][0]["zmax"] == 10  # a window of a tensor has the colours of the whole


def test_ids_are_written_and_have_no_colour():
    trace = heatmap(np.array([[7], [12], [7]]), columns=["id"], scale="plain")["data"][0]
    assert trace["z"] == [[7], [12], [7]]
    assert trace["texttemplate"] == "%{z:d}"
    assert not trace["showscale"]


def test_what_is_no_number_says_so_unless_it_is_hidden():
    values = np.array([[np.nan, 1.0], [2.0, np.nan]])
    layout = heatmap(values, ["a", "b"], ["c", "d"], mask=np.array([[True, True], [True, False]]))["layout"]
    assert [(note["x"], note["y"], note["text"]) for note in layout["annotations"]] == [(0, 0, "NaN")]
    assert "none" not in layout["meta"]
    assert heatmap(values, ["a", "b"], ["c", "d"])["layout"]["meta"]["none"] == "NaN"
    assert "annotations" not in heatmap()["layout"]


def test_masked_cells_are_hatched_and_count_for_nothing():
    mask = np.tril(np.ones((3, 4), dtype=bool))
    values = np.where(mask, VALUES, -1e30)
    figure = heatmap(values, mask=mask)
    shown = figure["data"][0]
    assert [[value is None for value in row] for row in shown["z"]] == (~mask).tolist()
    assert shown["zmax"] == 3  # not 1e30
    bars = figure["data"][1]
    assert list(zip(bars["y"], bars["base"], bars["x"], strict=True)) == [(0, 0.5, 3), (1, 1.5, 2), (2, 2.5, 1)]
    assert figure["layout"]["showlegend"]
    assert not heatmap()["layout"]["showlegend"]


def test_the_chosen_cell_is_framed_and_may_be_kept_secret():
    framed = heatmap(chosen=(1, 2))["layout"]["shapes"][3]
    assert (framed["visible"], framed["x0"], framed["y0"], framed["x1"], framed["y1"]) == (True, 1.5, 0.5, 2.5, 1.5)
    figure = heatmap(chosen=(1, 2), secret=True)
    assert figure["data"][0]["z"][1] == [0.25, 3.0, None, 1.5]
    marks = figure["data"][3]
    assert [row.count("?") for row in marks["text"]] == [0, 1, 0]
    assert marks["text"][1][2] == "?"
    assert "-1.0" not in str(figure["data"])
    assert heatmap(secret=True)["data"][0]["z"] == VALUES.tolist()  # no cell is chosen, none is secret


def test_a_click_means_a_cell_of_the_whole_tensor():
    meta = heatmap(at=[40, 41, 42, 43], sides=("src", ""))["layout"]["meta"]
    assert meta["fields"] == ["row", "col"]
    assert meta["at"] == [40, 41, 42, 43]
    assert meta["sides"] == ["src", ""]
    assert heatmap()["layout"]["meta"]["at"] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("rows", "columns", "width", "written"),
    [(6, 6, 720, True), (6, 64, 720, False), (6, 6, 300, False), (6, 15, 720, True), (200, 6, 720, False)],
)
def test_numbers_are_written_where_they_have_room(rows, columns, width, written):
    figure = tensor.heatmap(np.zeros((rows, columns)), ["x"] * rows, ["y"] * columns, kind="encoder", width=width)
    assert ("texttemplate" in figure["data"][0]) == written == tensor.readable(rows, columns, width)
