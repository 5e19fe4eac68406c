"""Every number of a gradient is the sum of the terms that are shown, and every line can be calculated from what is printed."""

import math

import numpy as np
import pytest
import torch

from playground.config import PAD
from playground.inspection.arithmetic import Derivation
from playground.inspection.backward import ENOUGH, derived, explain_gradient, explain_logit, explain_loss, explain_mean, terms
from playground.queries.training_rows import batch_rows
from playground.queries.training_step import sites
from playground.training.slow_step import SlowStep, slow_step
from tests.inspection.pocket import calculate
from tests.training.corpora import training_of

OPTIONS = [
    {}, {"dropout": 0.2, "optimiser": "adam", "label_smoothing": 0.1}, {"optimiser": "adamw", "share_embeddings": "all", "norm": "pre"},
    {"packing": False, "positions": "learned", "share_embeddings": "output"},
]  # fmt: skip


@pytest.fixture(scope="module", params=OPTIONS, ids=str)
def taken(request):
    """A step of a model whose numbers are float64, so that sums agree to the last digits."""
    torch.set_default_dtype(torch.float64)
    try:
        training = training_of(**request.param)
        slow_step(training)
        return slow_step(training)
    finally:
        torch.set_default_dtype(torch.float32)


def cells(shape: torch.Size) -> list[tuple[int, ...]]:
    """Some entries of a parameter, spread over it."""
    count = int(np.prod(shape))
    places = sorted({0, 1, count // 3, count // 2, count - 1} & set(range(count)))
    return [tuple(int(i) for i in np.unravel_index(place, shape)) for place in places]


def calculates(sheet: Derivation) -> None:
    """Every line of a sheet leads to what stands behind it, and the last to the number that it is about."""
    assert sheet.agrees
    for step in sheet.steps:
        assert calculate(step.text, sheet) == pytest.approx(float(step.result), rel=1e-3)
    assert float(sheet.result) == pytest.approx(float(sheet.shown), rel=1e-3)


@pytest.mark.trust
def test_terms_add_up_to_autograds_gradient_of_every_parameter(taken):
    largest = max(float(gradient.abs().max()) for gradient in taken.gradients.values())
    for name, gradient in taken.gradients.items():
        places = sites(taken, name)
        for index in cells(gradient.shape):
            total = sum(float(terms(site, index).products.sum()) for site in places)
            assert total == pytest.approx(float(gradient[index]), rel=1e-9, abs=1e-13 * largest), (name, index)


def test_a_gradients_sheet_is_what_a_pocket_calculator_makes_of_it(taken):
    for name in ("encoder.0.self_attention.W_q.weight", "decoder.0.cross_attention.W_k.weight", "tgt_embedding.weight"):
        gradient = taken.gradients.get(name, taken.gradients["src_embedding.weight"])  # where one stands for all
        name = name if name in taken.gradients else "src_embedding.weight"
        index = tuple(int(i) for i in np.unravel_index(int(gradient.abs().argmax()), gradient.shape))
        calculates(explain_gradient(sites(taken, name), name, index, float(gradient[index])))


def test_terms_of_an_embedding_stand_where_its_token_does(taken):
    """By the numbers that the rows have in the whole batch, whose parts are computed apart."""
    batch = batch_rows(taken)
    sides = {"src_embedding": batch.src, "tgt_embedding": batch.tgt_in}
    for name in ("src", "tgt_in"):
        parts = [getattr(part, name) for part in taken.parts]
        assert getattr(batch, name).shape == (sum(map(len, parts)), max(part.shape[1] for part in parts))
    for token in range(4, 9):
        for site in sites(taken, "src_embedding.weight"):
            outcome = terms(site, (token, 0))
            if site.module in sides:
                assert (sides[site.module][outcome.rows, outcome.places] == token).all()
                assert len(outcome.rows) <= (sides[site.module] == token).sum()  # dropout leaves some out


def first_target(taken: SlowStep) -> tuple[np.ndarray, int]:
    return taken.logits[0][0, 0].numpy(), int(taken.parts[0].tgt_out[0, 0])


def test_the_loss_of_a_token_and_its_gradient_are_worked_out(taken):
    """What training computed of the first target token, with label smoothing and without."""
    (logits, target), smoothing = first_target(taken), taken.live.label_smoothing
    loss = float(taken.losses[0][0, 0])
    assert explain_loss(logits, target, smoothing, loss).agrees
    assert not explain_loss(logits, target, smoothing, 1.01 * loss).agrees
    for token in {target, int(logits.argmax()), 5}:
        value = float(taken.flows["projection"][0].gradient[0, 0, token])
        calculates(explain_logit(logits, target, token, smoothing, taken.tokens, value))
        assert not explain_logit(logits, target, token, smoothing, taken.tokens, 1.01 * value).agrees


def test_the_mean_of_the_losses_is_the_loss(taken):
    stored = [(losses[part.tgt_out != PAD]).numpy() for losses, part in zip(taken.losses, taken.parts, strict=True)]
    losses = np.concatenate(stored)
    calculates(explain_mean(losses, [(0, at) for at in range(len(losses))], taken.loss))
    assert math.isclose(losses.mean(), taken.loss, rel_tol=1e-6)


@pytest.mark.parametrize("value", [1.23456789, -9.87654321e-7, 123456.789])
def test_a_sum_that_cancels_is_written_with_the_digits_that_its_own_size_needs(value):
    sheet = derived("", (0,), value, lambda sheet: sheet.write(value), size=1e12, least=1)
    assert float(sheet.result) == pytest.approx(value, rel=ENOUGH)
