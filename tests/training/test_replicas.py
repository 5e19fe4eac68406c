"""Packed rows, parts of a batch, fused attention, drawn dropout, fast products and a GPU's replay are ways to compute the same thing."""

import math
from dataclasses import replace
from itertools import islice, product

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from playground.choices import VARIANTS
from playground.config import PAD, limits
from playground.data.batches import Batch, batches, collate, split_batch
from playground.model.attention import scaled_dot_product_attention
from playground.model.parts import Dropout
from playground.model.transformer import Transformer
from playground.runs.machine_speed import BATCHES, estimate_work
from playground.runs.queue.parallel import Helpers
from playground.training import replicas
from playground.training.fast_step import MAX_GRAPHS, CapturedSteps
from playground.training.loop import Diverged, Training
from playground.training.optimisers import Muon
from playground.training.replicas import LEVELS, FastDropout, fast_attention, fast_linear, has_onednn, replica
from playground.training.step import cross_entropy
from tests.variants.varied import disturb, draw, training_of

VARIATIONS = [
    *({"positions": positions, "norm": norm} for positions, norm in product(limits("positions").choices, limits("norm").choices)),
    {"bias": False, "zero_init": True}, {"attention_scale": 0.0, "d_k": 2}, {"share_embeddings": "all"}, {"memory_mode": "mean"},
    {"memory_mode": "cut"}, {"architecture": "prefix_decoder"}, {"architecture": "causal_decoder", "positions": "rotary"},
    {"encoder_layers": 2, "decoder_layers": 2, "n_heads": 4, "activation": "gelu"},
]  # fmt: skip
MIXING = (  # variants in which it matters what shares a row, or how long it is
    "batch_norm", "no_source_mask", "no_memory_mask", "inverted_mask", "softmax_over_queries", "norm_over_positions", "view_for_transpose",
    "tiny_fill", "wrong_lengths", "no_mask_at_inference", "gru", "gru_attention",
)  # fmt: skip


def some_items(training: Training, count: int = 24) -> list:
    return next(batches(training.corpus.train, count, "sentences", seed=5))


def gradients(model: Transformer, parts: list) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """The loss of a batch in parts, and its gradient."""
    total = sum(int((part.tgt_out != PAD).sum()) for part in parts)
    losses = [cross_entropy(model(p.src, p.tgt_in, p.packing).logits, p.tgt_out) * (p.tgt_out != PAD).sum() / total for p in parts]
    results = torch.autograd.grad(sum(losses), list(model.parameters()), allow_unused=True, materialize_grads=True)
    return sum(losses).detach(), list(results)


