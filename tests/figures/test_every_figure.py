"""What is true of every picture: Plotly accepts it, JSON carries it, its words exist, its tokens are shown as they are, no two of its lines
differ in colour alone, and numbers that do not fit their names are refused."""

import json
from html import unescape
from itertools import combinations, product

import numpy as np
import plotly.graph_objects as go
import pytest

from playground.features.attention import figure as heads
from playground.features.board import figure as board
from playground.features.embeddings import figure as vectors
from playground.features.evaluation import figure as lengths
from playground.features.interventions import figure as changes
from playground.features.lessons import figure as guesses
from playground.features.positions import figure as positions
from playground.features.shared.figures import attention, graph, runs, sublayers, tensor
from playground.features.shared.figures.theme import Style
from playground.features.teacher_forcing import figure as lens
from playground.features.train import figure as curves
from playground.features.translate import figure as tree
from playground.words import LANGUAGES
from tests.figures.gallery import HARD, gallery, labels


def walk(node):
    yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list | tuple) else ():
        yield from walk(child)


@pytest.mark.parametrize(
    ("length", "width"),
    [(1, 280), (12, 1100), *(pytest.param(*sizes, marks=pytest.mark.night) for sizes in product((1, 12, 250), (280, 360, 720, 1100)))],
)
def test_plotly_validates_every_figure_its_height_is_capped_and_tokens_are_coordinates(length, width):
    for name, picture in gallery(length, width).items():
        go.Figure(picture)  # raises ValueError with the name of any property Plotly doesn't know
        assert json.loads(json.dumps(picture, allow_nan=False)) == picture, name  # nothing but lists, dicts, text and finite numbers
        layout = picture["layout"]
        assert 70 <= layout["height"] <= 860, name
        assert width - layout["margin"]["l"] - layout["margin"]["r"] >= 0.3 * width, name
        assert layout["paper_bgcolor"] == layout["plot_bgcolor"] == "rgba(0,0,0,0)", name
        for trace in picture["data"]:
            for side in ("x", "y"):
                assert all(not isinstance(value, str) for value in trace.get(side) or ()), name
            assert not any(token in trace.get("hovertemplate", "") for token in HARD if token.strip() and token != "%{x}"), name
        for axis in ("xaxis", "yaxis") if name in ("matrix", "step_bars", "top_tokens", "mask_both") else ():
            for text in [*layout[axis].get("ticktext", ()), *layout[axis].get("labelalias", {}).values()]:
                assert not set(text) & set("<>$\n"), name
                assert unescape(text).strip(), name  # something is seen


def test_dark_changes_colours_and_nothing_else():
    def without_colours(node):
        if isinstance(node, dict):
            return {key: without_colours(value) for key, value in node.items() if "color" not in key}
        return [without_colours(value) for value in node] if isinstance(node, list) else node

    light, dark = gallery(dark=False), gallery(dark=True)
    assert without_colours(light) == without_colours(dark)
    for name in light:
        assert light[name] != dark[name], name


class Asked(dict):
    """A mapping that remembers what was asked of it."""

    names = frozenset()

    def get(self, key, default=None):
        self.names |= {key}
        return super().get(key, default)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_asked_for_exists_and_no_placeholder_is_left_open(language):
    requests = Asked(labels(language))
    for name, picture in gallery(hard=False, labels=requests).items():
        for value in walk(picture):
            assert not isinstance(value, str) or "{" not in value.replace("%{", ""), f"{name}: {value}"
    assert len(requests.names) > 40
    assert requests.names <= set(requests)


AB, ABC, KINDS, TALL = ["a", "b"], ["a", "b", "c"], ["encoder", "cross", "decoder"], np.full((3, 2), 0.5)
TWO = {"tokens_of": ("a", "b")}
REFUSED = [  # names of another number of rows would stand at the wrong ones
    lambda: attention.matrix(TALL, AB, ABC), lambda: attention.matrix(TALL, ABC, AB, mask=np.ones((3, 3))),
    lambda: attention.small_matrices(TALL[None], ABC, AB, AB, 2),
    lambda: attention.step_bars(TALL[0], ABC), lambda: lens.votes(ABC, [1.0], KINDS, ABC, **TWO),
    lambda: lens.path(ABC, np.zeros((2, 2)), **TWO), lambda: graph.top_tokens(AB, [1.0]),
    lambda: graph.frequencies(["a"], [1, 2]), lambda: changes.pairs(ABC, [0.1] * 3, [0.1] * 2),
    lambda: changes.losses(ABC, [0.1] * 2, [0.1] * 2, kind="cross", most=1),
    lambda: sublayers.parts([0.1, 0.2], ABC, KINDS, ABC, measure="gradient", chosen=1),
    lambda: sublayers.over_training([1], TALL, ABC, KINDS, last=9, measure="gradient", strong=[0]),
    lambda: sublayers.evenness(TALL, AB), lambda: graph.lines([1, 2], {"a": [1]}),
    lambda: guesses.histogram(AB, [[1, 0]] * 3, AB),
    lambda: heads.over_training([0, 5], np.zeros((1, 2, 3)), chosen=(0, 0)),
    lambda: heads.bars(np.zeros(4), np.zeros(5)), lambda: lengths.by_length([np.ones(3)], [], [(1, 3)], [np.ones(3)]),
    lambda: lens.grid(np.zeros((2, 2)), [["a"], ["b"]], AB, ["a"]),
    lambda: attention.grid(np.tri(3, dtype=bool), ABC, ABC, causes={"padding": np.array([[True, True, False]])}),
    lambda: attention.grid(np.tri(3, dtype=bool), AB, ABC), lambda: positions.similarity(TALL),
    lambda: runs.difference(np.eye(3), ["a"], ABC), lambda: tensor.heatmap(np.eye(3), ["a"], ABC, kind="cross"),
    lambda: tree.tree(ABC, [-1, 0, 0], np.zeros((3, 3)), ["kept"] * 2, best=[1]),
    lambda: vectors.plane(np.eye(3)[:, :2], AB, limit=2, shares=(1, 0)), lambda: vectors.cosines(np.eye(2), ["a"]),
]  # fmt: skip


@pytest.mark.parametrize("draw", REFUSED)
def test_what_does_not_fit_is_refused(draw):
    with pytest.raises(ValueError):
        draw()


@pytest.mark.parametrize("dark", [False, True])
def test_lines_of_one_picture_differ_in_more_than_colour(dark):
    style = Style(dark=dark)
    pictures = [
        graph.lines([0, 1], {str(n): [n, n] for n in range(graph.MAX_LINES)}, style=style),
        runs.overlay("exact_match", [[1, 2]] * 6, [[0.1, 0.2]] * 6, [*"abcdef"], style=style),
        *curves.skeletons(style=style).values(),
    ]
    for picture in pictures:
        for one, other in combinations(picture["data"], 2):
            assert one["line"]["color"] != other["line"]["color"]
            assert one["line"]["dash"] != other["line"]["dash"]
            assert one.get("marker", {}).get("symbol") != other.get("marker", {}).get("symbol")
    looks = [board.arm_style(arm, dark) for arm in range(36)]
    for shape in ("dash", "mark"):
        assert len({(look["color"], look[shape]) for look in looks}) == len(looks)
