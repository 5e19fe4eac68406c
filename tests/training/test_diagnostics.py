"""The health of a training step: its numbers are the step's own, and measuring changes nothing. A validation: what a model writes."""

import copy
import math
from functools import partial
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch.nn import functional as F

from playground.config import EOS, PAD, UNK, limits
from playground.data.batches import batches, collate, split_batch
from playground.data.corpus import Corpus, Item
from playground.decoding import greedy
from playground.model.copies import shadow_copy
from playground.model.costs import sublayer_of, sublayers
from playground.model.masks import padded
from playground.training import metrics
from playground.training.loop import Training
from playground.training.metrics import build_eval_set, validate
from playground.training.step import cross_entropy
from tests.variants.varied import corpus_of, disturb, naive, taught, training_of

OPTIONS = [
    {}, {"dropout": 0.2}, {"norm": "pre", "positions": "learned", "activation": "gelu"}, {"share_embeddings": "all", "bias": False},
    {"positions": "none", "share_embeddings": "output", "encoder_layers": 2}, {"memory_mode": "mean", "optimiser": "adam"},
    {"memory_mode": "cut"}, {"architecture": "causal_decoder", "encoder_layers": 1}, {"architecture": "prefix_decoder", "norm": "pre"},
]  # fmt: skip


@pytest.mark.trust
@settings(max_examples=settings.default.max_examples // 12)
@given(st.sampled_from(OPTIONS))
def test_training_is_the_same_bit_for_bit(knobs):
    plain, watched = training_of(**knobs), training_of(**knobs)
    watched.diagnostic_steps = frozenset(range(0, 100, 2))
    for normal, other in zip(plain.steps(), watched.steps(), strict=True):
        assert (normal.step, normal.loss, normal.grad_norm) == (other.step, other.loss, other.grad_norm)
        assert (other.diagnostics is not None) == (other.step % 2 == 0)
        assert normal.diagnostics is None
    assert all(map(torch.equal, plain.model.parameters(), watched.model.parameters()))
    assert not any(module._forward_hooks for module in watched.model.modules())


def by_hand(training: Training) -> dict[str, float]:
    """The same numbers of the next step, computed on a copy one after the other, as one would write them down."""
    model = copy.deepcopy(training.model).train()
    config = training.experiment.training
    parts = split_batch(
        next(batches(training.corpus.train, config.batch_size, config.batch_unit, config.seed)), config.threads, config.packing
    )
    outputs, hidden, masks, numbers, every, joint = {}, {}, {}, {}, {}, model.config.alteration.decoder_only

    def keep(store, route, choose, _module, inputs, out) -> None:
        store.setdefault(route, []).append(choose(inputs, out))

    for route in sublayers(model.config):
        if not route.endswith("_norm"):
            module = model.get_submodule(route.replace("_embedding", "_positions"))
            module.register_forward_hook(partial(keep, outputs, route, lambda _, out: out[0] if type(out) is tuple else out))
        if route.endswith("attention"):
            module.register_forward_hook(partial(keep, masks, route, lambda inputs, _: inputs[3]))
        if route.endswith("feed_forward"):
            module.W_1.register_forward_hook(lambda _m, _i, out, route=route: hidden.setdefault(route, []).append(out))
    total, weights = sum(int((part.tgt_out != PAD).sum()) for part in parts), []
    for part in parts:
        output = model(part.src, part.tgt_in, part.packing)
        weights.append(output)
        loss = cross_entropy(output.logits, part.tgt_out, config.label_smoothing)
        (loss * (part.tgt_out != PAD).sum() / total).backward()
    squares: dict[str, float] = {}
    for name, parameter in model.named_parameters():
        squares[sublayer_of(name)] = squares.get(sublayer_of(name), 0.0) + parameter.grad.square().sum().item()
    numbers |= {f"{route}/gradient": math.sqrt(square) for route, square in squares.items()}
    for route, calls in outputs.items():
        both = route.startswith("layers")  # of a decoder-only model, called for each side
        out = torch.cat(calls[:2], dim=1) if both else calls[joint and route == "tgt_embedding"]
        asks = [part.src if route.startswith(("src", "encoder")) else part.tgt_in for part in parts]
        asks = [(torch.cat((part.src, part.tgt_in), dim=1) if both else side) != PAD for part, side in zip(parts, asks, strict=True)]
        numbers |= {f"{route}/mean": out[asks[0]].mean().item(), f"{route}/std": out[asks[0]].std(correction=0).item()}
        if route in hidden:
            units = [torch.cat(hidden[route][2 * at : 2 * at + 2], dim=1) for at in range(len(parts))] if both else hidden[route]
            units = torch.cat([each[real] for each, real in zip(units, asks, strict=True)])
            numbers[f"{route}/dead"] = (units <= 0).all(dim=0).float().mean().item()
    first, output = parts[0], weights[0]
    across = [torch.cat(blocks, dim=-1) for blocks in zip(output.cross, output.decoder, strict=True)] if joint else ()
    kinds = (
        ("layers.{}.self_attention", output.encoder, first.src), ("layers.{}.self_attention", across, first.tgt_in),
    ) if joint else (
        ("encoder.{}.self_attention", output.encoder, first.src), ("decoder.{}.self_attention", output.decoder, first.tgt_in),
        ("decoder.{}.cross_attention", output.cross, first.tgt_in),
    )  # fmt: skip
    for name, layers, asking in kinds:
        for layer, found_weights in enumerate(layers):
            route = name.format(layer)
            mask = masks[route][joint and asking is first.tgt_in]
            for head in range(found_weights.shape[1]):
                shares = every.setdefault(f"{route}/entropy.{head}", [])
                for row, t in (asking != PAD).nonzero().tolist():
                    visible = mask[row, 0, t if mask.shape[2] > 1 else 0]
                    if visible.sum() > 1:
                        w = found_weights[row, head, t][visible].double()
                        shares.append((-(w * w.clamp(min=1e-30).log2()).sum() / math.log2(visible.sum())).item())
    return numbers | {name: sum(shares) / len(shares) for name, shares in every.items()}


@pytest.mark.trust
@settings(max_examples=settings.default.max_examples // 8)
@given(st.sampled_from([knobs for knobs in OPTIONS if "dropout" not in knobs]), st.booleans())
def test_every_number_is_what_one_computes_by_hand(knobs, packing):
    expected = by_hand(training_of(**knobs, packing=packing))
    training = training_of(**knobs, packing=packing)
    training.diagnostic_steps = frozenset({1})
    row = next(training.steps()).diagnostics
    assert {name: row[name] for name in expected} == pytest.approx(expected, rel=2e-3, abs=1e-6)


def test_lengths_add_up_and_the_update_is_the_step_that_was_taken():
    training = training_of()
    training.diagnostic_steps = frozenset({1})
    before = {name: parameter.detach().clone() for name, parameter in training.model.named_parameters()}
    step = next(training.steps())
    own = [name for name in before if sublayer_of(name) == "decoder.0.cross_attention"]
    after = dict(training.model.named_parameters())
    weight = math.hypot(*(before[name].norm().item() for name in own))
    moved = math.hypot(*((after[name] - before[name]).norm().item() for name in own))
    assert step.diagnostics["decoder.0.cross_attention/weight"] == pytest.approx(weight, rel=1e-5)
    assert step.diagnostics["decoder.0.cross_attention/update"] == pytest.approx(moved / weight, rel=1e-5)
    lengths = [step.diagnostics[f"{route}/gradient"] for route in sublayers(training.model.config)]
    assert math.hypot(*lengths) == pytest.approx(step.grad_norm, rel=1e-5)
    encoder = [step.diagnostics[f"{route}/gradient"] for route in sublayers(training.model.config) if route.startswith("encoder")]
    assert step.diagnostics["encoder/gradient"] == pytest.approx(math.hypot(*encoder), rel=1e-5)


def test_chunks_change_nothing(monkeypatch):
    training = taught("copy")
    whole = training.validate()
    monkeypatch.setattr(metrics, "VALIDATION_CELLS", 50)
    eval_set = build_eval_set(training.corpus, training.corpus.heldout)
    assert len(eval_set.batches) > 10
    for chunk, following in pairwise(eval_batch.batch for eval_batch in eval_set.batches):
        assert chunk.src.numel() + chunk.tgt_in.numel() <= 50 or len(chunk.src) == 1
        longest = int((following.src[0] != PAD).sum() + (following.tgt_in[0] != PAD).sum())
        assert (len(chunk.src) + 1) * longest > 50, "one more would have had room"
    pieces = validate(training.model, eval_set)
    assert (pieces.exact_match, pieces.token_accuracy, pieces.pairs) == (whole.exact_match, whole.token_accuracy, whole.pairs)
    assert pieces.loss == pytest.approx(whole.loss, rel=1e-4)


def test_any_right_answer_counts_one_that_cannot_be_written_is_never_exact_and_an_empty_exam_is_refused():
    training = taught("copy")
    corpus, model = training.corpus, training.model
    answers = {item: corpus.tgt_tokenizer.decode(greedy(model, [item.src_ids], max_length=40)[0].ids) for item in corpus.heldout}
    wrong = next(item for item, answer in answers.items() if answer != item.tgt)
    lenient = Corpus(**{**vars(corpus), "references": {wrong.src: (wrong.tgt, answers[wrong])}})
    alone, forgiven = (validate(model, build_eval_set(data, (wrong,))) for data in (corpus, lenient))
    assert (alone.exact_match, forgiven.exact_match, forgiven.pairs) == (0.0, 1.0, 1)
    assert (forgiven.loss, forgiven.token_accuracy) == (pytest.approx(alone.loss, rel=1e-4), alone.token_accuracy)
    unwritable = shadow_copy(model)
    unwritable.projection.bias = torch.nn.Parameter(model.projection.bias + 1e4 * F.one_hot(torch.tensor(UNK), len(model.projection.bias)))
    result = validate(unwritable, build_eval_set(corpus, (Item("x", "ß", wrong.src_ids, (UNK,)),)))
    assert (result.exact_match, result.token_accuracy) == (0, 0.5), "<unk> is right, EOS is not"
    training = training_of()
    eval_set = build_eval_set(training.corpus, training.corpus.heldout)
    training.model.train()
    with pytest.raises(ValueError, match="eval"):
        validate(training.model, eval_set)
    training.model.eval()
    with pytest.raises(ValueError, match="at least one"):
        build_eval_set(corpus_of(), ())


def examined(variant: str) -> tuple[Training, list[tuple[int, ...]], list[bool]]:
    """A training whose held-out answers are what its model writes, but for every third; what it writes; and which it gets right."""
    training = training_of(variant=variant, positions="both", seed=1)
    corpus, model = training.corpus, disturb(training.model)

    def scale(table: torch.Tensor) -> float:
        return 0.1 / table.std().item() if variant.endswith("_embeddings") else 5.0  # those begin larger than others

    with torch.no_grad():
        for embedding in (model.src_embedding, model.tgt_embedding):
            embedding.weight.mul_(scale(embedding.weight))  # so that tokens matter as much as their places
        model.projection.weight.mul_(4)
        model.projection.bias[EOS] += 4
        model.projection.bias[[PAD, UNK]] -= 1e4
    written = naive(model, padded([(*item.src_ids, EOS) for item in corpus.heldout]), 20)
    answers = [ids[:-1] if n % 3 else (*ids[:-1], 5) for n, ids in enumerate(written)]
    items = [Item(item.src, "", item.src_ids, ids) for item, ids in zip(corpus.heldout, answers, strict=True)]
    training.corpus = Corpus(**{**vars(corpus), "heldout": tuple(items), "references": {}})
    return training, written, [(*item.tgt_ids, EOS) == ids for item, ids in zip(items, written, strict=True)]


@settings(max_examples=settings.default.max_examples // 5)
@given(st.sampled_from(limits("variant").choices))
def test_metrics_of_a_changed_model_are_those_of_what_it_writes_and_is_given(variant):
    """Of one that sees what it is to predict too. Padding is as in the exam, for those to whom it matters."""
    training, _, right = examined(variant)
    assert 0 < sum(right) < len(right), "the test needs a model that is right and wrong"
    assert training.validate().exact_match == sum(right) / len(right)
    batch = (training.variant.batch or (lambda batch: batch))(collate(training.corpus.heldout))
    logits, validation = training.model(batch.src, batch.tgt_in).logits, training.validate()
    loss = F.cross_entropy(logits.flatten(0, 1), batch.tgt_out.flatten(), ignore_index=PAD)
    assert validation.loss == pytest.approx(loss.item(), rel=1e-4)
    real = batch.tgt_out != PAD
    assert validation.token_accuracy == pytest.approx((logits.argmax(-1) == batch.tgt_out)[real].float().mean().item())


def test_written_and_in_one_pass_only_an_honest_model_gets_the_same_right():
    """One that looks ahead would be believed. Of trained models, see what greedy decoding writes in evaluation/test_query.py."""
    trainings = (taught("copy"), examined("none")[0], examined("no_causal_mask")[0])
    for training, same in zip(trainings, (True, True, False), strict=True):
        eval_set = build_eval_set(training.corpus, training.corpus.heldout)
        first, other = (validate(training.model, eval_set, **how) for how in ({}, {"written": True}))
        assert (first == other, first.exact_match == other.exact_match) == (same, same)
