"""Scores for a model card: those of the page, awaited."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace

from playground.config import Refusal
from playground.export.exported_run import ExportedRun
from playground.features.evaluation import query as evaluation
from playground.features.evaluation.query import Scores
from playground.features.shared.queries.reader import Reader
from playground.runs.corpora import Corpora

SECONDS = 20.0  # timeout; the card shows the scores known by then


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
    except (Refusal, ImportError):  # the machine is busy, the model too slow, or sacrebleu not installed
        return None
