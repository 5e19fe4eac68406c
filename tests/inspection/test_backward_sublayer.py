"""Inside of a sublayer every gradient is the sum that is shown: through the softmax to a score, and along the residual stream."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from playground.inspection.backward_sublayer import explain_score, explain_stream, explain_weight
from playground.queries.step_sublayers import around, norm_before, readers, score_gradients, stream_gradient
from playground.training.slow_step import SlowStep, slow_step
from tests.inspection.test_backward import calculates
from tests.training.corpora import training_of

OPTIONS = [
    {}, {"dropout": 0.2, "label_smoothing": 0.1}, {"norm": "pre", "share_embeddings": "all"},
    {"norm": "none", "residual": False, "packing": False, "attention_scale": 1.0, "d_k": 2},
]  # fmt: skip


@pytest.fixture(scope="module", params=OPTIONS, ids=str)
def taken(request) -> tuple[SlowStep, dict]:
    """A step of a model whose numbers are float64, so that sums agree to the last digits."""
    torch.set_default_dtype(torch.float64)
    try:
        training = training_of(**request.param)
        slow_step(training)
        return slow_step(training), request.param
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.trust
def test_what_comes_back_through_the_softmax_is_autograds_gradient_of_the_queries(taken):
    """The gradient that autograd gives W_Q's output, which this code never sees, is the sum over the keys of ∂L/∂s times k."""
    slow, knobs = taken
    name = "decoder.0.cross_attention"  # its queries are not turned by rotary positions
    (attended, *_), (flow, *_) = slow.attentions[name], slow.flows[f"{name}.W_q"]
    for head in range(2):
        result = score_gradients(slow, name, 0, head)
        made = result.scores @ attended.k[0, head].numpy() / attended.q.shape[-1] ** knobs.get("attention_scale", 0.5)
        width = attended.q.shape[-1]
        assert made == pytest.approx(flow.gradient[0, :, head * width : (head + 1) * width].numpy(), rel=1e-9, abs=1e-13)
        for row, scores, weights in zip(result.rows, result.scores, result.weights, strict=True):
            assert row.weight_gradients == pytest.approx(weights, rel=1e-9, abs=1e-15)
            assert row.score_gradients == pytest.approx(scores, rel=1e-9, abs=1e-15)


def test_a_scores_sheet_is_what_a_pocket_calculator_makes_of_it(taken):
    slow, _ = taken
    for name in ("encoder.0.self_attention", "decoder.0.self_attention", "decoder.0.cross_attention"):
        result = score_gradients(slow, name, 0, 1)
        query, key = np.unravel_index(int(np.abs(result.scores).argmax()), result.scores.shape)
        calculates(explain_score(result.rows[query], int(key), name, (query, key), float(result.scores[query, key])))
        calculates(explain_weight(result.rows[query], int(key), name, (query, key), float(result.weights[query, key])))
        assert not result.scores[~result.mask].any()


@pytest.mark.trust
def test_the_stream_gets_what_goes_around_a_sublayer_and_what_comes_through_it(taken):
    """Against the gradient of the sublayer's input, as autograd adds it up."""
    slow, knobs = taken
    assert list(slow.sums) == [
        f"{stack}.0.{name}"
        for stack, names in (("encoder", ("self", "")), ("decoder", ("self", "cross", "")))
        for name in (f"{one}_attention" if one else "feed_forward" for one in names)
    ]
    for name in slow.sums:
        total = stream_gradient(slow, name, 0)
        for place in (0, 2):
            passed = around(slow, name, 0, place) * knobs.get("residual", True)
            if knobs.get("norm") == "pre":
                norm = norm_before(slow, name, 0, place)
                along = norm.error.mean() + norm.normed * (norm.error * norm.normed).mean()
                through = (norm.error - along) / norm.deviation
            else:
                through = sum(
                    slow.before[f"{name}.{one.symbol}.weight"].numpy().T @ one.delta for one in readers(slow, name, 0, place, 0)
                )
            assert total[place] == pytest.approx(passed + through, rel=1e-9, abs=1e-14 + 1e-12 * float(np.abs(total).max()))


def test_a_streams_sheet_is_what_a_pocket_calculator_makes_of_it(taken):
    slow, knobs = taken
    for name in slow.sums:
        total = stream_gradient(slow, name, 0)
        place, dim = map(int, np.unravel_index(int(np.abs(total).argmax()), total.shape))
        norm = norm_before(slow, name, 0, place) if knobs.get("norm") == "pre" else None
        passed = float(around(slow, name, 0, place)[dim]) if knobs.get("residual", True) else None
        reading = [] if norm else readers(slow, name, 0, place, dim)
        calculates(explain_stream(reading, norm, dim, passed, name, (place, dim), float(total[place, dim])))
