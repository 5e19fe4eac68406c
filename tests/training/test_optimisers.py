"""Muon, Adam and AdamW are torch's, every parameter is moved by one of them, and the learning rate is that of the schedule."""

import pytest
import torch
from hypothesis import given, strategies as st

from playground.choices import OPTIMISERS
from playground.config import ModelConfig, TrainingConfig, limits
from playground.model.transformer import Transformer
from playground.training import optimisers
from playground.training.optimisers import Muon, Optimiser
from playground.training.schedule import learning_rate, rewarm_factor
from tests.variants.varied import draw

SHAPES = [(8, 8), (8, 8), (12, 4), (4, 12), (8, 8)]


def model_of(**knobs) -> Transformer:
    return Transformer(ModelConfig(d_model=16, d_ff=24, encoder_layers=1, decoder_layers=1, **knobs), 9, 9)


def give_gradients(model: Transformer, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator)


@given(st.sampled_from(["learned", "sinusoidal"]), st.sampled_from(limits("share_embeddings").choices))
def test_every_parameter_is_moved_by_exactly_one_part(positions, share):
    model = model_of(positions=positions, share_embeddings=share)
    optimiser = Optimiser(TrainingConfig(optimiser="muon"), model)
    moved = [p for part, _ in optimiser.parts for group in part.param_groups for p in group["params"]]
    assert len(moved) == len({id(p) for p in moved}) == len(list(model.parameters()))
    by_muon = {optimiser.names[p] for part, _ in optimiser.parts if isinstance(part, Muon) for p in part.param_groups[0]["params"]}
    assert by_muon == {name for name in optimiser.names.values() if ".W_" in name and name.endswith("weight")}


@pytest.mark.parametrize(("kind", "reference"), [("adam", torch.optim.Adam), ("adamw", torch.optim.AdamW)])
def test_adam_is_torchs_with_the_knobs_of_the_config(kind, reference):
    ours, theirs = model_of(), model_of()
    optimiser = Optimiser(TrainingConfig(optimiser=kind, beta1=0.8, beta2=0.9, weight_decay=0.1), ours)
    expected = reference(theirs.parameters(), lr=0.01, betas=(0.8, 0.9), eps=1e-9, weight_decay=0.1, fused=True)
    for seed in range(3):
        give_gradients(ours, seed)
        give_gradients(theirs, seed)
        optimiser.step(0.01)
        expected.step()
    assert all(torch.equal(a, b) for a, b in zip(ours.parameters(), theirs.parameters(), strict=True))


def test_beside_muon_adamw_goes_at_its_share_of_the_learning_rate():
    ours, theirs = model_of(), model_of()
    optimiser = Optimiser(TrainingConfig(optimiser="muon"), ours)
    reference = Optimiser(TrainingConfig(optimiser="adamw"), theirs)
    give_gradients(ours, 1)
    give_gradients(theirs, 1)
    optimiser.step(0.05)
    reference.step(0.05 * OPTIMISERS["muon"].rest_rate)
    assert all(parameter.grad is None for parameter in ours.parameters()), "gradients are gone after a step"
    state = optimiser.state()
    before = {name: tensor.clone() for name, tensor in state.items()}
    torch.testing.assert_close(ours.src_embedding.weight, theirs.src_embedding.weight)
    torch.testing.assert_close(ours.encoder[0].norm_1.weight, theirs.encoder[0].norm_1.weight)
    assert not torch.allclose(ours.encoder[0].feed_forward.W_1.weight, theirs.encoder[0].feed_forward.W_1.weight)
    give_gradients(ours, 2)
    optimiser.step(0.05)
    assert all(torch.equal(state[name], before[name]) for name in state), "the state taken out is a copy"


@pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="torch has it since 2.9")
@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_equals_torch_muon_but_for_its_bfloat16(weight_decay):
    ours, theirs = ([torch.nn.Parameter(draw(*shape, seed=n)) for n, shape in enumerate(SHAPES)] for _ in range(2))
    start = [parameter.detach().clone() for parameter in ours]
    own = Muon([{"params": ours}], lr=0.1, momentum=0.8, weight_decay=weight_decay)
    reference = torch.optim.Muon(theirs, lr=0.1, momentum=0.8, weight_decay=weight_decay, ns_steps=optimisers.ITERATIONS)
    for step in range(4):
        for n, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            a.grad = draw(*a.shape, seed=100 * step + n)
            b.grad = a.grad.clone()
        own.step()
        reference.step()
    for a, b, before in zip(ours, theirs, start, strict=True):
        assert (a - b).norm() < 0.02 * (a - before).norm()


def test_a_zero_gradient_moves_nothing_and_only_matrices_are_moved():
    parameter = torch.nn.Parameter(torch.ones(3, 3))
    parameter.grad = torch.zeros(3, 3)
    Muon([{"params": [parameter]}], lr=1.0).step()
    assert torch.equal(parameter, torch.ones(3, 3))
    with pytest.raises(ValueError, match=r"\(3,\)"):
        Muon([{"params": [torch.nn.Parameter(torch.ones(3))]}], lr=0.1)


def rates(**knobs) -> list[float]:
    config = TrainingConfig(**{"learning_rate": 2.0, "steps": 8, "warmup": 4, **knobs})
    return [learning_rate(config, 64, step) for step in range(1, config.steps + 1)]


def test_paper_is_equation_3_and_peaks_at_the_end_of_warmup():
    config = TrainingConfig(schedule="paper", learning_rate=1.0, warmup=4000)
    assert learning_rate(config, 512, 4000) == pytest.approx(512**-0.5 * 4000**-0.5)
    assert learning_rate(config, 512, 1000) == pytest.approx(512**-0.5 * 1000 * 4000**-1.5)
    assert learning_rate(config, 512, 16_000) == pytest.approx(learning_rate(config, 512, 4000) / 2)
    assert max(rates(schedule="paper")) == rates(schedule="paper")[3]


def test_one_cycle_goes_up_and_down_in_straight_lines_and_constant_stays_up():
    assert rates(schedule="linear") == pytest.approx([0.5, 1.0, 1.5, 2.0, 1.6, 1.2, 0.8, 0.4])
    assert rates(schedule="constant") == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.0, 2.0, 2.0, 2.0])


@given(st.sampled_from(limits("schedule").choices), st.sampled_from([0, 1, 8, 9, 500]), st.sampled_from([1, 8]))
def test_any_warmup_gives_positive_rates_no_larger_than_asked(schedule, warmup, steps):
    for rate in rates(schedule=schedule, warmup=warmup, steps=steps):
        assert 0 < rate <= 2.0
    assert rates(schedule=schedule, learning_rate=0.5) == pytest.approx([rate / 4 for rate in rates(schedule=schedule)])


def test_with_a_fresh_optimiser_the_rate_rises_again():
    assert [rewarm_factor(step, 30) for step in range(31, 38)] == [0.2, 0.4, 0.6, 0.8, 1.0, 1.0, 1.0]
    assert [rewarm_factor(step, 0) for step in (1, 2, 100)] == [1.0] * 3
