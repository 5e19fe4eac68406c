"""What the course and the glossary say of the default run and of the runs that ship with the app, checked on them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from playground.config import ModelConfig
from playground.inspection import rollout
from playground.model.transformer import Transformer
from playground.runs.registry import Runs

LEARNT = 0.9  # exact match


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    runs = Runs(tmp_path_factory.mktemp("runs"))
    yield runs.shipped()
    runs.close()


def test_the_loss_falls_smoothly_while_exact_match_jumps(shipped):
    """Lesson "training": until a run has learnt its task, every validation loss is below the one before; exact match stays near 0 until
    most tokens are right. Token accuracy is never below it."""
    for run in shipped:
        rows = run.history.validations.rows()
        loss, exact, tokens = (np.array(rows[name]) for name in ("loss", "exact_match", "token_accuracy"))
        learnt = int(np.argmax(exact >= LEARNT))
        assert exact[learnt] >= LEARNT, run.id
        assert (np.diff(loss[: learnt + 1]) < 0).all(), run.id
        assert exact[tokens < 0.6].max() < 0.1, run.id
        assert (tokens >= exact).all(), run.id


@torch.inference_mode()
def test_the_logit_lens_reads_normalised_states_but_for_the_embedding():
    """`teacher_forcing.lens_post`, before a gain was learnt: mean 0 and variance 1 after every layer, and not in the embedding row."""
    model = Transformer(ModelConfig(d_model=16, n_heads=2, d_ff=24, decoder_layers=3), 9, 9).eval()
    states = []
    model.decoder[0].register_forward_pre_hook(lambda layer, inputs: states.append(inputs[0]))
    for layer in model.decoder:
        layer.register_forward_hook(lambda layer, inputs, output: states.append(output[0]))
    model(torch.tensor([[5, 6, 2]]), torch.tensor([[1, 6, 5]]))
    normalised = [abs(float(state.var(dim=-1, correction=0).mean()) - 1) < 1e-3 and abs(float(state.mean())) < 1e-5 for state in states]
    assert normalised == [False, True, True, True]


def test_rollout_gives_the_own_token_half_in_each_layer_whatever_was_learnt():
    """`heads.rollout_residual`: no head here attends to its own position, and a quarter comes from it all the same after two layers."""
    elsewhere = np.roll(np.eye(5), 2, axis=1)[None, None].repeat(2, axis=0)
    assert np.trace(elsewhere[0, 0]) == 0
    assert (np.diag(rollout.rollout(elsewhere)) >= 0.25).all()
    assert not np.diag(rollout.rollout(elsewhere, residual=False)).any()
