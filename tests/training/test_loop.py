import json
import math
import threading
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.config import limits
from playground.training.loop import Training
from tests.training.corpora import training_of


def losses(training: Training, count: int | None = None) -> list[float]:
    steps = training.steps()
    return [step.loss for step in (steps if count is None else (next(steps) for _ in range(count)))]


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_the_same_seed_gives_the_same_losses_bit_for_bit(dropout):
    first = losses(training_of(dropout=dropout))
    assert len(first) == 8
    assert first == losses(training_of(dropout=dropout))
    assert first != losses(training_of(dropout=dropout, seed=2))


def test_the_global_generator_is_neither_used_nor_obeyed():
    expected, disturbed = losses(training_of(dropout=0.3)), []
    for n, step in enumerate(training_of(dropout=0.3).steps()):
        disturbed.append(step.loss)
        torch.manual_seed(n)
        torch.rand(n)
    assert disturbed == expected
    before = torch.get_rng_state()
    losses(training_of(dropout=0.3))
    assert torch.equal(torch.get_rng_state(), before)


def test_another_training_in_another_thread_changes_nothing():
    knobs = [{"dropout": 0.3, "steps": 25}, {"dropout": 0.2, "seed": 5, "task": "copy", "steps": 25}]
    expected = [losses(training_of(**k)) for k in knobs]
    found: dict[int, list[float]] = {}
    start = threading.Barrier(2)

    def work(n: int) -> None:
        training = training_of(**knobs[n])
        start.wait()
        found[n] = losses(training)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[0], found[1]] == expected


@settings(max_examples=4)
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
    assert resumed.step == 3
    assert losses(resumed) == expected[3:]
    for a, b in zip(whole.model.parameters(), resumed.model.parameters(), strict=True):
        assert torch.equal(a, b)
    assert resumed.validate() == whole.validate()
    fork = training_of(**knobs | {"seed": 7})
    fork.load_parameters(whole.model.state_dict())
    assert (fork.step, fork.validate()) == (0, whole.validate()), "a fork starts with the parameters and nothing else"
    assert len(losses(fork)) == 8


def test_live_knobs_survive_a_resume_and_parameters_of_another_model_are_refused():
    training, resumed = training_of(), training_of()
    training.live = replace(training.live, learning_rate=0.001, label_smoothing=0.2, max_grad_norm=0.5)
    resumed.unpack(*training.pack())
    assert resumed.live == training.live
    tensors, meta = training_of(d_ff=32).pack()
    with pytest.raises(ValueError, match="another model"):
        training_of().unpack(tensors, meta)
    with pytest.raises(ValueError, match="another model"):
        training_of().load_parameters({})


def test_the_learning_rate_can_change_between_steps():
    training = training_of(schedule="constant", warmup=0, learning_rate=0.02)
    steps = training.steps()
    assert next(steps).learning_rate == 0.02
    training.live = replace(training.live, learning_rate=0.005)
    assert next(steps).learning_rate == 0.005
    before = [parameter.clone() for parameter in training.model.parameters()]
    training.live = replace(training.live, learning_rate=0.0)
    next(steps)
    assert all(torch.equal(a, b) for a, b in zip(before, training.model.parameters(), strict=True))


def test_label_smoothing_can_change_between_steps():
    plain, smooth = training_of(), training_of()
    both = plain.steps(), smooth.steps()
    assert next(both[0]).loss == next(both[1]).loss
    smooth.live = replace(smooth.live, label_smoothing=0.3)
    assert next(both[0]).loss < next(both[1]).loss


def test_clipping_can_change_between_steps():
    plain, clipped = (training_of(optimiser="adam", max_grad_norm=0.0, beta1=0.9) for _ in range(2))
    both = plain.steps(), clipped.steps()
    assert next(both[0]) == next(both[1])
    clipped.live = replace(clipped.live, max_grad_norm=1e-3)
    assert next(both[0]) == next(both[1])  # the loss comes before the step, and grad_norm is that before clipping
    assert next(both[0]).loss != next(both[1]).loss


def test_a_step_says_what_was_done():
    training = training_of(batch_size=5, steps=2)
    step = next(training.steps())
    assert (step.step, training.step) == (1, 1)
    assert 0 < step.learning_rate <= training.live.learning_rate
    assert math.isfinite(step.loss)
    assert step.grad_norm > 0
    assert 5 * (4 + 4 + 2) <= step.tokens <= 5 * (16 + 16 + 2)  # 5 pairs of 4 to 16 letters, each side with its EOS


def test_the_gradient_norm_is_that_of_all_parameters_before_clipping():
    training = training_of(max_grad_norm=0.01, optimiser="adam")
    caught = []
    training.optimiser.step = lambda rate, parallel_map: caught.extend(p.grad.clone() for p in training.model.parameters())
    step = next(training.steps())
    clipped = torch.stack([gradient.norm() for gradient in caught]).norm().item()
    assert step.grad_norm > 0.01
    assert clipped == pytest.approx(0.01, rel=1e-3)


def test_steps_end_and_can_be_taken_one_by_one():
    training = training_of(dropout=0.3)
    singles = [next(training.steps()) for _ in range(8)]
    assert [step.step for step in singles] == list(range(1, 9))
    assert [step.loss for step in singles] == losses(training_of(dropout=0.3))
    assert list(training.steps()) == []
    assert not training.model.training, "between steps the model is in eval mode"


def test_training_learns():
    training = training_of(task="copy", steps=60, d_model=32, batch_size=32)
    before = training.validate()
    losses(training)
    after = training.validate()
    assert after.loss < 0.9 * before.loss
    assert after.token_accuracy > before.token_accuracy


def test_the_harder_split_can_be_asked_too():
    training = training_of()
    assert training.validate("harder").pairs == len(training.corpus.harder)
    with pytest.raises(AttributeError):
        training.validate("nonsense")
