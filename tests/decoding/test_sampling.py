"""Greedy decoding is the argmax of teacher forcing; tokens are drawn as often as they are likely; the work told is what torch counts."""

import itertools
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings, strategies as st
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from playground import decoding
from playground.config import BOS, EOS, MAX_POSITIONS, ModelConfig, limits
from playground.decoding import greedy, sample, search, single_decoder, top_k_top_p_filter, trace
from playground.model.transformer import Transformer
from tests.variants.varied import disturb, talkative

SOURCES = [(4, 5, 6, 7, 8), (6,), (7, 7, 4), (8, 4, 5, 6, 4, 4, 5, 8)]
BY_HAND = torch.tensor([[0.1, 0.4, 0.05, 0.3, 0.15]], dtype=torch.float64)  # ranked: 1, 3, 4, 0, 2


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


@pytest.mark.trust
def test_a_prefix_is_weighed_as_by_teacher_forcing_and_its_seed_alone_decides_a_sample():
    source, prefix = SOURCES[0], (4, 8, 8, 5)
    for hypothesis in (
        greedy(untaught(), [source], max_length=9, prefix=prefix)[0],
        sample(untaught(), source, 3.0, max_length=9, seed=4, prefix=prefix, top_k=3),
    ):
        assert hypothesis.ids[:4] == prefix
        expected = logprobs_by_teacher_forcing(untaught(), source, hypothesis.ids)
        assert hypothesis.logprobs == pytest.approx([expected[t, token].item() for t, token in enumerate(hypothesis.ids)], abs=1e-5)
    before = torch.get_rng_state()
    first = sample(untaught(), SOURCES[0], 2.0, max_length=12, seed=3)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(5)
    assert sample(untaught(), SOURCES[0], 2.0, max_length=12, seed=3) == first
    assert len({sample(untaught(), SOURCES[0], 2.0, max_length=12, seed=seed).ids for seed in range(10)}) > 3


def every_sentence(vocab: int, longest: int):
    """All that could be written: ends in EOS, or is cut off at `longest` tokens."""
    rest = [token for token in range(vocab) if token != EOS]
    for length in range(1, longest + 1):
        for body in itertools.product(rest, repeat=length - 1):
            yield (*body, EOS)
            if length == longest:
                yield from ((*body, last) for last in rest)


@given(st.integers(1, 50), st.integers(1, 12))
def test_greedy_is_the_argmax_of_teacher_forcing_one_by_one_and_all_together(seed, most):
    model = untaught(seed=seed)
    for source, hypothesis in zip(SOURCES, greedy(model, SOURCES, most), strict=True):
        assert EOS not in hypothesis.ids[:-1]
        assert hypothesis.finished == (hypothesis.ids[-1] == EOS)
        assert len(hypothesis.ids) <= most if hypothesis.finished else len(hypothesis.ids) == most
        expected = logprobs_by_teacher_forcing(model, source, hypothesis.ids)
        for written in (hypothesis, *greedy(model, [source], most)):
            assert written.ids == tuple(expected.argmax(-1).tolist())
            assert written.logprobs == pytest.approx(expected.max(-1).values.tolist(), abs=1e-5)
            assert written.score == pytest.approx(sum(written.logprobs))


@torch.inference_mode()
def test_a_trace_is_what_was_thought_while_writing():
    model, source = untaught(), SOURCES[0]
    hypothesis = greedy(model, [source], max_length=7)[0]
    traced = trace(model, source, hypothesis.ids)
    S, T = len(source) + 1, len(hypothesis.ids)
    assert (traced.src_ids, traced.tgt_ids, traced.tgt_in) == ((*source, EOS), hypothesis.ids, (BOS, *hypothesis.ids[:-1]))
    assert [weights.shape for weights in (traced.encoder, traced.decoder, traced.cross)] == [(1, 2, S, S), (2, 2, T, T), (2, 2, T, S)]
    output = model(torch.tensor([traced.src_ids]), torch.tensor([traced.tgt_in]))
    for name in ("encoder", "decoder", "cross"):
        assert np.array_equal(getattr(traced, name), torch.cat(getattr(output, name)).numpy())
        assert getattr(traced, name).dtype == np.float32
    assert traced.probabilities == pytest.approx(output.logits[0].softmax(-1).numpy(), abs=1e-6)
    model, target = talkative("no_causal_mask"), (4, 5, 6, EOS)
    rows = [model(torch.tensor([[4, 9, EOS]]), torch.tensor([(BOS, *target[:n])])).logits[0, -1].softmax(-1) for n in range(4)]
    assert trace(model, (4, 9), target).probabilities == pytest.approx(torch.stack(rows).numpy(), abs=1e-6)


