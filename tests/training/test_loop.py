"""The loop of a training, its step as a plain one, in slow motion, chunk by chunk, and after a stop; its optimisers, which are torch's."""

import json
from dataclasses import fields, replace
from itertools import islice

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch.nn import functional as F

from playground.choices import OPTIMISERS
from playground.config import LIVE_KNOBS, PAD, ModelConfig, TrainingConfig, limits
from playground.data.batches import split_batch
from playground.model import costs
from playground.model.transformer import Transformer
from playground.training import fast_step, optimisers
from playground.training.fast_step import chunked_cross_entropy
from playground.training.loop import Live, Training
from playground.training.optimisers import Muon, Optimiser, learning_rate, rewarm_factor
from playground.training.replicas import replica
from playground.training.slow_step import slow_step
from playground.training.step import cross_entropy, training_step
from tests.variants.varied import draw, training_of


def losses(training: Training, count: int | None = None) -> list[float]:
    steps = training.steps()
    return [step.loss for step in (steps if count is None else (next(steps) for _ in range(count)))]


@pytest.mark.parametrize("dropout", [pytest.param(0.0, marks=pytest.mark.night), 0.3])
def test_the_same_seed_gives_the_same_losses_bit_for_bit(dropout):
    """In one go or step by step; the global generator is neither used nor obeyed."""
    expected, before = losses(training_of(dropout=dropout)), torch.get_rng_state()
    training, disturbed = training_of(dropout=dropout), []
    for n in range(8):
        step = next(training.steps())
        assert (step.step, training.step, training.model.training) == (n + 1, n + 1, False), "between steps the model is in eval mode"
        disturbed.append(step.loss)
        assert torch.equal(torch.get_rng_state(), before)
        torch.manual_seed(n)
        before = torch.get_rng_state()
    assert (disturbed, list(training.steps())) == (expected, [])
    assert expected != losses(training_of(dropout=dropout, seed=2))


