"""The page's type: a few sizes, declared once, and none too small to be read."""

from __future__ import annotations

import re

import pytest

from playground.ui.assets import STATIC

LEAST = 13  # px
OTHERS = ("worksheet.css", "first.css")  # which is printed; which stands before the page's own style and draws as Plotly does
SHEETS = [file for file in sorted(STATIC.glob("*.css")) if file.name not in OTHERS]
DECLARED = dict(re.findall(r"(--pg-(?:fine|small|text|head|large)): (\d+)px", (STATIC / "style.css").read_text(encoding="utf-8")))
TAKEN = re.compile(r"^(var\((--pg-\w+)\)|inherit|0|[\d.]+r?em)( !important)?$")  # 0 hides what Gradio says


@pytest.mark.parametrize("file", SHEETS, ids=lambda file: file.name)
def test_every_size_is_one_of_those_declared(file):
    for size in re.findall(r"font-size: ([^;}]+)", file.read_text(encoding="utf-8")):
        taken = TAKEN.match(size.strip())
        assert taken, size
        assert taken[2] is None or taken[2] in DECLARED, size


def test_none_is_too_small_to_be_read():
    assert len(DECLARED) == 5
    assert min(map(int, DECLARED.values())) >= LEAST
