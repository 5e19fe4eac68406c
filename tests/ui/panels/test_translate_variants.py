"""The panels of runs that are built differently: every kind of positions, shared embeddings, other tokens, one layer and six."""

from __future__ import annotations

import time

import pytest

from playground.ui.panels import TABS

TOKEN = "c" * 32
TINY = {
    "train_size": 200,
    "validation_size": 20,
    "d_model": 16,
    "n_heads": 2,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "d_ff": 16,
    "steps": 6,
    "batch_size": 8,
}


@pytest.mark.parametrize(
    "knobs",
    [
        {"positions": "learned"},
        {"positions": "rotary", "norm": "pre", "bias": False, "zero_init": True},
        {"positions": "both", "activation": "gelu", "share_embeddings": "all"},
        {"positions": "none", "residual": False, "attention_scale": False, "embedding_scale": False},
        {"n_heads": 8, "d_model": 8, "encoder_layers": 6, "decoder_layers": 2},
        {"task": "german_english", "tokenizer": "bpe", "vocab_size": 96, "share_embeddings": "output"},
        {"task": "one_to_many", "optimiser": "adam", "schedule": "paper", "dropout": 0.1},
        {"task": "beer", "batch_size": 1},
    ],
    ids=lambda knobs: next(iter(knobs.values())),
)
def test_every_panel_of_a_run_that_is_built_differently(site, knobs):
    run = site.train(TOKEN, TINY | knobs)
    end = time.monotonic() + 60
    while run.status not in ("done", "failed", "diverged"):
        assert time.monotonic() < end
        time.sleep(0.02)
    assert run.status == "done", run.message
    for name in (*TABS, "sentence"):
        for step in ("", "2"):
            panel = site.panel(name, run=run.id, step=step, pos="learned", method="beam")
            assert "error" not in panel, f"{name}: {panel}"
    site.runs.delete(run.id, TOKEN)


def test_learned_positions_stand_beside_sinusoids(site):
    run = site.train(TOKEN, TINY | {"positions": "learned"})
    end = time.monotonic() + 60
    while run.status != "done":
        assert time.monotonic() < end
        time.sleep(0.02)
    panel = site.panel("positions", run=run.id, pos="learned")
    figures = {block["id"]: block for block in panel["blocks"] if block["kind"] == "figure"}
    assert set(figures) == {"pos-learnt", "pos-beside"}
    table, _ = site.reader.position_table(run, None)
    assert figures["pos-learnt"]["figure"]["data"][0]["z"][3] == pytest.approx(table[3].tolist(), abs=1e-2)
    site.runs.delete(run.id, TOKEN)
