"""Direct logit attribution: the votes add up to the model's own logit difference, and each is what its part alone adds."""

import numpy as np
import pytest
import torch
from torch import nn

from playground.config import ModelConfig
from playground.inspection.activations import fed
from playground.inspection.attribution import Part, attribute
from playground.model.transformer import Transformer

SOURCE, TARGET = [5, 6, 7, 4, 9], [7, 4, 4, 8, 2]
KNOBS = (
    {}, {"norm": "none", "activation": "none"}, {"positions": "both", "bias": False}, {"share_embeddings": "output", "norm": "pre"},
    {"positions": "rotary", "embedding_scale": False, "residual": False, "memory_mode": "mean"},
)  # fmt: skip


def make(**knobs) -> Transformer:
    """A model whose parameters are not those of the start: biases and gains are drawn too."""
    model = Transformer(ModelConfig(**{"d_model": 16, "d_ff": 32, "n_heads": 2, "decoder_layers": 2} | knobs), 12, 11).eval()
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=generator)
    return model


@torch.inference_mode()
def logits(model: Transformer) -> np.ndarray:
    """(T, V)."""
    return model(*fed(SOURCE, TARGET)).logits[0].numpy()


@pytest.mark.trust
@pytest.mark.parametrize("knobs", KNOBS, ids=str)
def test_votes_add_up_to_the_logit_difference(knobs):
    model = make(**knobs)
    result, expected = attribute(model, SOURCE, TARGET), logits(model)
    near = max(1e-4, 2e-7 * float(np.abs(expected).max()))  # without norms logits are thousands, in float32
    for at in range(len(TARGET)):
        for token, other in ((4, 5), (0, 10)):
            assert result.votes(at, token, other).sum() == pytest.approx(expected[at, token] - expected[at, other], abs=near)
            np.testing.assert_allclose(result.path(at, token, other)[-1], (expected[at] - expected[at].mean())[[token, other]], atol=near)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_there_is_a_part_for_everything_that_writes(norm):
    result = attribute(make(norm=norm), SOURCE, TARGET)
    heads = [Part(kind, layer, head) for layer in range(2) for kind in ("decoder", "cross") for head in range(2)]
    feed_forward = [Part("feed_forward", layer) for layer in range(2)]
    assert set(result.parts) == {Part("embedding"), Part("positions"), Part("biases"), *heads, *feed_forward}
    assert result.parts[0] == Part("embedding")
    assert result.parts[-1] == Part("biases")
    assert result.vectors.shape == (len(result.parts), len(TARGET), 16)


@torch.inference_mode()
def without(model: Transformer, module: str, head: int | None) -> np.ndarray:
    """The logits (T, V) when this one output is left out and all else, scales of norms and outputs of other sublayers, stays as it was."""
    frozen: dict[str, object] = {}
    chosen = [name for name, part in model.named_modules() if name.endswith(("attention", "feed_forward")) and name.startswith("decoder")]
    hooks = [model.get_submodule(name).register_forward_hook(lambda m, i, o, name=name: frozen.__setitem__(name, o)) for name in chosen]
    norms = {name: part for name, part in model.named_modules() if isinstance(part, nn.LayerNorm) and name.startswith("decoder")}
    scales: dict[str, torch.Tensor] = {}

    def scale_of(name):
        def seen(m, inputs, output):
            scales[name] = (inputs[0].var(dim=-1, correction=0, keepdim=True) + m.eps).sqrt()

        return seen

    hooks += [part.register_forward_hook(scale_of(name)) for name, part in norms.items()]
    mixed = {}
    if head is not None:
        hooks.append(model.get_submodule(f"{module}.W_o").register_forward_hook(lambda m, i, o: mixed.update(heads=i[0])))
    model(*fed(SOURCE, TARGET))
    for hook in hooks:
        hook.remove()

    output = frozen[module]
    if head is None:
        second = model.get_submodule(f"{module}.W_2")
        frozen[module] = torch.zeros_like(output) + (0 if second.bias is None else second.bias)
    else:
        left = mixed["heads"].clone()
        width = left.shape[-1] // model.config.n_heads
        left[..., head * width : (head + 1) * width] = 0
        frozen[module] = (model.get_submodule(f"{module}.W_o")(left), output[1])

    def held(name):
        def normalise(m, inputs, output):
            x = inputs[0]
            return (x - x.mean(dim=-1, keepdim=True)) / scales[name] * m.weight + (0 if m.bias is None else m.bias)

        return normalise

    hooks = [part.register_forward_hook(held(name)) for name, part in norms.items()]
    hooks += [model.get_submodule(name).register_forward_hook(lambda m, i, o, name=name: frozen[name]) for name in chosen]
    changed = model(*fed(SOURCE, TARGET)).logits[0].numpy()
    for hook in hooks:
        hook.remove()
    return changed


@pytest.mark.trust
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize(
    ("part", "module"),
    [
        (Part("decoder", 0, 1), "decoder.0.self_attention"),
        (Part("cross", 1, 0), "decoder.1.cross_attention"),
        (Part("feed_forward", 0), "decoder.0.feed_forward"),
    ],
    ids=str,
)
def test_a_vote_is_what_is_missing_when_the_part_is_left_out_of_the_frozen_sum(norm, part, module):
    model = make(norm=norm)
    result, before = attribute(model, SOURCE, TARGET), logits(model)
    after = without(model, module, part.head)
    for at in range(len(TARGET)):
        missing = (before[at, 4] - before[at, 5]) - (after[at, 4] - after[at, 5])
        assert result.votes(at, 4, 5)[result.parts.index(part)] == pytest.approx(missing, abs=1e-4)


def test_no_hook_is_left_behind_and_a_target_is_wanted():
    model = make()
    attribute(model, SOURCE, TARGET)
    assert not any(module._forward_hooks for module in model.modules())
    with pytest.raises(ValueError):
        attribute(model, SOURCE, [])
