"""Thumbnails of the recommended labs: the lines of each lab's own result. Those that need training are saved in thumbnails.json; `python -m
playground.lessons.thumbnails` updates it. The axes have labels, the lines don't: before guessing, a student sees that they differ, not
which is which."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import TypedDict

import numpy as np

from playground.lessons.lab import Lab, Lines
from playground.lessons.labs import LABS, START

PATH = Path(__file__).with_name("thumbnails.json")
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
def load_thumbnails() -> dict[str, Drawing]:
    """Loads the saved thumbnails by lab name."""
    return json.loads(PATH.read_text(encoding="utf-8"))


def write(path: Path = PATH, names: tuple[str, ...] = START) -> None:
    """Computes and saves the thumbnails of these labs."""
    path.write_text(json.dumps({name: draw_thumbnail(LABS[name]) for name in names}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:2]))
