"""What every part of the model holds and costs, by formula: exactly what the model has, and exactly what torch counts."""

import threading

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from playground.config import ModelConfig, limits
from playground.inspection.counting import counted_flops, counted_parameters
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
