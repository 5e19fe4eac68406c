"""Clocks of a position encoding: their hands are the table's own numbers."""

import numpy as np
import pytest

from playground.figures.clocks import ROOM, clocks
from playground.inspection.positions import frequencies, sinusoids


def hands(figure: dict) -> list[dict]:
    return [trace for trace in figure["data"] if "meta" in trace]


def test_hands_are_sin_and_cos_of_the_table():
    table = sinusoids(40, 16)
    figure = clocks(table, [2, 20], [0, 1, 4], 3, [1, 1, 1])
    for at, hand in enumerate(hands(figure)):
        column, row, position = at // 2 % 3, at // 6, hand["meta"]["position"]
        centre = np.array([column * ROOM, -row * ROOM])
        assert np.array([hand["x"][0], hand["y"][0]]) == pytest.approx(centre)
        pair = (0, 1, 4)[column]
        assert np.array([hand["x"][1], hand["y"][1]]) - centre == pytest.approx(table[position, 2 * pair : 2 * pair + 2], abs=1e-3)
    assert [hand["meta"]["position"] for hand in hands(figure)] == [2, 5] * 3 + [20, 23] * 3


@pytest.mark.parametrize("shift", [0, 1, 3, 17])
def test_the_arc_ends_at_the_second_hand(shift):
    """So what turns by the angle is what the table does."""
    pairs = [0, 2, 7]
    figure = clocks(sinusoids(60, 16), [2, 20], pairs, shift, [shift * frequencies(16)[pair] for pair in pairs])
    for place in range(0, len(figure["data"]), 4):
        arc, hand = ({axis: np.array(figure["data"][place + at][axis]) for axis in "xy"} for at in (1, 3))
        to_arc, to_hand = (np.array([line[axis][-1] - hand[axis][0] for axis in "xy"]) for line in (arc, hand))
        assert to_arc / np.linalg.norm(to_arc) == pytest.approx(to_hand, abs=5e-3)
