"""What a caption says about a stage, on numbers small enough to check by hand."""

import math

import numpy as np
import pytest

from playground.config import MAX_POSITIONS
from playground.inspection.activations import Stage
from playground.inspection.tensors import LONG_TABLE, facts, number, shown
from playground.model.positions import LearnedPositions, NoPositions, SinusoidalPositions, sinusoids


def stage(address, axes, values, inputs=(), mask=None, layer=0, source=len):
    return Stage(address, address.rpartition(".")[2], "encoder", layer, axes, np.array(values), mask, inputs, source)


def answer(*stages, head=0, rows=("a", "b", "a"), columns=None):
    """The statements about the last of these stages."""
    known = {one.address: one for one in stages}
    this = stages[-1]
    columns = columns or [str(n + 1) for n in range(this.values.shape[-1])]
    result = facts(shown(this, known, head, rows, columns))
    return {fact.key.removeprefix("map.fact_"): fact.values for fact in result}


IDS = stage("src.ids", "S", [4, 7, 4], layer=None)


def test_where_the_numbers_go_and_where_the_largest_is():
    result = answer(stage("encoder.0.feed_forward.W_2", "SD", [[1.0, -2.0], [0.5, 1.5], [0.0, 2.0]]))
    assert result["range"] == {"low": "−2", "high": "2", "mean": "0.5", "row": "a", "column": "2", "value": "−2"}  # the first of equals
    assert result["length"]["length"] == number((math.sqrt(5) + math.sqrt(2.5) + 2) / 3)


def test_a_repeated_token_has_one_embedding_and_two_positions():
    assert answer(IDS) == {"ids": {"tokens": 3}, "twin_ids": {"token": "a", "id": 4}}
    embedding = stage("src.embedding", "SD", [[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]], ("src.ids",), layer=None)
    assert answer(IDS, embedding)["twins_same"] == {"token": "a", "first": 1, "second": 3}
    placed = stage("src.positions", "SD", [[1.0, 3.0], [4.0, 4.0], [1.0, 1.0]], ("src.embedding",), layer=None)
    result = answer(IDS, embedding, placed)
    assert result["twins_differ"] == {"token": "a", "first": 1, "second": 3, "apart": "2"}
    assert result["positions"]["added"] == "1"  # each row moved by a vector of length 1
    other = stage("src.ids", "S", [4, 7, 5], layer=None)
    assert "twins_same" not in answer(other, embedding)


@pytest.mark.parametrize("rows", [1, 3, MAX_POSITIONS])
def test_a_longer_table_of_sinusoids_begins_as_the_models(rows):
    """As far as torch computes a sine alike wherever it stands; in the rows of another position it is far off."""
    ids = stage("src.ids", "S", [4] * rows, layer=None)
    embedding = stage("src.embedding", "SD", np.zeros((rows, 8)), ("src.ids",), layer=None)
    where = {"address": "src.positions", "axes": "SD", "values": np.zeros((rows, 8)), "inputs": ("src.embedding",), "layer": None}
    result = answer(ids, embedding, stage(**where, source=SinusoidalPositions.forward), rows=["a"] * rows)["position_table"]
    assert (result["most"], result["rows"], result["long"]) == (MAX_POSITIONS, rows, "5,000")
    assert float(result["apart"]) < 1e-5
    table = SinusoidalPositions(8).table
    assert len(table) == MAX_POSITIONS
    assert (sinusoids(LONG_TABLE, 8)[1 : MAX_POSITIONS + 1] - table).abs().max() > 0.1
    for other in (LearnedPositions.forward, NoPositions.forward):
        assert "position_table" not in answer(ids, embedding, stage(**where, source=other), rows=["a"] * rows)


