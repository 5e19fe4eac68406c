"""What is true of every picture: Plotly accepts it, its words exist, its tokens are shown as they are; and the colours, measured."""

import json
from html import unescape
from itertools import combinations, product

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given, strategies as st

from playground.features import attention as heads
from playground.features.board import figure as board
from playground.features.embeddings import figure as vectors
from playground.features.evaluation import figure as lengths
from playground.features.interventions import figure as changes
from playground.features.lessons import figure as guesses
from playground.features.positions import panel as positions
from playground.features.shared.figures import attention, graph, runs, sublayers, tensor, theme, tokens
from playground.features.shared.figures.theme import Style
from playground.features.teacher_forcing import figure as lens
from playground.features.train import panel as curves
from playground.features.translate import figure as tree
from playground.words import LANGUAGES
from tests.figures.gallery import HARD, gallery, labels


def walk(node):
    yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list | tuple) else ():
        yield from walk(child)


@pytest.mark.parametrize(("length", "width"), [
    (1, 280), (12, 1100), *(pytest.param(*sizes, marks=pytest.mark.night) for sizes in product((1, 12, 250), (280, 360, 720, 1100))),
])  # fmt: skip
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
    lambda: sublayers.evenness(TALL, AB), lambda: graph.lines([1, 2], {"a": [1]}), lambda: guesses.histogram(AB, [[1, 0]] * 3, AB),
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
def test_lines_differ_in_more_than_colour_text_can_be_read_and_masked_cells_look_like_no_probability(dark):
    style = Style(dark=dark)
    pictures = [
        graph.lines([0, 1], {str(n): [n, n] for n in range(graph.MAX_LINES)}, style=style),
        runs.overlay("exact_match", [[1, 2]] * 6, [[0.1, 0.2]] * 6, [*"abcdef"], style=style), *curves.skeletons(style=style).values(),
    ]
    for picture in pictures:
        for one, other in combinations(picture["data"], 2):
            assert one["line"]["color"] != other["line"]["color"]
            assert one["line"]["dash"] != other["line"]["dash"]
            assert one.get("marker", {}).get("symbol") != other.get("marker", {}).get("symbol")
    looks = [board.arm_style(arm, dark) for arm in range(36)]
    for shape in ("dash", "mark"):
        assert len({(look["color"], look[shape]) for look in looks}) == len(looks)
    palette = theme.colors(dark)
    for least, names in ((7, ["text"]), (4.5, ["muted", "right", "wrong"]), (3, [*theme.KINDS, "first", "second", "line"])):
        assert min(contrast(palette[name], palette["paper"]) for name in names) > least
    assert min(contrast(color, palette["paper"]) for color in theme.lines(dark)) > 3
    assert min(np.linalg.norm(lab(palette["hatch"]) - lab(color)) for color in theme.sequential(dark)) > 4
    assert np.linalg.norm(lab(palette["hatch"]) - lab(palette["masked"])) > 15


# Machado, Oliveira and Fernandes (2009), full deficiency, in linear RGB
SIGHT = {
    "full": np.eye(3),
    "protan": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "deutan": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "tritan": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
}
# OKLab (Ottosson 2020)
TO_CONES = np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip # noqa: E501
TO_LAB = np.array([[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099], [0.0259040371, 0.7827717662, -0.8086757660]])  # fmt: skip # noqa: E501


def linear(color):
    channels = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def lab(color, sight="full"):
    """Lightness 0..100 and two axes of colour, as seen with this sight."""
    return 100 * TO_LAB @ np.cbrt(TO_CONES @ np.clip(SIGHT[sight] @ linear(color), 0, 1))


def contrast(a, b):
    """WCAG's ratio, 1 to 21."""
    low, high = sorted(float(linear(color) @ [0.2126, 0.7152, 0.0722]) for color in (a, b))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("dark", "sight"), product((False, True), SIGHT))
