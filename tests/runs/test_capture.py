import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.choices import VARIANTS
from playground.config import EOS, ModelConfig
from playground.decoding import greedy, trace
from playground.model.padding import padded
from playground.model.transformer import Transformer
from playground.runs.capture import complete
from tests.variants.varied import STEADY, UNSTEADY, naive, talkative

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
    """It is the trace of what was written."""
    expected = trace(made, source, completion.ids)
    for name in ("encoder", "decoder", "cross"):
        assert getattr(completion, name).shape == getattr(expected, name).shape
        assert np.allclose(getattr(completion, name), getattr(expected, name), atol=1e-3), name
    steps = np.arange(len(completion.ids))
    assert np.allclose(completion.probabilities, expected.probabilities[steps, list(completion.ids)], atol=1e-3)
    assert np.allclose(completion.top_probabilities, -np.sort(-expected.probabilities)[:, :5], atol=1e-3)
    assert tuple(completion.top_ids[:, 0]) == completion.ids == tuple(expected.probabilities.argmax(axis=-1).tolist())


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


# --- models that were changed on purpose ---


@settings(max_examples=10)
@given(st.sampled_from([*STEADY, *UNSTEADY]))
def test_of_a_twisted_model_too(variant):
    """Also where what comes after a sentence's end would change it. Pictures are of sentences of one length, for padding may do so too."""
    made, limits = talkative(variant), [9, 4, 1, 6]
    expected = naive(made, padded([(*source, EOS) for source in TWISTED]), 9)
    assert [hypothesis.ids for hypothesis in greedy(made, TWISTED, 9)] == expected
    drawn = not VARIANTS[variant].recurrent
    completions = complete(made, TWISTED, [(5, 6)] * 4, limits, [drawn] * 4)
    assert [completion.ids for completion in completions] == [ids[:limit] for ids, limit in zip(expected, limits, strict=True)]
    if drawn:
        completions = complete(made, EQUALLY_LONG, [()] * 4, [7, 7, 3, 7], [True] * 4)
        for source, completion in zip(EQUALLY_LONG, completions, strict=True):
            check_picture(made, source, completion)
        assert len({len(completion.ids) for completion in completions}) > 1


def test_without_a_causal_mask_the_picture_shows_the_future():
    for completion in complete(talkative("no_causal_mask"), TWISTED, [()] * 4, [9] * 4, [True] * 4):
        assert (completion.decoder > 0).all()
        assert np.allclose(completion.decoder.astype(float).sum(axis=-1), 1, atol=1e-2)
