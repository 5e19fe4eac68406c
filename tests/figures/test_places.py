"""Planes, clocks and strips: what stands where is what was given, frames hold what training had, and no name lies over another."""

import numpy as np
import pytest

from playground.features.embeddings import figure as vectors
from playground.features.evaluation import figure as lengths
from playground.features.positions.figure import ROOM, clocks
from playground.features.shared.figures.theme import Style
from playground.inspection.vectors import frequencies, sinusoids

XY = np.array([[0.0, 0.0], [1.0, 1.0], [-2.0, 1.5], [0.01, 0.0]])
NONE = np.nan


def plane(**more):
    return vectors.plane(XY, ["a", "<b>", "c d", "e"], limit=2.0, shares=(0.5, 0.25), **more)


def test_points_stand_where_they_are_say_who_they_are_and_both_axes_have_one_scale():
    figure = plane(ids=[4, 5, 6, 7], chosen=2, near=[0, 1], style=Style({"axis_1": "{percent} one", "axis_2": "{percent} two"}))
    (line, points, near, chosen), layout = figure["data"], figure["layout"]
    assert list(zip(points["x"], points["y"], strict=True)) == [tuple(point) for point in XY.tolist()]
    assert points["hovertext"] == ["a", "&lt;b&gt;", "c␣d", "e"]
    assert points["customdata"] == [4, 5, 6, 7]
    assert points["meta"] == {"field": "token"}  # a click chooses it
    assert (near["x"], chosen["x"], chosen["y"], line["visible"]) == ([0, 1], [-2], [1.5], False)
    assert layout["xaxis"]["range"] == layout["yaxis"]["range"] == [-2.16, 2.16]  # of the limit: a replay moves its points only
    assert layout["yaxis"]["scaleanchor"] == "x"
    assert [layout[axis]["title"]["text"] for axis in ("xaxis", "yaxis")] == ["50 one", "25 two"]


def test_states_are_the_stronger_the_later_and_the_sentence_is_joined():
    drawn = plane(places=[1, 2, 1, 2], own=2, by_place=True)["data"]
    assert (drawn[0]["visible"], drawn[0]["x"]) == (True, [-2, 0.01])
    assert drawn[1]["hovertext"] == ["a (1)", "&lt;b&gt; (2)", "c␣d (1)", "e (2)"]
    faint, strong, *own = drawn[1]["marker"]["color"]
    assert faint != strong
    assert len({*own}) == 1
    assert set(plane(places=[1, 1, 1, 1])["data"][1]["marker"]["color"])  # all first places: no division by their range


@pytest.mark.parametrize("shift", [1, 3, 17])
def test_hands_are_sin_and_cos_of_the_table_and_the_arc_ends_at_the_second(shift):
    pairs, table = [0, 2, 7], sinusoids(60, 16)
    figure = clocks(table, [2, 20], pairs, shift, [shift * frequencies(16)[pair] for pair in pairs])
    hands = [trace for trace in figure["data"] if "meta" in trace]
    assert [hand["meta"]["position"] for hand in hands] == [2, 2 + shift] * 3 + [20, 20 + shift] * 3
    for at, hand in enumerate(hands):
        column, row, position = at // 2 % 3, at // 6, hand["meta"]["position"]
        centre, end = np.array([column * ROOM, -row * ROOM]), 2 * pairs[column]
        assert np.array([hand["x"][0], hand["y"][0]]) == pytest.approx(centre)
        assert np.array([hand["x"][1], hand["y"][1]]) - centre == pytest.approx(table[position, end : end + 2], abs=1e-3)
    for place in range(0, len(figure["data"]), 4):
        arc, hand = ({axis: np.array(figure["data"][place + at][axis]) for axis in "xy"} for at in (1, 3))
        to_arc, to_hand = (np.array([line[axis][-1] - hand[axis][0] for axis in "xy"]) for line in (arc, hand))
        assert to_arc / np.linalg.norm(to_arc) == pytest.approx(to_hand, abs=5e-3)


def corners(shape):
    return {tuple(map(float, corner.split(","))) for corner in shape["path"].strip("MZ").split("L")}


def test_every_run_has_its_strip_and_the_frames_hold_the_lengths_of_training():
    shares, counts = [np.array([1.0, NONE, 0.5]), np.array([0.25, 0.0, 1.0, 0.75])], [np.array([4, 0, 2]), np.array([1, 1, 1, 4])]
    drawn = lengths.by_length(shares, ["one", "two"], [(1, 2), (2, 3)], counts)
    (cells,), layout = drawn["data"], drawn["layout"]
    assert (cells["x"], cells["z"]) == ([1, 2, 3, 4], [[1, None, 0.5, None], [0.25, 0, 1, 0.75]])
    assert cells["customdata"] == [[4, 0, 2, 0], [1, 1, 1, 4]]
    assert (cells["zmin"], cells["zmax"]) == (0, 1)
    assert [note["text"] for note in layout["annotations"]] == layout["meta"]["rows"] == ["one", "two"]
    frames = [({x for x, _ in corners(shape)}, {round(y) for _, y in corners(shape)}) for shape in layout["shapes"]]
    assert frames == [({0.5, 2.5}, {0}), ({1.5, 3.5}, {1})]


def test_every_place_of_every_length_has_its_cell():
    shares = np.array([[1.0, 0.5, 0.25], [0.75, 1.0, 0.0], [NONE, 0.5, 1.0], [NONE, NONE, 1.0]])
    drawn = lengths.by_place(shares, (2, 3))
    cells = drawn["data"][0]
    assert (cells["x"], cells["y"]) == ([1, 2, 3], [1, 2, 3, 4])
    assert cells["z"] == [[1, 0.5, 0.25], [0.75, 1, 0], [None, 0.5, 1], [None, None, 1]]
    steps = {(1.5, 0.5), (3.5, 0.5), (3.5, 4.5), (2.5, 4.5), (2.5, 3.5), (1.5, 3.5)}  # from the first token down to each length's <eos>
    assert corners(drawn["layout"]["shapes"][0]) == steps
    longer = lengths.by_place(shares, (1, 9))["layout"]["shapes"][0]
    assert max(x for x, _ in corners(longer)) == 3.5  # training had longer ones: the frame ends with the map