def test_what_makes_no_sense_is_refused_lengths_are_capped_and_nothing_asked_writes_nothing():
    learning = Transformer(ModelConfig(d_model=8, n_heads=1, d_ff=8, encoder_layers=1, decoder_layers=1, dropout=0.5), 9, 9)
    for ask, name in (
        (lambda: search(untaught(), SOURCES[0], 0, 0.0, max_length=7), "width"), (lambda: trace(untaught(), SOURCES[0], ()), "target"),
        *((lambda t=t: sample(untaught(), SOURCES[0], t, max_length=5, seed=1), "temperature") for t in (0.0, -1.0, float("nan"))),
        *(
            (lambda choice=choice: sample(untaught(), SOURCES[0], 1.0, 5, 1, **choice), "top_")
            for choice in ({"top_k": -1}, {"top_p": 0.0}, {"top_p": 1.1}, {"top_p": float("nan")})
        ),
        (lambda: greedy(learning, SOURCES, 5), "eval"), (lambda: search(learning, SOURCES[0], 2, 0.0, 5), "eval"),
        (lambda: sample(learning, SOURCES[0], 1.0, 5, seed=1), "eval"), (lambda: trace(learning, SOURCES[0], (4,)), "eval"),
    ):
        with pytest.raises(ValueError, match=name):
            ask()
    endless = untaught.__wrapped__()
    endless.projection.bias.data[EOS] -= 1e4
    assert len(greedy(endless, [SOURCES[1]], max_length=10_000)[0].ids) == MAX_POSITIONS, "as much as the model can take"
    assert greedy(untaught(), [], max_length=5) == []
    assert greedy(untaught(), [SOURCES[0]], max_length=2, prefix=(4, 5, 6))[0].ids == (4, 5), "a prefix longer than allowed is cut"
    assert search(untaught(), SOURCES[0], 3, 0.6, 2, (4, 5, 6)).ids == (4, 5)


@pytest.mark.parametrize(("top_k", "top_p", "expected"), [
    (0, 1.0, {0, 1, 2, 3, 4}), (1, 1.0, {1}), (2, 1.0, {1, 3}), (9, 1.0, {0, 1, 2, 3, 4}), (0, 0.39, {1}), (0, 0.41, {1, 3}),
    (0, 0.69, {1, 3}), (0, 0.71, {1, 3, 4}), (0, 0.86, {0, 1, 3, 4}), (0, 0.96, {0, 1, 2, 3, 4}), (0, 1e-9, {1}), (2, 0.5, {1}),
    (3, 0.9, {1, 3, 4}), (3, 0.8, {1, 3}),  # of the three, 0.85 together: 0.7 / 0.85 = 0.82
])  # fmt: skip
def test_what_may_be_drawn_by_hand(top_k, top_p, expected):
    allowed, reverse = top_k_top_p_filter(torch.cat((BY_HAND, BY_HAND.flip(1))), top_k, top_p)
    assert set(allowed.nonzero()[:, 0].tolist()) == expected
    assert torch.equal(allowed, reverse.flip(0)), "each row by itself"
    equal = torch.full((1, 4), 0.25, dtype=torch.float64)  # equally likely tokens rank as they stand
    for k, p in ((2, 1.0), (0, 0.5)):
        assert top_k_top_p_filter(equal, k, p)[0].tolist() == [True, True, False, False]


