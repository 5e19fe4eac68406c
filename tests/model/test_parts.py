import torch

from playground.model.parts import Dropout, Embedding, Linear


def make(p: float, seed: int = 0) -> Dropout:
    return Dropout(p, torch.Generator().manual_seed(seed))


def test_zeroes_a_share_p_and_keeps_the_mean():
    out = make(0.25)(torch.ones(200, 200))
    assert set(out.unique().tolist()) == {0.0, torch.tensor(1 / 0.75).item()}
    assert abs((out == 0).float().mean().item() - 0.25) < 0.01


def test_gradients_flow_only_where_numbers_stay_and_nothing_changes_in_eval_mode_or_with_p_0():
    x = torch.randn(5, 5)
    assert make(0.5).eval()(x) is x
    assert make(0.0)(x) is x
    x = torch.ones(50, requires_grad=True)
    out = make(0.5)(x)
    out.sum().backward()
    assert torch.equal(x.grad, out.detach())


def test_draws_from_its_own_generator_and_leaves_the_global_one_alone():
    x, before = torch.ones(100), torch.get_rng_state()
    first = make(0.5, seed=3)(x)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(7)
    assert torch.equal(make(0.5, seed=3)(x), first)
    assert not torch.equal(make(0.5, seed=4)(x), first)


def test_neither_linear_nor_embedding_draws_anything():
    before = torch.get_rng_state()
    assert Linear(3, 4).weight.shape == (4, 3)
    assert Embedding(3, 4).weight.shape == (3, 4)
    assert torch.equal(torch.get_rng_state(), before)
