"""A GPU replays the update that is computed call by call. Here calls are not recorded but made again, from the same places."""

import math
from dataclasses import replace
from itertools import islice

import pytest
import torch
from hypothesis import given, settings, strategies as st

from playground.data.batches import Batch, pad_to_multiple, split_batch
from playground.training.cuda_graph import MAX_GRAPHS, CapturedSteps
from playground.training.loop import Diverged, Training
from playground.training.step import cross_entropy
from tests.training.corpora import training_of
from tests.training.test_replicas import VARIATIONS, some_items


class Recorder:
    """Makes the calls again that a graph would set going."""

    def __init__(self) -> None:
        self.recorded = self.replayed = 0

    def __call__(self, update, batch):
        self.recorded += 1

        def again():
            self.replayed += 1
            return update(batch)

        return again


def replayed(**knobs) -> tuple[Training, Recorder]:
    training, recorder = training_of(threads=1, **knobs), Recorder()
    training.captured_steps = CapturedSteps(recorder)
    return training, recorder


RULES = [{}, {"optimiser": "adam"}, {"optimiser": "adamw", "weight_decay": 0.1}, {"packing": False}, {"max_grad_norm": 0.0}]


@pytest.mark.parametrize("knobs", [*RULES[:2], *(pytest.param(knobs, marks=pytest.mark.night) for knobs in RULES[2:])])
def test_a_replayed_training_is_the_training(knobs):
    knobs = {"dropout": 0.0, "steps": 40, "label_smoothing": 0.1} | knobs
    plain, (training, recorder) = training_of(threads=1, **knobs), replayed(**knobs)
    training.diagnostic_steps = {5, 17}  # steps that are looked at are computed call by call
    steps = list(training.steps())
    assert recorder.replayed > 20
    assert [bool(step.diagnostics) for step in steps] == [step.step in training.diagnostic_steps for step in steps]
    for normal, other in zip(plain.steps(), steps, strict=True):
        assert other.loss == pytest.approx(normal.loss, rel=2e-3, abs=1e-4)
        assert (other.step, other.learning_rate, other.tokens) == (normal.step, normal.learning_rate, normal.tokens)
    first = next(training_of(threads=1, **knobs).steps())
    assert steps[0].loss == pytest.approx(first.loss, rel=1e-6)
    assert steps[0].grad_norm == pytest.approx(first.grad_norm, rel=1e-5)


@pytest.mark.parametrize(
    ("error", "good"),
    [(RuntimeError("not permitted when stream is capturing"), 0), (NotImplementedError(""), 2), (torch.OutOfMemoryError(""), 2)],
)
def test_where_a_step_cant_be_recorded_all_are_computed_call_by_call(error, good, caplog):
    """The same training, and one line in the log; what was recorded before goes on being replayed."""
    knobs = {"dropout": 0.0, "steps": 30}
    (plain, _), (training, recorder) = replayed(**knobs), replayed(**knobs)

    def failing(update, batch):
        if recorder.recorded == good:
            recorder.recorded += 1
            raise error
        return recorder(update, batch)

    training.captured_steps = CapturedSteps(failing)
    for normal, other in zip(plain.steps(), training.steps(), strict=True):
        assert (other.loss, other.grad_norm) == (normal.loss, normal.grad_norm)
    assert recorder.recorded == good + 1
    assert bool(recorder.replayed) == bool(good)
    assert [type(error).__name__ in record.getMessage() for record in caplog.records] == [True]


def test_a_live_knob_is_recorded_anew():
    training, recorder = replayed(dropout=0.0, steps=40, packing=False)
    recorded = [recorder.recorded for _ in islice(training.steps(), 30)]
    training.live = replace(training.live, max_grad_norm=0.01)
    list(training.steps())
    assert recorder.recorded > recorded[-1]


def is_taken_back(training: Training) -> None:
    """After a step that is no number the parameters are those of before."""
    steps = training.steps()
    list(islice(steps, 20))
    before = [parameter.detach().clone() for parameter in training.model.parameters()]
    next(steps)
    with torch.no_grad():
        training.model.projection.weight.fill_(math.nan)
    with pytest.raises(Diverged) as diverged:
        next(steps)
    assert (training.step, diverged.value.step) == (21, 22)
    assert all(map(torch.equal, training.model.parameters(), before))
    assert math.isfinite(training.validate().loss)


@pytest.mark.parametrize("captured", [True, False])
def test_a_step_that_is_no_number_is_taken_back(captured):
    is_taken_back(replayed(dropout=0.0, steps=40)[0] if captured else training_of(steps=40))


@settings(max_examples=10)
@given(st.sampled_from(VARIATIONS), st.booleans())
def test_added_rows_and_columns_change_neither_loss_nor_gradient(knobs, packed):
    training = training_of(dropout=0.0, **knobs)
    (batch,), model = split_batch(some_items(training, 21), 1, packed), training.model
    wide = pad_to_multiple(batch, 16)
    assert wide.src.shape > batch.src.shape
    assert not any(length % 16 for tensor in wide if tensor is not None for length in tensor.shape)
    results = []
    for padded in (batch, wide):
        loss = cross_entropy(model(padded.src, padded.tgt_in, padded.packing).logits, padded.tgt_out)
        results.append((loss, *torch.autograd.grad(loss, list(model.parameters()), allow_unused=True, materialize_grads=True)))
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-5)


def test_only_so_many_shapes_are_recorded_and_too_little_memory_for_a_step_itself_is_not_passed_over():
    def batch_of(width: int) -> Batch:
        return Batch(*(torch.ones(8, width, dtype=torch.long) for _ in range(3)))

    def impossible(batch):
        raise torch.OutOfMemoryError("CUDA out of memory")

    captured_steps = CapturedSteps(recorder := Recorder())
    for width in [8 * n for n in range(1, MAX_GRAPHS + 5)] * 3:
        assert captured_steps(lambda batch: batch.src.sum(), batch_of(width), ()) == 8 * width
    assert recorder.recorded == MAX_GRAPHS
    with pytest.raises(torch.OutOfMemoryError):
        CapturedSteps(Recorder())(impossible, batch_of(8), ())
