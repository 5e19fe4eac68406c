"""A step in slow motion is the step: the same bits, and all that passes in it adds up."""

import pytest
import torch

from playground.config import PAD
from playground.training.loss import cross_entropy
from playground.training.slow_step import slow_step
from tests.training.corpora import training_of

OPTIONS = [
    {}, {"dropout": 0.2, "optimiser": "adam", "label_smoothing": 0.1}, {"optimiser": "adamw", "share_embeddings": "all", "norm": "pre"},
    {"packing": False, "positions": "learned", "weight_decay": 0.1, "max_grad_norm": 0.5},
]  # fmt: skip


@pytest.mark.trust
@pytest.mark.parametrize("knobs", OPTIONS)
def test_it_is_the_step_of_the_loop_bit_for_bit(knobs):
    slow, plain = training_of(**knobs), training_of(**knobs)
    steps = plain.steps()
    for training in (slow, plain):
        training.go_on({name: p.detach().clone() for name, p in plain.model.named_parameters()}, 0)
    for _ in range(2):  # the second has moments to begin with
        taken, normal = slow_step(slow), next(steps)
        assert (taken.number, taken.rate, taken.loss, taken.grad_norm) == (
            normal.step, normal.learning_rate, normal.loss, normal.grad_norm,
        )  # fmt: skip
        for (name, moved), other in zip(slow.model.named_parameters(), plain.model.parameters(), strict=True):
            assert torch.equal(moved, other)
            assert torch.equal(taken.after[name], other)
        own, others = slow.optimiser.state(), plain.optimiser.state()
        assert own.keys() == others.keys()
        assert all(torch.equal(own[name], others[name]) for name in own)
    assert not any(module._forward_hooks for replica in slow.replicas for module in replica.modules())


@pytest.mark.parametrize("knobs", OPTIONS)
def test_the_mean_is_the_loss_and_the_loss_afterwards_is_that_of_the_same_batch(knobs):
    training = training_of(**knobs)
    taken = slow_step(training)
    assert sum(losses.sum().item() for losses in taken.losses) / taken.tokens == pytest.approx(taken.loss, rel=1e-6)
    assert all((losses[part.tgt_out == PAD] == 0).all() for losses, part in zip(taken.losses, taken.parts, strict=True))
    config, total = training.experiment.training, taken.tokens
    expected = 0.0
    for number, part in enumerate(taken.parts):
        replica = training.replicas[number]
        replica.generator.manual_seed((config.seed * 1_000_003 + 1) * len(training.replicas) + number)
        with torch.no_grad():
            logits = replica(part.src, part.tgt_in, part.src_segment_ids, part.tgt_segment_ids).logits
        expected += cross_entropy(logits, part.tgt_out, config.label_smoothing).item() * int((part.tgt_out != PAD).sum()) / total
    assert taken.loss_after == pytest.approx(expected, rel=1e-6)
    assert taken.loss_after != taken.loss
