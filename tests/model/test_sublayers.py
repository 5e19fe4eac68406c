"""What every part of the model holds and costs, by formula: exactly what the model has, and exactly what torch counts."""

import threading

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from playground.config import ModelConfig, limits
from playground.inspection.counting import counted_flops, counted_parameters
from playground.model.attention import head_widths
from playground.model.sublayers import flops, parameters
from playground.model.transformer import Transformer


def small(**options) -> ModelConfig:
    return ModelConfig(**{"d_model": 24, "n_heads": 2, "d_ff": 40, "encoder_layers": 2, "decoder_layers": 1, **options})


KNOBS = {
    name: st.sampled_from(limits(name).choices)
    for name in ("positions", "norm", "activation", "share_embeddings", "memory_mode", "n_heads")
} | {"bias": st.booleans(), "residual": st.booleans(), "d_k": st.sampled_from([0, 1, 32]), "d_ff": st.sampled_from([8, 40])}


@pytest.mark.trust
@settings(max_examples=12)
@given(st.fixed_dictionaries(KNOBS), st.integers(1, 3), st.integers(1, 3), st.integers(1, 12), st.integers(1, 12))
def test_the_formula_counts_what_torch_counts(knobs, encoder_layers, decoder_layers, s, t):
    model = Transformer(small(**knobs, encoder_layers=encoder_layers, decoder_layers=decoder_layers), 13, 13)
    formula, tokens = flops(model.config, 13, s, t), (torch.full((1, s), 5), torch.full((1, t), 5))
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(*tokens)
    assert sum(formula.values()) == counter.get_total_flops()
    assert formula == counted_flops(model, *tokens), "each sublayer, as torch counts it; what is shown of the page's sentence"
    held = counted_parameters(model)
    assert held == parameters(model.config, 13, 13)
    assert sum(held.values()) == sum(parameter.numel() for parameter in model.parameters())
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_what_others_compute_meanwhile_is_not_counted():
    model, tokens, busy = Transformer(small(), 13, 13), torch.full((1, 5), 5), threading.Event()
    alone = counted_flops(model, tokens, tokens)
    other = threading.Thread(target=lambda: [torch.ones(64, 64) @ torch.ones(64, 64) for _ in iter(busy.is_set, True)])
    other.start()
    try:
        assert counted_flops(model, tokens, tokens) == alone
    finally:
        busy.set()
        other.join()


def test_by_hand():
    """d_model 8, d_ff 16, two tokens read, three written: every product of matrices on paper."""
    found = flops(ModelConfig(d_model=8, n_heads=2, d_ff=16, encoder_layers=1, decoder_layers=1), tgt_vocab=10, s=2, t=3)
    assert found["encoder.0.self_attention"] == 2 * (4 * 2 * 8 * 8 + 2 * 2 * 2 * 8)  # W_q W_k W_v W_o, then Q K^T and weights V
    assert found["decoder.0.cross_attention"] == 2 * (2 * 3 * 8 * 8 + 2 * 2 * 8 * 8 + 2 * 3 * 2 * 8)
    assert found["decoder.0.feed_forward"] == 2 * (2 * 3 * 8 * 16)
    assert found["projection"] == 2 * 3 * 8 * 10
    assert found["src_embedding"] == found["tgt_embedding"] == 0


@pytest.mark.parametrize(("d_k", "millions"), [(16, 58), (32, 60)])
def test_row_b_of_the_papers_table_3_makes_d_k_smaller_and_leaves_d_v(d_k, millions):
    """Against the base model's 65 million parameters: with d_v smaller as well, twice as many would be missing."""
    base = {"d_model": 512, "n_heads": 8, "d_ff": 2048, "encoder_layers": 6, "decoder_layers": 6, "share_embeddings": "all"}
    whole, narrow = (sum(parameters(ModelConfig(**base, d_k=size), 37_000, 37_000).values()) / 1e6 for size in (0, d_k))
    assert whole - narrow == pytest.approx(65 - millions, abs=0.5)
    assert 2 * (whole - narrow) - (65 - millions) > 4
    assert head_widths(ModelConfig(**base, d_k=d_k)) == (d_k, 64)
