"""The pictures of lengths: every run has its strip, every share its cell, and the frame holds exactly what training had."""

import numpy as np

from playground.figures import lengths

NONE = np.nan
SHARES = np.array([[1.0, 0.5, 0.25], [0.75, 1.0, 0.0], [NONE, 0.5, 1.0], [NONE, NONE, 1.0]])


def corners(shape):
    return {tuple(map(float, corner.split(","))) for corner in shape["path"].strip("MZ").split("L")}


def strips(**more):
    result = [np.array([1.0, NONE, 0.5]), np.array([0.25, 0.0, 1.0, 0.75])]
    return lengths.by_length(result, ["one", "two"], [(1, 2), (2, 3)], [np.array([4, 0, 2]), np.array([1, 1, 1, 4])], **more)


def test_one_strip_for_each_run_as_long_as_the_longest():
    drawn = strips()
    (cells,) = drawn["data"]
    assert cells["x"] == [1, 2, 3, 4]
    assert cells["z"] == [[1, None, 0.5, None], [0.25, 0, 1, 0.75]]
    assert cells["customdata"] == [[4, 0, 2, 0], [1, 1, 1, 4]]
    assert (cells["zmin"], cells["zmax"]) == (0, 1)
    assert [note["text"] for note in drawn["layout"]["annotations"]] == ["one", "two"]
    assert drawn["layout"]["meta"] == {"rows": ["one", "two"], "columns": ["1", "2", "3", "4"], "none": "–"}


def test_the_frames_hold_the_lengths_of_training():
    first, second = strips()["layout"]["shapes"]
    assert {x for x, _ in corners(first)} == {0.5, 2.5}
    assert {x for x, _ in corners(second)} == {1.5, 3.5}
    assert {round(y) for _, y in corners(first)} == {0}
    assert {round(y) for _, y in corners(second)} == {1}
    steps = corners(lengths.by_place(SHARES, (2, 3))["layout"]["shapes"][0])  # from the first token down to each length's <eos>
    assert steps == {(1.5, 0.5), (3.5, 0.5), (3.5, 4.5), (2.5, 4.5), (2.5, 3.5), (1.5, 3.5)}


def test_every_place_of_every_length_has_its_cell():
    drawn = lengths.by_place(SHARES, (1, 9))
    cells = drawn["data"][0]
    assert (cells["x"], cells["y"]) == ([1, 2, 3], [1, 2, 3, 4])
    assert cells["z"] == [[1, 0.5, 0.25], [0.75, 1, 0], [None, 0.5, 1], [None, None, 1]]
    assert max(x for x, _ in corners(drawn["layout"]["shapes"][0])) == 3.5  # training had longer ones: the frame ends with the map