def test_scaling_says_by_how_much():
    before = stage("src.embedding", "SD", [[1.0, -1.0, 1.0, -1.0]] * 3, ("src.ids",), layer=None)
    after = stage("src.scaled", "SD", [[2.0, -2.0, 2.0, -2.0]] * 3, ("src.embedding",), layer=None)
    assert answer(IDS, before, after)["times_root"] == {"width": 4, "factor": "2", "before": "1", "after": "2"}
    at = "encoder.0.self_attention"
    q = stage(f"{at}.q", "HSK", np.ones((1, 3, 4)))
    scores = stage(f"{at}.scores", "HSS", [[[4.0, -4.0, 0.0]] * 3], (f"{at}.q",))
    scaled = stage(f"{at}.scaled", "HSS", scores.values / 2, (f"{at}.scores",))
    assert answer(q, scores, scaled)["divided"] == {"size": 4, "factor": "2", "before": "3.27", "after": "1.63"}


def test_masked_cells_are_counted_and_left_out_of_the_range():
    mask = np.tril(np.ones((1, 3, 3), dtype=bool))
    values = np.where(mask, [[1.0, 2.0, 3.0]] * 3, -1e30)
    result = answer(stage("decoder.0.self_attention.masked", "HTT", values, mask=mask))
    assert result["masked"] == {"hidden": 3, "cells": 9}
    assert (result["range"]["low"], result["range"]["high"]) == ("1", "3")
    everything = np.ones((1, 3, 3), dtype=bool)
    assert "nothing_masked" in answer(stage("decoder.0.self_attention.masked", "HTT", np.ones((1, 3, 3)), mask=everything))


def test_weights_tell_the_surest_and_the_least_sure_row_of_the_head_shown():
    values = [[[1.0, 0.0, 0.0]] * 3, [[0.1, 0.9, 0.0], [0.4, 0.3, 0.3], [0.0, 0.2, 0.8]]]
    this = stage("encoder.0.self_attention.weights", "HSS", values, mask=np.ones((1, 3, 3), dtype=bool))
    result = answer(this, head=1, rows=("x", "y", "z"), columns=["x", "y", "z"])["weights"]
    other = {"other_row": "y", "other_column": "x", "other_percent": 40}
    assert result == {"total": "1.000", "row": "x", "column": "y", "percent": 90} | other
    assert "weights_one" in answer(this, head=0)


def test_a_mixed_row_points_where_its_weight_lies():
    at = "encoder.0.self_attention"
    v = stage(f"{at}.v", "HSK", [[[1.0, 0.0], [0.0, 2.0]]])
    weights = stage(f"{at}.weights", "HSS", [[[0.5, 0.5], [0.0, 1.0]]], mask=np.ones((1, 2, 2), dtype=bool))
    mixed = stage(f"{at}.mixed", "HSK", weights.values @ v.values, (f"{at}.weights", f"{at}.v"))
    assert answer(v, weights, mixed, rows=("p", "q"))["mixed"] == {"row": "q", "place": 2, "percent": 100, "cosine": "1.00"}


def test_silent_units():
    result = answer(stage("encoder.0.feed_forward.activated", "SF", [[0.0, 1.0, 0.0, 2.0], [0.0, 0.0, 3.0, 1.0], [0.0, 1.0, 0.0, 0.0]]))
    assert result["zeros"] == {"percent": 58, "units": 4, "silent": 1}
    assert answer(stage("encoder.0.feed_forward.activated", "SF", [[-0.1, 1.0]] * 3))["no_zeros"] == {"units": 2, "percent": 50}


def test_a_residual_compares_what_came_with_what_was_added():
    x, y = stage("src.embedding", "SD", [[3.0, 4.0]] * 3), stage("encoder.0.feed_forward.W_2", "SD", [[0.0, -4.0]] * 3)
    total = stage("encoder.0.feed_forward.residual", "SD", x.values + y.values, (x.address, y.address))
    assert answer(x, y, total)["residual"] == {"before": "5", "added": "4", "after": "3"}


def test_the_closest_call():
    result = answer(stage("logits", "TV", [[1.0, 5.0, 2.0], [3.0, 2.5, 0.0]], layer=None), rows=("r", "s"), columns=["u", "v", "w"])
    assert result["logits"] == {"row": "s", "best": "u", "next": "v", "lead": "0.5"}
