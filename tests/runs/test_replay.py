"""The pictures of a run: when they are taken and developed, also of a changed model; they are those of what greedy decoding writes."""

import itertools
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings, strategies as st
from safetensors.torch import load, save

from playground.choices import ALTERATIONS
from playground.config import EOS, ModelConfig, Refusal, limits
from playground.decoding import greedy, trace
from playground.model.masks import padded
from playground.model.transformer import Transformer
from playground.runs.completer import complete
from playground.runs.corpora import ModelCache
from playground.runs.disk.replay_file import pack_replay, unpack_replay
from playground.runs.recording import BRIEF, Recording
from playground.runs.replay import Completion, Frame, Replay, ReplayPlan, attention_bytes, include_step, plan, replay_steps
from playground.runs.rounded import shapes_of
from playground.runs.run import Run
from playground.training.loop import Training
from playground.training.metrics import Validation
from tests.runs.tiny import CORPORA, LIMITS, ME, YOU, alone, at_rest, ended_as_if_alone, ordered, same_parameters, same_replay, tiny
from tests.variants.varied import STEADY, UNSTEADY, naive, talkative, training_of

MODEL = ModelConfig(d_model=8, n_heads=2, encoder_layers=1, decoder_layers=2, d_ff=8)
VOCABULARY = 30
TWISTS = (  # each kind: of mask, axis, batch, loss and chance; with fewer parameters, with more, and with those that have no gradient
    "none", "no_causal_mask", "norm_over_positions", "unshifted", "padding_in_loss", "dropout_always", "no_feed_forward", "additive",
    "batch_norm",
)  # fmt: skip
DICE = ("dropout_always", "batch_norm")  # that throw dice or remember when they are asked


@given(st.integers(1, 40) | st.integers(1, 100_000))
def test_the_steps_of_a_replay(total):
    """Log-spaced, so that no gap is much larger than the same share of the way so far, and fewer in a short run."""
    steps = replay_steps(total)
    assert (steps[0], steps[-1], list(steps)) == (0, total, sorted({*steps}))
    assert min(total + 1, 24) <= len(steps) <= min(60, max(25, total / 5 + 2))
    assert len(steps) >= 48 or total < 240
    assert [include_step(some, step) for some, step in ((steps, steps[1]), ((0, 9), 5), ((0, 2, 9), 5))] == [steps, (0, 9), (0, 5, 9)]
    ratio = (total + 1) ** (1 / (len(steps) - 1))
    assert total < 60 or all(later + 1 <= (earlier + 1) * ratio**1.6 + 2 for earlier, later in itertools.pairwise(steps))


def completion(rng, model, s, t, wanted):
    shapes = ((model.encoder_layers, 2, s, s), (model.decoder_layers, 2, t, t), (model.decoder_layers, 2, t, s))
    stacks = [rng.random(shape).astype(np.float16) for shape in shapes] if wanted else [None] * 3
    top = rng.random((t, 5)).astype(np.float16)
    ids = tuple(rng.integers(4, VOCABULARY, t).tolist())
    return Completion(ids, top[:, 0].copy(), rng.integers(0, VOCABULARY, (t, 5)).astype(np.int32), top, *stacks)


def captured(budget, total=300, lengths=((6, 12), (14, 20)), parameter_numbers=900):
    rng = np.random.default_rng(1)
    parameters = {"a.weight": torch.randn(parameter_numbers), "b.weight": torch.randn(3, 4)}
    probes = [("ab", "ba"), ("abc", "cba")][: len(lengths)]
    made = Replay(plan(total, MODEL, shapes_of(parameters), probes, lengths, budget))
    for step in made.plan.steps:
        frame = Frame(
            step, tuple(completion(rng, MODEL, s, t, wanted) for (s, t), wanted in zip(lengths, made.plan.attention, strict=True))
        )
        made.save_parameters(step, {name: tensor + step for name, tensor in parameters.items()})
        made.capture(step, lambda frame=frame: frame.completions)
    made.end({name: tensor + total for name, tensor in parameters.items()})
    return made


