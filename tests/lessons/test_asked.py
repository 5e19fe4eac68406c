"""What lessons ask of the run on screen, answered on runs made by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from playground.config import Refusal
from playground.lessons import asked


def pieces(text: str) -> list:
    return [SimpleNamespace(text=piece) for piece in text.split()]


def reading(*rows: list[float]):
    """A reader of a model with one layer, whose heads look so while the first token is written."""
    look = SimpleNamespace(cross=np.array([[[row] for row in rows]]), source=pieces("a b c <eos>"), asked=pieces("x"))
    return SimpleNamespace(look=lambda run, step, text: look)


@pytest.mark.parametrize(
    ("rows", "answer"),
    [
        ([[0.6, 0.2, 0.1, 0.1]], "first"),
        ([[0.0, 0.0, 1.0, 0.0], [0.3, 0.3, 0.2, 0.2]], "last"),
        ([[0.1, 0.8, 0.1, 0.0]], "elsewhere"),
        ([[0.0, 0.0, 0.0, 1.0]], "elsewhere"),  # the end is no word of the sentence
        ([[1.0, 0.0, 0.0, 0.0], [0.0, 0.6, 0.4, 0.0]], "first"),
        ([[0.9, 0.0, 0.1, 0.0], [0.0, 0.6, 0.4, 0.0]], "nowhere"),
    ],
)
def test_where_it_looks_on_average(rows, answer):
    found, numbers = asked.looks(reading(*rows), None, None, "a b c")
    assert found == answer
    assert numbers["percent"] == pytest.approx(100 * np.mean(rows, axis=0).max())
    assert numbers["length"] == 3


def run(tokens=(), exact=(), losses=(), heldout=0.0):
    rows = {"step": list(range(10, 10 * len(tokens) + 1, 10)), "token_accuracy": list(tokens), "exact_match": list(exact)}
    last = {"loss": heldout, "exact_match": exact[-1]} if exact else None
    validations = SimpleNamespace(rows=lambda: rows, last=lambda: last)
    return SimpleNamespace(history=SimpleNamespace(validations=validations, steps=SimpleNamespace(column=lambda name: list(losses))))


@pytest.mark.parametrize(
    ("tokens", "exact", "step", "answer"),
    [
        ((0.5, 0.92, 0.99), (0.0, 0.4, 0.95), 20, "few"),
        ((0.5, 0.92, 0.99), (0.0, 0.5, 0.95), 20, "some"),
        ((0.95,), (0.9,), 10, "most"),
        ((0.3, 0.6), (0.0, 0.1), 20, "few"),  # never nine in ten: the last one
    ],
)
def test_sentences_when_nine_in_ten_tokens_are_right(tokens, exact, step, answer):
    found, numbers = asked.tokens_first(None, run(tokens, exact), None, "")
    assert (found, numbers["step"]) == (answer, step)


@pytest.mark.parametrize(
    ("losses", "heldout", "answer"), [((9.0, *[1.0] * 10), 1.4, "same"), ((1.0,), 1.6, "larger"), ((1.6,), 1.0, "smaller")]
)
def test_the_newest_losses_are_compared(losses, heldout, answer):
    found, numbers = asked.gap(None, run((0.5,), (0.2,), losses, heldout), None, "")
    assert found == answer
    assert numbers == {"trained": losses[-1], "heldout": heldout, "exact": pytest.approx(20)}


@pytest.mark.parametrize("question", [asked.tokens_first, asked.gap])
def test_a_run_that_was_not_measured_says_so(question):
    with pytest.raises(Refusal, match="not been measured"):
        question(None, run(), None, "")
