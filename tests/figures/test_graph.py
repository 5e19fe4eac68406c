"""Truths about graphs: every value where it belongs, lines apart without colours, gaps where there is no number."""

import pytest

from playground.figures import graph, theme


def test_lines_hold_their_values():
    picture = graph.lines([1, 10, 100], {"raw": [1.0, 10.123456, 1e5], "scaled": [1, 1, float("nan")]}, title="d_k", log_x=True)
    first, second = picture["data"]
    assert (first["x"], first["y"]) == ([1, 10, 100], [1, 10.123, 1e5])
    assert (second["name"], second["y"]) == ("scaled", [1, 1, None])
    assert picture["layout"]["xaxis"]["type"] == "log"
    assert picture["layout"]["xaxis"]["title"]["text"] == "d_k"


def test_percent_has_the_same_axis_whatever_came_out():
    low, high = (graph.lines([1, 2], {"a": values}, percent="percent correct")["layout"]["yaxis"] for values in ([0, 1], [98, 100]))
    assert low == high
    assert low["range"][0] <= 0 < 100 <= low["range"][1]
    assert low["title"]["text"] == "percent correct"


def test_zero_is_a_gap_where_there_are_powers_only():
    line = {"slope": [1e-3, 0.0, 1e-40]}
    assert graph.lines([1, 2, 3], line, log_y=True)["data"][0]["y"] == [1e-3, None, None]
    assert graph.lines([1, 2, 3], line)["data"][0]["y"] == [1e-3, 0, 1e-40]


def test_a_short_axis_of_powers_names_each_number_in_full():
    axes = graph.lines([8, 16, 32, 64], {"a": [4.4, 7.0, 9.0, 37.0]}, log_x=True, log_y=True)["layout"]
    for axis, wanted in ((axes["xaxis"], {10: "10", 20: "20", 50: "50"}), (axes["yaxis"], {5: "5", 10: "10", 20: "20"})):
        assert wanted.items() <= dict(zip(axis["tickvals"], axis["ticktext"], strict=True)).items()
    far = graph.lines([0.01, 100_000], {"a": [1, 2]}, log_x=True)["layout"]["xaxis"]
    assert "exponentformat" not in far  # whose raised numbers are of another size
    assert {0.01: "0.01", 1: "1", 10_000: "10⁴"}.items() <= dict(zip(far["tickvals"], far["ticktext"], strict=True)).items()


@pytest.mark.parametrize("dark", [False, True])
def test_lines_differ_in_more_than_colour(dark):
    data = graph.lines([0, 1], {str(n): [n, n] for n in range(graph.MAX_LINES)}, dark=dark)["data"]
    for property in (lambda line: line["line"]["color"], lambda line: line["line"]["dash"], lambda line: line["marker"]["symbol"]):
        assert len({property(line) for line in data}) == graph.MAX_LINES
    assert {line["line"]["color"] for line in data} <= set(theme.colors(dark).values())


def test_what_cannot_be_drawn_is_refused():
    for x, values in (([1, 2], {}), ([1, 2], {"a": [1]}), ([1], {str(n): [1] for n in range(graph.MAX_LINES + 1)})):
        with pytest.raises(ValueError, match="line"):
            graph.lines(x, values)


def test_one_line_needs_no_legend():
    assert not graph.lines([1], {"slope": [1]})["layout"]["showlegend"]
    assert graph.lines([1], {"a": [1], "b": [2]})["layout"]["showlegend"]
