"""A pocket calculator gets every cell from the printed numbers, within 1e-5, and solves the sheet, whose key is the model's own."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from playground.choices import ARCHITECTURES
from playground.config import EOS
from playground.inspection.activations import record
from playground.inspection.arithmetic import SYMBOLS, Derivation, Label, Operand, Sheet, bracket, is_near, join_terms
from playground.inspection.derivation import explain
from playground.inspection.worksheet import DECIMALS, KINDS, TASKS, worksheet
from playground.model.transformer import Transformer
from playground.words import LANGUAGES, known, say
from tests.inspection.conftest import calculate, numbers, parts
from tests.inspection.test_activations import build as drawn

SRC, TGT = (4, 5, 6, 4), (7, 5, EOS)
PROMISED = 1e-5
CONSTANTS = {"0", "1", "2", "10000", "1e30"}


def build(**knobs) -> Transformer:
    return drawn(**{"d_model": 8, "n_heads": 2, "d_ff": 16, **knobs})


def within(a: float, b: float, enough: float = PROMISED) -> bool:
    return abs(a - b) <= enough * max(1.0, abs(b))


def value_of(model, stages, label: Label) -> float:
    if label.stage:
        return float(stages[label.stage].values[label.index])
    if label.name == "real":
        return 1.0
    module, _, attribute = label.parameter.rpartition(".")
    tensor = getattr(model.get_submodule(module), attribute)
    matrix = label.name.startswith("W_")
    sign = -1 if label.name == "minus_sin" else 1
    return sign * tensor[label.index[::-1] if matrix else label.index].item()


def check(model, stages, address, index) -> Derivation:
    """All that a derivation promises, of one cell."""
    outcome = explain(model, stages, address, index)
    cell, calculated = float(stages[address].values[index]), parts(outcome)
    assert outcome.agrees
    assert within(float(outcome.recorded), cell)
    assert within(float(outcome.result), float(outcome.recorded)), (address, index, outcome)
    for label, value in [(lead.label, lead.value) for lead in outcome.leads] + [(term.left, term.left_value) for term in outcome.terms]:
        if value:
            assert within(float(value), value_of(model, stages, label), 1e-6)
    for term, part in zip(outcome.terms, calculated, strict=True):
        assert within(float(term.part), part, 1e-6)
        if outcome.operation == "product":
            assert within(float(term.right_value), value_of(model, stages, term.right), 1e-6)
    if outcome.operation == "product" and outcome.steps[-1].key in ("map.why_sum", "map.why_bias"):  # also without rounding on the way
        bias = float(outcome.leads[0].value) if outcome.steps[-1].key == "map.why_bias" else 0.0
        assert within(sum(calculated) + bias, cell)
    assert address != "tgt.ids" or (outcome.steps[-1].key == "map.why_begin") == (index == (0,)), "the first id begins"
    shape = {str(size) for stage in stages.values() for size in stage.values.shape}
    printed = CONSTANTS | shape | {str(place) for place in range(max(stages[address].values.shape))}
    printed |= {number for lead in outcome.leads for number in numbers(lead.value)}
    printed |= {number for term in outcome.terms for text in (term.left_value, term.right_value, term.part) for number in numbers(text)}
    for step in outcome.steps:
        assert within(calculate(step.text, outcome), float(step.result), 1e-6), step
        printed |= {number for value in step.values.values() for number in numbers(str(value))}
        if stages[address].name != "ids":
            assert set(numbers(step.text)) <= printed, f"{step.text} needs numbers nobody has printed"
        printed |= set(numbers(step.result))
        for language in LANGUAGES:
            assert say(language, step.key, **step.values)
    assert outcome.result == outcome.steps[-1].result
    for language in LANGUAGES:
        assert say(language, outcome.key, **outcome.values)
        labels = [lead.label for lead in outcome.leads] + [label for term in outcome.terms for label in (term.left, term.right) if label]
        assert all(known(language, f"map.term_{label.name}") for label in labels)
    return outcome


@pytest.mark.trust
@settings(max_examples=8)
@given(st.data())
def test_cells_of_any_model(data):
    choose = data.draw
    architecture = choose(st.sampled_from(list(ARCHITECTURES)))
    memory_modes = ("whole", "mean", "cut") if architecture == "encoder_decoder" else ("whole",)
    model = build(
        seed=choose(st.integers(0, 9)), vocab=choose(st.sampled_from((6, 9, 40))), d_model=choose(st.sampled_from((8, 24))),
        n_heads=choose(st.sampled_from((1, 2, 8))), d_ff=choose(st.sampled_from((8, 40))), encoder_layers=choose(st.integers(1, 2)),
        decoder_layers=choose(st.integers(1, 2)), positions=choose(st.sampled_from(("sinusoidal", "learned", "rotary", "both", "none"))),
        norm=choose(st.sampled_from(("post", "pre", "none"))), activation=choose(st.sampled_from(("relu", "gelu", "none"))),
        d_k=choose(st.sampled_from((0, 1, 2, 16))), attention_scale=choose(st.sampled_from((0.0, 0.25, 0.5, 1.0))),
        memory_mode=choose(st.sampled_from(memory_modes)), share_embeddings=choose(st.sampled_from(("none", "output", "all"))),
        architecture=architecture, **{name: choose(st.booleans()) for name in ("embedding_scale", "residual", "bias")},
    )  # fmt: skip
    token = st.integers(4, 5)
    stages = record(model, choose(st.lists(token, min_size=1, max_size=12)), choose(st.lists(token, min_size=1, max_size=12)))
    for address, stage in stages.items():
        index = tuple(choose(st.integers(0, size - 1)) for size in stage.values.shape)
        check(model, stages, address, index)


@pytest.mark.trust
@pytest.mark.parametrize("positions", ["sinusoidal", "both"])
def test_the_last_places_of_a_long_sentence_too(positions):
    model = build(d_model=64, positions=positions)
    stages = record(model, [4] * 255, [5, EOS])
    for column in (0, 1, 2, 3, 10, 31, 63):
        check(model, stages, "src.positions", (254, column))
    if positions == "both":
        for column in range(6):
            check(model, stages, "encoder.0.self_attention.q_turned", (0, 255, column))
    check(model, stages, "encoder.0.self_attention.weights", (1, 3, 254))
    check(model, stages, "encoder.0.self_attention.mixed", (1, 3, 2))


def test_a_large_vocabulary_lists_its_largest_and_masked_cells_say_so():
    model = build(vocab=300)
    stages = record(model, SRC, TGT)
    logits = stages["logits"].values[1]
    for token in (int(logits.argmax()), int(logits.argmin())):
        *terms, last = check(model, stages, "probabilities", (1, token)).terms
        listed = {term.left.index[1] for term in terms}
        assert listed == {token, *np.argsort(-logits)[:6].tolist()}
        rest = sum(math.exp(float(logits[other]) - float(logits.max())) for other in range(300) if other not in listed)
        assert (last.left.name, float(last.part)) == ("rest", pytest.approx(rest, abs=1e-5))
    model = build(positions="both")
    stages = record(model, SRC, TGT)
    for address in ("src.positions", "tgt.positions"):
        assert check(model, stages, address, (1, 2)).leads[0].label == Label("x", (1, 2), stage=f"{address[:3]}.scaled")
    assert explain(model, stages, "encoder.0.self_attention.masked", (0, 1, 2)).leads[0].label.name == "score"
    concat = check(model, stages, "encoder.0.self_attention.concat", (1, 5))
    assert concat.steps[-1].values == {"head": 2, "column": 2}, "counted from 1, of four columns each"
    cells = ("masked", (0, 0, 2)), ("weights", (0, 0, 2)), ("weights", (0, 0, 0)), ("mixed", (0, 1, 0))
    shut, nothing, alone, mixed = (check(model, stages, f"decoder.0.self_attention.{stage}", index) for stage, index in cells)
    assert (shut.steps[0].key, shut.recorded, nothing.result, nothing.recorded, alone.result) == ("map.why_shut", "-1e30", "0", "0", "1")
    assert (len(alone.terms), len(mixed.terms)) == (1, 2), "what comes later is no term"
    for address, index in (("nothing.here", (0,)), ("logits", (0, 9)), ("logits", (-1, 0)), ("logits", (0,))):
        with pytest.raises((KeyError, IndexError)):
            explain(model, stages, address, index)


def test_numbers_are_written_short_what_is_calculated_with_is_printed_and_labels_count_as_the_paper_does():
    assert [Sheet(6).write(value) for value in (0.5, 8.0, -0.0000001, 1 / 3, -1e30)] == ["0.5", "8", "0", "0.333333", "-1e30"]
    assert (join_terms(["-0.1", "0.2", "-0.3"]), bracket("-2"), bracket("2")) == ("-0.1 + 0.2 - 0.3", "(-2)", "2")
    q, k = ([Operand(Label(name, (i,)), value) for i in range(2)] for name, value in (("q", 0.26), ("k", 1.0)))
    assert Sheet(1).multiply(q, k) == "0.6", "0.3 + 0.3, not 0.52"
    assert [is_near(0.1, 0.100004), is_near(0.1, 0.10001), is_near(1e3, 1000.004)] == [True, False, True], "absolute to 1, relative above"
    columns = dict.fromkeys(("b_vocabulary", "logit_of", "position"), "1]") | dict.fromkeys(("cos", "sin", "minus_sin"), "1, 2]")
    columns |= {"q": "2, 3]", "embedding": "1, 3]", "W_vocabulary": "2, 2]", "logit": "2, 2]"}
    for name, places in columns.items():
        assert Label(name, (1, 2)[: places.count(",") + 1]).text.partition("[")[2] == places, name
    assert Label("real").text == SYMBOLS["real"]


EMPTY = type("NoTable", (), {"terms": ()})  # a line of the key names no column


def solve(sheet) -> dict[str, np.ndarray]:
    """Every answer, from the printed tables alone, by numpy and without rounding on the way."""
    printed = {table.symbol: np.array([[float(number) for number in row] for row in table.rows]) for table in sheet.tables}
    x, q = printed["X"][sheet.row], printed["Q"][sheet.row]
    scores = printed["K"] @ q
    masked = np.where([box.answer != "-1e30" for box in sheet.tasks[2].boxes], scores / 2, -1e30)
    powers = np.exp(masked - masked.max())
    weights = powers / powers.sum()
    mixed = weights @ printed["V"]
    output = mixed @ printed["W_O"]
    residual = x + output
    norm = (residual - residual.mean()) / math.sqrt(residual.var() + 1e-5)
    return dict(zip(TASKS, (scores, scores / 2, masked, weights, mixed, output, residual, norm), strict=True))


@pytest.mark.trust
@pytest.mark.parametrize("kind", KINDS)
def test_the_key_is_what_the_printed_numbers_give(kind):
    words = [*TASKS, "X", "Q", "K", "V", "W_O", f"kind_{kind}"]
    assert all(known(language, f"map.worksheet_{name}") for language in LANGUAGES for name in words)
    for seed in range(3):
        sheet = worksheet(seed, kind)
        deviation = min(float(sheet.tasks[-1].way[-1].answer), 1.0)
        for task, expected in zip(sheet.tasks, solve(sheet).values(), strict=True):
            # In cross-attention what is given is rounded itself; a small deviation magnifies that.
            enough = (0.6 if kind != "cross" else 6 / deviation) * 10**-DECIMALS
            result = [float(box.answer) for box in task.boxes]
            assert result == pytest.approx(expected.tolist(), abs=enough, rel=1e-9), (seed, task.name)
            for box in task.boxes:
                assert calculate(box.line, EMPTY) == pytest.approx(float(box.answer), abs=5e-4 / deviation, rel=1e-9), (seed, task.name)
        hidden = [False, False, kind == "decoder"]
        assert [box.answer == "-1e30" for box in sheet.tasks[2].boxes] == hidden
        assert [box.answer == "0" for box in sheet.tasks[3].boxes] == hidden
    assert (sheet.queries[0] == "<bos>", sheet.keys[-1] == "<eos>") == (kind != "encoder", kind != "decoder")
