"""run.ipynb: trains the same run again and compares the last loss. A notebook is JSON (nbformat 4)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from playground.config import LIVE_KNOBS
from playground.export.card import plain
from playground.export.exported_run import ExportedRun
from playground.reading.column_mapping import BY_SOURCE
from playground.reading.writing import GROUP
from playground.words import say

_SOURCE = Path(__file__).with_name("again.py").read_text(encoding="utf-8")
_CELLS = dict(re.findall(r"^# %% (\w+)\n(.*?)(?=^# %%|\Z)", _SOURCE, re.DOTALL | re.MULTILINE))


def notebook(exported: ExportedRun, language: str) -> bytes:
    """Returns the whole file: a sentence in this language above each cell."""
    cells = [_markdown("title", say(language, "export.again_title", name=plain(exported.name)))]
    for name, source in (_CELLS | {"how": f"how = {how(exported)!r}"}).items():
        key = f"export.again_{name}"
        if name == "compare" and exported.run.parent:  # its initial parameters are not in the notebook
            key = "export.again_fork"
        cells += [_markdown(f"about-{name}", say(language, key)), _code(name, source)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, ensure_ascii=False, indent=1).encode()


def how(exported: ExportedRun) -> dict[str, Any]:
    """Returns what config.json lacks to repeat the run: its last step, knobs that differed at the beginning or were chosen by this machine,
    (after step, knob, value) of knobs changed during training, the numbers of own pairs given for validation and test, and the column by
    which pairs are kept in one split."""
    run = exported.run
    began = {name: value for name, value in run.experiment.flat().items() if name in LIVE_KNOBS}
    knobs = began | {"precision": run.precision, "minutes": 0.0}  # no time limit: it ends at the run's last step
    moved = [tuple(event) for event in exported.history.events]
    pairs = run.pairs
    group = GROUP if pairs and pairs.groups else BY_SOURCE
    return {"step": exported.step, "knobs": knobs, "moved": moved, "given": pairs.given if pairs else (0, 0), "group": group}


def _markdown(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


def _code(name: str, source: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "id": name, "metadata": {}, "outputs": [], "source": source.strip()}