def test_scales_go_one_way_and_hues_stay_apart_for_every_eye(dark, sight):
    away = 1 if dark else -1  # from the page, in lightness
    assert np.all(away * np.diff([lab(color, sight)[0] for color in theme.sequential(dark)]) > 2)
    scale = [lab(color, sight) for color in theme.diverging(dark)]
    lightness = np.array([color[0] for color in scale])
    assert np.all(away * np.diff(lightness[5:]) > 0)
    assert np.all(away * np.diff(lightness[5::-1]) > 0)
    assert min(np.linalg.norm(scale[i] - scale[-1 - i]) for i in range(5)) > 4
    hues = [lab(theme.hue(kind, dark), sight) for kind in theme.KINDS]
    assert min(np.linalg.norm(a - b) for a, b in combinations(hues, 2)) > 14


@pytest.mark.parametrize(("token", "shown"), [
    ("hello", "hello"), (" ", "␣"), ("  ", "␣␣"), ("", "∅"), ("a b", "a␣b"), ("\u3000", "␣"), ("a\nb", "a↵b"), ("\t", "⇥"),
    ("\x00", "U+0000"), ("\u200b", "U+200B"), ("\u202eabc", "�abc"), ("\u200d", "ZWJ"), ("\ufe0f", "VS16"), ("\U000e0065", "TAG e"),
    ("\u0301", "◌\u0301"), ("می\u200cروم", "می\u200cروم"), ("\ud800", "U+D800"), ("狗", "狗"),
])  # fmt: skip
def test_what_would_not_be_seen_is_shown(token, shown):
    assert tokens.visible(token) == shown


@given(st.text("aé狗<>&;$%{}/\"' \n\r\t\x00\u200b\u202e\u3000\ud800", max_size=40))
def test_a_label_is_the_visible_token_once_plotly_has_decoded_it(token):
    label = tokens.label(token, longest=1000)
    assert unescape(label) == tokens.visible(token) or "&" in token  # unescape also reads entities without a semicolon
    assert not set(label) & set("<>$\n\r\t ")
    assert label
    escaped = {"<s>": "&lt;s&gt;", "$x$": "&#36;x&#36;", "&amp;": "&amp;amp;", "%{x}": "%{x}"}
    assert {text: tokens.escape(text) for text in escaped} == escaped


def test_long_tokens_are_cut_both_of_a_step_alike_and_thinned_ticks_lose_no_token():
    assert tokens.label("Donaudampfschifffahrt") == "Donaudampfsch…"
    assert tokens.extent("Donaudampfschifffahrt") == pytest.approx(tokens.MAX_LABEL_CHARACTERS * tokens.NARROW)
    assert tokens.extent("狗x") == pytest.approx(tokens.WIDE + tokens.NARROW)
    ticks = tokens.ticks([f"t{i}" for i in range(10)], 4)
    assert (ticks["tickvals"], ticks["ticktext"]) == ([0, 4, 8], ["t0", "t4", "t8"])
    assert ticks["labelalias"] == {str(i): f"t{i}" for i in range(10) if i % 4}
    names = tokens.steps(["<bos>", "a", " "], ["a", " ", "<eos>"])
    assert names == [*map(tokens.visible, names)] == ["<bos>→a", "a→␣", "␣→<eos>"]
    assert tokens.label(names[0]) == "&lt;bos&gt;→a"
    with pytest.raises(ValueError, match="argument 2"):
        tokens.steps(["<bos>", "a"], ["a"])
    (name,) = tokens.steps(["Donaudampfschifffahrt"], ["Gesellschaft"])
    (special,) = tokens.steps(["<bos>"], ["<eos>"])
    for longest in map(tokens.longest, (280, 1100)):
        read, following = (part.strip() for part in tokens.shortened(name, longest).split("→"))
        assert (read[-1], "Donaudampfschifffahrt"[: len(read) - 1]) == ("…", read[:-1])
        assert (following[-1], "Gesellschaft"[: len(following) - 1]) == ("…", following[:-1])
        assert len(read) == len(following) >= tokens.SPECIAL
        assert tokens.shortened(special, longest).replace(" ", "") == "<bos>→<eos>"
