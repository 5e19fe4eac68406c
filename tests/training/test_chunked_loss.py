"""The loss, at once and of a large vocabulary chunk by chunk: torch's cross-entropy, and whatever watches the logits sees them."""

import pytest
import torch
from hypothesis import given, strategies as st
from torch.nn import functional as F

from playground.config import PAD
from playground.model import costs
from playground.training import chunked_loss
from playground.training.chunked_loss import chunked_cross_entropy
from playground.training.slow_step import slow_step
from playground.training.step import cross_entropy
from tests.training.corpora import training_of


@pytest.fixture
def chunks(monkeypatch) -> list[int]:
    """Every loss is taken chunk by chunk, of a few rows each; how many tokens each had."""
    counts, apply = [], chunked_loss._ChunkedLoss.apply
    monkeypatch.setattr(costs, "CHUNK", 0)
    monkeypatch.setattr(chunked_loss, "CHUNK", 300)
    monkeypatch.setattr(chunked_loss._ChunkedLoss, "apply", lambda states, *more: counts.append(len(states)) or apply(states, *more))
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
        patch.setattr(chunked_loss, "CHUNK", rows * 41)
        patch.setattr(chunked_loss, "product_like", (lambda like: F.linear) if plain else chunked_loss.product_like)
        chunked = chunked_cross_entropy(states * sharp, weight, *bias or [None], tgt_out, smoothing)
        for ours in (chunked, cross_entropy(logits, tgt_out, smoothing)):
            results = with_gradients(ours, tensors)
            assert all(result.is_contiguous() for result in results)
            torch.testing.assert_close(results, with_gradients(theirs, tensors), rtol=1e-5, atol=1e-6 * sharp)


def test_products_in_bfloat16_are_as_far_off_as_without_chunks(monkeypatch):
    monkeypatch.setattr(chunked_loss, "CHUNK", 16 * 41)
    tensors, tgt_out = given_tensors()
    exact = with_gradients(cross_entropy(F.linear(*tensors), tgt_out, 0.1), tensors)
    with torch.autocast("cpu", torch.bfloat16):
        ours, logits = chunked_cross_entropy(*tensors, tgt_out, 0.1), F.linear(*tensors)
    whole = with_gradients(cross_entropy(logits.float(), tgt_out, 0.1), tensors)
    for result, other, right in zip(with_gradients(ours, tensors), whole, exact, strict=True):
        assert result.dtype == torch.float32
        assert (result - right).norm() <= 1.5 * (other - right).norm() + 1e-6
        assert not torch.equal(result, right)


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
