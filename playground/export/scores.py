"""Scores of a model card: those that the page shows, waited for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace

from playground.config import Refusal
from playground.export.taken import Taken
from playground.queries import evaluation
from playground.queries.evaluation import Scores
from playground.queries.reader import Reader
from playground.runs.corpora import Corpora

SECONDS = 20.0  # that a card waits for its scores; what is known then is what it says


@contextmanager
def scoring(taken: Taken) -> Iterator[Callable[[], tuple[str, Scores] | None]]:
    """`scores_of` where no server is at work."""
    corpora = Corpora()
    reader = Reader(SimpleNamespace(corpora=corpora), threads=1)
    try:
        yield partial(scores_of, reader, corpora, taken)
    finally:
        reader.close()


def scores_of(reader: Reader, corpora: Corpora, taken: Taken) -> tuple[str, Scores] | None:
    """(split, scores) on the sentences kept for the test, or on the held-out ones where there are none; None when they can't be had."""
    end = time.monotonic() + SECONDS
    try:
        split = "test" if corpora.get(taken.run.experiment, taken.run.pairs).test else "heldout"
        found = evaluation.scores(reader, corpora, taken.run, taken.step, split)
        while found.sentences < found.total and time.monotonic() < end:
            found = evaluation.scores(reader, corpora, taken.run, taken.step, split)
        return split, found
    except (Refusal, ImportError):  # the machine is busy, the model too slow, or sacrebleu not installed
        return None
