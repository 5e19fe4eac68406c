"""Pictures of position encodings."""

import numpy as np
import pytest

from playground.figures import positions, theme

TABLE = np.array([[0.0, 1.0], [0.8415, 0.5403], [0.9093, -0.4161]])


def test_a_signed_table_is_centred_at_zero():
    heat = positions.heatmap(TABLE * 2)["data"][0]
    assert (heat["zmin"], heat["zmid"], heat["zmax"]) == (-2.0, 0, 2.0)
    assert heat["colorscale"] == theme.scale(theme.diverging())
    assert heat["z"][1] == [1.683, 1.081]
    assert positions.heatmap(TABLE, limit=3)["data"][0]["zmax"] == 3  # tables that are compared share a scale


@pytest.mark.parametrize(("trained", "lines"), [(None, []), (3, []), (7, []), (0, []), (2, [1.5]), (1, [0.5])])
def test_the_line_lies_after_the_last_trained_position(trained, lines):
    for figure in (positions.heatmap(TABLE, trained=trained), positions.similarity(np.eye(3), trained=trained)):
        assert [shape["y0"] for shape in figure["layout"]["shapes"]] == lines
        assert [shape["y1"] for shape in figure["layout"]["shapes"]] == lines
    waves = positions.waves({"learned": TABLE}, [0], trained=trained)
    assert [shape["x0"] for shape in waves["layout"]["shapes"]] == lines


def test_waves_put_each_dimension_in_a_row_of_its_own_and_tables_side_by_side():
    figure = positions.waves({"sinusoidal": TABLE, "learned": -TABLE}, [1, 0])
    assert [(trace["meta"]["dimension"], trace["y"][0]) for trace in figure["data"]] == [(1, 1.0), (1, -1.0), (0, 0.0), (0, 0.0)]
    assert figure["layout"]["yaxis"]["domain"][0] > figure["layout"]["yaxis2"]["domain"][1]  # the first dimension on top
    assert figure["layout"]["yaxis"]["range"] == figure["layout"]["yaxis2"]["range"]  # one scale for all
    sinusoidal, learned = figure["data"][:2]
    assert sinusoidal["line"]["dash"] != learned["line"]["dash"]
    shapes = [(trace["mode"], trace["line"].get("shape")) for trace in (sinusoidal, learned)]
    assert shapes == [("lines+markers", "spline"), ("lines+markers", None)]  # between two positions only the sinusoid goes on
    assert [trace["showlegend"] for trace in figure["data"]] == [True, True, False, False]


def test_similarity_is_square_and_runs_from_minus_one_to_one():
    figure = positions.similarity(np.eye(5), width=400)
    heat, layout = figure["data"][0], figure["layout"]
    assert (heat["zmin"], heat["zmid"], heat["zmax"]) == (-1, 0, 1)
    across = (400 - layout["margin"]["l"] - layout["margin"]["r"]) * layout["xaxis"]["domain"][1]
    assert across == pytest.approx(layout["height"] - layout["margin"]["t"] - layout["margin"]["b"], abs=1)
    assert layout["yaxis"]["range"] == [4.5, -0.5]
