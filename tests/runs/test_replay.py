"""The pictures of a run: when they are taken and developed, and what is kept of them."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.config import ModelConfig, Refusal
from playground.runs.disk.replay_file import pack_replay, shapes_of, unpack_replay
from playground.runs.recording import BRIEF, Recording
from playground.runs.replay import Completion, Frame, Replay, attention_bytes, plan, replay_steps, spread
from playground.runs.run import Run
from playground.training.loop import Training
from playground.training.metrics import Validation
from tests.runs.tiny import CORPORA, LIMITS, same_replay, tiny

MODEL = ModelConfig(d_model=8, n_heads=2, encoder_layers=1, decoder_layers=2, d_ff=8)
VOCABULARY = 30


@given(st.integers(1, 100_000))
def test_the_steps_of_a_replay(total):
    """Log-spaced, so that no gap is much larger than the same share of the way so far, and fewer in a short run."""
    steps = replay_steps(total)
    assert (steps[0], steps[-1]) == (0, total)
    assert list(steps) == sorted({*steps})
    assert min(total + 1, 24) <= len(steps) <= min(60, max(25, total / 5 + 2))
    assert len(steps) >= 48 or total < 240
    ratio = (total + 1) ** (1 / (len(steps) - 1))
    assert total < 60 or all(later + 1 <= (earlier + 1) * ratio**1.6 + 2 for earlier, later in itertools.pairwise(steps))


@given(st.sets(st.integers(0, 1000), min_size=1).map(sorted), st.integers(0, 60))
def test_spread_is_even_and_keeps_the_ends(steps, count):
    chosen = spread(steps, count)
    assert len(chosen) == min(count, len(steps))
    places = [steps.index(step) for step in chosen]
    assert places[-1:] == ([len(steps) - 1] if count else [])
    if len(places) > 1:
        assert places[0] == 0
        assert np.ptp(np.diff(places)) <= 1


def completion(rng, model, s, t, wanted):
    shapes = ((model.encoder_layers, 2, s, s), (model.decoder_layers, 2, t, t), (model.decoder_layers, 2, t, s))
    stacks = [rng.random(shape).astype(np.float16) for shape in shapes] if wanted else [None] * 3
    top = rng.random((t, 5)).astype(np.float16)
    ids = tuple(rng.integers(4, VOCABULARY, t).tolist())
    return Completion(ids, top[:, 0].copy(), rng.integers(0, VOCABULARY, (t, 5)).astype(np.int32), top, *stacks)


def captured(budget, total=300, lengths=((6, 12), (14, 20)), parameter_numbers=900):
    rng = np.random.default_rng(1)
    parameters = {"a.weight": torch.randn(parameter_numbers), "b.weight": torch.randn(3, 4)}
    size = sum(tensor.nbytes + 160 for tensor in parameters.values())
    made = Replay(plan(total, MODEL, size, [("ab", "ba"), ("abc", "cba")][: len(lengths)], lengths, budget))
    for step in made.plan.steps:
        frame = Frame(
            step, tuple(completion(rng, MODEL, s, t, wanted) for (s, t), wanted in zip(lengths, made.plan.attention, strict=True))
        )
        made.capture(step, lambda frame=frame: frame.completions, {name: tensor + step for name, tensor in parameters.items()})
    made.end({name: tensor + total for name, tensor in parameters.items()})
    return made


@settings(max_examples=15)
@given(st.integers(0, 1_500_000), st.sampled_from([900, 12_000, 20_000]))
def test_a_budget_is_kept_and_used(budget, numbers):
    """What is left over would not have held one more set of parameters, or all are there; they are spread evenly."""
    made = captured(budget, parameter_numbers=numbers)
    size = sum(map(len, pack_replay(made).values()))
    assert len(made.steps) == 48
    assert size <= max(budget, 60_000)  # the tokens of every frame are always there
    assert 300 in made.parameter_steps
    assert all(made.plan.attention) or budget < 1_000_000
    assert len(made.parameter_steps) == 48 or budget - size < 4 * numbers + 50_000
    places = [made.steps.index(step) for step in made.parameter_steps]
    if len(places) > 1:
        assert (places[0], places[-1]) == (0, 47)
        assert np.ptp(np.diff(places)) <= 1


def test_long_sentences_go_without_attention_first():
    made = captured(400_000, lengths=((6, 12), (200, 40)))
    assert made.plan.attention == (True, False)
    one, other = made.frames[0].completions
    assert attention_bytes(MODEL, 6, 12) == one.encoder.nbytes + one.decoder.nbytes + one.cross.nbytes
    assert other.cross is None


def test_frames_and_parameters_are_there_for_every_step():
    made = captured(500_000, parameter_numbers=12_000)
    for step in range(301):
        assert made.frame(step).step == max(at for at in made.steps if at <= step)
        actual, tensors = made.parameters(step)
        assert abs(actual - step) == min(abs(at - step) for at in made.parameter_steps)
        assert tensors is (made.last[1] if actual == 300 else made.kept[actual])
    assert Replay().frame(3) is None
    with pytest.raises(KeyError):
        Replay().parameters(3)


def test_a_replay_comes_back_from_its_files():
    made = captured(500_000, parameter_numbers=12_000)
    packed = pack_replay(made)
    back = unpack_replay(packed["replay.json"], packed["replay.safetensors"], MODEL, VOCABULARY, shapes_of(made.last[1]))
    assert (back.plan, back.steps, list(back.kept)) == (made.plan, made.steps, list(made.kept))
    back.last = made.last  # which is among the weights
    assert same_replay(SimpleNamespace(replay=made), SimpleNamespace(replay=back))
    packed = pack_replay(Replay())
    assert unpack_replay(packed["replay.json"], packed["replay.safetensors"], MODEL, VOCABULARY, {}).steps == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"steps":[0,', b'"steps":[-1,'),
        (b'"steps":[0,', b'"steps":[9,'),
        (b'"attention":[true,', b'"attention":['),
        (b'"lengths":[[6,12]', b'"lengths":[[6,9999]'),
        (b'"lengths":[[6,12]', b'"lengths":[[6,3]'),
        (b'"lengths":[[6,12]', b'"lengths":[[7,12]'),
        (b'"kept":[0,', b'"kept":[0,4,'),
        (b'"frames":[[0,[[', b'"frames":[[0,[[99,'),
        (b'"frames":[[0,[[', b'"frames":[[0,[[4,'),
        (b'"frames":[[0,[[', b'"frames":[[0,[[4.5,'),
        (b'"frames":[[0,', b'"frames":[[true,'),
        (b'{"probes"', b'{"other"'),
        (b'{"probes"', b'"probes"'),
    ],
)
def test_a_replay_that_was_tampered_with_is_refused(old, new):
    packed = pack_replay(captured(500_000, parameter_numbers=12_000))
    assert old in packed["replay.json"]
    spoiled = packed["replay.json"].replace(old, new, 1)
    with pytest.raises(Refusal, match="not a run"):
        unpack_replay(spoiled, packed["replay.safetensors"], MODEL, VOCABULARY, {"a.weight": (12_000,), "b.weight": (3, 4)})


def recorded(replay_bytes=LIMITS.replay_bytes, watched=False, until=None, memory=(), **knobs) -> tuple[Run, Recording]:
    """A training that somebody sees every step of, or nobody any."""
    experiment = tiny(**knobs)
    run = Run("some-run", "some-run", experiment)
    recording = Recording(run, Training(experiment, CORPORA.get(experiment)), replay_bytes)
    for step in recording.steps():
        recording._next_live = 0.0 if watched else float("inf")
        run.live["memory_mode"] = dict(memory).get(step, run.live["memory_mode"])
        if step == until:
            break
    return run, recording


@pytest.mark.parametrize("memory", [(), ((2, "cut"), (15, "whole"))])
def test_a_replay_is_developed_when_it_is_asked_for_and_is_the_replay_that_was_looked_at(memory):
    """Also while the way of the memory changes: a picture waits with the knob as it was."""
    (quiet, _), (watched, _) = recorded(memory=memory), recorded(watched=True, memory=memory)
    assert quiet.replay.steps == watched.replay.steps == quiet.replay.plan.steps
    assert quiet.replay.waiting > 10
    assert same_replay(quiet, watched)
    assert quiet.replay.waiting == 0


@pytest.mark.parametrize(("rights", "numbers"), [((0.1, 0.2, 0.3), (BRIEF, BRIEF, 150)), ((0.4, 0.6, 0.9), (BRIEF, 150, 150))])
def test_all_held_out_sentences_are_asked_from_half_right_on_and_at_the_end(monkeypatch, rights, numbers):
    monkeypatch.setattr(
        Training, "validate", lambda self, split="heldout", most=None: Validation(1.0, 0.5, rights[self.step // 10 - 1], most or 150)
    )
    run, recording = recorded(validation_size=150, train_size=300)
    recording.finish()
    assert run.history.validations.column("step") == [10, 20, 30]
    assert run.history.validations.column("pairs") == list(numbers)
