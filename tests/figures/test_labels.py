"""Names beside points: over no point and no other name, inside the picture, and the same every time."""

import numpy as np
import pytest

from playground.figures.labels import Names

SIDE, SIZE, GAP, DOT = 400.0, (40.0, 14.0), 4.0, 2.5
WHERE = {"left": (-1, 0), "right": (1, 0), "top": (0, 1), "bottom": (0, -1)}


def box(point, side, size=SIZE, gap=GAP):
    """(left, right, low, high) of a name."""
    across = sum(WHERE[word][0] for word in side.split() if word in WHERE)
    up = sum(WHERE[word][1] for word in side.split() if word in WHERE)
    x, y = point[0] + across * (gap + size[0] / 2), point[1] + up * (gap + size[1] / 2)
    return x - size[0] / 2, x + size[0] / 2, y - size[1] / 2, y + size[1] / 2


def overlap(one, other):
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


@pytest.mark.parametrize(("seed", "count"), [(0, 30), (1, 150), (2, 240)])
def test_no_name_lies_over_another_or_over_a_point(seed, count):
    points = np.random.default_rng(seed).normal(size=(count, 2)) * 70
    names = Names(points, np.full(count, DOT), SIDE)
    sides = [names.beside(at, SIZE, GAP) for at in range(count)]
    boxes = {at: box(points[at], side) for at, side in enumerate(sides) if side}
    assert len(boxes) >= min(count, 30) * 0.6
    for at, twin in boxes.items():
        assert min(twin) >= -SIDE / 2
        assert max(twin) <= SIDE / 2
        assert not [other for other, theirs in boxes.items() if other != at and overlap(twin, theirs)]
        dots = {other: (x - DOT, x + DOT, y - DOT, y + DOT) for other, (x, y) in enumerate(points.tolist()) if other != at}
        assert not [other for other, dot in dots.items() if overlap(twin, dot)]
    again = Names(points, np.full(count, DOT), SIDE)
    assert [again.beside(at, SIZE, GAP) for at in range(count)] == sides


def test_a_name_without_room_stands_away_or_nowhere():
    """A point in the middle of a crowd: no side is free; a place some way off is, unless the crowd is everywhere."""
    ring = [(20 * np.cos(angle), 20 * np.sin(angle)) for angle in np.arange(12) * np.pi / 6]
    names = Names(np.array([(0.0, 0.0), *ring]), np.full(13, DOT), SIDE)
    assert names.beside(0, SIZE, GAP) == ""
    x, y = names.away(0, SIZE)
    assert np.hypot(x, y) > 20
    everywhere = np.stack(np.meshgrid(np.arange(-190, 200, 10.0), np.arange(-190, 200, 10.0)), axis=-1).reshape(-1, 2)
    names = Names(everywhere, np.full(len(everywhere), DOT), SIDE)
    assert names.beside(700, SIZE, GAP) == ""
    assert names.away(700, SIZE) is None
