"""A row of a run's own training batch, packed with several short pairs."""

from __future__ import annotations

from typing import NamedTuple

from playground.data.batches import batches, split_batch
from playground.features.shared.queries.reader import Reader
from playground.runs.corpora import Corpora
from playground.runs.run import Run


class PackedRow(NamedTuple):
    """Token ids, the number of each token's pair (from 1; 0 is padding), and the number of pairs."""

    src: tuple[int, ...]  # S
    tgt_in: tuple[int, ...]  # T
    tgt_out: tuple[int, ...]  # T
    src_segment_ids: tuple[int, ...]
    tgt_segment_ids: tuple[int, ...]
    pairs: int


def packed_row(reader: Reader, corpora: Corpora, run: Run) -> PackedRow | None:
    """Returns the row of the run's first batch with the most pairs; None when the run doesn't pack."""
    config = run.experiment.training
    if not config.packing:
        return None

    def find() -> PackedRow:
        items = next(batches(corpora.get(run.experiment, run.pairs).train, config.batch_size, config.batch_unit, config.seed))
        (batch,) = split_batch(items, 1, packed=True)
        row = int(batch.tgt_segment_ids.amax(dim=1).argmax())  # the first of equals
        src, tgt_in, tgt_out, src_ids, tgt_ids = (tuple(tensor[row].tolist()) for tensor in batch)
        return PackedRow(src, tgt_in, tgt_out, src_ids, tgt_ids, max(tgt_ids))

    return reader.remember(run, ("packed",), find)