@pytest.mark.parametrize(("temperature", "top_k", "top_p"), [(1.5, 4, 0.8), pytest.param(0.5, 0, 1.0, marks=pytest.mark.night)])
def test_tokens_come_as_often_as_they_are_likely(temperature, top_k, top_p):
    model, source, count = untaught(vocab=6), SOURCES[1], 300
    logprobs = logprobs_by_teacher_forcing(model, source, (4,))[:1].double()
    expected = (logprobs / temperature).softmax(-1)
    expected = expected * top_k_top_p_filter(expected, top_k, top_p)
    expected = (expected / expected.sum())[0].numpy()
    drawn = [sample(model, source, temperature, 1, seed, top_k=top_k, top_p=top_p).ids[0] for seed in range(count)]
    times = np.bincount(drawn, minlength=6)
    assert (times[expected == 0] == 0).all()
    assert np.abs(times / count - expected).max() < 4 * (0.25 / count) ** 0.5  # four standard deviations at most


def counted(work) -> int:
    """Multiplications by torch's own count, in which each comes with its addition, as two operations; and those of numpy."""
    on_cpu = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu  # which torch counts on a GPU only
    counter = FlopCounterMode(display=False, custom_mapping={on_cpu: lambda q, k, v, *_, **__: sdpa_flop_count(q, k, v)})
    products, linear, attend, attention = [], single_decoder.linear, single_decoder.attend, single_decoder.encoder_attention

    def counted_linear(arrays, name):
        times = linear(arrays, name)
        return lambda x: products.append(x.size * len(arrays[f"{name}.weight"])) or times(x)

    def counted_attention(arrays, name, *rest):
        attend_all, widths = attention(arrays, name, *rest), sum(len(arrays[f"{name}.{part}.weight"]) for part in ("W_k", "W_v"))
        return lambda x: products.append(len(x) ** 2 * widths) or attend_all(x)

    def counted_attend(q, k, v, *rest):
        products.append(k.size + v[..., :-1].size)  # the ones beside the values only sum the weights
        return attend(q, k, v, *rest)

    with counter, pytest.MonkeyPatch.context() as patch:
        patch.setattr(single_decoder, "linear", counted_linear)
        patch.setattr(single_decoder, "attend", counted_attend)
        patch.setattr(single_decoder, "encoder_attention", counted_attention)
        work()
    return counter.get_total_flops() // 2 + sum(products)


@pytest.mark.night
@pytest.mark.trust
@example({"d_k": 1, "encoder_layers": 1, "memory_mode": "whole"}, True)
@settings(max_examples=2)
@given(
    st.fixed_dictionaries(
        {name: st.sampled_from(limits(name).choices) for name in ("positions", "norm", "memory_mode")}
        | {"bias": st.booleans(), "encoder_layers": st.integers(1, 2), "d_ff": st.sampled_from([24, 40]), "d_k": st.sampled_from([1, 4, 0])}
    ),
    st.booleans(),
)
def test_the_work_that_is_told_is_what_torch_counts(knobs, fast):
    """For every method, with a prefix and without: of what ran, and of what would have run without the cache."""
    config = ModelConfig(**{"d_model": 16, "n_heads": 2, "d_ff": 24, "decoder_layers": 1, **knobs})
    model = disturb(Transformer(config, 9, 11, torch.Generator().manual_seed(1))).eval()
    source = SOURCES[3]
    for prefix, write in (
        ((), lambda cache, record: greedy(model, [source], 5, (), cache, record, fast)),
        ((), lambda cache, record: search(model, source, 4, 0.6, 5, (), cache, record, fast)),
        ((4, 5, 6), lambda cache, record: sample(model, source, 1.0, 5, 1, (4, 5, 6), cache=cache, record=record, fast=fast)),
        ((4, 5, 6), lambda cache, record: search(model, source, 4, 0.6, 5, (4, 5, 6), cache, record, fast)),
    ):
        cached, anew = [], []
        write(True, cached)
        write(False, anew)
        counts = [decoding.multiplications(config, 11, len(source) + 1, record) for record in (cached, anew)]
        assert [counted(lambda cache=cache, write=write: write(cache, [])) for cache in (True, False)] == counts
        assert counts[0] < counts[1]
        assert decoding.without_cache(cached) == anew
        assert [entry.computed for entry in cached] == ([len(prefix)] if prefix else []) + [1] * len(anew[bool(prefix) :])
        assert decoding.positions(anew) == sum(entry.rows * entry.length for entry in cached)
