"""The cache: what it gives is what a decoder without it computes, whatever the model is made of."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.config import ModelConfig, limits
from playground.model.kv_cache import DecoderCache
from playground.model.masks import padding_mask
from playground.model.transformer import Transformer
from tests.model.shared_copies import disturb
from tests.model.test_transformer import SRC, TGT, build, combinations


def by_and_by(model: Transformer, tgt_in: torch.Tensor, cuts: list[int], cache: DecoderCache):
    """States (B, T, D) and weights of every layer, of a target that comes in pieces which end at `cuts`."""
    memory, _ = model.encode(SRC)
    found = [model.decode(tgt_in[:, :end], memory, padding_mask(SRC), cache) for end in cuts]
    return torch.cat([states for states, _, _ in found], dim=1), [weights for _, *weights in found]


@pytest.mark.trust
@torch.inference_mode()
def test_the_newest_token_is_the_last_row_whatever_the_choices():
    """For combinations in which every pair and every three choices of the architecture stand together."""
    worst = 0.0
    for knobs in combinations():
        config = ModelConfig(d_model=8, n_heads=2, d_ff=8, encoder_layers=1, decoder_layers=1, **knobs)
        model = disturb(Transformer(config, 11, 11, torch.Generator().manual_seed(1))).eval()
        states, _, _ = model.decode(TGT, model.encode(SRC)[0], padding_mask(SRC))
        cached, _ = by_and_by(model, TGT, [3, 4], DecoderCache(1))
        worst = max(worst, (model.project(cached) - model.project(states)).abs().max().item())
        assert torch.equal(model.project(cached).argmax(-1), model.project(states).argmax(-1)), knobs
    assert worst <= 1e-5


@settings(max_examples=12)
@given(st.sampled_from(limits("positions").choices), st.sets(st.integers(1, 3)))
def test_new_tokens_may_come_one_by_one_or_several_together(positions, earlier):
    cuts = [*sorted(earlier), 4]
    model = disturb(build(positions=positions))
    states, own, cross = model.decode(TGT, model.encode(SRC)[0], padding_mask(SRC))
    cached, found = by_and_by(model, TGT, cuts, DecoderCache(3))
    torch.testing.assert_close(cached, states, atol=1e-5, rtol=0)
    for layer in range(3):  # rows are those of the new tokens, columns of all tokens so far
        begin = 0
        for end, (own_weights, cross_weights) in zip(cuts, found, strict=True):
            torch.testing.assert_close(own_weights[layer], own[layer][:, :, begin:end, :end], atol=1e-6, rtol=0)
            torch.testing.assert_close(cross_weights[layer], cross[layer][:, :, begin:end], atol=1e-6, rtol=0)
            begin = end
