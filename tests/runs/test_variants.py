"""A run of a model that was changed on purpose is a run like any other: repeated, resumed, kept, captured, answered from and forked."""

import pytest
import torch

from playground.config import limits
from playground.runs.model_cache import ModelCache
from playground.training.loop import Training
from tests.runs.by_hand import at_rest, ordered
from tests.runs.test_replay import recorded
from tests.runs.tiny import CORPORA, ME, YOU, alone, ended_as_if_alone, same_parameters, same_replay, tiny
from tests.training.corpora import training_of

TWISTS = (  # each kind: of mask, axis, batch, loss and chance; with fewer parameters, with more, and with those that have no gradient
    "none", "no_causal_mask", "norm_over_positions", "unshifted", "padding_in_loss", "dropout_always", "no_feed_forward", "additive",
    "batch_norm",
)  # fmt: skip
GATE = ("norm_over_positions", "batch_norm")
DICE = ("dropout_always", "batch_norm")  # that throw dice or remember when they are asked


@pytest.mark.parametrize("variant", [*GATE, *(pytest.param(name, marks=pytest.mark.night) for name in TWISTS if name not in GATE)])
def test_killed_resumed_forked_and_copied_it_is_its_solitary_twin(world, variant):
    knobs = {"variant": variant, "dropout": 0.2, "weight_decay": 0.1, "positions": "both", "steps": 4, "eval_every": 2}
    experiment = tiny(**knobs)
    run = world.runs.create(experiment, ME)
    world.until(lambda: run.step >= 1)
    world.runs._workers.save(run)
    run = world.restart().get(run.id)
    ordered(world, run, "resume")
    ended_as_if_alone(run, experiment)
    twin, training = alone(experiment)
    copy = world.runs.copy(run.id, YOU)
    fork = at_rest(world, world.runs.fork(run.id, 0, YOU))
    run = world.restart().get(run.id)
    for again in (run, world.runs.get(copy.id)):
        assert same_parameters(again.snapshot.parameters, dict(training.model.named_parameters()))
        assert same_replay(again, twin)
    ours = Training(experiment, CORPORA.get(experiment))
    ours.load_parameters(twin.replay.parameters(0)[1])
    assert fork.history.steps.column("loss") == [step.loss for step in ours.steps()]
    src, tgt_in, model = torch.tensor([[5, 6, 7, 2]]), torch.tensor([[1, 7, 6]]), training.model.eval()
    assert torch.equal(ModelCache().get(run, None).model(src, tgt_in).logits, model(src, tgt_in).logits) or variant in DICE


def test_what_a_batch_norm_saw_does_not_decay():
    """However strongly weights are pulled to 0; with each optimiser."""
    for optimiser in limits("optimiser").choices:
        training = training_of(variant="batch_norm", optimiser=optimiser, weight_decay=0.5, threads=1, packing=False)
        norm, given = training.replicas[0].encoder[0].norm_1, []
        norm.register_forward_hook(lambda _, inputs, output, given=given: given.append(inputs[0].detach().clone()))
        steps = training.steps()
        for _ in range(5):
            next(steps)
        theirs = torch.nn.BatchNorm1d(16)
        for x in given:
            theirs(x.flatten(0, 1))
        torch.testing.assert_close(norm.mean.data, theirs.running_mean, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(norm.variance.data, theirs.running_var, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("variant", DICE)
def test_a_replay_is_the_same_whether_it_is_watched_or_not(variant):
    """Also while the way of the memory changes."""
    knobs = {"variant": variant, "dropout": 0.1, "steps": 4, "memory": ((1, "mean"), (2, "cut"))}
    (quiet, _), (watched, _) = recorded(**knobs), recorded(watched=True, **knobs)
    assert [value for _, knob, value in quiet.history.events if knob == "memory_mode"] == ["mean", "cut"]
    assert same_replay(quiet, watched)
    assert quiet.history.validations.rows() == watched.history.validations.rows()
    assert quiet.history.diagnostics is None, "these are of the paper's model"
