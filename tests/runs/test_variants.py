"""A run of a model that was changed on purpose is a run like any other: repeated, resumed, kept, captured and forked."""

import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.config import limits
from playground.runs.disk.folder import Folder, pack_state
from playground.runs.disk.store import write_run
from playground.runs.model_cache import ModelCache
from playground.runs.queue import train_inline
from playground.training.loop import Training
from tests.runs.by_hand import at_rest
from tests.runs.test_recording import recorded
from tests.runs.tiny import CORPORA, ME, YOU, alone, curve, same_parameters, same_replay, tiny
from tests.training.corpora import training_of

TWISTS = (  # each kind: of mask, axis, batch, loss and chance; with fewer parameters, with more, and with those that have no gradient
    "none", "no_causal_mask", "norm_over_positions", "unshifted", "padding_in_loss", "dropout_always", "no_feed_forward", "additive",
    "batch_norm",
)  # fmt: skip
EVERY = st.sampled_from(TWISTS)
QUICK = {"steps": 2, "eval_every": 2, "validation_size": 10}


def losses(training: Training, count: int = 5) -> list[float]:
    steps = training.steps()
    return [next(steps).loss for _ in range(count)]


@settings(max_examples=4)
@given(EVERY)
def test_the_same_seed_gives_the_same_losses_and_a_resumed_run_goes_on(variant):
    knobs = {"variant": variant, "dropout": 0.2, "threads": 2, "weight_decay": 0.1, "positions": "both"}
    whole = training_of(**knobs)
    expected = losses(whole)
    assert all(torch.tensor(expected).isfinite())
    stopped = training_of(**knobs)
    assert losses(stopped, 2) == expected[:2]
    tensors, meta = stopped.pack()
    losses(stopped)
    resumed = training_of(**knobs)
    resumed.unpack(tensors, json.loads(json.dumps(meta)))
    assert losses(resumed, 3) == expected[2:]
    assert all(map(torch.equal, whole.model.parameters(), resumed.model.parameters()))
    assert whole.validate() == resumed.validate()


def test_what_a_batch_norm_saw_does_not_decay():
    """However strongly weights are pulled to 0; with each optimiser."""
    for optimiser in limits("optimiser").choices:
        training = training_of(variant="batch_norm", optimiser=optimiser, weight_decay=0.5, threads=1, packing=False)
        norm, given = training.replicas[0].encoder[0].norm_1, []
        norm.register_forward_hook(lambda _, inputs, output, given=given: given.append(inputs[0].detach().clone()))
        losses(training)
        theirs = torch.nn.BatchNorm1d(16)
        for x in given:
            theirs(x.flatten(0, 1))
        torch.testing.assert_close(norm.mean.data, theirs.running_mean, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(norm.variance.data, theirs.running_var, atol=1e-5, rtol=1e-5)


@settings(max_examples=4)
@given(EVERY)
def test_it_is_kept_read_back_and_answered_from(tmp_path_factory, variant):
    tmp_path = tmp_path_factory.mktemp("run")
    experiment = tiny(variant=variant, dropout=0.0, **QUICK)
    run, training = alone(experiment)
    write_run(tmp_path / "run", run, train_inline.contents(run) | {"state.safetensors": pack_state(training)})
    back = Folder(tmp_path / "run")
    assert back.run.experiment == experiment
    assert curve(back.run) == curve(run)
    assert same_replay(back.run, run)
    assert same_parameters(back.run.snapshot.parameters, dict(training.model.named_parameters()))
    again = Training(experiment, CORPORA.get(experiment))
    back.restore(again)
    assert again.validate() == training.validate()
    src, tgt_in = torch.tensor([[5, 6, 7, 2]]), torch.tensor([[1, 7, 6]])
    for model in (ModelCache().get(back.run, None).model, again.model):
        assert torch.equal(model(src, tgt_in).logits, training.model(src, tgt_in).logits)


@pytest.mark.parametrize("variant", ["dropout_always", "batch_norm"])
def test_a_replay_is_the_same_whoever_watches(variant):
    """Also of a model that throws dice when it is asked."""
    knobs = {"variant": variant, "dropout": 0.1, "steps": 4}
    (quiet, _), (watched, _) = recorded(**knobs), recorded(watched=True, **knobs)
    assert same_replay(quiet, watched)
    assert quiet.history.validations.rows() == watched.history.validations.rows()


@pytest.mark.parametrize("variant", ["none", "no_source_mask", "batch_norm"])
def test_the_memory_can_change_while_it_trains(variant):
    run, _ = recorded(variant=variant, memory=((1, "mean"), (2, "cut")), steps=4)
    assert run.step == 4
    assert [value for _, knob, value in run.history.events if knob == "memory_mode"] == ["mean", "cut"]
    assert (run.history.diagnostics is None) == (variant != "none")


@pytest.mark.parametrize("variant", ["dropout_always", "unshifted"])
def test_it_is_forked_and_copied(world, variant):
    """By the server, and bit for bit as here."""
    experiment = tiny(variant=variant, **QUICK)
    run = at_rest(world, world.runs.create(experiment, ME))
    assert run.status == "done", run.message
    assert curve(run) == curve(alone(experiment)[0])
    fork = at_rest(world, world.runs.fork(run.id, 0, YOU))
    assert (fork.status, fork.experiment, fork.parent) == ("done", experiment, (run.id, 0))
    ours = Training(experiment, CORPORA.get(experiment))
    ours.load_parameters(run.replay.parameters(0)[1])
    assert fork.history.steps.column("loss") == losses(ours, 2)
    copy = world.runs.copy(run.id, YOU)
    assert curve(copy) == curve(run)
    assert same_replay(copy, run)
