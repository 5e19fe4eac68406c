import itertools
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from playground.config import BOS, EOS, MAX_POSITIONS, ModelConfig
from playground.decoding import beam, greedy, sample, trace
from playground.model.transformer import Transformer
from tests.model.shared_copies import disturb
from tests.variants.varied import talkative

SOURCES = [(4, 5, 6, 7, 8), (6,), (7, 7, 4), (8, 4, 5, 6, 4, 4, 5, 8)]


@cache
def untaught(vocab: int = 9, seed: int = 1) -> Transformer:
    """A model with an opinion on everything, learnt from nothing."""
    config = ModelConfig(d_model=16, n_heads=2, d_ff=24, encoder_layers=1, decoder_layers=2, zero_init=False)
    return disturb(Transformer(config, 9, vocab, torch.Generator().manual_seed(seed)), seed).eval()


def logprobs_by_teacher_forcing(model: Transformer, source: tuple[int, ...], ids: tuple[int, ...]) -> torch.Tensor:
    """(T, V): the distribution of each of `ids`, in one pass."""
    with torch.no_grad():
        logits = model(torch.tensor([(*source, EOS)]), torch.tensor([(BOS, *ids[:-1])])).logits
    return logits[0].log_softmax(-1)


@given(st.integers(1, 50), st.integers(1, 12))
def test_one_by_one_and_all_together_are_the_same(seed, most):
    model = untaught(seed=seed)
    together = greedy(model, SOURCES, max_length=most)
    for source, hypothesis in zip(SOURCES, together, strict=True):
        assert len(hypothesis.ids) == len(hypothesis.logprobs) <= most
        assert EOS not in hypothesis.ids[:-1]
        assert hypothesis.finished == (hypothesis.ids[-1] == EOS)
        assert hypothesis.finished or len(hypothesis.ids) == most
        alone = greedy(model, [source], max_length=most)[0]
        assert alone.ids == hypothesis.ids
        assert alone.logprobs == pytest.approx(hypothesis.logprobs, abs=1e-5)


@pytest.mark.parametrize("source", SOURCES)
def test_greedy_is_the_argmax_of_teacher_forcing(source):
    hypothesis = greedy(untaught(), [source], max_length=12)[0]
    expected = logprobs_by_teacher_forcing(untaught(), source, hypothesis.ids)
    assert expected.argmax(-1).tolist() == list(hypothesis.ids)
    assert hypothesis.logprobs == pytest.approx(expected.max(-1).values.tolist(), abs=1e-5)
    assert hypothesis.score == pytest.approx(sum(hypothesis.logprobs))


def test_a_forced_prefix_is_written_and_weighed_as_by_teacher_forcing():
    source, prefix = SOURCES[0], (4, 8, 8, 5)
    for hypothesis in (
        greedy(untaught(), [source], max_length=9, prefix=prefix)[0],
        sample(untaught(), source, 1.0, max_length=9, seed=1, prefix=prefix),
    ):
        assert hypothesis.ids[:4] == prefix
        expected = logprobs_by_teacher_forcing(untaught(), source, hypothesis.ids)
        assert hypothesis.logprobs == pytest.approx([expected[t, token].item() for t, token in enumerate(hypothesis.ids)], abs=1e-5)


def test_max_length_is_capped_at_what_the_model_can_take():
    model = untaught()
    with torch.no_grad():
        model.projection.bias[EOS] -= 1e4  # it never ends
    try:
        assert len(greedy(model, [SOURCES[1]], max_length=10_000)[0].ids) == MAX_POSITIONS
    finally:
        with torch.no_grad():
            model.projection.bias[EOS] += 1e4


def every_sentence(vocab: int, longest: int):
    """All that could be written: ends in EOS, or is cut off at `longest` tokens."""
    others = [token for token in range(vocab) if token != EOS]
    for length in range(1, longest + 1):
        for body in itertools.product(others, repeat=length - 1):
            yield (*body, EOS)
            if length == longest:
                yield from ((*body, last) for last in others)


@given(st.sampled_from(SOURCES), st.floats(0, 2))
def test_a_beam_of_one_is_greedy(source, length_penalty):
    (only,), expected = beam(untaught(), source, 1, length_penalty, max_length=10), greedy(untaught(), [source], max_length=10)[0]
    assert only.ids == expected.ids
    assert only.logprobs == pytest.approx(expected.logprobs, abs=1e-5)


