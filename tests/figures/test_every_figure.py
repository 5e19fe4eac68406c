"""What is true of every picture: Plotly accepts it, JSON carries it, its words exist, its tokens are shown as they are."""

import json
from html import unescape
from itertools import product

import plotly.graph_objects as go
import pytest

from playground.words import LANGUAGES
from tests.figures.gallery import HARD, gallery, labels


def walk(node):
    """Every value in nested lists and dictionaries."""
    yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list | tuple) else ():
        yield from walk(child)


@pytest.mark.parametrize(
    ("length", "width"),
    [(1, 280), (12, 1100), *(pytest.param(*sizes, marks=pytest.mark.night) for sizes in product((1, 2, 12, 250), (280, 360, 720, 1100)))],
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

    def __init__(self, words):
        super().__init__(words)
        self.names = set()

    def get(self, key, default=None):
        self.names.add(key)
        return super().get(key, default)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_asked_for_exists_and_no_placeholder_is_left_open(language):
    requests = Asked(labels(language))
    for name, picture in gallery(hard=False, labels=requests).items():
        for value in walk(picture):
            assert not isinstance(value, str) or "{" not in value.replace("%{", ""), f"{name}: {value}"
    assert len(requests.names) > 40
    assert requests.names <= set(requests)
