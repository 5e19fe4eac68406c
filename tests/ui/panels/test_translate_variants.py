"""The panels of runs that are built differently: every kind of positions, shared embeddings, other tokens, one layer and six."""

from __future__ import annotations

import pytest

from playground.runs.run import Run
from playground.ui.panels import TABS
from tests.made_up import declare_encoding
from tests.runs.tiny import wait

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


@pytest.fixture
def trained(site):
    """A run of these knobs, trained to its end."""
    made = []

    def train(knobs: dict) -> Run:
        run = site.train(TOKEN, TINY | knobs)
        made.append(run.id)
        wait(lambda: run.status in ("done", "failed", "diverged"))
        assert run.status == "done", run.message
        return run

    yield train
    for run_id in made:
        site.runs.delete(run_id, TOKEN)


def open_every_panel(site, run: Run) -> None:
    for name in (*TABS, "sentence"):
        for step in ("", "2"):
            panel = site.panel(name, run=run.id, step=step, pos="learned", method="beam")
            assert "error" not in panel, f"{name}: {panel}"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "knobs",
    [
        {"positions": "learned"},
        {"positions": "rotary", "norm": "pre", "bias": False, "zero_init": True},
        {"positions": "both", "activation": "gelu", "share_embeddings": "all"},
        {"positions": "none", "residual": False, "attention_scale": 1.0, "embedding_scale": False},
        {"norm": "none", "activation": "none", "attention_scale": 0.0, "embedding_std": 0.5, "optimiser": "adamw", "learning_rate": 0.001},
        {"n_heads": 8, "d_model": 8, "encoder_layers": 6, "decoder_layers": 2},
        {"task": "german_english", "tokenizer": "bpe", "vocab_size": 96, "share_embeddings": "output"},
        {"task": "one_to_many", "optimiser": "adam", "schedule": "paper", "dropout": 0.1},
        {"task": "beer", "batch_size": 1},
    ],
    ids=lambda knobs: next(iter(knobs.values())),
)
def test_every_panel_of_a_run_that_is_built_differently(site, trained, knobs):
    open_every_panel(site, trained(knobs))


def test_every_panel_of_a_run_whose_encoding_is_new(site, trained, monkeypatch):
    run = trained({"positions": declare_encoding(monkeypatch)})
    open_every_panel(site, run)
    panel = site.panel("positions", run=run.id, pos="learned")
    assert {"pos-learnt", "pos-beside"} <= {block["id"] for block in panel["blocks"]}, "it learns a table, so the table is shown"


def test_learned_positions_stand_beside_sinusoids(site, trained):
    run = trained({"positions": "learned"})
    panel = site.panel("positions", run=run.id, pos="learned")
    figures = {block["id"]: block for block in panel["blocks"] if block["kind"] == "figure"}
    assert set(figures) == {"pos-learnt", "pos-beside"}
    table, _ = site.reader.position_table(run, None)
    assert figures["pos-learnt"]["figure"]["data"][0]["z"][3] == pytest.approx(table[3].tolist(), abs=1e-2)
