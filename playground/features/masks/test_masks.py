"""The masks panel through the page's own route: whose mask it is, what rows and columns are called; and a row of the run's own batch."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from playground.features.masks.panel import packed_row
from playground.inspection import masks
from playground.model.masks import pack_pairs
from playground.model.transformer import Transformer
from playground.words import say
from tests.runs.tiny import CORPORA, tiny
from tests.ui.looking import block, figures

REVERSE = {"run": "reverse"}


@pytest.mark.trust
def test_a_packed_row_shows_the_masks_of_training_and_it_opens_on_the_causal_one_of_the_own_sentence(site):
    run = site.runs.get("reverse")
    row = packed_row(site.reader, site.runs.corpora, run)
    found = masks.packed(row.src, row.tgt_in, row.src_segment_ids, row.tgt_segment_ids)
    panel = site.panel("masks", **REVERSE, mask="packed")
    src, tgt = (tokenizer.piece for tokenizer in run.tokenizers)
    source = [src(token) for token in row.src]
    decoder = [f"{tgt(read)}→{tgt(following)}" for read, following in zip(row.tgt_in, row.tgt_out, strict=True)]
    names = {"encoder": (source, source), "decoder": (decoder, [tgt(token) for token in row.tgt_in]), "cross": (decoder, source)}
    for part, (rows, columns) in names.items():
        picture = block(panel, f"packed-{part}")
        meta, allowed = picture["figure"]["layout"]["meta"], found[part].allowed
        assert (meta["rows"], meta["columns"]) == (rows, columns)
        assert [[cell == 1 for cell in line] for line in picture["figure"]["data"][0]["z"]] == allowed.tolist()
        numbers = [int(number) for number in re.findall(r"\d+", picture["caption"])]
        hidden = int((~allowed).sum())
        assert {row.pairs, hidden, allowed.size} <= set(numbers)
        reasons = numbers[3:]
        assert sum(reasons) == hidden, "each hidden cell is counted for one reason"
        assert reasons[0] == int(np.broadcast_to(~found[part].causes["padding"], allowed.shape).sum())
    own, *others = figures(site.panel("masks", **REVERSE, text="hello"))
    allowed = np.array(own["figure"]["data"][0]["z"], dtype=float) == 1
    assert own["figure"]["layout"]["meta"]["columns"] == ["<bos>", *"olleh"]
    assert np.array_equal(allowed, np.tri(len(allowed), dtype=bool))
    assert 1 <= len({other["title"] for other in others} - {"hello"}) == len(others) <= 3
    for chosen in ("0,1,2,3,4,5", "99"):
        titles = [picture["title"] for picture in figures(site.panel("masks", **REVERSE, text="zzz", masks=chosen))]
        assert (titles[0], len(set(titles))) == (say("en", "page.mask_causal"), len(titles))


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
