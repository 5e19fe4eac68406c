"""The plane of points and the table of cosines: what stands where is what was given, and both axes have one scale."""

import numpy as np

from playground.figures import vectors

XY = np.array([[0.0, 0.0], [1.0, 1.0], [-2.0, 1.5], [0.01, 0.0]])
NAMES = ["a", "<b>", "c d", "e"]


def plane(**more):
    return vectors.plane(XY, NAMES, limit=2.0, shares=(0.5, 0.25), **more)


def test_points_stand_where_they_are_and_say_who_they_are():
    line, points, near, chosen = plane(ids=[4, 5, 6, 7], chosen=2, near=[0, 1])["data"]
    assert list(zip(points["x"], points["y"], strict=True)) == [tuple(point) for point in XY.tolist()]
    assert points["hovertext"] == ["a", "&lt;b&gt;", "c␣d", "e"]
    assert points["customdata"] == [4, 5, 6, 7]
    assert points["meta"] == {"field": "token"}  # a click chooses it
    assert (near["x"], chosen["x"], chosen["y"]) == ([0, 1], [-2], [1.5])
    assert not line["visible"]


def test_one_scale_for_both_axes_whatever_the_points():
    """So that a replay moves its points and not its frame."""
    for limit in (2.0, 50.0):
        layout = vectors.plane(XY, NAMES, limit=limit, shares=(0.5, 0.25))["layout"]
        assert layout["xaxis"]["range"] == layout["yaxis"]["range"] == [-1.08 * limit, 1.08 * limit]
        assert layout["yaxis"]["scaleanchor"] == "x"
    titles = plane(labels={"axis_1": "{percent} one", "axis_2": "{percent} two"})["layout"]
    assert (titles["xaxis"]["title"]["text"], titles["yaxis"]["title"]["text"]) == ("50 one", "25 two")


def test_states_are_the_stronger_the_later_and_the_sentence_is_joined():
    drawn = plane(places=[1, 2, 1, 2], own=2, by_place=True)["data"]
    assert (drawn[0]["visible"], drawn[0]["x"]) == (True, [-2, 0.01])
    assert drawn[1]["hovertext"] == ["a (1)", "&lt;b&gt; (2)", "c␣d (1)", "e (2)"]
    assert drawn[1]["text"] == ["1", "2", "1", "2"]
    faint, strong, *own = drawn[1]["marker"]["color"]
    assert faint != strong
    assert len({*own}) == 1
    assert drawn[1]["customdata"] == [0, 1, 2, 3]
    assert set(plane(places=[1, 1, 1, 1])["data"][1]["marker"]["color"])  # all first places: no division by their range
