"""Attention: rows sum to 1 and masked cells are 0; what is said of heads built by hand to do one thing, and their names; rollout."""

import math
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from playground.config import BOS, EOS, PAD, ModelConfig
from playground.decoding import trace
from playground.features.attention import query
from playground.inspection import attention, heads
from playground.inspection.heads import Sample, score
from playground.model.masks import padded
from playground.model.transformer import Transformer
from playground.words import LANGUAGES, known

pytestmark = pytest.mark.trust
WORDS = tuple("abcdefgh")
LENGTHS = (5, 8, 6, 7)


def row(places):
    """All weight of each row on its place; a row without one spreads evenly."""
    places = np.asarray(places, dtype=float)
    places = np.where(places.sum(axis=1, keepdims=True) == 0, 1.0, places)
    return places / places.sum(axis=1, keepdims=True)


def samples(weights_of, kind="encoder", alignment_of=None, lengths=LENGTHS, padding=0):
    """One layer with one head on sentences of these lengths; the weights of each are `weights_of(length)`, (L, L + padding)."""
    result = []
    for n in lengths:
        words = (*WORDS[: n - 1], "<eos>")
        columns = ("<bos>", *words[:-1]) if kind == "decoder" else words
        result.append(Sample(np.asarray(weights_of(n))[None, None], words, columns, alignment_of(n) if alignment_of else None))
    return result


def only_head(*arguments, **more) -> heads.NamedHead:
    return score(samples(*arguments, **more), more.get("kind", "encoder")).heads[0][0]


def named(head):
    return head.name, None if head.number is None else round(head.number, 6)


ENDS = {
    "first": lambda n: np.tile(np.arange(n) == 0, (n, 1)), "last": lambda n: np.tile(np.arange(n) == n - 1, (n, 1)),
    "backward": lambda n: np.roll(np.eye(n)[::-1], -1, axis=0), "backward_from_end": lambda n: np.eye(n)[::-1],
}  # fmt: skip
BEFORE, AFTER, TWO_BACK = (lambda n, by=by: row(np.eye(n, k=by)) for by in (-1, 1, -2))
BY_HAND = {
    "encoder": {"previous": BEFORE, "next": AFTER, "same": np.eye, "two_back": TWO_BACK, **ENDS},
    "decoder": {
        "same": np.eye, "previous": lambda n: np.where(np.arange(n)[:, None] == 0, np.eye(n), np.eye(n, k=-1)), "first": ENDS["first"],
    },
    "cross": {"forward": np.eye, "ahead": AFTER, "behind": BEFORE, **ENDS},
}  # fmt: skip
EVERY = [(kind, name) for kind, places in BY_HAND.items() for name in places]


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_a_head_that_does_one_thing_gets_its_name_and_a_full_number(kind, name):
    assert named(only_head(BY_HAND[kind][name], kind=kind)) == (name, 1.0)
    assert all(known(language, f"heads.name_{name}") for language in LANGUAGES)
    clear = (kind, name) in (("encoder", "previous"), ("encoder", "next"), ("decoder", "same"), ("cross", "ahead"))
    assert not clear or only_head(BY_HAND[kind][name], kind=kind, lengths=(3,)).name == name
    for length in (3, 6) if clear else (6,):
        mask = np.tri(length, dtype=bool) if kind == "decoder" else None
        key, values = attention.facts(BY_HAND[kind][name](length), kind, mask=mask)
        assert (key.removesuffix(f"_{kind}"), values) == (f"figures.looks_{name}", {"percent": 100, "mass": 100})


@pytest.mark.parametrize(("kind", "name"), [key for key in EVERY if key[0] != "decoder"])
def test_the_number_is_the_share_and_half_is_enough_though_other_cells_are_darker(kind, name):
    def scored(share):
        def weights(n):
            place = BY_HAND[kind][name](n).astype(float)
            other = np.eye(n)[[next(k for k in (3 * q % n, (3 * q + 4) % n) if place[q, k] < 1) for q in range(n)]]
            return np.where(place.max(axis=1, keepdims=True) == 1, share * place + (1 - share) * other, np.eye(n)[4])

        return only_head(weights, kind=kind, lengths=(8, 8, 8))

    assert named(scored(0.5)) == (name, 0.5)
    below = scored(0.49)
    assert below.name not in (*heads.PLACES, "even")
    assert (below.second.name, below.second.mass) == (name, pytest.approx(0.49))