def test_a_beam_keeps_its_width_and_knows_its_sentences_from_one_another():
    for width in (2, 3, 5):
        found = beam(untaught(), SOURCES[0], width, 0.0, max_length=7)
        assert len({hypothesis.ids for hypothesis in found}) == width
        for hypothesis in found:
            expected = logprobs_by_teacher_forcing(untaught(), SOURCES[0], hypothesis.ids)
            assert hypothesis.logprobs == pytest.approx([expected[t, token].item() for t, token in enumerate(hypothesis.ids)], abs=1e-5)


def test_sampling_is_decided_by_its_seed_and_leaves_the_global_generator_alone():
    before = torch.get_rng_state()
    first = sample(untaught(), SOURCES[0], 2.0, max_length=12, seed=3)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(5)
    assert sample(untaught(), SOURCES[0], 2.0, max_length=12, seed=3) == first
    assert len({sample(untaught(), SOURCES[0], 2.0, max_length=12, seed=seed).ids for seed in range(10)}) > 3


def test_a_trace_is_what_was_thought_while_writing():
    model, source = untaught(), SOURCES[0]
    hypothesis = greedy(model, [source], max_length=7)[0]
    seen = trace(model, source, hypothesis.ids)
    S, T = len(source) + 1, len(hypothesis.ids)
    assert seen.src_ids == (*source, EOS)
    assert seen.tgt_ids == hypothesis.ids
    assert seen.tgt_in == (BOS, *hypothesis.ids[:-1])
    assert seen.encoder.shape == (1, 2, S, S)
    assert seen.decoder.shape == (2, 2, T, T)
    assert seen.cross.shape == (2, 2, T, S)
    assert seen.probabilities.shape == (T, model.tgt_vocab)
    assert seen.probabilities.argmax(-1).tolist() == list(hypothesis.ids)
    assert np.log(seen.probabilities.max(-1)) == pytest.approx(hypothesis.logprobs, abs=1e-5)
    for weights in (seen.encoder, seen.decoder, seen.cross):
        assert weights.dtype == np.float32
        assert weights.sum(-1) == pytest.approx(np.ones(weights.shape[:-1]), abs=1e-5)
    assert (np.triu(seen.decoder, k=1) == 0).all()


def test_what_makes_no_sense_is_refused_and_nothing_asked_writes_nothing():
    for ask, name in (
        (lambda: beam(untaught(), SOURCES[0], 0, 0.0, max_length=7), "width"),
        (lambda: trace(untaught(), SOURCES[0], ()), "target"),
        *((lambda t=t: sample(untaught(), SOURCES[0], t, max_length=5, seed=1), "temperature") for t in (0.0, -1.0, float("nan"))),
    ):
        with pytest.raises(ValueError, match=name):
            ask()
    assert greedy(untaught(), [], max_length=5) == []
    assert greedy(untaught(), [SOURCES[0]], max_length=2, prefix=(4, 5, 6))[0].ids == (4, 5), "a prefix longer than allowed is cut"
    assert beam(untaught(), SOURCES[0], 3, 0.6, 2, (4, 5, 6))[0].ids == (4, 5)


def test_a_model_in_training_mode_is_refused():
    model = Transformer(ModelConfig(d_model=8, n_heads=1, d_ff=8, encoder_layers=1, decoder_layers=1, dropout=0.5), 9, 9)
    for ask in (
        lambda: greedy(model, SOURCES, 5),
        lambda: beam(model, SOURCES[0], 2, 0.0, 5),
        lambda: sample(model, SOURCES[0], 1.0, 5, seed=1),
        lambda: trace(model, SOURCES[0], (4,)),
    ):
        with pytest.raises(ValueError, match="eval"):
            ask()


@torch.inference_mode()
def test_a_trace_of_a_model_that_looks_ahead_is_of_each_beginning():
    model, target = talkative("no_causal_mask"), (4, 5, 6, EOS)
    rows = [model(torch.tensor([[4, 9, EOS]]), torch.tensor([(BOS, *target[:n])])).logits[0, -1].softmax(-1) for n in range(4)]
    assert trace(model, (4, 9), target).probabilities == pytest.approx(torch.stack(rows).numpy(), abs=1e-6)
