"""The lean code writes what the model's own code writes, whatever the model is made of, and stands back where a hook looks inside."""

import random
from types import MethodType

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import example, given, settings, strategies as st

from playground.config import BOS, EOS, MAX_POSITIONS, PAD, ModelConfig, Refusal
from playground.decoding import greedy, sample, search, without_cache
from playground.decoding.fast_decoder import INITIAL_TOKENS, FastDecoder, is_readable, is_stock_model, name_arrays
from playground.decoding.model_decoder import SingleModelDecoder
from playground.decoding.single_decoder import read_arrays
from playground.inspection.interventions import Change, HeadId, WeightEdit
from playground.model.attention import scaled_dot_product_attention
from playground.model.copies import shadow_copy
from playground.model.transformer import Transformer
from playground.runs.corpora import ModelCache
from playground.runs.disk import SHIPPED
from playground.runs.disk.folder import Folder
from tests.decoding.test_sampling import SOURCES, untaught
from tests.model.test_transformer import SRC, build, combinations
from tests.variants.varied import disturb

MANY = [("reverse", 64), pytest.param("german_english", 4096, marks=pytest.mark.night)]
WAYS = (True, False), (True, True), (False, False)  # with the cache, and with the lean code
TGT = torch.tensor([[BOS, 5, PAD, 7, 9, 4], [BOS, 8, 6, PAD, PAD, 5]])  # a sentence may come to write PAD, which no query looks at


@pytest.fixture
def only_own(monkeypatch):
    """To ask the lean code fails."""
    for code in (FastDecoder, SingleModelDecoder):
        monkeypatch.setattr(code, "__init__", None)


def tokens_of(hypotheses) -> list[tuple[int, ...]]:
    return [hypothesis.ids for hypothesis in hypotheses]


@torch.inference_mode()
def assert_step_by_step(model: Transformer, src: torch.Tensor, tgt: torch.Tensor, atol: float = 1e-4) -> None:
    """The logits after every token are those of one pass through the model, for all sentences side by side and for each alone."""
    expected, every = model(src, tgt).logits, slice(None)
    alone = [(SingleModelDecoder(model, src[row : row + 1]), slice(row, row + 1)) for row in range(len(src))]
    for fast, rows in ((FastDecoder(model, src), every), *alone):
        for length in range(1, tgt.shape[1] + 1):
            logits, computed = fast.logits(tgt[rows, :length])
            torch.testing.assert_close(logits, expected[rows, length - 1 : length], atol=atol, rtol=1e-5)
            assert computed == 1


