"""Small pictures of the labs that one starts with: the lines of each lab's own result. What takes training is kept in thumbnails.json;
`python -m playground.lessons.thumbnails` measures it anew.

What the axes are is said. The lines have no names: whoever looks at them before guessing learns that they part, not which is which.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import TypedDict

import numpy as np

from playground.lessons.lab import Lab, Lines
from playground.lessons.labs import LABS, START

KEPT = Path(__file__).with_name("thumbnails.json")
POINTS = 26  # of a line, at most


class Drawing(TypedDict):
    exhibit: str  # which of the lab's it is: the lab has a word for it, `card_<exhibit>`
    lines: list[list[float]]  # each from left to right; 0 is the lower edge and 1 the upper


def thumbnail(lab: Lab) -> Drawing:
    """The first lines that a lab shows of its result. Trains, if it is an experiment."""
    shown = next(exhibit for exhibit in lab.outcome(1).exhibits if isinstance(exhibit, Lines))
    lines = [np.asarray(line, dtype=np.float64) for line in shown.lines.values()]
    top = 100.0 if shown.percent else max(float(line.max()) for line in lines)
    chosen = np.unique(np.linspace(0, len(shown.x) - 1, min(len(shown.x), POINTS)).round().astype(int))
    return {"exhibit": shown.name, "lines": [np.round(line[chosen] / top, 3).tolist() for line in lines]}


@cache
def kept() -> dict[str, Drawing]:
    """The pictures that there are, by the names of their labs."""
    return json.loads(KEPT.read_text(encoding="utf-8"))


def write(path: Path = KEPT, names: tuple[str, ...] = START) -> None:
    """Measures the pictures of these labs and writes them down."""
    path.write_text(json.dumps({name: thumbnail(LABS[name]) for name in names}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:2]))
