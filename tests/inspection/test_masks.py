"""The masks of a batch, against hand-written ones."""

import numpy as np
import pytest

from playground.config import BOS, EOS, PAD
from playground.inspection import masks

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
    """Two pairs in one row: "x" to "pq", then "y" to "r"; the target has one cell of padding, the source two."""
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
