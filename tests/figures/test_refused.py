"""Numbers that do not fit their names are refused by every picture, and no two lines of a picture differ in colour alone."""

from itertools import combinations

import numpy as np
import pytest

from playground.figures import (
    attention,
    attribution,
    bars,
    board,
    changes,
    clocks,
    curves,
    diagnostics,
    graph,
    guesses,
    heads,
    lengths,
    lens,
    masks,
    positions,
    products,
    runs,
    tensor,
    theme,
    tree,
    vectors,
)  # fmt: skip
from playground.inspection.positions import sinusoids

A, AB, ABC = ["a"], ["a", "b"], ["a", "b", "c"]
KINDS = ["encoder", "cross", "decoder"]
SQUARE, TALL, TABLE = np.eye(3), np.full((3, 2), 0.5), sinusoids(40, 16)
TWO = {"tokens_of": ("a", "b")}
COURSE = {"measure": "gradient", "strong": [0]}

REFUSED = [
    ("fit", lambda: attention.matrix(TALL, AB, ABC)),
    ("mask", lambda: attention.matrix(TALL, ABC, AB, mask=np.ones((3, 3)))),
    ("fit", lambda: attention.step_bars(TALL[0], ABC)),
    ("", lambda: attribution.votes(ABC, [1.0], KINDS, ABC, **TWO)),
    ("", lambda: attribution.path(ABC, np.zeros((2, 2)), **TWO)),
    ("tokens", lambda: bars.top_tokens(AB, [1.0])),
    ("tokens", lambda: bars.frequencies(A, [1, 2])),
    ("3 tokens", lambda: changes.pairs(ABC, [0.1] * 3, [0.1] * 2)),
    ("3 heads", lambda: changes.losses(ABC, [0.1] * 2, [0.1] * 2, kind="cross", most=1)),
    *(("", lambda wrong=wrong: clocks.clocks(TABLE, *wrong, [0.0])) for wrong in (([39], [0], 1), ([0], [8], 1), ([], [0], 1))),
    ("", lambda: clocks.clocks(TABLE, [0], [], 1, [])),
    ("2 values, 3 names", lambda: diagnostics.parts([0.1, 0.2], ABC, KINDS, ABC, measure="gradient", chosen=1)),
    ("do not fit", lambda: diagnostics.over_training([1], TALL, ABC, KINDS, last=9, **COURSE)),
    ("do not fit", lambda: diagnostics.evenness(TALL, AB)),
    ("line", lambda: graph.lines([1, 2], {})),
    ("line", lambda: graph.lines([1, 2], {"a": [1]})),
    ("line", lambda: graph.lines([1], {str(n): [1] for n in range(graph.MAX_LINES + 1)})),
    ("2 guesses", lambda: guesses.histogram(AB, [[1, 0]] * 3, AB)),
    ("fit", lambda: heads.over_training([0, 5], np.zeros((1, 2, 3)), chosen=(0, 0))),
    ("shape", lambda: products.bars(np.zeros(4), np.zeros(5))),
    ("", lambda: lengths.by_length([np.ones(3)], [], [(1, 3)], [np.ones(3)])),
    ("", lambda: lengths.by_place(np.ones((3, 3)), (1, 2))),
    ("", lambda: lens.grid(np.zeros((2, 2)), [A, ["b"]], AB, A)),
    ("causes", lambda: masks.grid(np.tri(3, dtype=bool), ABC, ABC, causes={"padding": np.array([[True, True, False]])})),
    ("causes", lambda: masks.grid(np.tri(3, dtype=bool), ABC, ABC, causes=dict.fromkeys("abcd", np.tri(3, dtype=bool)))),
    ("fit", lambda: masks.grid(np.tri(3, dtype=bool), AB, ABC)),
    *(("", lambda wrong=wrong: positions.heatmap(np.zeros(wrong))) for wrong in (3, (0, 4))),
    *(("", lambda wrong=wrong: positions.waves({"learned": TALL}, wrong)) for wrong in ([2], [])),
    ("", lambda: positions.waves({}, [0])),
    ("", lambda: positions.waves(dict.fromkeys("abc", TALL), [0])),
    ("", lambda: positions.similarity(TALL)),
    ("7 names", lambda: runs.overlay("exact_match", [[1]] * 7, [[1]] * 7, [*"abcdefg"])),
    ("do not fit", lambda: runs.difference(SQUARE, A, ABC)),
    ("do not fit", lambda: tensor.heatmap(SQUARE, A, ABC, kind="cross")),
    ("scale", lambda: tensor.heatmap(SQUARE, ABC, ABC, kind="cross", scale="rainbow")),
    ("kind", lambda: theme.hue("red")),
    ("2 fates", lambda: tree.tree(ABC, [-1, 0, 0], np.zeros((3, 3)), ["kept"] * 2, best=[1])),
    *(("", lambda wrong=wrong: vectors.plane(SQUARE[:, :2], limit=2, shares=(1, 0), **wrong))
      for wrong in ({"names": AB}, {"names": ABC, "places": [1]})),
    ("", lambda: vectors.cosines(np.eye(2), A)),
]  # fmt: skip


@pytest.mark.parametrize(("match", "draw"), REFUSED)
def test_what_does_not_fit_is_refused(match, draw):
    with pytest.raises(ValueError, match=match or None):
        draw()


@pytest.mark.parametrize("dark", [False, True])
def test_lines_of_one_picture_differ_in_more_than_colour(dark):
    pictures = [
        graph.lines([0, 1], {str(n): [n, n] for n in range(graph.MAX_LINES)}, dark=dark),
        runs.overlay("exact_match", [[1, 2]] * 6, [[0.1, 0.2]] * 6, [*"abcdef"], dark=dark),
        *curves.skeletons(dark=dark).values(),
    ]
    for picture in pictures:
        for one, other in combinations(picture["data"], 2):
            assert one["line"]["color"] != other["line"]["color"]
            assert one["line"]["dash"] != other["line"]["dash"]
            assert one.get("marker", {}).get("symbol") != other.get("marker", {}).get("symbol")
    looks = [board.look(arm, dark) for arm in range(36)]
    for shape in ("dash", "mark"):
        assert len({(look["color"], look[shape]) for look in looks}) == len(looks)