@pytest.mark.trust
@settings(max_examples=settings.default.max_examples // 2)
@given(st.sampled_from(combinations()), st.sampled_from([(8, 2), (8, 8), (24, 8), (16, 1), (40, 8)]))
def test_every_logit_whatever_the_choices(knobs, widths):
    """For combinations in which every three choices of the architecture stand together, one source longer than the other."""
    config = ModelConfig(d_model=widths[0], n_heads=widths[1], d_ff=8, encoder_layers=2, decoder_layers=2, **knobs)
    model = disturb(Transformer(config, 11, 11, torch.Generator().manual_seed(1))).eval()
    assert is_stock_model(model)
    arrays = name_arrays(model)
    read = read_arrays(safetensors.torch.save({name: parameter.detach() for name, parameter in model.named_parameters()}), config)
    assert read.keys() == arrays.keys()
    assert all(np.allclose(read[name], arrays[name], rtol=0, atol=5e-5) for name in read)
    assert_step_by_step(model, SRC, TGT)
    sources = [(4, 9, 7, 5), (6, 8), (10,)]
    both = [greedy(model, sources, 9, fast=fast) for fast in (True, False)]
    assert tokens_of(both[0]) == tokens_of(both[1]) == [greedy(model, [source], 9)[0].ids for source in sources]


@pytest.mark.trust
@pytest.mark.skipif(not any(SHIPPED.glob("*/run.json")), reason="no checkpoints are here: python -m playground checkpoints")
@pytest.mark.parametrize(("name", "count"), MANY)
def test_many_sentences_of_a_taught_model_are_the_same(name, count):
    """By the lean code, side by side and alone, by the model's own with the cache, and without it."""
    model, dice = ModelCache().get(Folder(SHIPPED / name).run, None).model, random.Random(1)
    sources = [[dice.randrange(4, model.src_vocab) for _ in range(dice.randint(1, 16))] for _ in range(count)]
    for begin in range(0, count, 256):
        batch = sources[begin : begin + 256]
        plain = greedy(model, batch, 34, fast=False)
        alone = [greedy(model, [source], 34)[0] for source in batch[:128]]
        for hypotheses in (greedy(model, batch, 34), greedy(model, batch[:64], 34, cache=False, fast=False), alone):
            assert tokens_of(hypotheses) == tokens_of(plain[: len(hypotheses)])
            for hypothesis, other in zip(hypotheses, plain, strict=False):
                assert hypothesis.logprobs == pytest.approx(other.logprobs, abs=1e-4)


@settings(max_examples=settings.default.max_examples // 25)
@example(1, ())
@example(2, (4, 8, 5))
@given(st.integers(1, 9), st.sampled_from([(), (4,), (4, 8, 5)]))
def test_every_method_writes_the_same_and_records_the_same_passes(seed, prefix):
    """With a prefix and without, by the lean code, the model's own and without the cache."""
    model = untaught(seed=seed)
    for write in (
        lambda cache, record, fast: greedy(model, SOURCES, 20, prefix, cache, record, fast),
        lambda cache, record, fast: [
            sample(model, source, 1.5, 20, 7, prefix, top_k=6, top_p=0.95, cache=cache, record=record, fast=fast) for source in SOURCES[:2]
        ],
        lambda cache, record, fast: search(model, SOURCES[0], 5, 0.6, 20, prefix, cache, record, fast).hypotheses,
    ):
        passes = [], [], []
        plain, *rest = (write(cache, record, fast) for record, (cache, fast) in zip(passes, WAYS, strict=True))
        assert (passes[0], without_cache(passes[0])) == (passes[1], passes[2])
        for other in rest:
            assert tokens_of(other) == tokens_of(plain)
            for hypothesis, same in zip(other, plain, strict=True):
                assert hypothesis.logprobs == pytest.approx(same.logprobs, abs=1e-5)
                assert hypothesis.score == pytest.approx(same.score, abs=1e-4)


@pytest.mark.parametrize("positions", ["both", "learned"])
def test_a_sentence_may_grow_to_the_last_position_and_no_further(positions):
    model = disturb(build(positions=positions, encoder_layers=1, decoder_layers=1)).eval()
    tgt = torch.randint(4, 11, (2, MAX_POSITIONS), generator=torch.Generator().manual_seed(1))
    assert MAX_POSITIONS > 4 * INITIAL_TOKENS
    assert_step_by_step(model, SRC, tgt, atol=1e-3)
    for fast, rows in ((FastDecoder(model, SRC), tgt), (SingleModelDecoder(model, SRC[:1]), tgt[:1])):
        fast.length = MAX_POSITIONS
        with pytest.raises(Refusal, match=str(MAX_POSITIONS)):
            fast.logits(rows)
    for sources in ([[5] * MAX_POSITIONS], [[5] * MAX_POSITIONS, [5]]):
        with pytest.raises(Refusal, match=str(MAX_POSITIONS)):
            greedy(model, sources, 3)


def test_where_the_lean_code_is_asked(monkeypatch):
    calls = []
    for code in (FastDecoder, SingleModelDecoder):
        begin = lambda self, *inputs, code=code, begin=code.__init__: calls.append(code) or begin(self, *inputs)  # noqa: E731
        monkeypatch.setattr(code, "__init__", begin)
    model = untaught()
    search(model, SOURCES[0], 3, 0.6, 5)
    search(model, SOURCES[0], 1, 0.6, 5)
    greedy(model, SOURCES[:1], 5)
    for how in ({"fast": False}, {"cache": False}, {"prefix": (4,)}):
        greedy(model, SOURCES[:1], 5, **how)
    assert calls == [FastDecoder, SingleModelDecoder, SingleModelDecoder]


def test_one_sentence_of_a_model_that_numpy_cannot_read(monkeypatch):
    """It has no bfloat16, and reaches no GPU."""
    monkeypatch.setattr(SingleModelDecoder, "__init__", None)
    model = untaught()
    assert is_readable(model)
    for kind in (torch.bfloat16, torch.float64):
        other = build().eval().to(kind)
        assert not is_readable(other)
        assert greedy(other, SOURCES[:1], 5)[0].ids
    assert not is_readable(build().to("meta"))


def test_a_file_of_other_numbers_is_not_read_without_torch():
    model = build(norm="pre")
    parameters, infinite = {name: parameter.detach() for name, parameter in model.named_parameters()}, torch.ones(1, 1) / 0
    for name, odd in (("decoder_norm.weight", torch.ones(3)), ("projection.bias", torch.ones(1)), ("projection.weight", infinite)):
        with pytest.raises(ValueError):
            read_arrays(safetensors.torch.save(parameters | {name: odd}), model.config)
    with pytest.raises(ValueError, match="safetensors"):
        read_arrays(b"{}", model.config)


def test_a_change_that_hangs_on_hooks_is_never_passed_over(only_own):
    """A changed model writes the argmax of one pass through it, at every step."""
    model = untaught(seed=2)
    heads = (HeadId("encoder", 0, 1), HeadId("decoder", 1, 0), HeadId("cross", 0, 1))
    for change in (*(Change(frozenset({head})) for head in heads), Change(edit=WeightEdit(1, 0, 2, masked=(0, 1)))):
        changed = change.apply(model)
        assert (is_stock_model(model), is_stock_model(changed)) == (True, False)
        written = greedy(changed, SOURCES[:1], 9)[0].ids
        logits = changed(torch.tensor([(*SOURCES[0], EOS)]), torch.tensor([(BOS, *written[:-1])])).logits
        assert logits[0].argmax(-1).tolist() == list(written)
        search(changed, SOURCES[0], 3, 0.6, 9)
        sample(changed, SOURCES[0], 1.0, 9, seed=1)


def test_what_is_learnt_in_between_is_known_and_a_change_of_the_memory_obeyed():
    """Nothing of the parameters is kept from one text to the next, however they were written."""
    model = disturb(build()).eval()
    for change in (
        lambda weight: weight.data.mul_(-1.5), lambda weight: torch._foreach_add_([weight.data], 0.3),
        lambda weight: weight.data.copy_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(4))),
    ):
        for layer in (*model.encoder, *model.decoder):
            change(layer.self_attention.W_q.weight)
            change(layer.self_attention.W_v.weight)
        for variant in (model, *(Change(memory=memory).apply(model) for memory in ("mean", "cut"))):
            assert is_stock_model(variant)
            assert_step_by_step(variant, SRC, TGT)


@pytest.mark.parametrize("change", [
    lambda model: model.decoder[0].norm_1.register_forward_hook(lambda *_: None),
    lambda model: model.projection.register_forward_pre_hook(lambda *_: None),
    lambda model: setattr(model, "decode", MethodType(Transformer.decode, model)),
    lambda model: setattr(model.encoder[0].self_attention, "attend_heads", lambda *arguments: scaled_dot_product_attention(*arguments)),
    lambda model: setattr(model.decoder[0], "norm_3", type("Other", (torch.nn.LayerNorm,), {})(16)),
])  # fmt: skip
def test_whoever_changes_or_listens_is_noticed(change, only_own):
    model = shadow_copy(untaught())
    assert is_stock_model(model)
    handle = change(model)
    assert not is_stock_model(model)
    greedy(model, SOURCES, 4)
    greedy(model, SOURCES[:1], 4)
    if handle:
        handle.remove()
        assert is_stock_model(model)
