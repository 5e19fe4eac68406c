import copy
import itertools
import math
import random
from functools import cache

import pytest
import torch
from hypothesis import given, settings, strategies as st

from playground.config import EOS, MAX_POSITIONS, PAD, ModelConfig, Refusal, limits
from playground.model.kv_cache import DecoderCache
from playground.model.masks import padding_mask
from playground.model.positions import position_ids
from playground.model.transformer import PROJECTION_STD, Transformer
from tests.variants.varied import as_nn_transformer, disturb, their_logits

SMALL = {"d_model": 16, "n_heads": 4, "d_ff": 24, "encoder_layers": 2, "decoder_layers": 3, "zero_init": False}
SRC = torch.tensor([[4, 9, 7, 5, EOS], [6, 8, EOS, PAD, PAD]])
TGT = torch.tensor([[1, 5, 7, 9], [1, 8, PAD, PAD]])


def build(seed: int = 1, src_vocab: int = 11, tgt_vocab: int = 11, **knobs) -> Transformer:
    return Transformer(ModelConfig(**{**SMALL, **knobs}), src_vocab, tgt_vocab, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("norm", "activation", "bias"), itertools.product(("post", "pre"), ("relu", "gelu"), (True, False)))
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_equals_torch_nn_transformer_outputs_and_gradients(norm, activation, bias):
    ours = disturb(build(norm=norm, activation=activation, bias=bias))
    theirs, pairs = as_nn_transformer(ours)
    output = ours(SRC, TGT)
    expected = their_logits(ours, theirs, SRC, TGT)
    torch.testing.assert_close(output.logits, expected, atol=1e-5, rtol=0)
    direction = torch.randn(expected.shape, generator=torch.Generator().manual_seed(0)) / 10
    shared = [ours.src_embedding.weight, ours.tgt_embedding.weight]
    inner = [part for own, _ in pairs for part in own]
    gradients = iter(torch.autograd.grad(output.logits, inner + shared, direction))
    their_gradients = torch.autograd.grad(expected, [their for _, their in pairs] + shared, direction)
    joined = [torch.cat([next(gradients) for _ in own]) for own, _ in pairs]
    torch.testing.assert_close([*joined, *gradients], list(their_gradients), atol=1e-5, rtol=0)


@settings(max_examples=settings.default.max_examples // 3)
@given(st.sampled_from(["post", "pre"]), st.sampled_from(limits("positions").choices), st.sampled_from(limits("n_heads").choices))
def test_the_future_is_invisible_and_padding_changes_nothing(norm, positions, n_heads):
    model = build(norm=norm, positions=positions, n_heads=n_heads, d_model=24)
    together = model(SRC, TGT).logits[1, :2]
    alone = model(SRC[1:, :3], TGT[1:, :2]).logits[0]
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)
    other = TGT.clone()
    other[:, 2:] = torch.tensor([4, 10])
    before, after = model(SRC, TGT).logits, model(SRC, other).logits
    assert torch.equal(before[:, :2], after[:, :2])
    assert not torch.allclose(before[0, 2:], after[0, 2:])


def choices(name: str) -> tuple:
    """Scores are divided or not: by which power of d_k is the same to all other choices."""
    return (0.5, 0.0) if name == "attention_scale" else limits(name).choices


@cache
def combinations() -> list[dict]:
    """So many that any three values of three different choices stand together in one. Each with one of three d_k in turn: d_v, 1, more."""
    names = (
        "positions", "share_embeddings", "memory_mode", "norm", "activation",
        "embedding_scale", "attention_scale", "residual", "bias", "zero_init",
    )  # fmt: skip
    every = list(itertools.product(*map(choices, names)))
    random.Random(1).shuffle(every)
    met, chosen = set(), []
    for values in every:
        threes = set(itertools.combinations(enumerate(values), 3))
        if not threes <= met:
            met |= threes
            chosen.append(dict(zip(names, values, strict=True)) | {"d_k": (0, 1, 8)[len(chosen) % 3]})
    return chosen


def test_sharing_makes_one_matrix_of_two_or_three_and_too_long_a_sentence_is_refused():
    none, output, everything = (build(share_embeddings=how) for how in ("none", "output", "all"))
    assert len({id(m) for m in (none.src_embedding.weight, none.tgt_embedding.weight, none.projection.weight)}) == 3
    assert output.projection.weight is output.tgt_embedding.weight
    assert output.src_embedding.weight is not output.tgt_embedding.weight
    assert everything.projection.weight is everything.tgt_embedding.weight is everything.src_embedding.weight
    with pytest.raises(ValueError, match="11 and 12"):
        build(share_embeddings="all", tgt_vocab=12)
    assert build(share_embeddings="output", tgt_vocab=12)(SRC, TGT).logits.shape == (2, 4, 12)
    with pytest.raises(Refusal) as refusal:
        build().encode(torch.full((1, MAX_POSITIONS + 1), 5))
    assert str(MAX_POSITIONS) in str(refusal.value)
    assert build().encode(torch.full((1, MAX_POSITIONS), 5))[0].isfinite().all()


