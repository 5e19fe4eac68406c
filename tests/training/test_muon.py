import pytest
import torch

from playground.training import muon
from playground.training.muon import Muon, orthogonalise

SHAPES = [(8, 8), (8, 8), (12, 4), (4, 12), (8, 8)]


def draw(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("shape", [(6, 6), (9, 4), (4, 9)])
def test_orthogonalise_keeps_directions_and_brings_singular_values_together(shape):
    matrices = torch.stack([draw(*shape, seed=n) for n in range(3)])
    u, before, vh = torch.linalg.svd(matrices, full_matrices=False)
    inner = u.mT @ orthogonalise(matrices) @ vh.mT  # diagonal if the directions are the same
    after = inner.diagonal(dim1=-2, dim2=-1)
    torch.testing.assert_close(inner, torch.diag_embed(after), atol=1e-4, rtol=0)
    assert (after > 0).all()
    assert (after < 1.3).all()
    assert (after.amax(-1) / after.amin(-1) < before.amax(-1) / before.amin(-1)).all()


@pytest.mark.parametrize("shape", [(6, 6), (9, 4), (64, 256)])
def test_in_bfloat16_it_is_the_same_matrix_but_for_rounding(shape):
    matrices = torch.stack([draw(*shape, seed=n) for n in range(3)])
    low, exact = orthogonalise(matrices, torch.bfloat16), orthogonalise(matrices)
    assert low.dtype == torch.float32
    assert 0 < (low - exact).norm() / exact.norm() < 0.05


@pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="torch has it since 2.9")
@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_equals_torch_muon_but_for_its_bfloat16(weight_decay):
    ours, theirs = ([torch.nn.Parameter(draw(*shape, seed=n)) for n, shape in enumerate(SHAPES)] for _ in range(2))
    start = [parameter.detach().clone() for parameter in ours]
    mine = Muon(ours, lr=0.1, momentum=0.8, weight_decay=weight_decay)
    reference = torch.optim.Muon(theirs, lr=0.1, momentum=0.8, weight_decay=weight_decay, ns_steps=muon.ITERATIONS)
    for step in range(4):
        for n, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            a.grad = draw(*a.shape, seed=100 * step + n)
            b.grad = a.grad.clone()
        mine.step()
        reference.step()
    for a, b, before in zip(ours, theirs, start, strict=True):
        assert (a - b).norm() < 0.02 * (a - before).norm()


def test_a_zero_gradient_moves_nothing_and_only_matrices_are_moved():
    parameter = torch.nn.Parameter(torch.ones(3, 3))
    parameter.grad = torch.zeros(3, 3)
    Muon([parameter], lr=1.0).step()
    assert torch.equal(parameter, torch.ones(3, 3))
    with pytest.raises(ValueError, match=r"\(3,\)"):
        Muon([torch.nn.Parameter(torch.ones(3))], lr=0.1)
