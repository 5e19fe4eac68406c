"""The health of a training step: its numbers are those of the step itself, and measuring them changes nothing."""

import copy
import math
from functools import partial

import pytest
import torch
from hypothesis import given, settings, strategies as st

from playground.config import PAD, limits
from playground.data.batches import batches, split_batch
from playground.model.costs import sublayer_of, sublayers
from playground.training.loop import Training
from playground.training.step import cross_entropy
from tests.training.corpora import training_of

OPTIONS = [
    {}, {"dropout": 0.2}, {"norm": "pre", "positions": "learned", "activation": "gelu"}, {"share_embeddings": "all", "bias": False},
    {"positions": "none", "share_embeddings": "output", "encoder_layers": 2}, {"memory_mode": "mean", "optimiser": "adam"},
    {"memory_mode": "cut"},
]  # fmt: skip


def examined(count: int = 1, **knobs) -> list[dict[str, float]]:
    training = training_of(**knobs)
    training.diagnostic_steps = frozenset(range(count + 1))
    steps = training.steps()
    return [next(steps).diagnostics for _ in range(count)]


@pytest.mark.trust
@settings(max_examples=4)
@given(st.sampled_from(OPTIONS))
def test_training_is_the_same_bit_for_bit(knobs):
    plain, watched = training_of(**knobs), training_of(**knobs)
    watched.diagnostic_steps = frozenset(range(0, 100, 2))
    for normal, other in zip(plain.steps(), watched.steps(), strict=True):
        assert (normal.step, normal.loss, normal.grad_norm) == (other.step, other.loss, other.grad_norm)
        assert (other.diagnostics is not None) == (other.step % 2 == 0)
        assert normal.diagnostics is None
    assert all(map(torch.equal, plain.model.parameters(), watched.model.parameters()))
    assert not any(module._forward_hooks for module in watched.model.modules())


def by_hand(training: Training) -> dict[str, float]:
    """The same numbers of the next step, computed on a copy one after the other, as one would write them down."""
    model = copy.deepcopy(training.model).train()
    config = training.experiment.training
    parts = split_batch(
        next(batches(training.corpus.train, config.batch_size, config.batch_unit, config.seed)), config.threads, config.packing
    )
    outputs, hidden, masks, numbers = {}, {}, {}, {}

    def keep(store, route, choose, _module, inputs, out) -> None:
        store.setdefault(route, choose(inputs, out))  # of the first part

    for route in sublayers(model.config):
        if not route.endswith("_norm"):
            module = model.get_submodule(route.replace("_embedding", "_positions"))
            module.register_forward_hook(partial(keep, outputs, route, lambda _, out: out[0] if type(out) is tuple else out))
        if route.endswith("attention"):
            module.register_forward_hook(partial(keep, masks, route, lambda inputs, _: inputs[3]))
        if route.endswith("feed_forward"):
            module.W_1.register_forward_hook(lambda _m, _i, out, route=route: hidden.setdefault(route, []).append(out))
    total, weights = sum(int((part.tgt_out != PAD).sum()) for part in parts), []
    for part in parts:
        output = model(part.src, part.tgt_in, part.packing)
        weights.append(output)
        loss = cross_entropy(output.logits, part.tgt_out, config.label_smoothing)
        (loss * (part.tgt_out != PAD).sum() / total).backward()
    squares: dict[str, float] = {}
    for name, parameter in model.named_parameters():
        squares[sublayer_of(name)] = squares.get(sublayer_of(name), 0.0) + parameter.grad.square().sum().item()
    numbers |= {f"{route}/gradient": math.sqrt(square) for route, square in squares.items()}
    for route, out in outputs.items():
        asks = [(part.src if route.startswith(("src", "encoder")) else part.tgt_in) != PAD for part in parts]
        numbers |= {f"{route}/mean": out[asks[0]].mean().item(), f"{route}/std": out[asks[0]].std(correction=0).item()}
        if route in hidden:
            units = torch.cat([units[real] for units, real in zip(hidden[route], asks, strict=True)])
            numbers[f"{route}/dead"] = (units <= 0).all(dim=0).float().mean().item()
    first, output = parts[0], weights[0]
    kinds = (
        ("encoder.{}.self_attention", output.encoder, first.src), ("decoder.{}.self_attention", output.decoder, first.tgt_in),
        ("decoder.{}.cross_attention", output.cross, first.tgt_in),
    )  # fmt: skip
    for name, layers, asking in kinds:
        for layer, found_weights in enumerate(layers):
            route = name.format(layer)
            for head in range(found_weights.shape[1]):
                shares = []
                for row, t in (asking != PAD).nonzero().tolist():
                    visible = masks[route][row, 0, t if masks[route].shape[2] > 1 else 0]
                    if visible.sum() > 1:
                        w = found_weights[row, head, t][visible].double()
                        shares.append((-(w * w.clamp(min=1e-30).log2()).sum() / math.log2(visible.sum())).item())
                numbers[f"{route}/entropy.{head}"] = sum(shares) / len(shares)
    return numbers


@pytest.mark.trust
@settings(max_examples=6)
@given(st.sampled_from([knobs for knobs in OPTIONS if "dropout" not in knobs]), st.booleans())
def test_every_number_is_what_one_computes_by_hand(knobs, packing):
    expected = by_hand(training_of(**knobs, packing=packing))
    row = examined(**knobs, packing=packing)[0]
    assert {name: row[name] for name in expected} == pytest.approx(expected, rel=2e-3, abs=1e-6)


def test_lengths_add_up_and_the_update_is_the_step_that_was_taken():
    training = training_of()
    training.diagnostic_steps = frozenset({1})
    before = {name: parameter.detach().clone() for name, parameter in training.model.named_parameters()}
    step = next(training.steps())
    own = [name for name in before if sublayer_of(name) == "decoder.0.cross_attention"]
    after = dict(training.model.named_parameters())
    weight = math.hypot(*(before[name].norm().item() for name in own))
    moved = math.hypot(*((after[name] - before[name]).norm().item() for name in own))
    assert step.diagnostics["decoder.0.cross_attention/weight"] == pytest.approx(weight, rel=1e-5)
    assert step.diagnostics["decoder.0.cross_attention/update"] == pytest.approx(moved / weight, rel=1e-5)
    lengths = [step.diagnostics[f"{route}/gradient"] for route in sublayers(training.model.config)]
    assert math.hypot(*lengths) == pytest.approx(step.grad_norm, rel=1e-5)
    encoder = [step.diagnostics[f"{route}/gradient"] for route in sublayers(training.model.config) if route.startswith("encoder")]
    assert step.diagnostics["encoder/gradient"] == pytest.approx(math.hypot(*encoder), rel=1e-5)


@pytest.mark.trust
@pytest.mark.parametrize("memory", limits("memory_mode").choices)
def test_the_memorys_gradient_is_what_arrives_at_the_encoder(memory):
    row = examined(memory_mode=memory)[0]
    if memory == "cut":
        assert row["memory/gradient"] == row["encoder/gradient"] == row["src_embedding/gradient"] == 0.0
        assert row["decoder/gradient"] > 0
    else:
        assert row["memory/gradient"] > 0
        assert row["encoder/gradient"] > 0
    if memory != "whole":  # all answers are the same, so none can be preferred
        assert row["decoder.0.cross_attention/entropy.0"] == pytest.approx(1.0)
