"""The shift property, against the model's own table and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.inspection import positions


def test_the_matrix_and_similarities_by_hand():
    """d_model 4: frequencies 1 and 1/100."""
    s, c, t, d = np.sin(2.0), np.cos(2.0), np.sin(0.02), np.cos(0.02)
    np.testing.assert_allclose(positions.rotation(4, 2), [[c, s, 0, 0], [-s, c, 0, 0], [0, 0, d, t], [0, 0, -t, d]])
    half = 0.5**0.5
    expected = [[1, 0, -1, half, 0], [0, 1, 0, half, 0], [-1, 0, 1, -half, 0], [half, half, -half, 1, 0], [0, 0, 0, 0, 0]]
    table = [[0.5, 0.0], [0.0, 2.0], [-3.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    np.testing.assert_allclose(positions.similarity(table), expected, atol=1e-12)


@given(st.integers(1, 64), st.integers(0, 100))
def test_one_matrix_moves_every_position_of_the_models_table(half, k):
    """And an error stands at the position that is wrong."""
    table = positions.sinusoids(250, 2 * half).astype(np.float64)
    errors = positions.shift_errors(table, k)
    assert errors.shape == (250 - k,)
    assert errors.max() < 5e-5  # float32, angles up to 250
    table[120] += 1.0
    wrong = set(np.nonzero(positions.shift_errors(table, k) > 0.1)[0])
    assert wrong >= {120 - k} - {120}, "as the target of another"
    assert wrong <= {120 - k, 120}, "or as the start"
    for beyond in (-1, 250, 999):
        with pytest.raises(ValueError, match="shift"):
            positions.shift_errors(table, beyond)
    with pytest.raises(ValueError, match="even"):
        positions.rotation(7, 1)
