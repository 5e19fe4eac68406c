"""A copy has the original's numbers and none of its hooks, and the original none of the copy's."""

import torch

from playground.config import ModelConfig
from playground.inspection.copies import trainable_copy
from playground.model.transformer import Transformer

SRC, TGT = torch.tensor([[4, 5, 6, 2]]), torch.tensor([[1, 5, 4]])


def test_only_the_copy_that_learns_gets_gradients():
    model = Transformer(ModelConfig(d_model=16, d_ff=32, share_embeddings="all"), 9, 9).eval().requires_grad_(False)
    twin = trainable_copy(model)
    twin(SRC, TGT).logits.sum().backward()
    for (name, one), (other_name, other) in zip(model.named_parameters(), twin.named_parameters(), strict=True):
        assert name == other_name
        assert one is not other
        assert one.data_ptr() == other.data_ptr()
        assert other.grad is not None
        assert not one.requires_grad
        assert one.grad is None
    assert twin.src_embedding.weight is twin.projection.weight  # what was shared still is
