"""A row of a run's own training batch."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from playground.inspection import masks
from playground.model.packing import pack_pairs
from playground.model.transformer import Transformer
from playground.queries.packing import packed_row
from tests.runs.tiny import CORPORA, tiny


def made_up(packing: bool) -> SimpleNamespace:
    return SimpleNamespace(id=f"packing {packing}", experiment=tiny(packing=packing, batch_size=12, dropout=0.0), pairs=None)


@pytest.mark.trust
def test_the_masks_are_where_the_model_has_weights(reader):
    run = made_up(packing=True)
    row = packed_row(reader, CORPORA, run)
    assert row.pairs > 1
    assert packed_row(reader, CORPORA, made_up(packing=False)) is None
    corpus = CORPORA.get(run.experiment)
    model = Transformer(run.experiment.model, corpus.src_tokenizer.size, corpus.tgt_tokenizer.size).eval()
    with torch.no_grad():
        src, tgt_in, *ids = (torch.tensor([ids]) for ids in (row.src, row.tgt_in, row.src_segment_ids, row.tgt_segment_ids))
        result = model(src, tgt_in, pack_pairs(tgt_in, *ids))
    for part, mask in masks.packed(row.src, row.tgt_in, row.src_segment_ids, row.tgt_segment_ids).items():
        for layer in getattr(result, part):
            seen = mask.allowed.any(axis=1)  # a row of padding may see nothing at all
            np.testing.assert_array_equal((layer[0].numpy() > 0)[:, seen], np.broadcast_to(mask.allowed[seen], layer[0][:, seen].shape))
