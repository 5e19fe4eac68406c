"""Questions about a run on screen: from what it wrote, looked at and measured, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from playground.config import Refusal
from playground.lessons import run_questions
from playground.queries.translate import PLAIN, DecodingOptions


def pieces(text: str) -> list:
    return [SimpleNamespace(text=piece) for piece in text.split()]


@pytest.mark.parametrize(("rows", "answer"), [
    ([[0.6, 0.2, 0.1, 0.1]], "first"),
    ([[0.0, 0.0, 1.0, 0.0], [0.3, 0.3, 0.2, 0.2]], "last"),
    ([[0.0, 0.0, 0.0, 1.0]], "elsewhere"),  # the end is no word of the sentence
    ([[1.0, 0.0, 0.0, 0.0], [0.0, 0.6, 0.4, 0.0]], "first"),
    ([[0.9, 0.0, 0.1, 0.0], [0.0, 0.6, 0.4, 0.0]], "nowhere"),
])  # fmt: skip
def test_where_it_looks_on_average(rows, answer):
    everywhere = [0.25] * 4
    cross = np.array([[[everywhere] * 2 for _ in rows], [[row, everywhere] for row in rows]])  # (2, H, 2, 4)
    look = SimpleNamespace(cross=cross, source=pieces("a b c <eos>"), targets=pieces("x"))
    result, numbers = run_questions.looks(SimpleNamespace(look=lambda run, step, text: look), None, None, "a b c")
    assert (result, numbers["length"]) == (answer, 3)
    assert numbers["percent"] == pytest.approx(100 * np.mean(rows, axis=0).max())


def writing(monkeypatch, write):
    """From here on every run writes `write(text, way)`."""

    def translate(reader, run, step, text, way=PLAIN):
        written = write(text, way)
        return SimpleNamespace(candidates=[SimpleNamespace(text=written, correct=written == "False"), SimpleNamespace(text="")])

    monkeypatch.setattr(run_questions, "translate", translate)


@pytest.mark.parametrize(("unit", "joint"), [("characters", ""), ("bpe", " ")])
def test_two_unknown_tokens_come_out_alike_or_not(monkeypatch, unit, joint):
    reader = SimpleNamespace(units=lambda run: (unit, unit))
    writing(monkeypatch, lambda text, way: text[:0:-1])  # whatever came first
    assert run_questions.unknown(reader, None, None, "ab")[0] == "same"
    writing(monkeypatch, lambda text, way: text)
    result, numbers = run_questions.unknown(reader, None, None, "ab")
    assert (result, numbers["one"], numbers["other"]) == ("other", *(f"{stranger}{joint}ab" for stranger in run_questions.STRANGERS))


@pytest.mark.parametrize(("harder", "unequal", "answer"), [(True, 0, "never"), (True, 4, "few"), (True, 5, "many"), (False, 1, "few")])
def test_of_how_many_sentences_a_beam_of_four_writes_something_else(monkeypatch, harder, unequal, answer):
    splits = {"harder": [(f"long {n}", "") for n in range(10 * harder)], "heldout": [(f"short {n}", "") for n in range(10)]}
    reader = SimpleNamespace(examples=lambda run, split, count: splits[split][:count])
    beams = [f"{'long' if harder else 'short'} {n}" for n in range(unequal)]
    writing(monkeypatch, lambda text, way: f"{text in beams and way == DecodingOptions(method='beam', width=4)}")
    assert run_questions.beam(reader, None, None, "") == (answer, {"other": unequal, "all": 10, "right": 10, "best_right": 10 - unequal})


def run(tokens=(), exact=(), losses=(), heldout=0.0):
    rows = {"step": list(range(10, 10 * len(tokens) + 1, 10)), "token_accuracy": list(tokens), "exact_match": list(exact)}
    rows |= {"pairs": [100] * len(exact), "all_pairs": [500] * len(exact)}
    last = {"loss": heldout, "exact_match": exact[-1], "pairs": 500, "all_pairs": 500} if exact else None
    validations = SimpleNamespace(rows=lambda: rows, last=lambda: last)
    return SimpleNamespace(history=SimpleNamespace(validations=validations, steps=SimpleNamespace(column=lambda name: list(losses))))


@pytest.mark.parametrize(("tokens", "exact", "step", "answer"), [
    ((0.5, 0.92, 0.99), (0.0, 0.4, 0.95), 20, "few"), ((0.5, 0.92, 0.99), (0.0, 0.5, 0.95), 20, "some"), ((0.95,), (0.9,), 10, "most"),
    ((0.3, 0.6), (0.0, 0.1), 20, "few"),  # never nine in ten: the last one
])  # fmt: skip
def test_sentences_when_nine_in_ten_tokens_are_right(tokens, exact, step, answer):
    result, numbers = run_questions.tokens_first(None, run(tokens, exact), None, "")
    assert (result, numbers["step"], numbers["pairs"], numbers["all_pairs"]) == (answer, step, 100, 500)


@pytest.mark.parametrize(("losses", "trained", "heldout", "answer"), [
    ((9.0, *[1.0] * 10), 1.0, 1.4, "same"),
    ((9.0, *[1.0] * 5, *[3.0] * 5), 2.0, 3.5, "larger"),  # ten steps, as one batch is like no other
    ((1.6,), 1.6, 1.0, "smaller"),
])  # fmt: skip
def test_the_newest_losses_are_compared(losses, trained, heldout, answer):
    for question in (run_questions.tokens_first, run_questions.gap):
        with pytest.raises(Refusal, match="no evaluation yet"):
            question(None, run(), None, "")
    result, numbers = run_questions.gap(None, run((0.5,), (0.2,), losses, heldout), None, "")
    assert result == answer
    assert numbers == {"trained": pytest.approx(trained), "heldout": heldout, "exact": pytest.approx(20), "pairs": 500, "all_pairs": 500}
