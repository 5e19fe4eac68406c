"""The masks panel through the page's own route: whose mask it is, and what the rows and columns are called."""

import re

import numpy as np
import pytest

from playground.features.masks.panel import packed_row
from playground.inspection import masks
from playground.words import say
from tests.ui.looking import block, figures

REVERSE = {"run": "reverse"}


@pytest.mark.trust
def test_a_packed_row_shows_the_masks_of_training(site):
    run = site.runs.get("reverse")
    row = packed_row(site.reader, site.runs.corpora, run)
    found = masks.packed(row.src, row.tgt_in, row.src_segment_ids, row.tgt_segment_ids)
    panel = site.panel("masks", **REVERSE, mask="packed")
    src, tgt = (tokenizer.piece for tokenizer in run.tokenizers)
    source = [src(token) for token in row.src]
    decoder = [f"{tgt(read)} → {tgt(following)}" for read, following in zip(row.tgt_in, row.tgt_out, strict=True)]
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


def test_it_opens_on_the_causal_mask_of_the_own_sentence(site):
    own, *others = figures(site.panel("masks", **REVERSE, text="hello"))
    allowed = np.array(own["figure"]["data"][0]["z"], dtype=float) == 1
    assert (own["title"], own["figure"]["layout"]["meta"]["columns"]) == ("hello", ["<bos>", *"olleh"])
    assert np.array_equal(allowed, np.tri(len(allowed), dtype=bool))
    assert 1 <= len({other["title"] for other in others} - {"hello"}) == len(others) <= 3
    for chosen in ("0,1,2,3,4,5", "99"):
        titles = [picture["title"] for picture in figures(site.panel("masks", **REVERSE, text="zzz", masks=chosen))]
        assert (titles[0], len(set(titles))) == ("zzz", len(titles))


def test_that_a_row_of_training_holds_several_pairs_is_said_where_its_mask_is_not_drawn(site):
    for mask, is_noted in (("causal", True), ("packed", False)):
        assert (say("en", "page.mask_packs") in block(site.panel("masks", **REVERSE, mask=mask), "about")["text"]) is is_noted
