"""The twin in torch: arguments matched, parameters copied; the cost of conversion mistakes, and the fast path."""

import inspect
from dataclasses import replace

import pytest
import torch
from torch import nn

from playground.lessons.labs import nn_transformer as twin
from playground.lessons.labs.nn_transformer.conversion import KNOBS, arguments, as_nn_transformer, their_masks
from playground.model.transformer import Transformer
from tests.runs.tiny import refused


def make_model(**knobs):
    config = replace(twin.CONFIG, **knobs)
    return twin.disturb(Transformer(config, len(twin.WORDS), len(twin.WORDS), torch.Generator().manual_seed(1)), 1).eval()


def test_every_argument_of_nn_transformer_is_matched_and_every_parameter_of_the_twin_copied():
    ours = make_model()
    there = set(inspect.signature(nn.Transformer).parameters) - {"custom_encoder", "custom_decoder", "device", "dtype"}
    assert there == set(KNOBS) == set(arguments(twin.CONFIG))
    theirs, pairs = as_nn_transformer(ours)
    assert {id(their) for _, their in pairs} == {id(parameter) for parameter in theirs.parameters()}
    outside = {id(parameter) for name, parameter in ours.named_parameters() if "embedding" in name or "projection" in name}
    assert {id(part) for parts, _ in pairs for part in parts} == {id(parameter) for parameter in ours.parameters()} - outside
    assert all(torch.equal(torch.cat(parts), their) for parts, their in pairs)
    memory, weights = twin.encoded(ours)
    expected, expected_weights = ours.encode(twin.SRC)
    torch.testing.assert_close((memory, *weights), (expected, *expected_weights))
    assert their_masks(torch.tensor([[4]]), torch.tensor([[1, 5, 0]]))["tgt_key_padding_mask"].tolist() == [[False, False, True]]


def test_a_model_with_its_own_d_k_has_no_twin():
    width = twin.CONFIG.d_model // twin.CONFIG.n_heads
    ours = make_model(d_k=width)
    assert twin.apart(ours, as_nn_transformer(ours)[0], their_masks(twin.SRC, twin.TGT_IN)) < 1e-5
    with refused("lessons.own_d_k"):
        as_nn_transformer(make_model(d_k=2 * width))


@pytest.mark.parametrize("gradient", [True, False])  # as on the page, where nothing is differentiated
def test_slips_cost_and_the_fast_path_computes_the_same_without_padding(gradient):
    before = torch.get_rng_state()
    with torch.set_grad_enabled(gradient):
        exhibits = {exhibit.name: exhibit for exhibit in twin.LAB.outcome(int(gradient)).exhibits}
    assert torch.equal(torch.get_rng_state(), before), "nothing is drawn from the global generator"
    values = exhibits["slips"].caption
    assert 0 < values["float_masks"] < 1e-5 < values["least"]
    assert values["cloned"] == 0 < 0.1 < values["drawn"], "torch's layers begin as copies, ours are drawn one by one"
    rows = {row[0]: row[1:] for row in exhibits["fast"].rows}
    assert rows["tokens"] == (str(twin.SRC.numel()), str(twin.SRC.numel()), str(int((twin.SRC != 0).sum())))
    assert all(float(difference) < 1e-5 for difference in (*rows["apart"], exhibits["fast"].caption["asked"]))
