"""What is true of every picture: Plotly accepts it, JSON carries it, its words exist, its tokens are shown as they are."""

import json
from html import unescape

import plotly.graph_objects as go
import pytest

from playground.words import LANGUAGES
from tests.figures.gallery import HARD, gallery, labels


def walk(node):
    """Every value in nested lists and dictionaries."""
    yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list | tuple) else ():
        yield from walk(child)


@pytest.mark.parametrize("length", [1, 12, *(pytest.param(length, marks=pytest.mark.night) for length in (2, 250))])
def test_plotly_validates_every_figure(length):
    for name, picture in gallery(length).items():
        assert set(picture) == {"data", "layout"}, name
        go.Figure(picture)  # raises ValueError with the name of any property Plotly doesn't know
        assert json.loads(json.dumps(picture, allow_nan=False)) == picture, name  # nothing but lists, dicts, text and finite numbers


@pytest.mark.parametrize("width", [280, 1100, *(pytest.param(width, marks=pytest.mark.night) for width in (360, 720))])
@pytest.mark.parametrize("length", [1, 12, pytest.param(250, marks=pytest.mark.night)])
def test_heights_are_fixed_and_capped(length, width):
    for name, picture in gallery(length, width).items():
        layout = picture["layout"]
        assert 70 <= layout["height"] <= 860, name
        inner = width - layout["margin"]["l"] - layout["margin"]["r"]
        assert inner >= 0.3 * width, f"{name} leaves {inner} of {width} px"


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
    """A mapping that holds nothing and remembers what was asked of it."""

    def __init__(self):
        self.names = set()

    def get(self, key, default=None):
        self.names.add(key)
        return default


def test_every_word_asked_for_exists_in_every_language():
    requests = Asked()
    gallery(labels=requests)
    assert len(requests.names) > 40
    for language in LANGUAGES:
        assert requests.names <= set(labels(language)), language


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_placeholder_is_left_open(language):
    for name, picture in gallery(hard=False, labels=labels(language)).items():
        for value in walk(picture):
            if isinstance(value, str):
                assert "{" not in value.replace("%{", ""), f"{name}: {value}"


def test_tokens_are_coordinates_never_categories_nor_in_templates_that_plotly_reads():
    for name, picture in gallery().items():
        assert picture["layout"]["paper_bgcolor"] == picture["layout"]["plot_bgcolor"] == "rgba(0,0,0,0)", name
        for trace in picture["data"]:
            for side in ("x", "y"):
                assert all(not isinstance(value, str) for value in trace.get(side) or ()), name
            assert not any(token in trace.get("hovertemplate", "") for token in HARD if token.strip() and token != "%{x}"), name


def test_every_token_on_an_axis_is_escaped():
    for name in ("matrix", "step_bars", "top_tokens", "mask_both"):
        layout = gallery(len(HARD))[name]["layout"]
        for axis in ("xaxis", "yaxis"):
            for text in [*layout[axis].get("ticktext", ()), *layout[axis].get("labelalias", {}).values()]:
                assert not set(text) & set("<>$\n"), name
                assert unescape(text).strip(), name  # something is seen
