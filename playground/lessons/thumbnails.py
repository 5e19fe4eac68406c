"""Thumbnails of the recommended labs: the lines of each lab's own result, saved in thumbnails.json in its folder; `python -m
playground.lessons.thumbnails` updates them. The axes have labels, the lines don't: before guessing, a student sees that they differ, not
which is which."""

from __future__ import annotations

import json
from functools import cache
from typing import TypedDict

import numpy as np

from playground.lessons.lab import Lab, Lines
from playground.lessons.labs import FOLDERS, LABS, START

FILE = "thumbnails.json"
POINTS = 26  # maximum per line


class Drawing(TypedDict):
    exhibit: str  # name of the lab's exhibit; its label is `card_<exhibit>`
    lines: list[list[float]]  # each from left to right; 0 is the lower edge and 1 the upper


def draw_thumbnail(lab: Lab) -> Drawing:
    """Draws the first line plot of a lab's result. Trains, if it is an experiment."""
    exhibit = next(exhibit for exhibit in lab.outcome(1).exhibits if isinstance(exhibit, Lines))
    lines = [np.asarray(line, dtype=np.float64) for line in exhibit.lines.values()]
    top = 100.0 if exhibit.percent else max(float(line.max()) for line in lines)
    chosen = np.unique(np.linspace(0, len(exhibit.x) - 1, min(len(exhibit.x), POINTS)).round().astype(int))
    return {"exhibit": exhibit.name, "lines": [np.round(line[chosen] / top, 3).tolist() for line in lines]}


@cache
def load_thumbnail(name: str) -> Drawing:
    """Loads the saved thumbnail of a lab."""
    return json.loads((FOLDERS[name] / FILE).read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    for folder in {FOLDERS[name] for name in START}:
        drawings = {name: draw_thumbnail(LABS[name]) for name in START if FOLDERS[name] == folder}
        (folder / FILE).write_text(json.dumps(drawings) + "\n", encoding="utf-8")
