import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from playground.config import MAX_POSITIONS
from playground.model.positions import LearnedPositions, RotaryPositions, SinusoidalPositions, packed_position_ids, position_ids, sinusoids


def test_sinusoids_are_the_formula_of_section_3_5():
    table = sinusoids(7, 8)
    for pos in range(7):
        for i in range(4):
            angle = pos / 10000 ** (2 * i / 8)
            assert table[pos, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[pos, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_added_positions_are_the_same_for_every_sentence_and_fixed_ones_neither_trained_nor_saved():
    x = torch.randn(3, 6, 8, generator=torch.Generator().manual_seed(0))
    learned = LearnedPositions(8)
    torch.nn.init.normal_(learned.table)
    torch.testing.assert_close(SinusoidalPositions(8)(x, position_ids(6)) - x, sinusoids(6, 8).expand(3, -1, -1))
    torch.testing.assert_close(learned(x, position_ids(6)) - x, learned.table[:6].expand(3, -1, -1))
    assert not any(list(module.parameters()) or module.state_dict() for module in (SinusoidalPositions(8), RotaryPositions(8)))


def test_each_pair_of_a_packed_row_counts_from_zero():
    pairs = torch.tensor([[1, 1, 1, 2, 2, 3, 0, 0], [1, 2, 2, 2, 2, 2, 2, 2]])
    assert packed_position_ids(pairs).tolist() == [[0, 1, 2, 0, 1, 0, 0, 1], [0, 0, 1, 2, 3, 4, 5, 6]]


@given(st.integers(1, 9), st.integers(0, 99), st.booleans())
def test_rotary_multiplies_pairs_as_complex_numbers_of_length_one(d_head, seed, own):
    """Each by its own position's angle; a number without a partner stays. So lengths stay, and products depend on the distance only."""
    generator = torch.Generator().manual_seed(seed)
    x, ids = torch.randn(2, 3, 7, d_head, generator=generator), torch.randint(0, MAX_POSITIONS, (2, 7), generator=generator)
    ids = ids if own else position_ids(7)
    whole = d_head - d_head % 2
    angles = ids.double().view(-1, 1, 7, 1) / 10000 ** (torch.arange(0, whole, 2).double() / d_head)
    pairs = torch.view_as_complex(x[..., :whole].double().unflatten(-1, (-1, 2)).contiguous())
    expected = torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)
    turned = RotaryPositions(d_head)(x, ids)
    torch.testing.assert_close(turned, torch.cat((expected.float(), x[..., whole:]), dim=-1), atol=1e-4, rtol=1e-4)
