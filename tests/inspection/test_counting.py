"""What is counted here is what torch's own counter counts, and what the formulas say."""

import threading

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from playground.config import ModelConfig
from playground.inspection.counting import counted_flops, counted_parameters
from playground.model.sublayers import flops, parameters
from playground.model.transformer import Transformer

SRC, TGT = torch.full((1, 5), 5), torch.full((1, 7), 5)


@pytest.mark.trust
@pytest.mark.parametrize(
    "options", [{}, {"norm": "pre", "positions": "rotary", "bias": False}, {"share_embeddings": "all", "memory_mode": "mean"}]
)
def test_the_counts_are_torchs_own_and_the_formulas(options):
    model = Transformer(ModelConfig(d_model=16, n_heads=2, d_ff=24, encoder_layers=2, decoder_layers=1, **options), 13, 13).eval()
    with FlopCounterMode(display=False) as torchs, torch.no_grad():
        model(SRC, TGT)
    result = counted_flops(model, SRC, TGT)
    assert sum(result.values()) == torchs.get_total_flops()
    assert result == flops(model.config, 13, 5, 7)
    held = counted_parameters(model)
    assert sum(held.values()) == sum(parameter.numel() for parameter in model.parameters())
    assert held == parameters(model.config, 13, 13)
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_what_others_compute_meanwhile_is_not_counted():
    model = Transformer(ModelConfig(d_model=16, n_heads=2, d_ff=24, encoder_layers=1, decoder_layers=1), 13, 13).eval()
    alone, busy = counted_flops(model, SRC, TGT), threading.Event()
    other = threading.Thread(target=lambda: [torch.ones(64, 64) @ torch.ones(64, 64) for _ in iter(busy.is_set, True)])
    other.start()
    try:
        assert counted_flops(model, SRC, TGT) == alone
    finally:
        busy.set()
        other.join()
