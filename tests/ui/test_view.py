"""How wide a picture is, and that each is drawn for the screen of whoever looks."""

import ast
from pathlib import Path

import numpy as np
import pytest

from playground.figures import attention, positions
from playground.ui import panels
from playground.ui.view import LARGE, Screen

UI = Path(panels.__file__).parents[1]


@pytest.mark.parametrize(
    ("width", "share", "pixels"),
    [
        (1000, None, 1000),
        (1000, 1, 980),
        (1000, 2, 480),
        (1000, 3, 313),
        (1000, LARGE, 520),
        (700, 2, 330),
        (699, 2, 699),
        (360, LARGE, 360),
    ],
)
def test_a_column_has_its_share_and_on_a_narrow_screen_all(width, share, pixels):
    assert Screen({"width": str(width)}).room(share) == pixels


def test_a_column_leaves_free_what_it_is_told_to():
    assert Screen({"width": "1000"}).room(2, gap=26) == 474


def test_a_presented_picture_has_all_of_a_page_that_is_enlarged():
    screen, presented = Screen({"width": "920", "height": "1080"}), Screen({"width": "920", "height": "1080", "present": "1"})
    assert (screen.room(LARGE), presented.room(LARGE), presented.room(3)) == (478, 672, 672)  # the rest is its caption's
    assert presented.page == (920, 640)
    assert presented.tallest == 640 - 110


def test_a_picture_is_drawn_as_wide_dark_and_in_the_language_that_is_asked_for():
    screen, weights, names = Screen({"width": "900", "dark": "1", "lang": "zh"}), np.full((3, 3), 1 / 3), ["a", "b", "c"]
    drawn = screen.draw(attention.matrix, weights, names, names, kind="cross", share=2)
    assert drawn == attention.matrix(weights, names, names, kind="cross", width=430, dark=True, labels=screen.labels)


def test_a_width_or_words_of_its_own_are_taken_as_they_are():
    screen, weights, names = Screen({"width": "900"}), np.full((3, 3), 1 / 3), ["a", "b", "c"]
    own = {"width": 500, "labels": screen.labels | {"weight": "flow"}}
    assert screen.draw(attention.matrix, weights, names, names, kind="cross", **own) == attention.matrix(
        weights, names, names, kind="cross", **own
    )


def test_a_figure_whose_width_makes_no_difference_is_not_told_any():
    screen, table = Screen({"width": "900"}), np.eye(8)
    assert screen.draw(positions.heatmap, table, trained=4) == positions.heatmap(table, trained=4, labels=screen.labels)


def test_no_panel_says_by_hand_what_every_picture_is_told():
    """Each picture is drawn by view.draw; a page that is dark has no light one among them because somebody forgot."""
    by_hand = []
    for file in UI.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "dark":
                by_hand.append(f"{file.relative_to(UI)}:{node.value.lineno}")
    assert by_hand == []