def test_luck_and_a_lean_give_no_name_even_is_even_alignment_comes_first_and_padding_is_a_sink():
    def weights(n):
        return row(np.eye(n, k=-1)) if n == 8 else np.eye(n)[(np.arange(n) * 3 + 1) % n]

    assert only_head(weights, lengths=(8,)).name == "previous"
    assert only_head(weights, lengths=(8, 7, 7, 5, 7)).name == "sharp"
    assert only_head(lambda n: np.full((n, n), 1 / n), lengths=(2,)).name == "unclear"
    with pytest.raises(ValueError, match="sentence"):
        score([], "cross")
    words = (*"abcadef", "<eos>")
    (head,) = score([Sample(np.eye(8)[[3, 6, 5, 0, 2, 7, 2, 4]][None, None], words, words)] * 4, "encoder").heads[0]
    assert named(head) == ("sharp", 0.0)
    head = only_head(lambda n: np.full((n, n), 1 / n))
    assert named(head) == ("even", 1.0)
    assert head.entropy == pytest.approx(np.mean([math.log2(n) for n in LENGTHS for _ in range(n)]))
    lean = only_head(lambda n: row(np.full((n, n), 1.0) + 0.1 * np.eye(n, k=-1)))
    assert (lean.name, lean.second.name) == ("even", "previous")
    assert 0.99 < lean.number < 1
    head, neighbour = (only_head(looks, kind="cross", alignment_of=lambda n: (*range(n - 1), None)) for looks in (np.eye, AFTER))
    assert (named(head), head.aligned, head.second.name) == (("aligned", 1.0), 1.0, "forward")
    assert (neighbour.name, neighbour.aligned) == ("right_of_aligned", 0.0)
    assert only_head(np.eye, kind="cross").aligned is None
    def weights(n):
        return np.pad(0.2 * np.full((n, n), 1 / n), ((0, 0), (0, 2)), constant_values=0.4)

    for kind in ("encoder", "cross"):
        head = only_head(weights, kind=kind)
        assert (named(head), head.padding) == (("padding", 0.8), pytest.approx(0.8))
    whole = only_head(lambda n: np.pad(np.eye(n), ((0, 0), (0, 2))))
    assert (whole.name, whole.padding) == ("same", 0.0)
    assert only_head(np.eye).padding is None  # no sentence had any


PAIRS = [([5, 6, 7], [8, 9]), ([4, 5, 6, 7, 8, 9], [4, 4, 5, 6, 7]), ([9, 9, 4, 4, 5], [6]), ([4], [5, 6, 7, 8, 9, 4])]


@pytest.mark.parametrize(("kind", "cells"), product(("encoder", "decoder", "cross"), (heads.CELLS, 1)))
def test_reading_a_padded_batch_is_reading_each_sentence_alone(monkeypatch, kind, cells):
    monkeypatch.setattr(heads, "CELLS", cells)  # 1: no more than two sentences at once
    config = ModelConfig(d_model=16, n_heads=2, encoder_layers=2, decoder_layers=2, d_ff=16)
    model = Transformer(config, 12, 12, torch.Generator().manual_seed(1)).eval()
    result = list(heads.read_weights(model, PAIRS, kind))
    assert len(result) == len(PAIRS)
    for (src, tgt), weights in zip(PAIRS, result, strict=True):
        alone = getattr(trace(model, src, (*tgt, EOS)), kind)
        np.testing.assert_allclose(weights[..., : alone.shape[-1]], alone, atol=1e-6)
        assert weights.shape[:3] == alone.shape[:3]
        assert not weights[..., alone.shape[-1] :].any()  # padding gets exactly 0


N = 6
ALL = {"percent": 100, "mass": 100}
BEFORE_EOS = ENDS["backward"](N)  # row 0 looks at column 4: the last word before <eos>
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
TWIN_WORDS = {"rows": TWINS, "columns": TWINS}
EVEN_CAUSAL = CAUSAL / CAUSAL.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("kind", "weights", "more", "key", "values"), [
    ("encoder", mirrored(5), {}, "looks_backward_encoder", None), ("encoder", mirrored(6), {}, "looks_backward_from_end_encoder", None),
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
    ("encoder", row(ELSEWHERE), TWIN_WORDS, "looks_same_token_encoder", None), ("encoder", np.eye(N), TWIN_WORDS, "looks_same", None),
    ("cross", np.full((4, 8), 1 / 8), {}, "spreads", {"effective": "8.0", "tokens": "8.0"}),
    ("decoder", EVEN_CAUSAL, {"mask": CAUSAL}, "spreads", {"effective": "4.0", "tokens": "4.0"}),
    ("encoder", row(np.full((10, 10), 0.1) + 0.01 * np.eye(10, k=-1)), {}, "spreads", None),  # a slight lean is no look
    ("encoder", SCATTERED, {}, "sharp", {"bits": "0", "mass": 100}),
    ("encoder", MIXED, {}, "unclear", {"effective": "2.0", "tokens": "6.0"}), ("cross", np.full((2, 5), 0.2), {}, "too_short", {}),
    ("encoder", row(np.eye(N, k=-1)) * NOWHERE_IN_ROW_2, {"mask": NOWHERE_IN_ROW_2}, "looks_previous", ALL),
])  # fmt: skip
def test_what_is_said_of_a_head(kind, weights, more, key, values):
    fact = attention.facts(weights, kind, **more)
    assert fact.key == f"figures.{key}"
    assert values in (None, fact.values)


