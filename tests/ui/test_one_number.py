"""One number is the same everywhere, and labels stand at their own rows and columns: the words are those of the ids that the model got."""

import json
import re

import numpy as np
import pytest
import torch

from playground.cli import main
from playground.config import BOS, EOS, PAD
from playground.features.shared.queries.reader import REFERENCE
from playground.runs.disk.store import SHIPPED
from tests.ui.looking import block, complete

NAMES = ["reverse", *(pytest.param(name, marks=pytest.mark.night) for name in ("numbers_de", "german_english"))]


def percents(text: str) -> list[str]:
    return re.findall(r"[\d.]+(?=\s?%)", text)


@pytest.mark.parametrize("name", NAMES)
def test_everybody_says_the_same_number(site, name, capsys):
    run = site.runs.get(name)
    update = json.loads(site.runs.update(run)[0])  # from this the page takes what the header and the first tab say
    newest = {name: values[-1] for name, values in update["validations"].items()}
    assert (newest["step"], newest["pairs"]) == (run.step, newest["all_pairs"]), "at the end all held-out sentences were asked"
    number = f"{100 * newest['exact_match']:.1f}"
    query = {"run": run.id}

    exact = block(complete(site, "evaluation", **query), "scores")["rows"][0]
    assert percents(exact[1]) == [number]
    for change in ({}, {"off": "c1.1"}):
        before = block(complete(site, "score", **query, **change), "score")["rows"][0][1]
        assert percents(before) == [number]
    assert percents(block(complete(site, "importance", **query), "importance-said")["text"])[-1] == number
    assert percents(block(site.panel("teacher_forcing", **query), "caption")["text"])[-1] == number

    assert main(["history", str(SHIPPED / name), "--validations"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    last = dict(zip(head.split(), rows[-1].split(), strict=True))
    assert (f"{100 * float(last['exact_match']):.1f}", last["pairs"]) == (number, last["all_pairs"])
    (row,) = site.runs.table([run]).to_dict("records")
    assert f"{100 * row['exact_match']:.1f}" == number


SENTENCES = {  # repeated words, repeated letters; the second of each only fills the batch, and leaves padding after the first
    "german_english": ("die Frau findet die Frau", "wir glauben , dass die Ärztin die Frau findet"),
    "reverse": ("abbaab", "vcuzhkcbbrgi"),
}


@pytest.mark.trust
@pytest.mark.parametrize("part", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("run", SENTENCES)
def test_labels_align_with_rows_and_columns_in_a_padded_batch(site, run, part):
    """The shown numbers are those of the same sentence in a batch with a longer one; there its padding has weight exactly 0."""
    text, longer = SENTENCES[run]
    panel = site.panel("attention", run=run, text=text, part=part, layer="1", head="2")
    picture = block(panel, "attention")["figure"]
    drawn, meta = np.array(picture["data"][0]["z"], dtype=float), picture["layout"]["meta"]

    model, _ = site.reader.model_at(site.runs.get(run), None)
    src_words, tgt_words = site.runs.get(run).tokenizers
    source = [*src_words.encode(text), EOS]
    other = [*src_words.encode(longer), EOS]
    fed = [BOS, *(piece.id for piece in site.reader.look(site.runs.get(run), None, text, REFERENCE).targets[:-1])]
    expected = [*fed[1:], EOS]
    src = torch.tensor([source + [PAD] * (len(other) - len(source)), other])
    tgt_in = torch.tensor([[*fed, PAD, PAD], [*fed, *fed[-1:], *fed[-1:]]])
    weights = getattr(model(src, tgt_in), part)[0][0, 1].numpy()  # (Q, K) of the padded sentence, layer 1, head 2

    if part == "encoder":
        queries = [src_words.piece(token) for token in source]
    else:  # the row of position i is made from the token fed at i, and predicts the next
        queries = [f"{tgt_words.piece(token)} → {tgt_words.piece(following)}" for token, following in zip(fed, expected, strict=True)]
    keys, words = (fed, tgt_words) if part == "decoder" else (source, src_words)
    assert meta["rows"] == queries
    assert meta["columns"] == [words.piece(token) for token in keys]
    assert queries != [*queries[1:], queries[0]], "so that labels one row off would be seen"
    rows, columns = len(queries), len(keys)
    masked = np.isnan(drawn)
    np.testing.assert_allclose(np.where(masked, 0, drawn), weights[:rows, :columns], atol=1e-4)
    assert weights.shape[1] > columns
    assert not weights[:rows, columns:].any()
    assert len(set(keys)) < len(keys), "a word that stands twice has two columns, each with its own numbers"
