"""Masks against hand-written ones, and how one matrix moves every position."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from playground.config import BOS, EOS, PAD
from playground.inspection import masks, vectors

T, F = True, False


def test_a_batch_is_padded_and_masked_as_in_training():
    result = masks.batch([[7, EOS], [7, 8, 9, EOS]], [[BOS, 5, 6], [BOS, 5]])
    assert result["memory"][:, 0].tolist() == result["padding"][:, 0].tolist() == [[T, T, F, F], [T, T, T, T]]
    assert result["causal"][1].tolist() == [[T, F, F], [T, T, F], [T, T, T]]
    assert result["target"][0].tolist() == [[T, F, F], [T, T, F], [T, T, T]]
    assert result["target"][1].tolist() == [[T, F, F], [T, T, F], [T, T, F]]
    for wrong in (([], []), ([[1]], [])):
        with pytest.raises(ValueError, match="sources"):
            masks.batch(*wrong)


def test_a_packed_row_is_masked_by_pair():
    src, src_ids = [7, EOS, 8, EOS, PAD, PAD], [1, 1, 2, 2, 0, 0]
    tgt_in, tgt_ids = [BOS, 5, 6, BOS, 9, PAD], [1, 1, 1, 2, 2, 0]
    result = masks.packed(src, tgt_in, src_ids, tgt_ids)
    visible = [{0}, {0, 1}, {0, 1, 2}, {3}, {3, 4}, set()]
    assert [set(np.flatnonzero(row)) for row in result["decoder"].allowed] == visible
    assert result["encoder"].allowed[[0, 3]].tolist() == [[T, T, F, F, F, F], [F, F, T, T, F, F]]
    assert result["cross"].allowed[[2, 3]].tolist() == [[T, T, F, F, F, F], [F, F, T, T, F, F]]
    for mask in result.values():
        np.testing.assert_array_equal(np.logical_and.reduce(list(mask.causes.values())), mask.allowed)
    assert (~result["cross"].causes["padding"])[:5].sum(axis=0).tolist() == [0, 0, 0, 0, 5, 5], "padding is hidden as padding"
    assert not (~result["cross"].causes["segment"])[:, 4:].any(), "and not as another pair"


def test_the_matrix_and_similarities_by_hand():
    s, c, t, d = np.sin(2.0), np.cos(2.0), np.sin(0.02), np.cos(0.02)
    np.testing.assert_allclose(vectors.rotation(4, 2), [[c, s, 0, 0], [-s, c, 0, 0], [0, 0, d, t], [0, 0, -t, d]])
    half = 0.5**0.5
    expected = [[1, 0, -1, half, 0], [0, 1, 0, half, 0], [-1, 0, 1, -half, 0], [half, half, -half, 1, 0], [0, 0, 0, 0, 0]]
    table = [[0.5, 0.0], [0.0, 2.0], [-3.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    np.testing.assert_allclose(vectors.cosines(table), expected, atol=1e-12)


@given(st.integers(1, 64), st.integers(0, 100))
def test_one_matrix_moves_every_position_of_the_models_table(half, k):
    table = vectors.sinusoids(250, 2 * half).astype(np.float64)
    errors = vectors.shift_errors(table, k)
    assert errors.shape == (250 - k,)
    assert errors.max() < 5e-5  # float32, angles up to 250
    table[120] += 1.0
    wrong = set(np.nonzero(vectors.shift_errors(table, k) > 0.1)[0])
    assert wrong >= {120 - k} - {120}, "as the target of another"
    assert wrong <= {120 - k, 120}, "or as the start"
    for beyond in (-1, 250, 999):
        with pytest.raises(ValueError, match="shift"):
            vectors.shift_errors(table, beyond)
    with pytest.raises(ValueError, match="even"):
        vectors.rotation(7, 1)