def test_masked_cells_the_alignment_and_the_row_that_looks_farthest_are_told():
    same = attention.score(ENDS["first"](N).astype(float), attention.offset(N, N, 0), CAUSAL)
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
    source, target = padded(SRC).numpy() != PAD, padded(TGT_IN).numpy() != PAD
    rows = source.shape[1] if kind == "encoder" else target.shape[1]
    mask = target[:, None] & np.tri(rows, dtype=bool) if kind == "decoder" else np.repeat(source[:, None], rows, axis=1)
    mask = mask[:, None]  # (B, 1, Q, K), the same for all heads, True where a query may look
    assert len(getattr(output, kind)) == 2, "every layer returns its weights"
    for weights in getattr(output, kind):
        weights = weights.numpy()
        assert weights.shape == (3, 4, *mask.shape[2:])
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
        assert (weights[np.broadcast_to(~mask, weights.shape)] == 0).all()
        assert (weights >= 0).all()


def test_two_tokens_two_layers_and_cross_attention_by_hand():
    first = [[[0.5, 0.5], [1.0, 0.0]], [[0.9, 0.1], [0.0, 1.0]]]  # two heads; their mean: [[.7, .3], [.5, .5]]
    second = [[[0.0, 1.0], [0.2, 0.8]], [[0.0, 1.0], [0.6, 0.4]]]  # mean: [[0, 1], [.4, .6]]
    # with the residual: A1 = [[.85, .15], [.25, .75]], A2 = [[.5, .5], [.2, .8]]
    # A2 A1 = [[.5 * .85 + .5 * .25, .5 * .15 + .5 * .75], [.2 * .85 + .8 * .25, .2 * .15 + .8 * .75]]
    result = query.rollout(np.array([first, second]))
    np.testing.assert_allclose(result, [[0.55, 0.45], [0.37, 0.63]], atol=1e-12)
    bare = query.rollout(np.array([first, second]), residual=False)
    np.testing.assert_allclose(bare, [[0.5, 0.5], [0.58, 0.42]], atol=1e-12)  # [[0, 1], [.4, .6]] [[.7, .3], [.5, .5]]
    encoder = np.array([[[[0.0, 1.0], [0.0, 1.0]]]])  # with the residual: [[.5, .5], [0, 1]]
    decoder = np.array([[[[1.0, 0.0], [1.0, 0.0]]]])
    over = np.array([[[[1.0, 0.0], [0.5, 0.5]]]])
    flow, share = query.cross(encoder, decoder, over)
    np.testing.assert_allclose(flow, [[0.5, 0.5], [0.25, 0.75]], atol=1e-12)  # one layer: over times the encoder's rollout
    assert share == 0.5  # the other half is the token that was fed
    flow, share = query.cross(encoder, np.concatenate([decoder, decoder]), np.concatenate([over, over[:, :, ::-1]]))
    # after layer 1, of the whole: [[.25, .25], [.125, .375]]; self-attention mixes row 1 half with row 0: [.1875, .3125];
    # the second look (rows swapped) adds [[.25, .75], [.5, .5]]; half and half: [[.25, .5], [.34375, .40625]]
    np.testing.assert_allclose(flow, np.array([[0.25, 0.5], [0.34375, 0.40625]]) / 0.75, atol=1e-12)
    assert share == 0.75


@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 3), st.integers(1, 6), st.integers(1, 6), st.booleans())
def test_rows_sum_to_one(seed, layers, heads, rows, columns, residual):
    draw, sizes = np.random.default_rng(seed), ((columns, columns), (rows, rows), (rows, columns))
    encoder, decoder, over = (draw.dirichlet(np.ones(keys), size=(layers, heads, queries)) for queries, keys in sizes)
    np.testing.assert_allclose(query.rollout(encoder, residual).sum(axis=1), 1, atol=1e-12)
    flow, share = query.cross(encoder, decoder, over, residual)
    np.testing.assert_allclose(flow.sum(axis=1), 1, atol=1e-12)
    assert share == pytest.approx(1 - 0.5**layers if residual else 1)
    causal = np.tril(encoder)
    causal /= causal.sum(axis=-1, keepdims=True)
    assert not np.triu(query.rollout(causal, residual), k=1).any(), "what is masked in every layer is masked in the rollout"
