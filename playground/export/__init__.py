"""Export of a run: one zip with its model and everything needed to use it without the playground. Read in this order:

sources (joins several of our modules into one that imports none of ours: model.py and use.py) · use (use.py, which loads, translates and
draws) · exported_run (one state of a run) · documents (README.md and the notebook). Here: the files of a run by name, as a zip or as a
folder, and the scores on its card.

The zip is streamed and reproducible: its bytes depend on its contents alone, with fixed dates and sorted names.
"""

import io
import re
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from playground.config import Refusal
from playground.export.documents import card, notebook
from playground.export.exported_run import ExportedRun, export_run
from playground.export.sources import model_file, use_file
from playground.features.evaluation import query as evaluation
from playground.features.evaluation.query import Scores
from playground.features.shared.queries.reader import Reader
from playground.reading import writing
from playground.runs.corpora import Corpora
from playground.runs.run import Run
from playground.words import ENGLISH

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
GetScores = Callable[[], tuple[str, Scores] | None]
SECONDS = 20.0  # timeout; the card shows the scores known by then
THEN = (1980, 1, 1, 0, 0, 0)  # the earliest date of the zip format
CHUNK = 1 << 20
LEVEL = 6


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


@contextmanager
def scoring(exported: ExportedRun) -> Iterator[Callable[[], tuple[str, Scores] | None]]:
    """Yields `scores_of` for use without a server."""
    corpora = Corpora()
    reader = Reader(SimpleNamespace(corpora=corpora), threads=1)
    try:
        yield partial(scores_of, reader, corpora, exported)
    finally:
        reader.close()


def scores_of(reader: Reader, corpora: Corpora, exported: ExportedRun) -> tuple[str, Scores] | None:
    """Returns (split, scores) on the test split, or on the held-out one if there is none; None when scores are unavailable."""
    end = time.monotonic() + SECONDS
    try:
        split = "test" if corpora.get(exported.run.experiment, exported.run.pairs).test else "heldout"
        scores = evaluation.scores(reader, corpora, exported.run, exported.step, split)
        while scores.sentences < scores.total and time.monotonic() < end:
            scores = evaluation.scores(reader, corpora, exported.run, exported.step, split)
        return split, scores
    except Refusal:  # the machine is busy, the model too slow, or sacrebleu not installed
        return None


def write_folder(run: Run, path: Path) -> None:
    """Writes the files into `path`, creating it if needed; own sentences are never included. Raises Refusal and OSError."""
    exported = export_run(run)
    path.mkdir(parents=True, exist_ok=True)
    with scoring(exported) as scores:
        for name, make in files(exported, scores).items():
            (path / name).write_bytes(make())


class _Outbox(io.RawIOBase):
    """A write-only buffer for the archive. Not seekable, as earlier bytes are sent already."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:
        self._buffer += data
        return len(data)

    def take(self) -> bytes:
        sent, self._buffer = bytes(self._buffer), bytearray()
        return sent


def stream(files: Mapping[str, Callable[[], bytes]]) -> Iterator[bytes]:
    """Yields the zip in chunks. Each file is made when its turn comes."""
    outbox = _Outbox()
    with zipfile.ZipFile(outbox, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        for name in sorted(files, key=str.casefold):
            entry = zipfile.ZipInfo(name, THEN)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            content = memoryview(files[name]())
            with archive.open(entry, "w") as file:
                for start in range(0, len(content), CHUNK):
                    file.write(content[start : start + CHUNK])
                    yield outbox.take()
    yield outbox.take()
