import math

import pytest
import torch

from playground.config import MAX_POSITIONS
from playground.model.positions import LearnedPositions, RotaryPositions, SinusoidalPositions, packed_position_ids, position_ids, sinusoids


def test_sinusoids_are_the_formula_of_section_3_5():
    table = sinusoids(7, 8)
    for pos in range(7):
        for i in range(4):
            angle = pos / 10000 ** (2 * i / 8)
            assert table[pos, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[pos, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_added_positions_are_the_same_for_every_sentence():
    x = torch.randn(3, 6, 8, generator=torch.Generator().manual_seed(0))
    learned = LearnedPositions(8)
    torch.nn.init.normal_(learned.table)
    torch.testing.assert_close(SinusoidalPositions(8)(x, position_ids(6)) - x, sinusoids(6, 8).expand(3, -1, -1))
    torch.testing.assert_close(learned(x, position_ids(6)) - x, learned.table[:6].expand(3, -1, -1))


@pytest.mark.parametrize("d_head", [1, 2, 3, 8])
def test_rotary_keeps_lengths_and_leaves_position_0_alone(d_head):
    x = torch.randn(2, 3, 9, d_head, generator=torch.Generator().manual_seed(0))
    turned = RotaryPositions(d_head)(x, position_ids(9))
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))
    torch.testing.assert_close(turned[:, :, 0], x[:, :, 0])


def test_rotary_turns_each_pair_by_the_angle_of_the_sinusoids():
    turned = RotaryPositions(8)(torch.tensor([1.0, 0.0]).repeat(4).expand(1, 1, 11, 8), position_ids(11))  # (cos, sin) of every angle
    torch.testing.assert_close(turned[0, 0, :, 1::2], sinusoids(11, 8)[:, 0::2])
    torch.testing.assert_close(turned[0, 0, :, 0::2], sinusoids(11, 8)[:, 1::2])


def test_rotary_products_depend_on_the_distance_only():
    rotary, generator = RotaryPositions(8), torch.Generator().manual_seed(0)
    q, k = (rotary(torch.randn(8, generator=generator).expand(1, 1, MAX_POSITIONS, 8), position_ids(MAX_POSITIONS))[0, 0] for _ in range(2))
    products = q @ k.T
    for distance in (-7, 0, 1, 30):
        diagonal = products.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal), atol=1e-3, rtol=0)


def test_each_pair_of_a_packed_row_counts_from_zero():
    pairs = torch.tensor([[1, 1, 1, 2, 2, 3, 0, 0], [1, 2, 2, 2, 2, 2, 2, 2]])
    assert packed_position_ids(pairs).tolist() == [[0, 1, 2, 0, 1, 0, 0, 1], [0, 0, 1, 2, 3, 4, 5, 6]]


def test_rotary_turns_each_token_by_its_own_position():
    rotary, x = RotaryPositions(6), torch.randn(2, 3, 4, 6, generator=torch.Generator().manual_seed(0))
    turned = rotary(x, torch.tensor([[0, 1, 0, 1], [3, 2, 1, 0]]))
    torch.testing.assert_close(turned[0, :, 2:], rotary(x[:, :, 2:], position_ids(2))[0])
    torch.testing.assert_close(turned[1].flip(1), rotary(x.flip(2), position_ids(4))[1])


def test_fixed_tables_are_neither_trained_nor_saved():
    for module in (SinusoidalPositions(8), RotaryPositions(8)):
        assert not list(module.parameters())
        assert not module.state_dict()
        assert list(module.buffers())
