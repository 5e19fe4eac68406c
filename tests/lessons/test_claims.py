"""What the course and the glossary say of the default run and of the runs that ship with the app, checked on them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from playground.config import PAD, Experiment, ModelConfig
from playground.data.batches import split_batch
from playground.inspection import rollout
from playground.model.masks import causal_mask
from playground.model.transformer import Transformer
from playground.runs.registry import Runs
from tests.training.corpora import corpus_of, tiny

LEARNT = 0.9  # exact match


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    runs = Runs(tmp_path_factory.mktemp("runs"))
    yield runs.shipped()
    runs.close()


def test_the_default_is_what_the_words_call_the_default():
    """post_norm, packing, Muon, the schedule and the encoding, as the glossary and the lessons "masks" and "layers" name them."""
    experiment = Experiment()
    model, training = experiment.model, experiment.training
    assert (model.norm, model.positions, model.residual) == ("post", "sinusoidal", True)
    assert (training.packing, training.optimiser, training.schedule) == (True, "muon", "linear")
    assert training.warmup > 0


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


def test_three_reasons_to_mask_a_cell_when_pairs_share_a_row():
    """Lesson "masks": a cell is masked if its key is padding, lies in the future of its row (decoder self-attention only), or belongs to
    another pair; every other cell has a weight."""
    corpus = corpus_of("reverse")
    items = [corpus.train[n] for n in range(12)]
    (batch,) = split_batch(items, 1, packed=tiny().training.packing)
    assert int(batch.src_segment_ids.max()) > 1
    assert (batch.src == PAD).any()
    model = Transformer(tiny().model, corpus.src_tokenizer.size, corpus.tgt_tokenizer.size).eval()
    output = model(batch.src, batch.tgt_in, batch.src_segment_ids, batch.tgt_segment_ids)
    src, tgt = batch.src_segment_ids, batch.tgt_segment_ids
    past = causal_mask(tgt.shape[1])[0, 0]
    for weights, queries, keys, seen in (
        (output.encoder, src, src, True),
        (output.decoder, tgt, tgt, past),
        (output.cross, tgt, src, True),
    ):
        visible = (queries[:, :, None] == keys[:, None, :]) & (keys[:, None, :] != 0) & seen
        real = (queries != 0)[:, None, :, None].expand_as(weights[0])
        for layer in weights:
            assert ((layer > 0) == visible[:, None])[real].all()


@torch.inference_mode()
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_sublayer_of_zeros_passes_its_input_on_only_with_pre_norm(norm):
    """Glossary "residual connection", lesson "layers": with post-norm the path goes through the layer norm after each sum."""
    config = ModelConfig(d_model=16, n_heads=2, d_ff=24, norm=norm, zero_init=True, bias=False)
    model = Transformer(config, 9, 9).eval()
    layer, x = model.encoder[0], torch.arange(32.0).reshape(1, 2, 16).sin() * 3
    passed, _ = layer(x, torch.ones(1, 1, 1, 2, dtype=torch.bool), torch.arange(2)[None])
    if norm == "pre":
        torch.testing.assert_close(passed, x)
    else:
        assert not torch.allclose(passed, x, atol=0.1)
        torch.testing.assert_close(passed, layer.norm_2(layer.norm_1(x)))


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
