import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from playground.config import ModelConfig, Refusal
from playground.runs.disk.replay_file import pack_replay, shapes_of, unpack_replay
from playground.runs.replay import Completion, Frame, Replay, ReplayPlan, attention_bytes, plan, replay_steps, spread
from tests.runs.tiny import alone, same_parameters, tiny
from tests.thoroughness import every_case

MODEL = ModelConfig(d_model=8, n_heads=2, encoder_layers=1, decoder_layers=2, d_ff=8)
VOCABULARY = 30


@given(st.integers(1, 100_000))
def test_the_steps_of_a_replay(total):
    steps = replay_steps(total)
    assert steps[0] == 0
    assert steps[-1] == total
    assert list(steps) == sorted(set(steps))
    assert min(total + 1, 24) <= len(steps) <= 60
    assert len(steps) >= 48 or total < 240


@given(st.integers(1, 100_000))
def test_a_short_run_has_fewer_pictures(total):
    assert len(replay_steps(total)) <= max(25, total / 5 + 2)


@given(st.integers(60, 100_000))
def test_they_are_log_spaced(total):
    """No gap is much larger than the same share of the way so far."""
    steps = replay_steps(total)
    ratio = (total + 1) ** (1 / (len(steps) - 1))
    assert all(later + 1 <= (earlier + 1) * ratio**1.6 + 2 for earlier, later in itertools.pairwise(steps))


def test_spread_is_even_and_keeps_the_ends():
    assert spread((0, 1, 2, 5, 9), 3) == (0, 2, 9)
    assert spread((0, 1, 2, 5, 9), 5) == (0, 1, 2, 5, 9)
    assert spread((0, 1, 2, 5, 9), 1) == (9,)
    assert spread((0, 1, 2, 5, 9), 0) == ()


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


@pytest.mark.parametrize("budget", [0, 20_000, 150_000, 300_000, 1_000_000, 10_000_000])
def test_the_files_keep_within_the_budget(budget):
    made = captured(budget)
    packed = pack_replay(made)
    assert len(made.steps) == 48
    assert sum(map(len, packed.values())) <= max(budget, 60_000)  # the tokens of every frame are always kept
    assert 300 in made.parameter_steps
    if budget >= 1_000_000:
        assert all(made.plan.attention)


def test_a_budget_is_used():
    """What is left over would not have held one more set of parameters, or all are kept."""
    made = captured(400_000, parameter_numbers=20_000)
    left = 400_000 - sum(map(len, pack_replay(made).values()))
    assert 1 < len(made.parameter_steps) < 48
    assert left < 100_000 + 30_000  # one set, and the bound on tokens that came shorter


def test_kept_parameters_are_spread_evenly():
    made = captured(500_000, parameter_numbers=12_000)
    places = [made.steps.index(step) for step in made.parameter_steps]
    assert places[0] == 0
    assert places[-1] == 47
    gaps = np.diff(places)
    assert gaps.max() - gaps.min() <= 1


def test_long_sentences_go_without_attention_first():
    made = captured(400_000, lengths=((6, 12), (200, 40)))
    assert made.plan.attention == (True, False)
    assert made.frames[0].completions[1].cross is None


def test_attention_bytes_counts_what_is_kept():
    found = completion(np.random.default_rng(0), MODEL, 7, 9, True)
    assert attention_bytes(MODEL, 7, 9) == found.encoder.nbytes + found.decoder.nbytes + found.cross.nbytes


def test_frames_and_parameters_are_found():
    made = captured(500_000, parameter_numbers=12_000)
    assert made.frame(0).step == 0
    assert made.frame(300).step == 300
    between = (made.steps[-2] + 300) // 2
    assert made.frame(between).step == made.steps[-2]
    actual, tensors = made.parameters(299)
    assert actual == 300
    assert same_parameters(tensors, made.last[1])
    assert made.parameters(0)[0] == 0
    assert made.parameters(made.steps[30])[0] in made.parameter_steps
    assert Replay().frame(3) is None
    with pytest.raises(KeyError):
        Replay().parameters(3)


def test_a_run_that_goes_on_has_the_replay_of_one_that_never_stopped():
    whole, cut = captured(500_000), captured(500_000)
    cut.frames = tuple(frame for frame in whole.frames if frame.step <= 165)
    cut.kept = {step: kept for step, kept in whole.kept.items() if step <= 165}
    extra = whole.frames[-1].completions
    cut.capture(171, lambda: extra)
    cut.end({"a.weight": torch.zeros(1)})
    assert cut.steps[-1] == 171
    assert 171 in cut.parameter_steps
    cut.reopen(171)
    assert cut.steps == tuple(step for step in whole.steps if step <= 171)
    assert 171 not in cut.parameter_steps


def test_parameters_are_found_while_the_run_is_resumed():
    """The worker takes the last parameters away between a reader's two reads: the reader gets those it has found."""

    class Resumed(Replay):
        @property
        def last(self):
            found, self._last = self._last, None
            return found

        @last.setter
        def last(self, last):
            self._last = last

    replay = Resumed(ReplayPlan(steps=(0, 5), parameter_steps=(0, 5)))
    replay.kept[0] = {"a": torch.zeros(1)}
    replay.last = (5, {"a": torch.ones(1)})
    actual, found = replay.parameters(4)
    assert (actual, found["a"].item()) == (5, 1)
    assert replay.parameters(4)[0] == 0


def test_a_run_whose_replay_is_emptied_at_that_moment_has_its_newest_parameters(monkeypatch):
    run, _ = alone(tiny(steps=2))
    monkeypatch.setattr(run.replay, "kept", {})
    monkeypatch.setattr(run.replay, "last", None)
    monkeypatch.setattr(Replay, "parameter_steps", (2,))  # as they were a moment ago
    assert run.parameters_at(2) == (run.snapshot.step, run.snapshot.parameters)


def test_parameters_that_are_no_numbers_are_not_kept():
    made = Replay(ReplayPlan(steps=(0, 1, 2), parameter_steps=(0, 1, 2)))
    made.capture(0, tuple, {"a": torch.tensor([1.0])})
    made.capture(1, tuple, {"a": torch.tensor([float("inf")])})
    assert made.parameter_steps == (0,)
    assert made.steps == (0, 1)


def test_a_replay_comes_back_from_its_files():
    made = captured(500_000, parameter_numbers=12_000)
    packed = pack_replay(made)
    shapes = shapes_of(made.last[1])
    back = unpack_replay(packed["replay.json"], packed["replay.safetensors"], MODEL, VOCABULARY, shapes)
    assert back.plan == made.plan
    assert back.steps == made.steps
    assert list(back.kept) == list(made.kept)
    for a, b in zip(made.frames, back.frames, strict=True):
        for one, other in zip(a.completions, b.completions, strict=True):
            assert one.ids == other.ids
            for name in ("probabilities", "top_ids", "top_probabilities", "encoder", "decoder", "cross"):
                assert np.array_equal(getattr(one, name), getattr(other, name))
    assert all(same_parameters(made.kept[step], back.kept[step]) for step in made.kept)


def test_an_empty_replay_has_files_too():
    packed = pack_replay(Replay())
    assert unpack_replay(packed["replay.json"], packed["replay.safetensors"], MODEL, VOCABULARY, {}).steps == ()


@every_case(
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