@settings(max_examples=settings.default.max_examples // 12)
@given(st.sampled_from(limits("optimiser").choices), st.sampled_from(limits("share_embeddings").choices))
def test_a_resumed_run_goes_on_as_if_it_had_never_stopped(kind, share):
    knobs = {"optimiser": kind, "share_embeddings": share, "dropout": 0.2, "batch_unit": "tokens", "batch_size": 120}
    whole = training_of(**knobs)
    expected = losses(whole)
    cut = training_of(**knobs)
    assert losses(cut, 3) == expected[:3]
    tensors, meta = cut.pack()
    assert len({tensor.data_ptr() for tensor in tensors.values()}) == len(tensors), "they share no memory"
    losses(cut)  # going on does not change what was packed
    resumed = training_of(**knobs)
    resumed.unpack(tensors, json.loads(json.dumps(meta)))
    assert (resumed.step, losses(resumed)) == (3, expected[3:])
    assert all(map(torch.equal, whole.model.parameters(), resumed.model.parameters()))
    assert resumed.validate() == whole.validate()
    fork = training_of(**knobs | {"seed": 7})
    fork.load_parameters(whole.model.state_dict())
    assert (fork.step, fork.validate()) == (0, whole.validate()), "a fork starts with the parameters and nothing else"
    assert len(losses(fork)) == 8


def test_live_knobs_survive_a_resume_take_effect_between_steps_and_another_models_parameters_are_refused():
    assert tuple(field.name for field in fields(Live)) == LIVE_KNOBS
    training, resumed = training_of(), training_of()
    training.live = replace(training.live, learning_rate=0.001, label_smoothing=0.2, max_grad_norm=0.5)
    resumed.unpack(*training.pack())
    assert resumed.live == training.live
    tensors, meta = training_of(d_ff=32).pack()
    with pytest.raises(ValueError, match="another model"):
        training_of().unpack(tensors, meta)
    with pytest.raises(ValueError, match="another model"):
        training_of().load_parameters({})
    knobs = {"schedule": "constant", "warmup": 0, "learning_rate": 0.02, "optimiser": "adam", "max_grad_norm": 0.0, "beta1": 0.9}
    plain, slower, smooth, clipped, cut = (training_of(**knobs) for _ in range(5))
    every = [training.steps() for training in (plain, slower, smooth, clipped, cut)]
    assert len({next(steps) for steps in every}) == 1
    slower.live = replace(slower.live, learning_rate=0.0)
    smooth.live = replace(smooth.live, label_smoothing=0.3)
    clipped.live = replace(clipped.live, max_grad_norm=1e-3)
    cut.live, cut.diagnostic_steps = replace(cut.live, memory_mode="cut"), frozenset({2})
    before = [parameter.clone() for parameter in slower.model.parameters()]
    first, still, softer, shorter, alone = map(next, every)
    assert (alone.diagnostics["encoder/gradient"], cut.model.config.memory_mode) == (0.0, "cut")
    assert (first.learning_rate, still.learning_rate) == (0.02, 0.0)
    assert all(map(torch.equal, before, slower.model.parameters()))
    assert first.loss < softer.loss
    assert first == shorter, "the loss comes before the step, and grad_norm is that before clipping"
    assert next(every[0]).loss != next(every[3]).loss


def test_a_step_says_what_was_done_and_the_norm_is_that_of_all_gradients_before_clipping():
    training, gradients = training_of(batch_size=5, max_grad_norm=0.01, optimiser="adam"), []
    training.optimiser.step = lambda rate, parallel_map: gradients.extend(p.grad.clone() for p in training.model.parameters())
    step = next(training.steps())
    assert 5 * (4 + 4 + 2) <= step.tokens <= 5 * (16 + 16 + 2)  # 5 pairs of 4 to 16 letters, each side with its EOS
    assert step.grad_norm > 0.01
    assert torch.stack([gradient.norm() for gradient in gradients]).norm().item() == pytest.approx(0.01, rel=1e-3)


OPTIONS = [
    {}, {"dropout": 0.2, "optimiser": "adam", "label_smoothing": 0.1}, {"optimiser": "adamw", "share_embeddings": "all", "norm": "pre"},
    {"packing": False, "positions": "learned", "weight_decay": 0.1, "max_grad_norm": 0.5},
]  # fmt: skip


@pytest.mark.trust
@pytest.mark.parametrize("knobs", [*OPTIONS, {"memory_mode": "mean", "n_heads": 1, "d_k": 4, "positions": "rotary", "schedule": "paper"}])
def test_the_loop_is_the_plain_step(knobs):
    """Bit for bit, given the attention and the products of a replica; without dropout the model's own do the same but for rounding."""
    training, same, exact = (training_of(threads=1, **knobs) for _ in range(3))
    config, order, model = training.experiment.training, training.order(), replica(same.model).train()
    for number, step in enumerate(islice(training.steps(), 4), 1):
        (batch,) = split_batch(next(order), 1, config.packing)
        model.generator.manual_seed(config.seed * 1_000_003 + number)
        more = batch, step.learning_rate, config.label_smoothing, config.max_grad_norm
        assert training_step(model, same.optimiser, *more) == (step.loss, step.grad_norm)
        if not knobs.get("dropout"):
            assert training_step(exact.model.train(), exact.optimiser, *more) == pytest.approx((step.loss, step.grad_norm), rel=1e-3)
    assert all(map(torch.equal, training.model.parameters(), same.model.parameters()))


@pytest.mark.trust
@pytest.mark.parametrize("knobs", OPTIONS)
def test_it_is_the_step_of_the_loop_bit_for_bit(knobs):
    slow, plain = training_of(**knobs), training_of(**knobs)
    steps = plain.steps()
    for training in (slow, plain):
        training.go_on({name: p.detach().clone() for name, p in plain.model.named_parameters()}, 0)
    for _ in range(2):  # the second has moments to begin with
        recorded, normal = slow_step(slow), next(steps)
        assert (recorded.number, recorded.rate, recorded.loss, recorded.grad_norm) == (
            normal.step, normal.learning_rate, normal.loss, normal.grad_norm,
        )  # fmt: skip
        for (name, moved), other in zip(slow.model.named_parameters(), plain.model.parameters(), strict=True):
            assert torch.equal(moved, other)
            assert torch.equal(recorded.after[name], other)
        own, normal_state = slow.optimiser.state(), plain.optimiser.state()
        assert own.keys() == normal_state.keys()
        assert all(torch.equal(own[name], normal_state[name]) for name in own)
    assert not any(module._forward_hooks for replica in slow.replicas for module in replica.modules())


@pytest.mark.parametrize("knobs", OPTIONS)
def test_the_mean_is_the_loss_and_the_loss_afterwards_is_that_of_the_same_batch(knobs):
    training = training_of(**knobs)
    recorded = slow_step(training)
    assert sum(losses.sum().item() for losses in recorded.losses) / recorded.tokens == pytest.approx(recorded.loss, rel=1e-6)
    assert all((losses[part.tgt_out == PAD] == 0).all() for losses, part in zip(recorded.losses, recorded.parts, strict=True))
    config, total = training.experiment.training, recorded.tokens
    expected = 0.0
    for number, part in enumerate(recorded.parts):
        replica = training.replicas[number]
        replica.generator.manual_seed((config.seed * 1_000_003 + 1) * len(training.replicas) + number)
        with torch.no_grad():
            logits = replica(part.src, part.tgt_in, part.packing).logits
        expected += cross_entropy(logits, part.tgt_out, config.label_smoothing).item() * int((part.tgt_out != PAD).sum()) / total
    assert recorded.loss_after == pytest.approx(expected, rel=1e-6)
    assert recorded.loss_after != recorded.loss


@pytest.fixture
def chunks(monkeypatch) -> list[int]:
    """Every loss is taken chunk by chunk, of a few rows each; how many tokens each had."""
    counts, apply = [], fast_step._ChunkedLoss.apply
    monkeypatch.setattr(costs, "CHUNK", 0)
    monkeypatch.setattr(fast_step, "CHUNK", 300)
    monkeypatch.setattr(fast_step._ChunkedLoss, "apply", lambda states, *more: counts.append(len(states)) or apply(states, *more))
    return counts


def given_tensors(biased: bool = True) -> tuple[list[torch.Tensor], torch.Tensor]:
    """States (3, 17, 12), weight (41, 12) and bias of a projection, and what is to come, with padding."""
    generator = torch.Generator().manual_seed(1)
    shapes = ((3, 17, 12), (41, 12), (41,))[: 2 + biased]
    tgt_out = torch.randint(3, 41, (3, 17), generator=generator)
    tgt_out[1, 5:] = PAD
    return [torch.randn(*shape, generator=generator, requires_grad=True) for shape in shapes], tgt_out


def with_gradients(loss: torch.Tensor, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    return [loss, *torch.autograd.grad(loss * 0.7, tensors, retain_graph=True)]


@given(st.sampled_from([1, 16, 20, 51, 500]), st.booleans(), st.sampled_from([0.0, 0.3]), st.sampled_from([1.0, 100.0]), st.booleans())
def test_the_loss_and_all_gradients_are_torch_s(rows, biased, smoothing, sharp, plain):
    """Also of tokens that are hardly possible, and by torch's own product where there is no faster one."""
    (states, weight, *bias), tgt_out = given_tensors(biased)
    tensors = [states, weight, *bias]
    logits = F.linear(states * sharp, weight, *bias)
    theirs = F.cross_entropy(logits.flatten(0, 1), tgt_out.flatten(), ignore_index=PAD, label_smoothing=smoothing)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_step, "CHUNK", rows * 41)
        patch.setattr(fast_step, "multiply", F.linear if plain else fast_step.multiply)
        chunked = chunked_cross_entropy(states * sharp, weight, *bias or [None], tgt_out, smoothing)
        for ours in (chunked, cross_entropy(logits, tgt_out, smoothing)):
            results = with_gradients(ours, tensors)
            assert all(result.is_contiguous() for result in results)
            torch.testing.assert_close(results, with_gradients(theirs, tensors), rtol=1e-5, atol=1e-6 * sharp)


def test_products_in_bfloat16_are_as_far_off_as_without_chunks(monkeypatch):
    monkeypatch.setattr(fast_step, "CHUNK", 16 * 41)
    tensors, tgt_out = given_tensors()
    exact = with_gradients(cross_entropy(F.linear(*tensors), tgt_out, 0.1), tensors)
    ours = chunked_cross_entropy(*tensors, tgt_out, 0.1, torch.bfloat16)
    whole = with_gradients(cross_entropy(F.linear(*(tensor.bfloat16() for tensor in tensors)).float(), tgt_out, 0.1), tensors)
    for result, other, right in zip(with_gradients(ours, tensors), whole, exact, strict=True):
        assert result.dtype == torch.float32
        assert (result - right).norm() <= 1.5 * (other - right).norm() + 1e-6
        assert not torch.equal(result, right)


def test_a_training_in_bfloat16_stays_close():
    like = training_of(d_model=128, d_ff=256, batch_size=64, steps=4)
    exact, rounded = (losses(Training(like.experiment, like.corpus, precision=precision)) for precision in ("float32", "bfloat16"))
    assert rounded == pytest.approx(exact, rel=1e-3)
    assert rounded[0] != exact[0]


@pytest.mark.parametrize("knobs", [{"threads": 2, "label_smoothing": 0.1}, {"share_embeddings": "all", "packing": False}], ids=str)
def test_a_training_learns_the_same_either_way(knobs, monkeypatch, chunks):
    chunked = [step.loss for step in training_of(steps=4, **knobs).steps()]
    assert chunks
    del chunks[:]
    monkeypatch.setattr(costs, "CHUNK", 2**20)
    assert chunked == pytest.approx([step.loss for step in training_of(steps=4, **knobs).steps()], rel=1e-4)
    assert not chunks, "so few logits are taken at once"


def test_diagnostics_a_step_in_slow_motion_and_a_variants_loss_know_the_logits(monkeypatch, chunks):
    plain, examined, whole = training_of(), training_of(), training_of()
    examined.diagnostic_steps = whole.diagnostic_steps = frozenset({1})
    first = next(examined.steps())
    assert first.loss == next(plain.steps()).loss
    assert len(chunks) == 2 * len(plain.replicas)
    with monkeypatch.context() as patch:
        patch.setattr(costs, "CHUNK", 2**20)
        assert first.diagnostics == pytest.approx(next(whole.steps()).diagnostics, rel=1e-3, abs=1e-6)
    del chunks[:]
    slow = slow_step(training_of())
    next(training_of(variant="padding_in_loss").steps())
    assert not chunks
    vocabulary = len(slow.before["projection.weight"])
    assert [logits.shape for logits in slow.logits] == [(*part.tgt_out.shape, vocabulary) for part in slow.parts]
    assert next(training_of().steps()).loss == pytest.approx(slow.loss, rel=1e-5)
    assert chunks


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


def test_beside_muon_adamw_goes_at_its_share_of_the_learning_rate_and_a_zero_gradient_moves_nothing():
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
    parameter = torch.nn.Parameter(torch.ones(3, 3))
    parameter.grad = torch.zeros(3, 3)
    Muon([{"params": [parameter]}], lr=1.0).step()
    assert torch.equal(parameter, torch.ones(3, 3))
    with pytest.raises(ValueError, match=r"\(3,\)"):
        Muon([{"params": [torch.nn.Parameter(torch.ones(3))]}], lr=0.1)


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


def rates(**knobs) -> list[float]:
    config = TrainingConfig(**{"learning_rate": 2.0, "steps": 8, "warmup": 4, **knobs})
    return [learning_rate(config, 64, step) for step in range(1, config.steps + 1)]


def test_schedules_by_hand_the_papers_is_equation_3_and_with_a_fresh_optimiser_the_rate_rises_again():
    config = TrainingConfig(schedule="paper", learning_rate=1.0, warmup=4000)
    assert learning_rate(config, 512, 4000) == pytest.approx(512**-0.5 * 4000**-0.5)
    assert learning_rate(config, 512, 1000) == pytest.approx(512**-0.5 * 1000 * 4000**-1.5)
    assert learning_rate(config, 512, 16_000) == pytest.approx(learning_rate(config, 512, 4000) / 2)
    assert max(rates(schedule="paper")) == rates(schedule="paper")[3]
    assert rates(schedule="linear") == pytest.approx([0.5, 1.0, 1.5, 2.0, 1.6, 1.2, 0.8, 0.4])
    assert rates(schedule="constant") == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.0, 2.0, 2.0, 2.0])
    assert [rewarm_factor(step, 30) for step in range(31, 38)] == [0.2, 0.4, 0.6, 0.8, 1.0, 1.0, 1.0]
    assert [rewarm_factor(step, 0) for step in (1, 2, 100)] == [1.0] * 3


@given(st.sampled_from(limits("schedule").choices), st.sampled_from([0, 1, 8, 9, 500]), st.sampled_from([1, 8]))
def test_any_warmup_gives_positive_rates_no_larger_than_asked(schedule, warmup, steps):
    for rate in rates(schedule=schedule, warmup=warmup, steps=steps):
        assert 0 < rate <= 2.0
    assert rates(schedule=schedule, learning_rate=0.5) == pytest.approx([rate / 4 for rate in rates(schedule=schedule)])
