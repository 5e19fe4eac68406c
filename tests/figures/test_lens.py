"""The picture of the lens: every cell says its own token, and the ring is where the answer comes to stay."""

import numpy as np

from playground.figures import lens


def picture(**more):
    said = [["a", "b", "<s>"], ["c", "b", "d"]]
    return lens.grid(np.array([[0.2, 0.9, 0.5], [0.7, 1.0, 0.6]]), said, ["embedding", "layer 1"], ["c", "b", "d"], **more)


def test_every_cell_holds_its_token_and_its_probability():
    drawn = picture(decided=[1, 0, 1])
    assert drawn["data"][0]["z"] == [[0.2, 0.9, 0.5], [0.7, 1.0, 0.6]]
    texts = {(note["y"], note["x"]): note["text"] for note in drawn["layout"]["annotations"]}
    assert texts == {(0, 0): "a", (0, 1): "b", (0, 2): "&lt;s&gt;", (1, 0): "c", (1, 1): "b", (1, 2): "d"}
    x, y = (drawn["data"][1][axis] for axis in "xy")
    centres = {(round(np.mean(x[at : at + 5]), 3), round(np.mean(y[at : at + 5]), 3)) for at in range(0, len(x), 6)}
    assert {(round(a), round(b)) for a, b in centres} == {(0, 1), (1, 0), (2, 1)}
    assert drawn["layout"]["yaxis"]["ticktext"] == ["embedding", "layer 1"]
