"""Gauges of health: every number stands where it belongs, and 0 has a place of its own on a logarithmic axis."""

import math

import numpy as np
import pytest

from playground.figures import diagnostics, theme

NAMES, KINDS = ["first", "second", "third"], ["encoder", "cross", "decoder"]
COURSES = np.array([[0.1, 0.0], [1.0, math.nan], [10.0, 100.0]])


def parts(values, measure="gradient", **more):
    return diagnostics.parts(values, NAMES, KINDS, [str(value) for value in values], measure=measure, chosen=1, **more)


def test_dots_stand_at_the_logarithm_and_0_below_all_of_them():
    figure = parts([0.01, 0.0, 10.0])
    dots, axis = figure["data"][0], figure["layout"]["xaxis"]
    assert dots["x"] == [-2, pytest.approx(-2 - diagnostics.ZERO), 1]
    assert dict(zip(axis["tickvals"], axis["ticktext"], strict=True))[dots["x"][1]] == "0"
    assert axis["range"][0] < dots["x"][1] < dots["x"][2] < axis["range"][1]
    assert dots["marker"]["symbol"] == ["circle", "square-open", "diamond"]  # kinds differ in shape, and 0 is open
    assert dots["marker"]["color"] == [theme.hue(kind) for kind in KINDS]
    assert dots["marker"]["line"]["width"] == [1, 2.5, 1]
    assert "0" not in parts([0.01, 1.0, 10.0])["layout"]["xaxis"]["ticktext"]


def test_ticks_are_where_they_say():
    for values in ([1e-7, 1.0, 30.0], [0.11, 0.12, 0.13], [0.0, 0.0, 0.0], [3e5, 4e6, 0.0], [2e-9, 3e-9, 5e-9]):
        axis = parts(values)["layout"]["xaxis"]
        assert 2 <= len(axis["ticktext"]) <= 7 or values == [0.0, 0.0, 0.0]
        for place, text in zip(axis["tickvals"], axis["ticktext"], strict=True):
            assert text == "0" or float(text.replace("−", "-")) == pytest.approx(10**place, rel=1e-3)


def test_activations_have_a_plain_axis_and_their_means_beside():
    figure = parts([0.5, 1.0, 2.0], measure="activation", beside=[-0.4, 0.1, 0.0])
    assert [trace["x"] for trace in figure["data"]] == [[0.5, 1.0, 2.0], [-0.4, 0.1, 0.0]]
    low, high = figure["layout"]["xaxis"]["range"]
    assert low < -0.4
    assert high > 2.0
    assert figure["layout"]["meta"]["table"]["rows"][0] == ["first", "0.5", "−0.4"]
    assert parts([0.0, 0.5, 1.0], measure="dead")["layout"]["xaxis"]["tickvals"] == [0, 0.5, 1]


def test_curves_leave_gaps_fall_to_0_and_carry_the_true_numbers():
    figure = diagnostics.over_training([5, 9], COURSES, NAMES, KINDS, measure="gradient", strong=[0], last=20, step=9)
    by_name = {trace["name"]: trace for trace in figure["data"]}
    assert by_name["first"] is figure["data"][-1]  # the strong one lies on top
    assert [trace["showlegend"] for trace in figure["data"]] == [False, False, True]
    assert by_name["first"]["y"] == [-1, pytest.approx(-1 - diagnostics.ZERO)]
    assert by_name["first"]["customdata"] == ["0.1", "0"]
    assert by_name["second"]["y"] == [0, None]
    assert by_name["third"]["y"] == [1, 2]
    assert figure["layout"]["xaxis"]["range"] == [0, 20]
    assert all(trace["meta"]["x"] == "step" for trace in figure["data"])
    assert figure["layout"]["meta"]["table"]["rows"] == [[5, "0.1"], [9, "0"]]
    assert figure["layout"]["shapes"][0] | {"x0": 9, "x1": 9, "visible": True} == figure["layout"]["shapes"][0]


def test_what_was_done_to_the_run_stands_between_two_steps():
    layout = diagnostics.over_training([5, 9], COURSES, NAMES, KINDS, measure="update", strong=[1], last=9, changes=[(7, "cut")])["layout"]
    assert [shape["x0"] for shape in layout["shapes"]] == [0, 7.5]
    assert [shape["visible"] for shape in layout["shapes"]] == [False, True]
    assert [(note["text"], note["x"]) for note in layout["annotations"]] == [("cut", 7.5)]
