"""A grid that is presented: as high as the page, square, with its legend and a column for its caption beside it."""

from __future__ import annotations

import numpy as np
import pytest

from playground.figures import attention
from playground.figures.presented import BESIDE, presented

PAGES = {"1920x1080": (1248, 676), "1366x768": (878, 468), "1024x768": (650, 468)}
WORDS = tuple("abcdefghi")


def matrix(rows: int = 9, columns: int = 9) -> dict:
    return attention.matrix(np.eye(rows, columns), WORDS[:rows], WORDS[:columns], alignment=[0] * rows)


@pytest.mark.parametrize(("width", "height"), PAGES.values(), ids=PAGES)
def test_a_square_matrix_has_the_height_of_the_page_or_all_of_the_width_but_that_of_its_caption(width, height):
    drawn = presented(matrix(), width, height)
    layout = drawn["layout"]
    margin = layout["margin"]
    across, down = width - margin["l"] - margin["r"], layout["height"] - margin["t"] - margin["b"]
    assert abs(across - down) <= 2
    assert layout["height"] >= height - 1 or margin["r"] == pytest.approx(BESIDE * width + 24, abs=2)
    assert layout["height"] <= height
    assert layout["meta"]["beside"] >= BESIDE * width - 1
    assert drawn["data"][0]["colorbar"]["len"] < layout["meta"]["beside"]
    assert layout["xaxis"]["domain"] == [0, 1]


def test_what_is_no_grid_stays_as_it_is():
    bars = attention.step_bars(np.ones(4) / 4, WORDS[:4])
    assert presented(bars, 800, 400) is bars