def test_parameters_begin_as_is_said():
    """Xavier, the last matrix of a sublayer smaller by the root of their number; embeddings, positions and projection normal."""
    model = build(d_model=64, d_ff=128, positions="learned", src_vocab=500, tgt_vocab=500)
    for name, parameter in model.named_parameters():
        if name.endswith("bias") or "norm" in name:
            assert (parameter == (0 if name.endswith("bias") else 1)).all(), name
            continue
        own = {"positions": 0.5**0.5, "embedding": model.config.embedding_std, "projection": PROJECTION_STD}
        deviation = next((value for word, value in own.items() if word in name), (2 / sum(parameter.shape)) ** 0.5)
        if name.endswith(("W_o.weight", "W_2.weight")):
            deviation /= math.sqrt(2 * 2 if name.startswith("encoder") else 3 * 3)
        assert parameter.std().item() == pytest.approx(deviation, rel=0.05), name
        assert abs(parameter.mean().item()) < 5 * deviation / parameter.numel() ** 0.5, name


def test_the_seed_decides_every_parameter_and_the_models_generator_its_dropout():
    """The global generator decides nothing, and a copy has a life of its own."""
    before = torch.get_rng_state()
    first, second, other = (build(seed=seed, dropout=0.5) for seed in (5, 5, 6))
    assert torch.equal(torch.get_rng_state(), before)
    for (name, a), b, c in zip(first.named_parameters(), second.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b), name
        assert a.ndim == 1 or not torch.equal(a, c), name
    twin, state = copy.deepcopy(first), first.generator.get_state()
    assert twin.dropout.generator is twin.generator
    logits = [model(SRC, TGT).logits for model in (twin, first, first)]
    assert torch.equal(logits[0], logits[1]), "neither draws from the other's generator"
    assert not torch.equal(logits[1], logits[2])
    first.generator.set_state(state)
    assert torch.equal(first(SRC, TGT).logits, logits[1])
    first.eval()
    assert torch.equal(first(SRC, TGT).logits, first(SRC, TGT).logits)


def test_zero_init_passes_the_input_on_embeddings_are_scaled_if_asked_and_the_mean_is_that_of_real_tokens():
    def embedded(model: Transformer) -> torch.Tensor:
        return model.embed(SRC, model.src_embedding, model.src_positions, position_ids(SRC.shape[1]))

    model = build(norm="pre", zero_init=True)
    torch.testing.assert_close(model.encode(SRC)[0], model.encoder_norm(embedded(model)))
    memory, _ = build(norm="pre", zero_init=True, residual=False).encode(SRC)
    assert (memory == 0).all()  # the last sublayer ends in a matrix of zeros, and nothing goes round it
    scaled, plain = (embedded(build(embedding_scale=scale, positions="none")) for scale in (True, False))
    torch.testing.assert_close(scaled, 4 * plain)
    whole, mean = (build(memory_mode=mode).encode(SRC)[0] for mode in ("whole", "mean"))
    for row, real in enumerate((5, 3)):
        torch.testing.assert_close(mean[row], whole[row, :real].mean(dim=0).expand(5, 16))
    torch.testing.assert_close(mean[1:, :3], build(memory_mode="mean").encode(SRC[1:, :3])[0])
    memory = torch.randn(2, 5, 16)
    assert torch.equal(build().apply_memory_mode(memory, padding_mask(SRC)), memory), "the whole is the encoder's output"


def by_and_by(model: Transformer, tgt_in: torch.Tensor, cuts: list[int], cache: DecoderCache):
    """States (B, T, D) and weights of every layer, of a target that comes in pieces which end at `cuts`."""
    memory, _ = model.encode(SRC)
    outputs = [model.decode(tgt_in[:, :end], memory, padding_mask(SRC), cache=cache) for end in cuts]
    return torch.cat([states for states, _, _ in outputs], dim=1), [weights for _, *weights in outputs]


@pytest.mark.trust
@pytest.mark.parametrize("third", [0, *(pytest.param(third, marks=pytest.mark.night) for third in (1, 2))])
@torch.inference_mode()
def test_the_newest_token_is_the_last_row_whatever_the_choices(third):
    """For combinations in which, all thirds together, every pair and every three choices of the architecture stand together."""
    worst = 0.0
    for knobs in combinations()[third::3]:
        config = ModelConfig(d_model=8, n_heads=2, d_ff=8, encoder_layers=1, decoder_layers=1, **knobs)
        model = disturb(Transformer(config, 11, 11, torch.Generator().manual_seed(1))).eval()
        states, _, _ = model.decode(TGT, model.encode(SRC)[0], padding_mask(SRC))
        cached, _ = by_and_by(model, TGT, [3, 4], DecoderCache(1))
        worst = max(worst, (model.project(cached) - model.project(states)).abs().max().item())
        assert torch.equal(model.project(cached).argmax(-1), model.project(states).argmax(-1)), knobs
    assert worst <= 1e-5


@settings(max_examples=12)
@given(st.sampled_from(limits("positions").choices), st.sets(st.integers(1, 3)))
def test_new_tokens_may_come_one_by_one_or_several_together(positions, earlier):
    cuts = [*sorted(earlier), 4]
    model = disturb(build(positions=positions))
    states, own, cross = model.decode(TGT, model.encode(SRC)[0], padding_mask(SRC))
    cached, pieces = by_and_by(model, TGT, cuts, DecoderCache(3))
    torch.testing.assert_close(cached, states, atol=1e-5, rtol=0)
    for layer in range(3):  # rows are those of the new tokens, columns of all tokens so far
        begin = 0
        for end, (own_weights, cross_weights) in zip(cuts, pieces, strict=True):
            torch.testing.assert_close(own_weights[layer], own[layer][:, :, begin:end, :end], atol=1e-6, rtol=0)
            torch.testing.assert_close(cross_weights[layer], cross[layer][:, :, begin:end], atol=1e-6, rtol=0)
            begin = end
