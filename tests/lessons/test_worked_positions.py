"""The worked examples of positions: tables, rotations, and numbers for places."""

import math

import numpy as np
import pytest
import torch

from playground.config import MAX_POSITIONS, Refusal
from playground.lessons.tensors import numbering, positions, rotary
from playground.model.positions import LearnedPositions, SinusoidalPositions, position_ids, sinusoids


def exhibit(outcome, name):
    return next(one for one in outcome.exhibits if one.name == name)


def test_the_columns_are_the_models_table():
    for d_model in (2, 8, 64, 512):
        torch.testing.assert_close(positions.div_term(d_model), positions.as_power(d_model))
        torch.testing.assert_close(positions.by_columns(50, d_model), sinusoids(50, d_model), atol=2e-5, rtol=0)
    assert positions.div_term(8).tolist() == pytest.approx([1, 0.1, 0.01, 0.001])
    assert positions.by_columns(4, 8)[3, 2:4].tolist() == pytest.approx([math.sin(0.3), math.cos(0.3)])


def test_a_learned_table_knows_what_it_has_seen_and_both_end():
    table, before = positions.learned(1, positions.TRAINED), positions.drawn(1).table.detach()
    torch.testing.assert_close(table[: positions.TRAINED], sinusoids(positions.TRAINED, positions.WIDTH))
    assert torch.equal(table[positions.TRAINED :], before[positions.TRAINED :])
    most = exhibit(positions.run(1, 1), "beyond").said["most"]
    modules = (SinusoidalPositions(positions.WIDTH), LearnedPositions(positions.WIDTH))
    assert {len(table), *(len(module.table) for module in modules)} == {MAX_POSITIONS} == {most}
    with pytest.raises(Refusal):
        position_ids(MAX_POSITIONS + 1)
    assert torch.isfinite(sinusoids(10 * MAX_POSITIONS, positions.WIDTH)).all()


def test_what_each_module_trains_and_saves():
    """Of tables of 256 rows of 8: a buffer trains nothing; a plain one is saved, the model's is not; a learned table is both."""
    whole = f"{MAX_POSITIONS * positions.WIDTH:,}"
    rows = (("sinusoids", whole, "0", "0"), ("plain_buffer", whole, "0", whole), ("learned", whole, whole, whole))
    assert exhibit(positions.run(1, 1), "held").rows == rows
    assert torch.equal(positions.PlainBuffer(8).table, SinusoidalPositions(8).table)
    table, changed = sinusoids(4, positions.WIDTH), sinusoids(4, positions.WIDTH)
    assert positions.looked_up(sinusoids(positions.SHOWN, positions.WIDTH)) == {"error_lookup": 0, "trained_numbers": 0}
    changed[-1] = 7
    assert positions.padding_matters(table, changed, 1) == 0
    changed[0] = 7
    assert positions.padding_matters(table, changed, 1) > 0.1


@pytest.mark.parametrize("k", positions.STEPS)
def test_what_the_prose_of_the_positions_says(k):
    for seed in range(5):
        outcome = positions.run(seed, k)
        assert outcome.answer == "one"
        assert outcome.numbers["error_learned"] > 1
        assert max(outcome.numbers[f"error_{name}"] for name in ("rotation", "power", "table")) < 1e-5
        _, moved, there = exhibit(outcome, "turned").values
        np.testing.assert_allclose(moved, there, atol=1e-5)
        beyond = exhibit(outcome, "beyond")
        trained, untrained = np.split(beyond.lines["learned"], [beyond.said["seen"] + 1])
        assert max(trained.max(), beyond.lines["sinusoids"].max()) < 1e-5
        assert untrained.min() > 0.1
        assert exhibit(outcome, "padding").said["difference"] == 0


# --- how places become numbers ---


def test_which_numbering_meets_which_wish():
    met = {name: tuple(wish(numbers) for wish in numbering.WISHES) for name, numbers in numbering.NUMBERINGS.items()}
    assert met == {
        "integers": (False, True, True, True), "shares": (True, False, True, True),
        "one_hot": (True, True, False, False), "sinusoids": (True, True, True, True),
    }  # fmt: skip
    table = numbering.one_hot(6)
    assert all((table[a] - table[b]).norm() == pytest.approx(math.sqrt(2)) for a in range(6) for b in range(a))


def test_the_addition_theorem_gives_the_rows_of_the_table():
    table = numbering.sinusoids(20, numbering.WIDTH)
    for k in (0, 1, 7):
        rows = [numbering.addition_theorem(position, k, numbering.WIDTH).flatten() for position in range(12)]
        torch.testing.assert_close(torch.stack(rows), table[k : k + 12], atol=1e-5, rtol=0)


def test_a_place_beside_the_token_is_a_row_added_to_it():
    """By hand: x = (2, 3), the second of two places; W_I doubles, W_P has the rows (10, 20) and (30, 40)."""
    x, p, W_I, W_P = torch.tensor([[2.0, 3]]), torch.tensor([[0.0, 1]]), 2 * torch.eye(2), torch.tensor([[10.0, 20], [30, 40]])
    assert numbering.beside(x, p, W_I, W_P).tolist() == numbering.added(x, p, W_I, W_P).tolist() == [[34, 46]]
    for length in numbering.LAB.controls[0].choices:
        for seed in range(5):
            joined = numbering.joined(seed, length)
            assert joined["apart"] < 1e-5
            assert joined["apart_rows"] == 0


def test_what_the_prose_of_numbering_says():
    outcome = numbering.run(1, numbering.LONG)
    assert outcome.answer == "sinusoids"
    assert (outcome.numbers["share_short"], outcome.numbers["share_long"]) == (0.75, 0.375)
    assert (outcome.numbers["most"], outcome.numbers["columns"]) == (numbering.FAR - 1, numbering.FAR)
    theorem = outcome.exhibits[-1].said
    assert theorem["sin"] == pytest.approx(math.sin(theorem["sum"]), abs=1e-6)
    assert theorem["sin_a"] * theorem["cos_b"] + theorem["cos_a"] * theorem["sin_b"] == pytest.approx(theorem["sin"], abs=1e-6)


# --- rotary positions ---


def test_a_pair_of_numbers_is_turned_by_the_angle_of_its_distance():
    """Two numbers are one point of the plane, turned by 1 radian for each place: q . k is |q| |k| cos(angle + distance)."""
    q = k = torch.tensor([1.0, 0.0])
    distance = torch.arange(5.0)[:, None] - torch.arange(5.0)
    torch.testing.assert_close(rotary.rotary_products(q, k, 5), distance.cos(), atol=1e-6, rtol=0)
    q, k = torch.randn(2, rotary.WIDTH)
    torch.testing.assert_close(rotary.rotary_products(q, k, 30).diagonal(), (q @ k).expand(30), atol=1e-5, rtol=0)
    for apart in rotary.LAB.controls[0].choices:
        for seed in range(5):
            outcome = rotary.run(seed, apart)
            assert outcome.answer == "same"
            assert outcome.numbers["product"] == pytest.approx(outcome.numbers["moved"], abs=1e-4)
            assert outcome.numbers["spread_added"] > 100 * outcome.numbers["spread"]