@cache
def packed_once() -> tuple[Replay, dict[str, bytes]]:
    made = captured(500_000, parameter_numbers=12_000)
    return made, pack_replay(made)


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
    assert len(made.parameter_steps) == 48 or budget - size < 2 * numbers + 50_000
    places = [made.steps.index(step) for step in made.parameter_steps]
    if len(places) > 1:
        assert (places[0], places[-1]) == (0, 47)
        assert np.ptp(np.diff(places)) <= 1


def test_frames_and_parameters_are_there_for_every_step_and_come_back_from_files_also_of_before_they_were_rounded():
    made, packed = packed_once()
    back = unpack_replay(packed["replay.json"], packed["replay.safetensors"], MODEL, VOCABULARY, shapes_of(made.last[1]))
    assert (back.plan, back.steps, list(back.parameters_by_step)) == (made.plan, made.steps, list(made.parameters_by_step))
    back.last = made.last  # which is among the weights
    assert same_replay(SimpleNamespace(replay=made), SimpleNamespace(replay=back))
    assert unpack_replay(*pack_replay(Replay()).values(), MODEL, VOCABULARY, {}).steps == ()
    exact = {step: {"a.weight": torch.randn(12_000), "b.weight": torch.randn(3, 4)} for step in made.parameters_by_step}
    tensors = {name: tensor for name, tensor in load(packed["replay.safetensors"]).items() if "weight" not in name}
    tensors |= {f"parameters.{step}.{name}": tensor for step, parameters in exact.items() for name, tensor in parameters.items()}
    said = packed["replay.json"].replace(b'"rounded":true', b'"rounded":false')
    back = unpack_replay(said, save(tensors), MODEL, VOCABULARY, shapes_of(made.last[1]))
    assert list(back.parameters_by_step) == list(exact)
    for step, parameters in back.parameters_by_step.items():
        for name, values in parameters.items():
            torch.testing.assert_close(values, exact[step][name], atol=0.03, rtol=0)
    made, _ = packed_once()
    for step in range(301):
        assert made.frame(step).step == max(at for at in made.steps if at <= step)
        actual, tensors = made.parameters(step)
        assert abs(actual - step) == min(abs(at - step) for at in made.parameter_steps)
        assert tensors is (made.last[1] if actual == 300 else made.parameters_by_step[actual])
    assert Replay().frame(3) is None
    with pytest.raises(KeyError):
        Replay().parameters(3)
    made = Replay(ReplayPlan(steps=(0, 1, 2), parameter_steps=(0, 1, 2)))
    for step, number in ((0, 1.0), (1, float("inf")), (1, float("inf"))):
        made.save_parameters(step, {"a": torch.tensor([number])})
        made.capture(step, tuple)
    assert (made.steps, made.parameter_steps) == ((0, 1), (0,))


