"""run.ipynb: trains the same run again and compares the last loss. A notebook is JSON (nbformat 4)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from playground.config import LIVE_KNOBS
from playground.export.card import plain
from playground.export.taken import Taken
from playground.reading.column_mapping import BY_SOURCE
from playground.reading.writing import GROUP
from playground.words import say

_SOURCE = Path(__file__).with_name("again.py").read_text(encoding="utf-8")
_CELLS = dict(re.findall(r"^# %% (\w+)\n(.*?)(?=^# %%|\Z)", _SOURCE, re.DOTALL | re.MULTILINE))


def notebook(taken: Taken, language: str) -> bytes:
    """The whole file: a sentence in this language above each cell."""
    cells = [_markdown("title", say(language, "export.again_title", name=plain(taken.name)))]
    for name, source in (_CELLS | {"how": f"how = {how(taken)!r}"}).items():
        key = f"export.again_{name}"
        if name == "compare" and taken.run.parent:  # it began with parameters that the notebook hasn't got
            key = "export.again_fork"
        cells += [_markdown(f"about-{name}", say(language, key)), _code(name, source)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = {"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, ensure_ascii=False, indent=1).encode()


def how(taken: Taken) -> dict[str, Any]:
    """What repeats the run beside config.json: its last step, the knobs that were something else when it began or that this machine chose,
    (after step, knob, value) of those that were moved while it trained, how many own pairs were given to validate and to test on, and the
    column of what keeps them together in one split."""
    run = taken.run
    began = {name: value for name, value in run.experiment.flat().items() if name in LIVE_KNOBS}
    knobs = began | {"precision": run.precision, "minutes": 0.0}  # it ends where the run ended, however long that takes here
    moved = [tuple(event) for event in taken.history.events]
    pairs = run.pairs
    group = GROUP if pairs and pairs.groups else BY_SOURCE
    return {"step": taken.step, "knobs": knobs, "moved": moved, "given": pairs.given if pairs else (0, 0), "group": group}


def _markdown(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


def _code(name: str, source: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "id": name, "metadata": {}, "outputs": [], "source": source.strip()}
