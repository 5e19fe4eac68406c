"""Names of heads, over heads built by hand to do exactly one thing, near misses, and a model wired to look at the previous token."""

import math

import numpy as np
import pytest
import torch

from playground.config import EOS, ModelConfig
from playground.decoding import trace
from playground.inspection import attention, heads
from playground.inspection.heads import Sample, score
from playground.model.transformer import Transformer
from playground.words import LANGUAGES, known

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


def last(n):
    return np.tile(np.arange(n) == n - 1, (n, 1))


def first(n):
    return np.tile(np.arange(n) == 0, (n, 1))


def shifted(by):
    return lambda n: row(np.eye(n, k=by))


def backward(n):
    return np.roll(np.eye(n)[::-1], -1, axis=0)


def backward_from_end(n):
    return np.eye(n)[::-1]


BY_HAND = {
    "encoder": {
        "previous": shifted(-1), "next": shifted(1), "same": np.eye, "two_back": shifted(-2), "first": first, "last": last,
        "backward": backward, "backward_from_end": backward_from_end,
    },
    "decoder": {
        "same": np.eye, "previous": lambda n: np.where(np.arange(n)[:, None] == 0, np.eye(n), np.eye(n, k=-1)), "first": first,
    },
    "cross": {
        "forward": np.eye, "ahead": shifted(1), "behind": shifted(-1), "backward": backward, "backward_from_end": backward_from_end,
        "first": first, "last": last,
    },
}  # fmt: skip
EVERY = [(kind, name) for kind, places in BY_HAND.items() for name in places]


@pytest.mark.trust
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


@pytest.mark.trust
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


@pytest.mark.trust
def test_one_lucky_sentence_and_a_few_tokens_give_no_name():
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


@pytest.mark.trust
def test_even_is_even_and_a_lean_is_no_look():
    head = only_head(lambda n: np.full((n, n), 1 / n))
    assert named(head) == ("even", 1.0)
    assert head.entropy == pytest.approx(np.mean([math.log2(n) for n in LENGTHS for _ in range(n)]))
    lean = only_head(lambda n: row(np.full((n, n), 1.0) + 0.1 * np.eye(n, k=-1)))
    assert (lean.name, lean.second.name) == ("even", "previous")
    assert 0.99 < lean.number < 1


@pytest.mark.trust
def test_alignment_comes_before_what_it_happens_to_be():
    head, neighbour = (only_head(looks, kind="cross", alignment_of=lambda n: (*range(n - 1), None)) for looks in (np.eye, shifted(1)))
    assert (named(head), head.aligned, head.second.name) == (("aligned", 1.0), 1.0, "forward")
    assert (neighbour.name, neighbour.aligned) == ("right_of_aligned", 0.0)
    assert only_head(np.eye, kind="cross").aligned is None


@pytest.mark.trust
def test_a_head_that_pours_into_padding_is_a_pad_sink():
    def weights(n):
        return np.pad(0.2 * np.full((n, n), 1 / n), ((0, 0), (0, 2)), constant_values=0.4)

    for kind in ("encoder", "cross"):
        head = only_head(weights, kind=kind)
        assert (named(head), head.padding) == (("padding", 0.8), pytest.approx(0.8))
    whole = only_head(lambda n: np.pad(np.eye(n), ((0, 0), (0, 2))))
    assert (whole.name, whole.padding) == ("same", 0.0)
    assert only_head(np.eye).padding is None  # no sentence had any


def test_layers_and_heads_stay_in_their_places():
    words = [(*WORDS[: n - 1], "<eos>") for n in LENGTHS]
    looks = [np.array([[np.eye(n), last(n)], [shifted(-1)(n), np.full((n, n), 1 / n)]]) for n in LENGTHS]
    scored = score([Sample(look, names, names) for look, names in zip(looks, words, strict=True)], "encoder")
    assert [[head.name for head in layer] for layer in scored.heads] == [["same", "last"], ["previous", "even"]]
    assert (scored.sentences, scored.commonest()) == (4, ("same", 1))


PAIRS = [([5, 6, 7], [8, 9]), ([4, 5, 6, 7, 8, 9], [4, 4, 5, 6, 7]), ([9, 9, 4, 4, 5], [6]), ([4], [5, 6, 7, 8, 9, 4])]


@pytest.mark.trust
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("cells", [heads.CELLS, 1])
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
