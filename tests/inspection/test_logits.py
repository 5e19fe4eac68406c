"""The lens: its last row is the model's own answer, the others are a model that ends there. Votes: they add up to the model's own logit
difference, and each is what its part alone adds."""

import numpy as np
import pytest
import torch
from torch import nn

from playground.decoding import trace
from playground.inspection.activations import model_inputs
from playground.inspection.logits import Part, attribute, decided, lens_fact, logit_lens
from playground.model.transformer import Transformer
from tests.inspection.test_activations import build

SOURCE, TARGET = [5, 6, 7, 4, 9], [7, 4, 4, 8, 2]


@pytest.mark.trust
@pytest.mark.parametrize("knobs", [{}, {"norm": "pre"}, {"positions": "both", "bias": False}, {"share_embeddings": "output"}], ids=str)
def test_the_last_row_is_the_models_own_answer(knobs):
    model = build(vocab=12, decoder_layers=3, **knobs)
    answer = logit_lens(model, SOURCE, TARGET)
    assert answer.shape == (4, 5, 12)
    np.testing.assert_array_equal(answer[-1], trace(model, SOURCE, TARGET).probabilities)
    np.testing.assert_allclose(answer.sum(axis=-1), 1, atol=1e-5)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    with pytest.raises(ValueError):
        logit_lens(model, SOURCE, [])


@torch.inference_mode()
def test_each_row_is_a_model_that_ends_there():
    model = build(vocab=12, decoder_layers=3, norm="pre")
    answer = logit_lens(model, SOURCE, TARGET)
    for layers in (3, 2, 1):
        model.decoder = model.decoder[:layers]
        np.testing.assert_allclose(trace(model, SOURCE, TARGET).probabilities, answer[layers], atol=1e-6)


@pytest.mark.parametrize(("lines", "places", "values"), [
    (("0120", "1122", "1120"), [1, 0, 0, 2], {"layer": 0, "steps": 2, "all": 4, "early": 2}),  # step 3 left and came back at the end
    (("33", "00", "00"), [1, 1], {"layer": 1, "steps": 2, "all": 2, "early": 0}),
])  # fmt: skip
def test_a_step_is_decided_where_the_final_token_comes_to_stay(lines, places, values):
    answer = 0.1 + 0.6 * np.eye(4)[[[int(token) for token in line] for line in lines]]
    assert (decided(answer).tolist(), lens_fact(answer).values) == (places, values)


KNOBS = (
    {}, {"norm": "none", "activation": "none"}, {"positions": "both", "bias": False}, {"share_embeddings": "output", "norm": "pre"},
    {"positions": "rotary", "embedding_scale": False, "residual": False, "memory_mode": "mean"},
)  # fmt: skip


def make(**knobs) -> Transformer:
    return build(seed=4, vocab=12, **{"n_heads": 2, "decoder_layers": 2} | knobs)


@pytest.mark.trust
@pytest.mark.parametrize("knobs", KNOBS, ids=str)
def test_votes_add_up_to_the_logit_difference(knobs):
    model = make(**knobs)
    result = attribute(model, SOURCE, TARGET)
    with torch.inference_mode():
        expected = model(*model_inputs(SOURCE, TARGET)).logits[0].numpy()  # (T, V)
    heads = [Part(kind, layer, head) for layer in range(2) for kind in ("decoder", "cross") for head in range(2)]
    parts = {Part("embedding"), Part("positions"), *heads, Part("feed_forward", 0), Part("feed_forward", 1), Part("biases")}
    assert knobs or set(result.parts) == parts, "one for everything that writes"
    near = max(1e-4, 2e-7 * float(np.abs(expected).max()))  # without norms logits are thousands, in float32
    for at in range(len(TARGET)):
        for token, other in ((4, 5), (0, 10)):
            assert result.votes(at, token, other).sum() == pytest.approx(expected[at, token] - expected[at, other], abs=near)
            np.testing.assert_allclose(result.path(at, token, other)[-1], (expected[at] - expected[at].mean())[[token, other]], atol=near)


def added(model: Transformer, module: str, head: int | None) -> np.ndarray:
    """Computes the share of one part in the logit of 4 over that of 5 where all norms and sublayers are frozen: autograd has the slope."""
    states, hooks = {}, []

    def held(norm, inputs, _):
        (x,) = inputs
        scale = (x.var(dim=-1, correction=0, keepdim=True) + norm.eps).sqrt().detach()
        return (x - x.mean(dim=-1, keepdim=True)) / scale * norm.weight + (0 if norm.bias is None else norm.bias)

    def frozen(part, _, output):
        out, *weights = output if isinstance(output, tuple) else (output,)
        states[part] = out.detach().requires_grad_()
        return (states[part], *weights) if weights else states[part]

    for name, part in model.named_modules():
        if name.startswith("decoder") and (isinstance(part, nn.LayerNorm) or name.endswith(("attention", "feed_forward"))):
            hooks.append(part.register_forward_hook(held if isinstance(part, nn.LayerNorm) else frozen))
    last = model.get_submodule(f"{module}.{'W_2' if head is None else 'W_o'}")
    hooks.append(last.register_forward_pre_hook(lambda _, inputs: states.update(given=inputs[0].detach().clone())))
    values = model(*model_inputs(SOURCE, TARGET)).logits[0]
    for hook in hooks:
        hook.remove()
    inner = states["given"]
    if head is not None:
        width = inner.shape[-1] // model.config.n_heads
        inner[..., : head * width] = inner[..., (head + 1) * width :] = 0
    (slope,) = torch.autograd.grad((values[:, 4] - values[:, 5]).sum(), states[model.get_submodule(module)])
    return (slope * (inner @ last.weight.T)).sum(dim=-1)[0].detach().numpy()


@pytest.mark.trust
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_vote_is_what_is_missing_when_the_part_is_left_out_of_the_frozen_sum(norm):
    model = make(norm=norm)
    result = attribute(model, SOURCE, TARGET)
    for part, module in (
        (Part("decoder", 0, 1), "decoder.0.self_attention"),
        (Part("cross", 1, 0), "decoder.1.cross_attention"),
        (Part("feed_forward", 0), "decoder.0.feed_forward"),
    ):
        votes = [result.votes(at, 4, 5)[result.parts.index(part)] for at in range(len(TARGET))]
        assert votes == pytest.approx(added(model, module, part.head), abs=1e-4), part
    assert not any(module._forward_hooks for module in model.modules())
    with pytest.raises(ValueError):
        attribute(model, SOURCE, [])
