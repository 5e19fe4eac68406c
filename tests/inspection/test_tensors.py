"""Statements of captions about a stage, on numbers small enough to check by hand."""

import math

import numpy as np
import pytest

from playground.inspection.activations import Stage
from playground.inspection.tensors import facts, number, view_tensor

AT, ALL = "encoder.0.self_attention", np.ones((1, 3, 3), dtype=bool)


def stage(address, axes, values, inputs=(), mask=None, layer=0, source=len):
    return Stage(address, address.rpartition(".")[2], "encoder", layer, axes, np.array(values), mask, inputs, source)


def answer(*stages, head=0, rows=("a", "b", "a"), columns=None):
    known = {entry.address: entry for entry in stages}
    this = stages[-1]
    columns = columns or [str(n + 1) for n in range(this.values.shape[-1])]
    result = facts(view_tensor(this, known, head, rows, columns))
    return {fact.key.removeprefix("map.fact_"): fact.values for fact in result}


IDS, OTHER_IDS = (stage("src.ids", "S", ids, layer=None) for ids in ([4, 7, 4], [4, 7, 5]))
EMBEDDING = stage("src.embedding", "SD", [[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]], ("src.ids",), layer=None)
PLACED = stage("src.positions", "SD", [[1.0, 3.0], [4.0, 4.0], [1.0, 1.0]], ("src.embedding",), layer=None)
PLAIN = stage("src.embedding", "SD", [[1.0, -1.0, 1.0, -1.0]] * 3, ("src.ids",), layer=None)
SCALED = stage("src.scaled", "SD", PLAIN.values * 2, ("src.embedding",), layer=None)
Q, V = stage(f"{AT}.q", "HSK", np.ones((1, 3, 4))), stage(f"{AT}.v", "HSK", [[[1.0, 0.0], [0.0, 2.0]]])
SCORES = stage(f"{AT}.scores", "HSS", [[[4.0, -4.0, 0.0]] * 3], (f"{AT}.q",))
DIVIDED = stage(f"{AT}.scaled", "HSS", SCORES.values / 2, (f"{AT}.scores",))
CAUSAL = np.tril(ALL)
MASKED = stage("decoder.0.self_attention.masked", "HTT", np.where(CAUSAL, [[1.0, 2.0, 3.0]] * 3, -1e30), mask=CAUSAL)
OPEN = stage("decoder.0.self_attention.masked", "HTT", np.ones((1, 3, 3)), mask=ALL)
TWO_HEADS = [[[1.0, 0.0, 0.0]] * 3, [[0.1, 0.9, 0.0], [0.4, 0.3, 0.3], [0.0, 0.2, 0.8]]]
WEIGHTS, HALF = stage(f"{AT}.weights", "HSS", TWO_HEADS, mask=ALL), stage(f"{AT}.weights", "HSS", [[[0.5, 0.5], [0.0, 1.0]]], mask=ALL)
MIXED = stage(f"{AT}.mixed", "HSK", HALF.values @ V.values, (f"{AT}.weights", f"{AT}.v"))
BOTH = stage(f"{AT}.mixed", "HSK", [[[1.0, 0.0], [0.0, 2.0]], [[3.0, 4.0], [0.0, 0.0]]])
CONCAT = stage(f"{AT}.concat", "SD", [[1.0, 0.0, 3.0, 4.0], [0.0, 2.0, 0.0, 0.0]], (f"{AT}.mixed",))
ALONE = stage(f"{AT}.concat", "SD", MIXED.values[0], (f"{AT}.mixed",))
ACTIVATED = "encoder.0.feed_forward.activated"
X, Y = stage("src.embedding", "SD", [[3.0, 4.0]] * 3), stage("encoder.0.feed_forward.W_2", "SD", [[0.0, -4.0]] * 3)
RESIDUAL = stage("encoder.0.feed_forward.residual", "SD", X.values + Y.values, (X.address, Y.address))
LOGITS = stage("logits", "TV", [[1.0, 5.0, 2.0], [3.0, 2.5, 0.0]], layer=None)
W_2 = stage("encoder.0.feed_forward.W_2", "SD", [[1.0, -2.0], [0.5, 1.5], [0.0, 2.0]])
XYZ = {"rows": ("x", "y", "z"), "columns": ["x", "y", "z"]}


@pytest.mark.parametrize(("stages", "more", "key", "values"), [
    ([W_2], {}, "range", {"low": "−2", "high": "2", "mean": "0.5", "row": "a", "column": "2", "value": "−2"}),  # the first of equals
    ([W_2], {}, "length", {"length": number((math.sqrt(5) + math.sqrt(2.5) + 2) / 3)}),
    ([IDS], {}, "ids", {"tokens": 3}),
    ([IDS], {}, "twin_ids", {"token": "a", "id": 4}),
    ([IDS, EMBEDDING], {}, "twins_same", {"token": "a", "first": 1, "second": 3}),
    ([OTHER_IDS, EMBEDDING], {}, "twins_same", None),
    ([IDS, EMBEDDING, PLACED], {}, "twins_differ", {"token": "a", "first": 1, "second": 3, "apart": "2"}),
    ([IDS, PLAIN, SCALED], {}, "times_root", {"width": 4, "factor": "2", "before": "1", "after": "2"}),
    ([Q, SCORES, DIVIDED], {}, "divided", {"size": 4, "factor": "2", "before": "3.27", "after": "1.63"}),
    ([MASKED], {}, "masked", {"hidden": 3, "cells": 9}),
    ([WEIGHTS], {"head": 1, **XYZ}, "weights",
     {"total": "1.000", "row": "x", "column": "y", "percent": 90, "other_row": "y", "other_column": "x", "other_percent": 40}),
    ([V, HALF, MIXED], {"rows": ("p", "q")}, "mixed", {"row": "q", "place": 2, "percent": 100, "cosine": "1.00"}),
    ([BOTH, CONCAT], {"rows": ("p", "q")}, "concat", {"heads": 2, "size": 2, "last": 1, "longest": 2, "length": "2.5"}),
    ([stage(ACTIVATED, "SF", [[0.0, 1.0, 0.0, 2.0], [0.0, 0.0, 3.0, 1.0], [0.0, 1.0, 0.0, 0.0]])], {}, "zeros",
     {"percent": 58, "units": 4, "silent": 1}),
    ([stage(ACTIVATED, "SF", [[-0.1, 1.0]] * 3)], {}, "no_zeros", {"units": 2, "percent": 50}),
    ([X, Y, RESIDUAL], {}, "residual", {"before": "5", "added": "4", "after": "3"}),
    ([LOGITS], {"rows": ("r", "s"), "columns": ["u", "v", "w"]}, "logits", {"row": "s", "best": "u", "next": "v", "lead": "0.5"}),
])  # fmt: skip
def test_what_is_said_of_a_stage(stages, more, key, values):
    assert answer(*stages, **more).get(key) == values


def test_what_is_not_so_is_said_otherwise_and_masked_cells_have_no_range():
    cases = ((OPEN,), "nothing_masked", "masked"), ((WEIGHTS,), "weights_one", "weights"), ((MIXED, ALONE), "concat_one", "concat")
    for stages, key, other in cases:
        assert {key, other} & answer(*stages).keys() == {key}
    assert [answer(MASKED)["range"][end] for end in ("low", "high")] == ["1", "3"]
    assert answer(IDS, EMBEDDING, PLACED)["positions"]["added"] == "1"  # each row moved by a vector of length 1
