"""The files of a run's zip, by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from playground.config import Refusal
from playground.export.archive import stream
from playground.export.card import card
from playground.export.exported_run import ExportedRun
from playground.export.model_file import model_file
from playground.export.notebook import notebook
from playground.export.one_file import Piece, join
from playground.export.scores import Scores
from playground.reading import writing
from playground.words import ENGLISH

USE = Piece("playground.export.use")
IN_MODEL = ("playground.config", "playground.model.transformer", "playground.variants")  # imported from model.py
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")

GetScores = Callable[[], tuple[str, Scores] | None]


def use_file() -> str:
    """Returns the source of use.py."""
    return join(USE.docstring(), [Piece("playground.reading.text"), USE], dict.fromkeys(IN_MODEL, "model"))


def files(
    exported: ExportedRun, scores: GetScores, sentences: bool = False, link: str = "", language: str = ENGLISH
) -> dict[str, Callable[[], bytes]]:
    """Returns a function that makes each file. `sentences` includes own pairs, else Refusal is raised; `link` leads back to the run."""
    pairs = exported.run.pairs
    if sentences and pairs is None:
        raise Refusal("export.generated", task=exported.run.experiment.data.task)
    contents: dict[str, Callable[[], bytes]] = {name: lambda data=data: data for name, data in exported.model_files().items()}
    contents |= {
        "README.md": lambda: card(exported, scores(), link, language).encode(),
        "model.py": lambda: model_file(exported.experiment.model).encode(),
        "use.py": lambda: use_file().encode(),
        "run.ipynb": lambda: notebook(exported, language),
    }
    return contents | ({"sentences.tsv": lambda: writing.write_grouped(pairs.pairs, pairs.groups, pairs.credit)} if sentences else {})


def pack_zip(exported: ExportedRun, scores: GetScores, sentences: bool = False, link: str = "", language: str = ENGLISH) -> Iterator[bytes]:
    """Yields the zip in chunks; see `files`."""
    return stream(files(exported, scores, sentences, link, language))


def file_name(exported: ExportedRun) -> str:
    """Returns the zip's name: the run's name, reduced to characters that every system allows."""
    return f"{_UNSAFE.sub('-', exported.name).strip('-.') or _UNSAFE.sub('-', exported.run.name)}.zip"
