"""What of its memory the encoder delivers: the whole, one mean vector, or nothing."""

import pytest
import torch

from playground.config import PAD
from playground.model.masks import padding_mask
from tests.model.test_transformer import SRC, TGT, build

TGT_OUT = torch.tensor([[5, 6, 7, 2], [8, 2, PAD, PAD]])


def delivered(memory: str, src: torch.Tensor = SRC) -> torch.Tensor:
    return build(memory_mode=memory).encode(src)[0]


def test_the_mean_is_that_of_the_real_tokens_at_every_place():
    whole, mean = delivered("whole"), delivered("mean")
    for row, real in enumerate((5, 3)):
        torch.testing.assert_close(mean[row], whole[row, :real].mean(dim=0).expand(5, 16))
    torch.testing.assert_close(mean[1:, :3], delivered("mean", SRC[1:, :3]))
    memory = torch.randn(2, 5, 16)
    assert torch.equal(build().apply_memory_mode(memory, padding_mask(SRC)), memory), "the whole is the encoder's output"


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_with_one_vector_it_does_not_matter_where_cross_attention_looks(norm):
    model = build(memory_mode="mean", norm=norm)
    before = model(SRC, TGT)
    with torch.no_grad():
        for layer in model.decoder:
            layer.cross_attention.W_q.weight.normal_(0, 3)
            layer.cross_attention.W_k.weight.normal_(0, 3)
    after = model(SRC, TGT)
    torch.testing.assert_close(after.logits, before.logits, rtol=1e-4, atol=1e-5)
    real = padding_mask(SRC).sum(dim=-1, keepdim=True)
    assert all(torch.allclose(weights, padding_mask(SRC) / real) for weights in after.cross)  # and so they are even


def test_cut_the_source_says_nothing():
    model = build(memory_mode="cut")
    other = torch.where(SRC == PAD, PAD, 10)
    assert torch.equal(model(SRC, TGT).logits, model(other, TGT).logits)
    assert not torch.equal(build()(SRC, TGT).logits, build()(other, TGT).logits)
