"""Truths about the lab of the positions."""

import math

import numpy as np
import pytest
import torch

from playground.config import MAX_POSITIONS, Refusal
from playground.lessons.tensors import positions as lab
from playground.model.positions import LearnedPositions, SinusoidalPositions, position_ids, sinusoids


def exhibit(outcome, name):
    return next(shown for shown in outcome.exhibits if shown.name == name)


@pytest.mark.parametrize("d_model", [2, 8, 64, 512])
def test_the_columns_are_the_models_table(d_model):
    torch.testing.assert_close(lab.div_term(d_model), lab.as_power(d_model))
    torch.testing.assert_close(lab.by_columns(50, d_model), sinusoids(50, d_model), atol=2e-5, rtol=0)


def test_by_hand():
    """d_model 8: frequencies 1, 0.1, 0.01, 0.001. Position 3, second pair: sin 0.3 and cos 0.3."""
    assert lab.div_term(8).tolist() == pytest.approx([1, 0.1, 0.01, 0.001])
    assert lab.by_columns(4, 8)[3, 2:4].tolist() == pytest.approx([math.sin(0.3), math.cos(0.3)])


def test_one_matrix_is_found_where_there_is_one():
    rows = [torch.tensor([1.0, 2.0])]
    matrix = torch.tensor([[0.0, 1.0], [-1.0, 0.5]])
    for _ in range(9):
        rows.append(rows[-1] @ matrix)
    assert lab.missed(torch.stack(rows), 2) < 1e-5


def test_one_matrix_is_the_best_but_not_good_where_there_is_none():
    """By hand, in one dimension: 1 -> 1 -> 3. m minimises (m - 1)^2 + (m - 3)^2, so m = 2 and misses by 1."""
    assert lab.missed(torch.tensor([[1.0], [1.0], [3.0]]), 1) == pytest.approx(1)


def test_the_learned_table_knows_what_it_has_seen_and_nothing_else():
    table, before = lab.learned(1, lab.TRAINED), lab.drawn(1).table.detach()
    torch.testing.assert_close(table[: lab.TRAINED], sinusoids(lab.TRAINED, lab.WIDTH))
    assert torch.equal(table[lab.TRAINED :], before[lab.TRAINED :])


def test_the_tables_end():
    assert len(lab.learned(1, lab.TRAINED)) == MAX_POSITIONS
    with pytest.raises(Refusal):
        position_ids(MAX_POSITIONS + 1)
    assert torch.isfinite(sinusoids(10 * MAX_POSITIONS, lab.WIDTH)).all()


def test_what_stands_at_padding_does_not_matter_and_elsewhere_it_does():
    table, changed = sinusoids(4, lab.WIDTH), sinusoids(4, lab.WIDTH)
    changed[-1] = 7
    assert lab.padding_matters(table, changed, 1) == 0
    changed[0] = 7
    assert lab.padding_matters(table, changed, 1) > 0.1


def test_a_frozen_embedding_gives_the_rows_of_the_buffer():
    table = sinusoids(lab.SHOWN, lab.WIDTH)
    assert lab.looked_up(table) == {"error_lookup": 0, "trained_numbers": 0}
    positions = SinusoidalPositions(lab.WIDTH)
    assert [name for name, _ in positions.named_buffers()] == ["table"]
    assert not list(positions.parameters())
    assert not positions.state_dict()


def test_what_each_module_trains_and_saves():
    """By hand, for tables of 256 rows of 8: a buffer trains nothing; a plain one is saved, the model's isn't; a learned table is both."""
    whole = f"{MAX_POSITIONS * lab.WIDTH:,}"
    assert exhibit(lab.run(1, 1), "held").rows == (
        ("sinusoids", whole, "0", "0"),
        ("plain_buffer", whole, "0", whole),
        ("learned", whole, whole, whole),
    )
    assert list(lab.PlainBuffer(8).state_dict()) == list(LearnedPositions(8).state_dict()) == ["table"]
    assert LearnedPositions(8).table.requires_grad
    assert torch.equal(lab.PlainBuffer(8).table, SinusoidalPositions(8).table)


def test_both_tables_of_the_model_end_where_is_said():
    most = exhibit(lab.run(1, 1), "beyond").said["most"]
    assert len(SinusoidalPositions(lab.WIDTH).table) == len(LearnedPositions(lab.WIDTH).table) == most


def test_what_the_prose_says():
    for seed in range(10):
        for k in lab.STEPS:
            outcome = lab.run(seed, k)
            assert outcome.answer == "one"
            assert outcome.numbers["error_learned"] > 1
            assert max(outcome.numbers[f"error_{name}"] for name in ("rotation", "power", "table")) < 1e-5
            _, moved, there = exhibit(outcome, "turned").values
            np.testing.assert_allclose(moved, there, atol=1e-5)
            said, lines = exhibit(outcome, "beyond").said, exhibit(outcome, "beyond").lines
            assert lines["sinusoids"].max() < 1e-5
            assert lines["learned"][: said["seen"] + 1].max() < 1e-5
            assert lines["learned"][said["seen"] + 1 :].min() > 0.1
            assert exhibit(outcome, "padding").said["difference"] == 0
