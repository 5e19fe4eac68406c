"""Every number of a gradient is the sum of the terms that are shown, and every line can be calculated from what is printed."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from playground.choices import OPTIMISERS
from playground.config import PAD
from playground.features.step.query import entry, sites
from playground.features.step.rows_query import batch_rows, norm_before, readers, residual_gradient, score_gradients, stream_gradient
from playground.inspection import backward
from playground.inspection.arithmetic import Derivation
from playground.inspection.backward import ENOUGH, derive, explain_gradient, explain_logit, explain_loss, explain_mean, terms
from playground.inspection.backward_sublayer import explain_score, explain_stream, explain_weight
from playground.runs.run import Run
from playground.training.slow_step import SlowStep, slow_step
from tests.inspection.conftest import calculate
from tests.variants.varied import training_of

OPTIONS = [
    {}, {"dropout": 0.2, "optimiser": "adam", "label_smoothing": 0.1}, {"optimiser": "adamw", "share_embeddings": "all", "norm": "pre"},
    {"packing": False, "positions": "learned", "share_embeddings": "output", "norm": "none", "residual": False, "attention_scale": 1.0,
     "d_k": 2}, {"architecture": "causal_decoder", "norm": "pre", "positions": "learned"},
]  # fmt: skip


@pytest.fixture(scope="module", params=OPTIONS, ids=str)
def slow(request) -> SlowStep:
    """A step of a model whose numbers are float64, so that sums agree to the last digits."""
    torch.set_default_dtype(torch.float64)
    try:
        training = training_of(**request.param)
        slow_step(training)
        return slow_step(training)
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.fixture
def knobs(request) -> dict:
    return request.node.callspec.params["slow"]


def calculates(sheet: Derivation) -> None:
    """Every line of a sheet leads to what stands behind it, and the last to the number that it is about."""
    assert sheet.agrees
    for step in sheet.steps:
        assert calculate(step.text, sheet) == pytest.approx(float(step.result), rel=1e-3)
    assert float(sheet.result) == pytest.approx(float(sheet.recorded), rel=1e-3)


@pytest.mark.trust
def test_terms_add_up_to_autograds_gradient_of_every_parameter(slow):
    most, batch = max(float(gradient.abs().max()) for gradient in slow.gradients.values()), batch_rows(slow)
    for name, gradient in slow.gradients.items():
        places = sites(slow, name)
        for place in np.unique(np.linspace(0, gradient.numel() - 1, 5).astype(int)):
            index = tuple(map(int, np.unravel_index(place, gradient.shape)))
            total = sum(float(terms(site, index).products.sum()) for site in places)
            assert total == pytest.approx(float(gradient[index]), rel=1e-9, abs=1e-13 * most), (name, index)
    for token, site in product(range(4, 9), sites(slow, "src_embedding.weight")):
        if site.module.endswith("_embedding"):
            ids, outcome = batch.src if site.module == "src_embedding" else batch.tgt_in, terms(site, (token, 0))
            assert (ids[outcome.rows, outcome.places] == token).all()
            assert len(outcome.rows) <= (ids == token).sum()  # dropout leaves some out


@pytest.mark.trust
def test_what_comes_back_through_the_softmax_and_along_the_stream_is_autograds_gradient(slow, knobs):
    name = list(slow.attentions)[-1]
    (attended, *_), (flow, *_) = slow.attentions[name], slow.flows[f"{name}.W_q"]
    for head in range(2):
        result = score_gradients(slow, name, 0, head)
        computed = result.scores @ attended.k[0, head].numpy() / attended.q.shape[-1] ** knobs.get("attention_scale", 0.5)
        width = attended.q.shape[-1]
        assert computed == pytest.approx(flow.gradient[0, :, head * width : (head + 1) * width].numpy(), rel=1e-9, abs=1e-13)
        for row, weights in zip(result.rows, result.weights, strict=True):
            assert row.weight_gradients == pytest.approx(weights, rel=1e-9, abs=1e-15)
    assert len(slow.sums) == (4 if "architecture" in knobs else 5)
    for name in slow.sums:
        total = stream_gradient(slow, name, 0)
        for place in (0, 2):
            passed = residual_gradient(slow, name, 0, place) * knobs.get("residual", True)
            if knobs.get("norm") == "pre":
                norm = norm_before(slow, name, 0, place)
                along = norm.error.mean() + norm.normed * (norm.error * norm.normed).mean()
                through = (norm.error - along) / norm.deviation
            else:
                reading = readers(slow, name, 0, place, 0)
                through = sum(slow.before[f"{name}.{reader.symbol}.weight"].numpy().T @ reader.delta for reader in reading)
            assert total[place] == pytest.approx(passed + through, rel=1e-9, abs=1e-14 + 1e-12 * float(np.abs(total).max()))


def largest(values) -> tuple[int, ...]:
    return tuple(map(int, np.unravel_index(int(np.abs(values).argmax()), values.shape)))


def test_every_sheet_is_what_a_pocket_calculator_makes_of_it(slow, knobs):
    for name in ("encoder.0.self_attention.W_q.weight", "decoder.0.cross_attention.W_k.weight", "tgt_embedding.weight"):
        name = name if name in slow.gradients else "src_embedding.weight"  # where one stands for all
        index = largest(slow.gradients[name])
        calculates(explain_gradient(sites(slow, name), name, index, float(slow.gradients[name][index])))
    for name in slow.attentions:
        result = score_gradients(slow, name, 0, 1)
        query, key = largest(result.scores)
        calculates(explain_score(result.rows[query], key, name, (query, key), float(result.scores[query, key])))
        calculates(explain_weight(result.rows[query], key, name, (query, key), float(result.weights[query, key])))
        assert not result.scores[~result.mask].any()
    for name in slow.sums:
        total = stream_gradient(slow, name, 0)
        place, dim = largest(total)
        norm = norm_before(slow, name, 0, place) if knobs.get("norm") == "pre" else None
        passed = float(residual_gradient(slow, name, 0, place)[dim]) if knobs.get("residual", True) else None
        reading = [] if norm else readers(slow, name, 0, place, dim)
        calculates(explain_stream(reading, norm, dim, passed, name, (place, dim), float(total[place, dim])))
    losses = np.concatenate([losses[part.tgt_out != PAD].numpy() for losses, part in zip(slow.losses, slow.parts, strict=True)])
    calculates(explain_mean(losses, [(0, at) for at in range(len(losses))], slow.loss))
    assert losses.mean() == pytest.approx(slow.loss, rel=1e-6)
    sheet = derive("", (0,), -9.87654321e-7, lambda sheet: sheet.write(-9.87654321e-7), size=1e12, least=1)
    assert float(sheet.result) == pytest.approx(-9.87654321e-7, rel=ENOUGH), "a sum that cancels has the digits that its own size needs"
    logits, target, smoothing = slow.logits[0][0, 0].numpy(), int(slow.parts[0].tgt_out[0, 0]), slow.live.label_smoothing
    loss = float(slow.losses[0][0, 0])
    assert [explain_loss(logits, target, smoothing, times * loss).agrees for times in (1, 1.01)] == [True, False]
    for token in {target, int(logits.argmax()), 5}:
        value = float(slow.flows["projection"][0].gradient[0, 0, token])
        calculates(explain_logit(logits, target, token, smoothing, slow.tokens, value))
        assert not explain_logit(logits, target, token, smoothing, slow.tokens, 1.01 * value).agrees


NAMES = ("encoder.0.feed_forward.W_1.weight", "tgt_embedding.weight", "decoder.0.norm_1.weight")  # tall, a table, and no matrix


@settings(max_examples=8)
@given(
    st.sampled_from(list(OPTIMISERS)),
    st.sampled_from(({}, {"weight_decay": 0.2, "max_grad_norm": 0.1}, {"max_grad_norm": 0.0, "beta1": 0.5})),
)
def test_a_sheet_leads_to_the_parameter_after_the_step(optimiser, knobs):
    training = training_of(optimiser=optimiser, **knobs)
    slow_step(training)  # so that there are moments
    slow, run = slow_step(training), Run("id", "name", training.experiment)
    for name in NAMES:
        gradient = slow.gradients[name]
        index = tuple(int(i) for i in (gradient == gradient.max()).nonzero()[0])
        sheet = backward.explain_update(entry(slow, run, name, index), name, index)
        assert sheet.agrees, (name, sheet)
        for step in sheet.steps:
            assert calculate(step.text, sheet) == pytest.approx(float(step.result), rel=1e-5, abs=1e-12), step
        move = float(sheet.result) - float(slow.before[name][index])
        assert move == pytest.approx(float(slow.after[name][index] - slow.before[name][index]), rel=0.02)
