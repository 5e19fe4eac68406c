"""Truths about the lab of the model's twin in torch. That outputs and gradients are equal is in tests/model/test_transformer.py."""

import inspect
from dataclasses import replace

import pytest
import torch
from torch import nn

from playground.config import Refusal
from playground.lessons.nn_transformer import KNOBS, arguments, as_nn_transformer, their_masks
from playground.lessons.tensors import nn_transformer as lab
from playground.model.transformer import Transformer


def made(**knobs):
    config = replace(lab.CONFIG, **knobs)
    return lab.disturb(Transformer(config, len(lab.WORDS), len(lab.WORDS), torch.Generator().manual_seed(1)), 1).eval()


def test_every_argument_of_nn_transformer_is_matched_and_every_parameter_of_the_twin_copied():
    ours = made()
    there = set(inspect.signature(nn.Transformer).parameters) - {"custom_encoder", "custom_decoder", "device", "dtype"}
    assert there == set(KNOBS) == set(arguments(lab.CONFIG))
    theirs, pairs = as_nn_transformer(ours)
    assert {id(their) for _, their in pairs} == {id(parameter) for parameter in theirs.parameters()}
    outside = {id(one) for name, one in ours.named_parameters() if "embedding" in name or "projection" in name}
    assert {id(part) for mine, _ in pairs for part in mine} == {id(one) for one in ours.parameters()} - outside
    assert all(torch.equal(torch.cat(mine), their) for mine, their in pairs)
    memory, weights = lab.encoded(ours)
    expected, expected_weights = ours.encode(lab.SRC)
    torch.testing.assert_close((memory, *weights), (expected, *expected_weights))
    masks = their_masks(torch.tensor([[4, 2, 0]]), torch.tensor([[1, 5]]))
    assert masks["tgt_mask"].tolist() == [[False, True], [False, False]]
    assert masks["src_key_padding_mask"].tolist() == masks["memory_key_padding_mask"].tolist() == [[False, False, True]]
    assert masks["tgt_key_padding_mask"].tolist() == [[False, False]]


def test_a_model_with_its_own_d_k_has_no_twin():
    width = lab.CONFIG.d_model // lab.CONFIG.n_heads
    ours = made(d_k=width)
    assert lab.apart(ours, as_nn_transformer(ours)[0], their_masks(lab.SRC, lab.TGT_IN)) < 1e-5
    with pytest.raises(Refusal) as refusal:
        as_nn_transformer(made(d_k=2 * width))
    assert refusal.value.key == "lessons.own_d_k"


@pytest.mark.parametrize("gradient", [True, False])  # as on the page, where nothing is differentiated
def test_slips_cost_and_the_fast_path_computes_the_same_without_padding(gradient):
    before = torch.get_rng_state()
    with torch.set_grad_enabled(gradient):
        exhibits = {exhibit.name: exhibit for exhibit in lab.LAB.outcome(int(gradient)).exhibits}
    assert torch.equal(torch.get_rng_state(), before), "nothing is drawn from the global generator"
    values = exhibits["slips"].said
    assert 0 < values["float_masks"] < 1e-5 < values["least"]
    assert values["cloned"] == 0 < 0.1 < values["drawn"], "torch's layers begin as copies, ours are drawn one by one"
    rows = {row[0]: row[1:] for row in exhibits["fast"].rows}
    assert rows["tokens"] == (str(lab.SRC.numel()), str(lab.SRC.numel()), str(int((lab.SRC != 0).sum())))
    assert all(float(difference) < 1e-5 for difference in (*rows["apart"], exhibits["fast"].said["asked"]))
