"""Sequential steps are those that hooks count, and the models have about as many parameters, as the lab says."""

import torch
from hypothesis import given, strategies as st

from playground.config import BOS, EOS, ModelConfig
from playground.lessons.labs.why_attention import LAB, sequential_steps
from playground.model.attention import MultiHeadAttention
from playground.model.layers import FeedForward
from playground.model.transformer import Transformer
from playground.variants import build
from playground.variants.recurrent import GRU


def make_model(config: ModelConfig) -> Transformer:
    return build(config, 30, 30).eval()


def counted(model: Transformer, run) -> int:
    """How many steps of a GRU and how many sublayers were computed one after another."""
    steps, hooks = [0], []

    def count(module, inputs, output):
        steps[0] += inputs[0].shape[1] if isinstance(module, GRU) else 1
    for part in model.modules():
        if isinstance(part, (GRU, MultiHeadAttention, FeedForward)):
            hooks.append(part.register_forward_hook(count))
    run()
    for hook in hooks:
        hook.remove()
    return steps[0]


@torch.inference_mode()
@given(st.sampled_from([*LAB.arms.values(), {"encoder_layers": 3, "decoder_layers": 2}]), st.integers(1, 9), st.integers(1, 9))
def test_the_sequential_steps_are_those_that_hooks_count(knobs, source, target):
    """Fed in one pass; and written, where a state that is known is not computed again: what it is fed has one row for each new token."""
    config = ModelConfig(**{"d_model": 16, "d_ff": 16, "encoder_layers": 1, "decoder_layers": 1, **knobs})
    model, src = make_model(config), torch.full((2, source), EOS)
    fed, written = sequential_steps(config, source, target)
    assert counted(model, lambda: model(src, torch.full((2, target), BOS))) == fed
    if not config.alteration.recurrent:  # a GRU takes one step for each token either way

        def write() -> None:
            memory, _ = model.encode(src)
            for length in range(1, target + 1):
                model.decode(torch.full((2, length), BOS), memory, torch.ones(2, 1, 1, source, dtype=torch.bool))
        assert counted(model, write) == written
    else:
        assert written == fed


def test_the_four_models_have_about_as_many_parameters():
    sizes = [sum(part.numel() for part in make_model(LAB.experiment(arm, 1).model).parameters()) for arm in LAB.arms]
    assert 49_000 < min(sizes) < max(sizes) < min(52_000, 1.05 * min(sizes))  # as its words say
