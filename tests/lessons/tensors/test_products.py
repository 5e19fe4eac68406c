"""Truths about the lab of queries times keys."""

import pytest
import torch
from torch import nn

from playground.config import ModelConfig
from playground.lessons.tensors import products as lab
from playground.model.attention import scaled_dot_product_attention
from tests.thoroughness import every_case


def made(n_heads, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return lab.attention(n_heads, generator), torch.randn(10, lab.D, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("n_heads", [1, 2, 4, 8])
def test_the_scores_are_those_that_our_attention_uses(n_heads):
    attending, x = made(n_heads)
    q, k = (attending.split(linear(x[None])) for linear in (attending.W_q, attending.W_k))
    _, weights = scaled_dot_product_attention(q, k, k)
    expected = (lab.scores(x, attending) / (lab.D / n_heads) ** 0.5).softmax(dim=-1)
    torch.testing.assert_close(weights[0, 0], expected)


@pytest.mark.parametrize("n_heads", [1, 2, 4, 8])
def test_one_merged_matrix_gives_the_same_scores(n_heads):
    attending, x = made(n_heads)
    torch.testing.assert_close(x @ lab.merged(attending, lab.D // n_heads) @ x.T, lab.scores(x, attending))


def test_the_rank_by_hand():
    """Of 2 tokens with d_k = 1 the scores are q_i k_j: the second row is the first times q_2 / q_1."""
    attending, x = made(8)
    table = lab.scores(x[:2], attending)
    torch.testing.assert_close(table[0] * (table[1, 0] / table[0, 0]), table[1])


def test_the_numbers_a_head_learns_are_those_of_torch():
    paper = nn.MultiheadAttention(512, 8, bias=False)
    assert lab.learned(512, 64)[0] * 8 == 2 * paper.in_proj_weight.numel() // 3  # without W_V
    default = ModelConfig()
    assert ((default.d_model, default.d_model // default.n_heads), (512, 512 // 8)) == lab.SIZES


@every_case("seed", range(5))
@every_case("n_heads", [2, 4, 8])
def test_what_the_prose_says(seed, n_heads):
    outcome = lab.LAB.outcome(seed, n_heads=n_heads)
    assert outcome.answer == "head"
    assert outcome.numbers["rank"] == outcome.numbers["d_k"] == 8 // n_heads
    assert outcome.numbers["rank_free"] == 8
    said = outcome.exhibits[0].said
    assert said["rank_merged"] == outcome.numbers["rank"]
    assert said["next"] < 1e-12 < said["last"]
    assert outcome.exhibits[-1].values[:, 0].tolist() == [outcome.numbers["two"], outcome.numbers["one"]]
