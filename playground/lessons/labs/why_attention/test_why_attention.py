"""Sequential steps are those that hooks count."""

import torch
from hypothesis import given, strategies as st
from torch.nn.modules.module import register_module_forward_hook

from playground.config import BOS, EOS, ModelConfig
from playground.lessons.labs.why_attention import LAB, sequential_steps
from playground.model.attention import MultiHeadAttention
from playground.model.layers import FeedForward
from playground.variants import build
from playground.variants.recurrent import GRU


def counted(run) -> int:
    """How many steps of a GRU and how many sublayers were computed one after another."""
    steps = []

    def count(module, inputs, output):
        if isinstance(module, (GRU, MultiHeadAttention, FeedForward)):
            steps.append(inputs[0].shape[1] if isinstance(module, GRU) else 1)
    hook = register_module_forward_hook(count)
    run()
    hook.remove()
    return sum(steps)


@torch.inference_mode()
@given(st.sampled_from([*LAB.arms.values(), {"encoder_layers": 3, "decoder_layers": 2}]), st.integers(1, 9), st.integers(1, 9))
def test_the_sequential_steps_are_those_that_hooks_count(knobs, source, target):
    """Fed in one pass; and written, where a state that is known is not computed again: what it is fed has one row for each new token."""
    config = ModelConfig(**{"d_model": 16, "d_ff": 16, "encoder_layers": 1, "decoder_layers": 1, **knobs})
    model, src = build(config, 30, 30).eval(), torch.full((2, source), EOS)
    fed, written = sequential_steps(config, source, target)
    assert counted(lambda: model(src, torch.full((2, target), BOS))) == fed
    if not config.alteration.recurrent:  # a GRU takes one step for each token either way

        def write() -> None:
            memory, _ = model.encode(src)
            for length in range(1, target + 1):
                model.decode(torch.full((2, length), BOS), memory, torch.ones(2, 1, 1, source, dtype=torch.bool))
        assert counted(write) == written
    else:
        assert written == fed
