"""Truths about graphs: every value where it belongs, lines apart without colours, gaps where there is no number."""


from playground.figures import graph


def test_lines_hold_their_values():
    picture = graph.lines([1, 10, 100], {"raw": [1.0, 10.123456, 1e5], "scaled": [1, 1, float("nan")]}, title="d_k", log_x=True)
    first, second = picture["data"]
    assert (first["x"], first["y"]) == ([1, 10, 100], [1, 10.123, 1e5])
    assert (second["name"], second["y"]) == ("scaled", [1, 1, None])
    assert picture["layout"]["xaxis"]["type"] == "log"
    assert picture["layout"]["xaxis"]["title"]["text"] == "d_k"


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
