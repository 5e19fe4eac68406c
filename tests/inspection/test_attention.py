"""Attention: rows sum to 1 and masked cells are exactly 0, whatever the model; statements about heads built by hand to do exactly one
thing; rollout, on cases small enough for a piece of paper."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from playground.config import BOS, EOS, PAD, ModelConfig
from playground.inspection import attention, overview
from playground.model.packing import padded
from playground.model.transformer import Transformer
from tests.inspection.test_heads import backward, first, row

N = 6
ALL = {"percent": 100, "mass": 100}
BEFORE_EOS = backward(N)  # row 0 looks at column 4: the last word before <eos>
CAUSAL = np.tri(N, dtype=bool)
ALIGNMENT = [4, 3, 2, 1, 0, None]
NOWHERE_IN_ROW_2 = np.arange(N)[:, None] != np.full((N, N), 2)
SCATTERED = np.eye(N)[[3, 5, 1, 0, 2, 1]]
MIXED = 0.5 * SCATTERED + 0.5 * SCATTERED[::-1]
LARGEST = 0.8 * SCATTERED + 0.2 * np.eye(N)[[2, 4, 0, 5, 1, 3]]
LARGEST[2] = 0.9 * np.eye(N)[1] + 0.1 * np.eye(N)[0]
TWINS, MOVED, SORTED = ["a", "b", "a", "b", "c", "b"], ["b", "d", "a", "c", "<eos>"], ["a", "c", "d", "b", "<eos>"]
ELSEWHERE = np.array([[word == other and i != j for j, other in enumerate(TWINS)] for i, word in enumerate(TWINS)])


def mirrored(last, share=0.45):
    """Seven tokens: the anti-diagonal with `share` of the weight, the rest spread evenly."""
    place = attention.backward(7, 7, last)
    weights = np.where(place, share, (1 - share) / 6)
    weights[~place.any(axis=1)] = 1 / 7
    return weights


PADDED = np.array([[True, True, True, True, False, False]])
FOUR_OF_SIX = np.eye(N)[[0, 1, 2, 3, 0, 0]]
FOUR_OF_FIVE = np.where(np.arange(5) == np.array([[0], [1], [2], [3], [0]]), 0.8, 0.05)
WORDS = {"rows": TWINS, "columns": TWINS}
EVEN_CAUSAL = CAUSAL / CAUSAL.sum(axis=1, keepdims=True)


@pytest.mark.trust
@pytest.mark.parametrize(("kind", "weights", "more", "key", "values"), [
    ("encoder", mirrored(5), {}, "looks_backward_encoder", None),
    ("encoder", mirrored(6), {}, "looks_backward_from_end_encoder", None),
    ("decoder", row(np.where(CAUSAL, np.eye(N, k=-2), 0)) * CAUSAL, {"mask": CAUSAL}, "looks_two_back_decoder", None),
    ("encoder", FOUR_OF_FIVE, {}, "looks_same", {"percent": 80, "mass": 65}),  # (4 · 0.8 + 0.05) / 5
    ("cross", np.eye(N)[[3] * 4], {"mask": PADDED}, "looks_last", None),
    ("cross", np.eye(N)[[3] * 4], {}, "sharp", None),  # without the mask, column 3 is nothing special
    ("cross", BEFORE_EOS, {"alignment": ALIGNMENT}, "looks_aligned", None),
    ("cross", np.roll(BEFORE_EOS, 1, axis=1), {"alignment": ALIGNMENT}, "looks_right_of_aligned", None),
    ("cross", row(attention.aligned(N, N, ALIGNMENT, -1)), {"alignment": ALIGNMENT}, "looks_left_of_aligned", None),
    ("cross", FOUR_OF_SIX, {"alignment": range(6)}, "looks_aligned", {"percent": 67, "mass": 67}),
    ("cross", FOUR_OF_SIX, {}, "sharp", None),  # of many places, one fits as well by chance
    ("cross", attention.same_text(MOVED, SORTED).astype(float), {"rows": MOVED, "columns": SORTED}, "looks_same_token_cross", ALL),
    ("encoder", row(ELSEWHERE), WORDS, "looks_same_token_encoder", None),
    ("encoder", np.eye(N), WORDS, "looks_same", None),
    ("cross", np.full((4, 8), 1 / 8), {}, "spreads", {"effective": "8.0", "tokens": "8.0"}),
    ("decoder", EVEN_CAUSAL, {"mask": CAUSAL}, "spreads", {"effective": "4.0", "tokens": "4.0"}),
    ("encoder", row(np.full((10, 10), 0.1) + 0.01 * np.eye(10, k=-1)), {}, "spreads", None),  # a slight lean is no look
    ("encoder", SCATTERED, {}, "sharp", {"bits": "0", "mass": 100}),
    ("encoder", MIXED, {}, "unclear", {"effective": "2.0", "tokens": "6.0"}),
    ("cross", np.full((2, 5), 0.2), {}, "too_short", {}),
    ("encoder", row(np.eye(N, k=-1)) * NOWHERE_IN_ROW_2, {"mask": NOWHERE_IN_ROW_2}, "looks_previous", ALL),
])  # fmt: skip
def test_what_is_said_of_a_head(kind, weights, more, key, values):
    fact = attention.facts(weights, kind, **more)
    assert fact.key == f"figures.{key}"
    assert values in (None, fact.values)


def test_masked_cells_the_alignment_and_the_row_that_looks_farthest_are_told():
    same = attention.score(first(N).astype(float), attention.offset(N, N, 0), CAUSAL)
    assert (same.share, same.rows) == (0.0, N - 1)  # the decoder's first row has no choice
    key, values = attention.facts(LARGEST, "cross", rows=list("uvwxyz"), columns=list("abcdef"))
    assert (key, *(values[name] for name in ("query_token", "key_token", "percent"))) == ("figures.unclear_but", "w", "b", 90)
    weights = np.array([[0.75, 0.25], [0.5, 0.5]])
    assert attention.masked_fact(weights, np.ones((2, 2), dtype=bool), "padding") is None
    assert attention.masked_fact(np.eye(2), np.tri(2, dtype=bool), "future") == ("figures.future_zero", {})
    assert attention.masked_fact(weights, np.array([[True, False]]), "padding") == ("figures.padding_gets", {"percent": 38})  # 37.5
    weights = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    assert attention.alignment_fact(weights, [0, 1]) == ("figures.alignment", {"percent": 75, "chance": 25})
    assert attention.alignment_fact(weights, [None, None]) is None
    with pytest.raises(ValueError, match="kind"):
        attention.facts(np.eye(4), "sideways")
    english, german = ["we", "see", "the", "man", "<eos>"], ["wir", "den", "Mann", "sehen", "<eos>"]
    fact = attention.crossing_fact(0.8 * np.eye(5)[[0, 3, 1, 2, 4]] + 0.04, english, german)
    assert fact == ("figures.crossing_right", {"next_token": "see", "key_token": "sehen", "distance": 2, "percent": 84})
    assert attention.crossing_fact(np.eye(4)[[0, 2, 1, 3]], english[:4], german[:4]) is None  # beside its own place is no crossing
    rows, columns = ["c", "b", "a", "<eos>"], ["a", "b", "c", "<eos>"]
    assert attention.crossing_fact(np.eye(4)[[2, 1, 0, 3]], rows, columns).key == "figures.crossing_right"  # the first of two as far
    fact = attention.crossing_fact(np.eye(4)[[0, 1, 0, 3]], rows, columns)
    assert (fact.key, fact.values["distance"]) == ("figures.crossing_left", 2)


SRC = [[5, 6, 7, 8, EOS], [9, EOS, PAD, PAD, PAD], [4, 4, 4, EOS, PAD]]  # a padded batch
TGT_IN = [[BOS, 7], [BOS, 4, 5, 6], [BOS, 8, 8]]
KINDS = ("encoder", "decoder", "cross")


def allowed(kind):
    """(B, Q, K) by hand, True where a query may look."""
    source, target = padded(SRC).numpy() != PAD, padded(TGT_IN).numpy() != PAD
    rows = source.shape[1] if kind == "encoder" else target.shape[1]
    return target[:, None] & np.tri(rows, dtype=bool) if kind == "decoder" else np.repeat(source[:, None], rows, axis=1)


@pytest.mark.trust
@settings(max_examples=10)
@given(
    st.sampled_from(KINDS), st.sampled_from(("post", "pre", "none")), st.sampled_from(("sinusoidal", "learned", "rotary", "both", "none")),
    st.sampled_from((0.5, 0.0)), st.booleans(), st.sampled_from((1.0, 30.0)),
)  # fmt: skip
def test_rows_sum_to_one_and_masked_cells_are_exactly_zero(kind, norm, positions, scale, training, sharp):
    size = {"d_model": 16, "n_heads": 4, "encoder_layers": 2, "decoder_layers": 2, "d_ff": 16}
    config = ModelConfig(**size, norm=norm, positions=positions, attention_scale=scale, dropout=0.2)
    model = Transformer(config, 12, 12, torch.Generator().manual_seed(3)).train(training)
    with torch.no_grad():  # sharp heads, as trained ones may be: scores of thousands
        for name, parameter in model.named_parameters():
            if name.endswith(("W_q.weight", "W_k.weight")):
                parameter.mul_(sharp)
        output = model(padded(SRC), padded(TGT_IN))
    mask = allowed(kind)[:, None]  # the same for all heads
    assert len(getattr(output, kind)) == 2, "every layer returns its weights"
    for weights in getattr(output, kind):
        weights = weights.numpy()
        assert weights.shape == (3, 4, *mask.shape[2:])
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
        assert (weights[np.broadcast_to(~mask, weights.shape)] == 0).all()
        assert (weights >= 0).all()


@pytest.mark.trust
def test_two_tokens_two_layers_by_hand():
    first = [[[0.5, 0.5], [1.0, 0.0]], [[0.9, 0.1], [0.0, 1.0]]]  # two heads; their mean: [[.7, .3], [.5, .5]]
    second = [[[0.0, 1.0], [0.2, 0.8]], [[0.0, 1.0], [0.6, 0.4]]]  # mean: [[0, 1], [.4, .6]]
    # with the residual: A1 = [[.85, .15], [.25, .75]], A2 = [[.5, .5], [.2, .8]]
    # A2 A1 = [[.5 * .85 + .5 * .25, .5 * .15 + .5 * .75], [.2 * .85 + .8 * .25, .2 * .15 + .8 * .75]]
    result = overview.rollout(np.array([first, second]))
    np.testing.assert_allclose(result, [[0.55, 0.45], [0.37, 0.63]], atol=1e-12)
    bare = overview.rollout(np.array([first, second]), residual=False)
    np.testing.assert_allclose(bare, [[0.5, 0.5], [0.58, 0.42]], atol=1e-12)  # [[0, 1], [.4, .6]] [[.7, .3], [.5, .5]]


@pytest.mark.trust
def test_cross_by_hand():
    encoder = np.array([[[[0.0, 1.0], [0.0, 1.0]]]])  # with the residual: [[.5, .5], [0, 1]]
    decoder = np.array([[[[1.0, 0.0], [1.0, 0.0]]]])
    over = np.array([[[[1.0, 0.0], [0.5, 0.5]]]])
    flow, share = overview.cross(encoder, decoder, over)
    np.testing.assert_allclose(flow, [[0.5, 0.5], [0.25, 0.75]], atol=1e-12)  # one layer: over times the encoder's rollout
    assert share == 0.5  # the other half is the token that was fed
    flow, share = overview.cross(encoder, np.concatenate([decoder, decoder]), np.concatenate([over, over[:, :, ::-1]]))
    # after layer 1, of the whole: [[.25, .25], [.125, .375]]; self-attention mixes row 1 half with row 0: [.1875, .3125];
    # the second look (rows swapped) adds [[.25, .75], [.5, .5]]; half and half: [[.25, .5], [.34375, .40625]]
    np.testing.assert_allclose(flow, np.array([[0.25, 0.5], [0.34375, 0.40625]]) / 0.75, atol=1e-12)
    assert share == 0.75


@pytest.mark.trust
@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 3), st.integers(1, 6), st.integers(1, 6), st.booleans())
def test_rows_sum_to_one(seed, layers, heads, rows, columns, residual):
    draw, sizes = np.random.default_rng(seed), ((columns, columns), (rows, rows), (rows, columns))
    encoder, decoder, over = (draw.dirichlet(np.ones(keys), size=(layers, heads, queries)) for queries, keys in sizes)
    np.testing.assert_allclose(overview.rollout(encoder, residual).sum(axis=1), 1, atol=1e-12)
    flow, share = overview.cross(encoder, decoder, over, residual)
    np.testing.assert_allclose(flow.sum(axis=1), 1, atol=1e-12)
    assert share == pytest.approx(1 - 0.5**layers if residual else 1)
    causal = np.tril(encoder)
    causal /= causal.sum(axis=-1, keepdims=True)
    assert not np.triu(overview.rollout(causal, residual), k=1).any(), "what is masked in every layer is masked in the rollout"