@pytest.mark.trust
@settings(max_examples=settings.default.max_examples // 3)
@given(st.sampled_from([*VARIATIONS, *({"variant": name} for name in VARIANTS if name not in MIXING)]))
def test_a_pair_gets_the_same_logits_in_a_packed_row_as_in_its_own(knobs):
    training = training_of(**knobs)
    items, model = some_items(training), disturb(training.model)
    (packed,) = split_batch(items, 1, packed=True)
    assert int(packed.tgt_segment_ids.max()) > 1, "nothing shares a row"
    parallel_map = model(packed.src, packed.tgt_in, packed.packing).logits
    for row, n in {(row, int(n)) for row, numbers in enumerate(packed.tgt_segment_ids) for n in numbers if n}:
        src, tgt = packed.src[row][packed.src_segment_ids[row] == n], packed.tgt_in[row][packed.tgt_segment_ids[row] == n]
        alone = model(src[None], tgt[None]).logits[0]
        torch.testing.assert_close(parallel_map[row][packed.tgt_segment_ids[row] == n], alone, rtol=1e-4, atol=2e-5)


@settings(max_examples=12)
@given(st.sampled_from(VARIATIONS), st.sampled_from([(1, True), (2, True), (4, False)]))
def test_loss_and_gradient_are_those_of_the_padded_batch(knobs, way):
    """Also of the replica, whose attention is fused and returns no weights."""
    parts, packed = way
    training = training_of(**knobs)
    items = some_items(training)
    loss, expected = gradients(training.model, [collate(items)])
    fused = replica(training.model).train()
    output = fused(torch.tensor([[5, 6, 2]]), torch.tensor([[1, 6]]))
    assert output.encoder[0] is None
    for model in (training.model, fused):
        other, results = gradients(model, split_batch(items, parts, packed))
        torch.testing.assert_close(other, loss, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(results, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("dropout", "threads"), [pytest.param(0.0, 4, marks=pytest.mark.night), (0.3, 2)])
def test_side_by_side_is_one_after_the_other_bit_for_bit(dropout, threads):
    knobs = {"dropout": dropout, "threads": threads, "encoder_layers": 2, "steps": 12}
    alone, wide = training_of(**knobs), training_of(**knobs)
    with Helpers(threads - 1) as helpers:
        wide.parallel_map = helpers.parallel_map(threads)
        assert (list(alone.steps()), alone.validate()) == (list(wide.steps()), wide.validate())
    assert all(map(torch.equal, alone.model.parameters(), wide.model.parameters()))


KNOBS = [
    {}, {"packing": False, "threads": 1}, {"optimiser": "adam", "batch_size": 24},
    {"batch_unit": "tokens", "batch_size": 150, "norm": "pre"},
]  # fmt: skip


@pytest.mark.parametrize("knobs", [KNOBS[0], *(pytest.param(knobs, marks=pytest.mark.night) for knobs in KNOBS[1:3]), KNOBS[3]], ids=str)
def test_products_of_a_step_are_what_torch_counts(knobs):
    """Explicit attention, as torch's counter knows it; Adam's own operations are no products."""
    training = training_of(**knobs, d_model=16, d_ff=32)
    config, model, counted, tokens, cells = training.experiment.training, training.model, 0, 0, 0
    stream = batches(list(training.corpus.train), config.batch_size, config.batch_unit, 1)
    for _ in range(BATCHES):
        for part in split_batch(next(stream), config.threads, config.packing):
            with FlopCounterMode(display=False) as counter:
                model(part.src, part.tgt_in, part.packing).logits.sum().backward()
            counted += counter.get_total_flops()
            tokens += int((part.src != PAD).sum() + (part.tgt_in != PAD).sum())
            cells += part.src.numel() + part.tgt_in.numel()
    for optimiser, _ in training.optimiser.parts:
        if isinstance(optimiser, Muon):
            with FlopCounterMode(display=False) as counter:
                optimiser.step()
            counted += BATCHES * counter.get_total_flops()
    work = estimate_work(training.experiment, training.corpus)
    assert (work.tokens, work.cells) == (tokens / BATCHES, cells / BATCHES)
    assert work.padding == pytest.approx(1 - tokens / cells)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    # the first layers of a stack need no gradient of their input, which the formula counts
    assert work.operations - 12 * parameters == pytest.approx(counted / BATCHES, rel=0.06)


@pytest.mark.parametrize(("dropout", "power", "width", "masked"), product((0.0, 0.3), (0.0, 0.5, 0.7), (4, 6), (True, False)))
def test_it_is_the_attention_of_the_model_with_all_its_gradients(dropout, power, width, masked):
    mask = draw(2, 1, 5, 7, seed=3) > -0.5 if masked else None
    if masked:
        mask[1, 0, 3] = False
    ours = [draw(2, 3, *size, seed=n).requires_grad_() for n, size in enumerate(((5, width), (7, width), (7, 4)))]
    theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
    results = []
    for attend, tensors in ((fast_attention, ours), (scaled_dot_product_attention, theirs)):
        out, _ = attend(*tensors, mask, power, Dropout(dropout, torch.Generator().manual_seed(4)).train())
        (out * draw(*out.shape, seed=9)).sum().backward()
        results.append(out)
    torch.testing.assert_close(*results)
    assert not masked or (results[0][1, :, 3] == 0).all(), "a query that sees nothing gets nothing"
    torch.testing.assert_close([tensor.grad for tensor in ours], [tensor.grad for tensor in theirs])


@pytest.mark.parametrize("p", [0.05, 0.1, 0.5])
def test_just_that_share_of_all_levels_is_dropped_and_the_rest_divided_by_what_is_kept(p, monkeypatch):
    """Given every one of the integers once, so nothing is left to chance."""
    every = torch.arange(-(2**15), 2**15, dtype=torch.int16)
    monkeypatch.setattr(torch.Tensor, "random_", lambda longs, *_, **__: longs.copy_(every.view(torch.int64)))
    multipliers = FastDropout(p, torch.Generator()).multipliers(torch.empty(LEVELS))
    dropped = (multipliers == 0).sum().item() / LEVELS
    assert dropped == pytest.approx(p, abs=1 / (2 * LEVELS))
    assert multipliers.max().item() == pytest.approx(1 / (1 - dropped))
    assert multipliers.double().mean().item() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.skipif(not has_onednn(), reason="torch is built without oneDNN")
@pytest.mark.parametrize(("rows", "inner", "outer"), [((9, 25), 16, 40), ((300,), 40, 16), ((11, 13), 8, 8), ((2, 3), 8, 8)])
@pytest.mark.parametrize("biased", [True, False])
def test_the_linear_map_and_its_gradients_are_torch_s(rows, inner, outer, biased, monkeypatch):
    monkeypatch.setattr(replicas, "SMALLEST", {torch.float32: 0, torch.bfloat16: 0})
    generator = torch.Generator().manual_seed(1)
    inputs = [torch.randn(*shape, generator=generator, requires_grad=True) for shape in ((*rows, inner), (outer, inner), (outer,))]
    inputs = inputs if biased else inputs[:2]
    results = []
    for linear in (fast_linear, F.linear, lambda *tensors: fast_linear(*tensors, *[None][biased:], torch.bfloat16)):
        out = linear(*inputs)
        results.append((out, *torch.autograd.grad((out * torch.arange(out.numel()).view(out.shape).cos()).sum(), inputs)))
    torch.testing.assert_close(*results[:2], rtol=1e-4, atol=1e-4)
    errors = [(rounded - exact).norm() / exact.norm() for rounded, exact in zip(results[2][:3], results[1], strict=False)]
    assert all(0 < error < 0.01 for error in errors) or rows == (2, 3), "8 bits, and too few rows to gain"


class Recorder:
    """Makes the calls again that a graph would set going."""

    def __init__(self) -> None:
        self.recorded = self.replayed = 0

    def __call__(self, update, batch):
        self.recorded += 1

        def again():
            self.replayed += 1
            return update(batch)

        return again


def replayed(**knobs) -> tuple[Training, Recorder]:
    training, recorder = training_of(threads=1, **knobs), Recorder()
    training.captured_steps = CapturedSteps(recorder)
    return training, recorder


RULES = [{}, {"optimiser": "adam"}, {"optimiser": "adamw", "weight_decay": 0.1}, {"packing": False}, {"max_grad_norm": 0.0}]


@pytest.mark.parametrize("knobs", [RULES[0], *(pytest.param(knobs, marks=pytest.mark.night) for knobs in RULES[1:])])
def test_a_replayed_training_is_the_training(knobs):
    knobs = {"dropout": 0.0, "steps": 40, "label_smoothing": 0.1} | knobs
    plain, (training, recorder) = training_of(threads=1, **knobs), replayed(**knobs)
    training.diagnostic_steps = {5, 17}  # steps that are looked at are computed call by call
    steps = list(training.steps())
    assert recorder.replayed > 20
    assert [bool(step.diagnostics) for step in steps] == [step.step in training.diagnostic_steps for step in steps]
    for normal, other in zip(plain.steps(), steps, strict=True):
        assert other.loss == pytest.approx(normal.loss, rel=2e-3, abs=1e-4)
        assert (other.step, other.learning_rate, other.tokens) == (normal.step, normal.learning_rate, normal.tokens)
    first = next(training_of(threads=1, **knobs).steps())
    assert steps[0].loss == pytest.approx(first.loss, rel=1e-6)
    assert steps[0].grad_norm == pytest.approx(first.grad_norm, rel=1e-5)


@pytest.mark.parametrize(("error", "good"), [
    (RuntimeError("not permitted when stream is capturing"), 0), (torch.OutOfMemoryError(""), 2),
    pytest.param(NotImplementedError(""), 2, marks=pytest.mark.night),
])  # fmt: skip
def test_where_a_step_cant_be_recorded_all_are_computed_call_by_call(error, good, caplog):
    """The same training, and one line in the log; what was recorded before goes on being replayed."""
    knobs = {"dropout": 0.0, "steps": 20}
    (plain, _), (training, recorder) = replayed(**knobs), replayed(**knobs)

    def failing(update, batch):
        if recorder.recorded == good:
            recorder.recorded += 1
            raise error
        return recorder(update, batch)

    training.captured_steps = CapturedSteps(failing)
    for normal, other in zip(plain.steps(), training.steps(), strict=True):
        assert (other.loss, other.grad_norm) == (normal.loss, normal.grad_norm)
    assert (recorder.recorded, bool(recorder.replayed)) == (good + 1, bool(good))
    assert [type(error).__name__ in record.getMessage() for record in caplog.records] == [True]


def is_taken_back(training: Training) -> None:
    """After a step that is no number the parameters are those of before."""
    steps = training.steps()
    list(islice(steps, 20))
    before = [parameter.detach().clone() for parameter in training.model.parameters()]
    next(steps)
    with torch.no_grad():
        training.model.projection.weight.fill_(math.nan)
    with pytest.raises(Diverged) as diverged:
        next(steps)
    assert (training.step, diverged.value.step) == (21, 22)
    assert all(map(torch.equal, training.model.parameters(), before))
    assert math.isfinite(training.validate().loss)


@pytest.mark.parametrize("captured", [True, False])
def test_a_step_that_is_no_number_is_taken_back(captured):
    is_taken_back(replayed(dropout=0.0, steps=40)[0] if captured else training_of(steps=40))


def test_only_so_many_shapes_are_recorded_a_live_knob_anew_and_too_little_memory_is_not_passed_over():
    def batch_of(width: int) -> Batch:
        return Batch(*(torch.ones(8, width, dtype=torch.long) for _ in range(3)))

    def impossible(batch):
        raise torch.OutOfMemoryError("CUDA out of memory")

    captured_steps = CapturedSteps(recorder := Recorder())
    for width in [8 * n for n in range(1, MAX_GRAPHS + 5)] * 3:
        assert captured_steps(lambda batch: batch.src.sum(), batch_of(width), ()) == 8 * width
    assert recorder.recorded == MAX_GRAPHS
    with pytest.raises(torch.OutOfMemoryError):
        CapturedSteps(Recorder())(impossible, batch_of(8), ())
    training, recorder = replayed(dropout=0.0, steps=40, packing=False)
    recorded = [recorder.recorded for _ in islice(training.steps(), 30)]
    training.live = replace(training.live, max_grad_norm=0.01)
    list(training.steps())
    assert recorder.recorded > recorded[-1]
