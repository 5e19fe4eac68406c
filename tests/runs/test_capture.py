import numpy as np
import pytest
import torch

from playground.choices import VARIANTS
from playground.config import EOS, ModelConfig
from playground.decoding import greedy, trace
from playground.model.padding import padded
from playground.model.transformer import Transformer
from playground.runs.capture import complete
from tests.variants.varied import STEADY, UNSTEADY, naive, talkative

SOURCES = [(5, 6, 7), (8,), (9, 10, 11, 12, 4, 5), (7, 7)]
TWISTED = [(5, 6, 7), (8,), (9, 10, 4, 4, 4, 5), (7, 7)]  # for a vocabulary of 11


def model(seed, vocabulary=14, **config):
    """Random parameters, scaled up so that the likeliest token is a clear one and outputs differ."""
    made = Transformer(ModelConfig(d_model=16, n_heads=2, d_ff=16, **config), 14, vocabulary, torch.Generator().manual_seed(seed)).eval()
    with torch.no_grad():
        made.projection.weight.mul_(4)
    return made


@pytest.mark.sample
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("guess", ["right", "wrong", "short"])
def test_it_writes_what_greedy_decoding_writes(seed, guess):
    made = model(seed, norm=("post", "pre")[seed % 2], positions=("sinusoidal", "rotary", "learned")[seed % 3])
    expected = [hypothesis.ids for hypothesis in greedy(made, SOURCES, 12)]
    rng = np.random.default_rng(seed)
    guesses = {"right": expected, "wrong": [rng.integers(0, 14, 9).tolist() for _ in SOURCES], "short": [()] * 4}[guess]
    found = complete(made, SOURCES, guesses, [12] * 4, [True] * 4)
    assert [completion.ids for completion in found] == expected


def test_each_source_has_its_own_limit():
    made = model(3)
    found = complete(made, SOURCES, [()] * 4, [5, 1, 9, 7], [True] * 4)
    for completion, source, limit in zip(found, SOURCES, [5, 1, 9, 7], strict=True):
        assert completion.ids == greedy(made, [source], limit)[0].ids


def test_the_picture_is_the_trace_of_what_was_written():
    made = model(1)
    for source, completion in zip(SOURCES, complete(made, SOURCES, [()] * 4, [8] * 4, [True] * 4), strict=True):
        expected = trace(made, source, completion.ids)
        for name in ("encoder", "decoder", "cross"):
            assert getattr(completion, name).shape == getattr(expected, name).shape
            assert np.allclose(getattr(completion, name), getattr(expected, name), atol=1e-3)
        steps = np.arange(len(completion.ids))
        assert np.allclose(completion.probabilities, expected.probabilities[steps, list(completion.ids)], atol=1e-3)
        assert np.allclose(completion.top_probabilities, -np.sort(-expected.probabilities)[:, :5], atol=1e-3)
        assert tuple(completion.top_ids[:, 0]) == completion.ids


def test_masked_cells_stay_exactly_zero():
    completion = complete(model(2), SOURCES, [()] * 4, [8] * 4, [True] * 4)[2]
    length = len(completion.ids)
    assert (completion.decoder[:, :, ~np.tril(np.ones((length, length), bool))] == 0).all()


def test_attention_is_left_out_where_it_is_not_wanted():
    found = complete(model(1), SOURCES, [()] * 4, [8] * 4, [True, False, False, True])
    assert [completion.cross is None for completion in found] == [False, True, True, False]


def test_a_small_vocabulary_has_fewer_than_five_likeliest():
    found = complete(model(1, vocabulary=4), [(5, 6)], [()], [4], [True])
    assert found[0].top_ids.shape[1] == 4


def test_parameters_that_are_no_numbers_give_numbers():
    made = model(1)
    with torch.no_grad():
        made.projection.weight[0, 0] = float("nan")
    for completion in complete(made, SOURCES, [()] * 4, [8] * 4, [True] * 4):
        assert np.isfinite(completion.top_probabilities).all()
        assert np.isfinite(completion.cross).all()


def test_it_ends_at_eos():
    for completion in complete(model(5), SOURCES, [()] * 4, [12] * 4, [False] * 4):
        assert EOS not in completion.ids[:-1]


# --- models that were changed on purpose ---


@pytest.mark.sample(6)
@pytest.mark.parametrize("variant", [*STEADY, *UNSTEADY])
def test_of_a_twisted_model_it_writes_what_greedy_decoding_writes(variant):
    made, limits = talkative(variant), [9, 4, 1, 6]
    expected = naive(made, padded([(*source, EOS) for source in TWISTED]), 9)
    assert [hypothesis.ids for hypothesis in greedy(made, TWISTED, 9)] == expected
    found = complete(made, TWISTED, [(5, 6)] * 4, limits, [not VARIANTS[variant].recurrent] * 4)
    assert [completion.ids for completion in found] == [ids[:limit] for ids, limit in zip(expected, limits, strict=True)]


@pytest.mark.sample(6)
@pytest.mark.parametrize("variant", [name for name in (*STEADY, *UNSTEADY) if not VARIANTS[name].recurrent])
def test_of_a_twisted_model_the_picture_is_the_trace_of_what_was_written(variant):
    """Also where what comes after a sentence's end would change it; of sentences of one length, for padding may do so too."""
    made, lengths = talkative(variant), set()
    sources, limits = [(4, 9, 7), (6, 8, 10), (5, 5, 6), (9, 4, 10)], [7, 7, 3, 7]
    for source, completion in zip(sources, complete(made, sources, [()] * 4, limits, [True] * 4), strict=True):
        expected = trace(made, source, completion.ids)
        for name in ("encoder", "decoder", "cross"):
            assert np.allclose(getattr(completion, name), getattr(expected, name), atol=1e-3), name
        steps = np.arange(len(completion.ids))
        assert np.allclose(completion.probabilities, expected.probabilities[steps, list(completion.ids)], atol=1e-3)
        assert tuple(completion.top_ids[:, 0]) == completion.ids == tuple(expected.probabilities.argmax(axis=-1).tolist())
        lengths.add(len(completion.ids))
    assert len(lengths) > 1


def test_without_a_causal_mask_the_picture_shows_the_future():
    made = talkative("no_causal_mask")
    for completion in complete(made, TWISTED, [()] * 4, [9] * 4, [True] * 4):
        assert (completion.decoder > 0).all()
        assert np.allclose(completion.decoder.astype(float).sum(axis=-1), 1, atol=1e-2)