def test_a_run_that_goes_on_from_another_has_its_parameters_to_the_bit():
    """However often, and as many more as there were."""
    assert Replay().resume_at(3, 12, {}).plan == Replay().plan, "one without a plan is planned anew"
    made = captured(1_500_000)
    for step, total in ((100, 300), (250, 600), (590, 9000)):
        begun = {name: torch.randn(shape) for name, shape in shapes_of(made.last[1]).items()}
        forked = made.resume_at(step, total, begun)
        earlier = [at for at in made.parameters_by_step if at <= step]
        assert all(forked.parameters_by_step[at] is made.parameters_by_step[at] for at in earlier)
        assert step in forked.parameters_by_step
        later = [[at for at in steps if at > step] for steps in (forked.plan.parameter_steps, forked.plan.steps)]
        assert len(later[0]) >= min(len(later[1]), len(made.plan.parameter_steps) // 2 - 1)
        back = unpack_replay(*pack_replay(forked).values(), MODEL, VOCABULARY, shapes_of(begun))
        assert all(torch.equal(back.parameters_by_step[at]["a.weight"], kept["a.weight"]) for at, kept in forked.parameters_by_step.items())
        for at in forked.plan.parameter_steps:
            if at > step:
                forked.save_parameters(at, begun)
        forked.last, made = made.last, forked
    made = captured(400_000, lengths=((6, 12), (200, 40)))
    assert made.plan.attention == (True, False)
    one, other = made.frames[0].completions
    assert (attention_bytes(MODEL, 6, 12), other.cross) == (one.encoder.nbytes + one.decoder.nbytes + one.cross.nbytes, None)


def test_a_frame_says_what_the_parameters_of_its_step_say():
    run, _ = recorded(watched=True)
    model, sentences = ModelCache(), [run.tokenizers[0].encode(source) for source, _ in run.replay.plan.probes]
    assert len(run.replay.parameters_by_step) > 2
    for step in run.replay.parameters_by_step:
        completions, most = run.replay.frame(step).completions, [limit for _, limit in run.replay.plan.lengths]
        said = complete(model.get(run, step).model, sentences, [one.ids for one in completions], most, run.replay.plan.attention)
        for one, other in zip(completions, said, strict=True):
            assert all(np.array_equal(one.__dict__[name], numbers) for name, numbers in other.__dict__.items())


@pytest.mark.parametrize(("old", "new"), [
    *((b'"steps":[0,', new) for new in (b'"steps":[-1,', b'"steps":[9,')), (b'"attention":[true,', b'"attention":['),
    *((b'"lengths":[[6,12]', new) for new in (b'"lengths":[[6,9999]', b'"lengths":[[6,3]', b'"lengths":[[7,12]')),
    *((b'"frames":[[0,[[', new) for new in (b'"frames":[[0,[[99,', b'"frames":[[0,[[4,', b'"frames":[[0,[[4.5,')),
    (b'"frames":[[0,', b'"frames":[[true,'), (b'"kept":[0,', b'"kept":[0,4,'), (b'{"probes"', b'{"other"'), (b'{"probes"', b'"probes"'),
])  # fmt: skip
def test_a_replay_that_was_tampered_with_is_refused(old, new):
    _, packed = packed_once()
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


@pytest.mark.parametrize(("rights", "numbers"), [((0.1, 0.2, 0.3), (BRIEF, BRIEF, 150)), ((0.4, 0.6, 0.9), (BRIEF, 150, 150))])
def test_all_held_out_sentences_are_asked_from_half_right_on_and_at_the_end(monkeypatch, rights, numbers):
    monkeypatch.setattr(
        Training, "validate", lambda self, split="heldout", most=None: Validation(1.0, 0.5, rights[self.step // 4 - 1], most or 150)
    )
    run, recording = recorded(validation_size=150, train_size=300)
    recording.finish()
    assert (run.history.validations.column("step"), run.history.validations.column("pairs")) == ([4, 8, 12], list(numbers))


SOURCES = [(5, 6, 7), (8,), (9, 10, 11, 12, 4, 5), (7, 7)]
TWISTED = [(5, 6, 7), (8,), (9, 10, 4, 4, 4, 5), (7, 7)]  # for a vocabulary of 11
EQUALLY_LONG = [(4, 9, 7), (6, 8, 10), (5, 5, 6), (9, 4, 10)]
LIMITS = st.lists(st.integers(1, 12), min_size=4, max_size=4)


def model(seed, vocabulary=14, **config):
    """Random parameters, scaled up so that the likeliest token is a clear one and outputs differ."""
    made = Transformer(ModelConfig(d_model=16, n_heads=2, d_ff=16, **config), 14, vocabulary, torch.Generator().manual_seed(seed)).eval()
    with torch.no_grad():
        made.projection.weight.mul_(4)
    return made


def check_picture(made, source, completion):
    expected = trace(made, source, completion.ids)
    for name in ("encoder", "decoder", "cross"):
        assert getattr(completion, name).shape == getattr(expected, name).shape
        assert np.allclose(getattr(completion, name), getattr(expected, name), atol=1e-3), name
    steps = np.arange(len(completion.ids))
    assert np.allclose(completion.probabilities, expected.probabilities[steps, list(completion.ids)], atol=1e-3)
    assert np.allclose(completion.top_probabilities, -np.sort(-expected.probabilities)[:, :5], atol=1e-3)
    assert tuple(completion.top_ids[:, 0]) == completion.ids == tuple(expected.probabilities.argmax(axis=-1).tolist())


@settings(max_examples=settings.default.max_examples // 2)
@given(
    st.integers(0, 100), st.sampled_from(["post", "pre"]), st.sampled_from(["sinusoidal", "rotary", "learned"]), LIMITS,
    st.sampled_from(["right", "wrong", "short"]), st.lists(st.booleans(), min_size=4, max_size=4),
)  # fmt: skip
def test_it_writes_what_greedy_decoding_writes_and_its_picture_is_the_trace(seed, norm, positions, limits, guess, wanted):
    made = model(seed, norm=norm, positions=positions)
    expected = [greedy(made, [source], limit)[0].ids for source, limit in zip(SOURCES, limits, strict=True)]
    rng = np.random.default_rng(seed)
    guesses = {"right": expected, "wrong": [rng.integers(0, 14, 9).tolist() for _ in SOURCES], "short": [()] * 4}[guess]
    completions = complete(made, SOURCES, guesses, limits, wanted)
    assert [completion.ids for completion in completions] == expected
    for source, completion, drawn in zip(SOURCES, completions, wanted, strict=True):
        length = len(completion.ids)
        assert EOS not in completion.ids[:-1]
        if drawn:
            check_picture(made, source, completion)
            assert (completion.decoder[:, :, ~np.tril(np.ones((length, length), bool))] == 0).all()
        else:
            assert completion.encoder is completion.decoder is completion.cross is None


@settings(max_examples=settings.default.max_examples // 5)
@example("no_causal_mask")
@example("norm_over_positions")
@given(st.sampled_from([*STEADY, *UNSTEADY]))
def test_of_a_twisted_model_too(variant):
    """Also where what comes after a sentence's end would change it. Pictures are of sentences of one length, for padding may do so too."""
    made, limits = talkative(variant), [9, 4, 1, 6]
    expected = naive(made, padded([(*source, EOS) for source in TWISTED]), 9)
    assert [hypothesis.ids for hypothesis in greedy(made, TWISTED, 9)] == expected
    drawn = not ALTERATIONS[variant].recurrent
    completions = complete(made, TWISTED, [(5, 6)] * 4, limits, [drawn] * 4)
    assert [completion.ids for completion in completions] == [ids[:limit] for ids, limit in zip(expected, limits, strict=True)]
    if drawn:
        completions = complete(made, EQUALLY_LONG, [()] * 4, [7, 7, 3, 7], [True] * 4)
        for source, completion in zip(EQUALLY_LONG, completions, strict=True):
            check_picture(made, source, completion)
        assert len({len(completion.ids) for completion in completions}) > 1


@pytest.mark.parametrize("variant", [*(pytest.param(name, marks=pytest.mark.night) for name in TWISTS[:-1]), TWISTS[-1]])
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


@pytest.mark.parametrize("variant", ["none", *(pytest.param(name, marks=pytest.mark.night) for name in DICE)])
def test_a_replay_is_developed_when_it_is_asked_for_and_is_the_replay_that_was_looked_at(variant):
    """Also while the way of the memory changes: a picture waits with the knob as it was."""
    knobs = {"variant": variant, "dropout": 0.1, "steps": 16, "memory": ((2, "cut"), (9, "whole"))}
    (quiet, _), (watched, _) = recorded(**knobs), recorded(watched=True, **knobs)
    assert [value for _, knob, value in quiet.history.events if knob == "memory_mode"] == ["cut", "whole"]
    assert quiet.replay.steps == watched.replay.steps == quiet.replay.plan.steps
    assert quiet.replay.pending_count > 10
    assert same_replay(quiet, watched)
    assert (quiet.replay.pending_count, quiet.history.validations.rows()) == (0, watched.history.validations.rows())
    assert variant == "none" or quiet.history.diagnostics is None, "these are of the paper's model"
