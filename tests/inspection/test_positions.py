"""The shift property, against the model's own table and by hand."""

import numpy as np
import pytest

from playground.inspection import positions


@pytest.mark.parametrize(("d_model", "k"), [(2, 0), (8, 1), (64, 7), (512, 100)])
def test_one_matrix_moves_every_position_of_the_models_table(d_model, k):
    table = positions.sinusoids(250, d_model)
    assert table.shape == (250, d_model)
    errors = positions.shift_errors(table, k)
    assert errors.shape == (250 - k,)
    assert errors.max() < 5e-5  # float32, angles up to 250


def test_the_matrix_by_hand():
    """d_model 4: frequencies 1 and 1/100."""
    np.testing.assert_allclose(positions.frequencies(4), [1.0, 0.01])
    s, c = np.sin(2.0), np.cos(2.0)
    t, d = np.sin(0.02), np.cos(0.02)
    np.testing.assert_allclose(positions.rotation(4, 2), [[c, s, 0, 0], [-s, c, 0, 0], [0, 0, d, t], [0, 0, -t, d]])


def test_the_error_stands_at_the_position_that_is_wrong():
    table = positions.sinusoids(20, 8).astype(np.float64)
    table[10] += 1.0
    errors = positions.shift_errors(table, 4)
    assert set(np.nonzero(errors > 0.1)[0]) == {6, 10}  # as the target of 6, as the start of 10


@pytest.mark.parametrize("k", [-1, 20, 99])
def test_a_shift_beyond_the_table_is_refused(k):
    with pytest.raises(ValueError, match="shift"):
        positions.shift_errors(np.zeros((20, 8)), k)
    with pytest.raises(ValueError, match="even"):
        positions.rotation(7, 1)


def test_similarity_by_hand():
    table = [[0.5, 0.0], [0.0, 2.0], [-3.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    half = 0.5**0.5
    expected = [[1, 0, -1, half, 0], [0, 1, 0, half, 0], [-1, 0, 1, -half, 0], [half, half, -half, 1, 0], [0, 0, 0, 0, 0]]
    np.testing.assert_allclose(positions.similarity(table), expected, atol=1e-12)
