"""Everything that a run's zip holds, by the names of the files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from playground.config import Refusal
from playground.export.archive import stream
from playground.export.card import card
from playground.export.model_file import model_file
from playground.export.notebook import notebook
from playground.export.one_file import Piece, join
from playground.export.scores import Scores
from playground.export.taken import Taken
from playground.reading import writing
from playground.words import ENGLISH

USE = Piece("playground.export.use")
IN_MODEL = ("playground.config", "playground.model.transformer", "playground.variants")  # found in model.py
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")

Asked = Callable[[], tuple[str, Scores] | None]


def use_file() -> str:
    """The source of use.py."""
    return join(USE.about(), [Piece("playground.reading.text"), USE], dict.fromkeys(IN_MODEL, "model"))


def files(taken: Taken, scores: Asked, sentences: bool = False, link: str = "", language: str = ENGLISH) -> dict[str, Callable[[], bytes]]:
    """What makes each file. `sentences`: own ones come too; `link` leads back to the run. Raises Refusal where there are none to take."""
    pairs = taken.run.pairs
    if sentences and pairs is None:
        raise Refusal("export.generated", task=taken.run.experiment.data.task)
    made: dict[str, Callable[[], bytes]] = {name: lambda data=data: data for name, data in taken.model_files().items()}
    made |= {
        "README.md": lambda: card(taken, scores(), link, language).encode(),
        "model.py": lambda: model_file(taken.experiment.model).encode(),
        "use.py": lambda: use_file().encode(),
        "run.ipynb": lambda: notebook(taken, language),
    }
    return made | ({"sentences.tsv": lambda: writing.write_grouped(pairs.pairs, pairs.groups, pairs.credit)} if sentences else {})


def packed(taken: Taken, scores: Asked, sentences: bool = False, link: str = "", language: str = ENGLISH) -> Iterator[bytes]:
    """The zip in pieces; see `files`."""
    return stream(files(taken, scores, sentences, link, language))


def file_name(taken: Taken) -> str:
    """What the zip is called: of the run's name what any system can write."""
    return f"{_UNSAFE.sub('-', taken.name).strip('-.') or _UNSAFE.sub('-', taken.run.name)}.zip"
