"""The promise under every picture of attention: rows sum to 1 and masked cells are exactly 0, in every kind of layer, under every mask."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from playground.config import BOS, EOS, PAD, ModelConfig
from playground.model.packing import padded
from playground.model.transformer import Transformer

pytestmark = pytest.mark.trust
SRC = [[5, 6, 7, 8, EOS], [9, EOS, PAD, PAD, PAD], [4, 4, 4, EOS, PAD]]  # a padded batch
TGT_IN = [[BOS, 7], [BOS, 4, 5, 6], [BOS, 8, 8]]
KINDS = ("encoder", "decoder", "cross")


def allowed(kind):
    """(B, Q, K) by hand, True where a query may look."""
    source, target = padded(SRC).numpy() != PAD, padded(TGT_IN).numpy() != PAD
    rows = source.shape[1] if kind == "encoder" else target.shape[1]
    return target[:, None] & np.tri(rows, dtype=bool) if kind == "decoder" else np.repeat(source[:, None], rows, axis=1)


@settings(max_examples=10)
@given(
    st.sampled_from(KINDS), st.sampled_from(("post", "pre", "none")), st.sampled_from(("sinusoidal", "learned", "rotary", "both", "none")),
    st.sampled_from((0.5, 0.0)), st.booleans(), st.sampled_from((1.0, 30.0)),
)  # fmt: skip
def test_rows_sum_to_one_and_masked_cells_are_exactly_zero(kind, norm, positions, scale, training, sharp):
    size = {"d_model": 16, "n_heads": 4, "encoder_layers": 2, "decoder_layers": 2, "d_ff": 16}
    config = ModelConfig(**size, norm=norm, positions=positions, attention_scale=scale, dropout=0.2)
    model = Transformer(config, 12, 12, torch.Generator().manual_seed(3)).train(training)
    with torch.no_grad():  # sharp heads, as trained ones may be: scores of thousands
        for name, parameter in model.named_parameters():
            if name.endswith(("W_q.weight", "W_k.weight")):
                parameter.mul_(sharp)
        output = model(padded(SRC), padded(TGT_IN))
    mask = allowed(kind)[:, None]  # the same for all heads
    assert len(getattr(output, kind)) == 2, "every layer returns its weights"
    for weights in getattr(output, kind):
        weights = weights.numpy()
        assert weights.shape == (3, 4, *mask.shape[2:])
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
        assert (weights[np.broadcast_to(~mask, weights.shape)] == 0).all()
        assert (weights >= 0).all()
