"""Principal axes, cosines and neighbours against what others compute; a replay in which nothing flips or spins; shifts, and masks."""

from itertools import pairwise, permutations, product

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

from playground.config import BOS, EOS
from playground.inspection import masks, vectors
from playground.inspection.vectors import follow_axes, principal_axes, project, turn_axes


def cloud(seed, n=40, d=8, spread=None):
    """Points whose variance along each dimension is known roughly; not around 0."""
    return np.random.default_rng(seed).normal(size=(n, d)) * (np.arange(d, 0, -1) if spread is None else spread) + 3


@pytest.mark.trust
@given(st.integers(0, 99))
def test_the_axes_are_the_eigenvectors_of_the_covariance(seed):
    points = cloud(seed)
    axes = principal_axes(points)
    values, directions = np.linalg.eigh(np.cov(points.T))
    for axis, expected in zip(axes, directions.T[::-1], strict=False):
        assert abs(axis @ expected) == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(axes @ axes.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(vectors.shares(points, axes), values[::-1][:2] / values.sum(), atol=1e-9)
    assert all(axis[np.abs(axis).argmax()] > 0 for axis in axes)
    np.testing.assert_allclose(project(points, axes), (points - points.mean(axis=0)) @ axes.T, atol=1e-12)
    np.testing.assert_allclose(project(points, axes, points[0])[0], [0, 0], atol=1e-12)


@pytest.mark.trust
def test_points_of_a_replay_move_no_further_than_their_vectors_do_and_mirrored_axes_change_nothing():
    """The direction of an axis is chance of the solver, and so is their order where they are equally long."""
    frames = [cloud(5) + 0.01 * cloud(seed, spread=np.ones(8)) for seed in range(6)]
    end = follow_axes(frames)
    for order, signs in product(permutations(range(2)), product((1, -1), repeat=2)):
        like = (np.array(signs)[:, None] * np.eye(2)[list(order)]) @ end
        np.testing.assert_allclose(principal_axes(frames[-1], like), like, atol=1e-2)
        np.testing.assert_allclose(turn_axes((np.array(signs)[:, None] * principal_axes(frames[-1])), end), end, atol=1e-2)
    frames = list(drift())

    def jump(axes):
        places = [project(points, own) for points, own in zip(frames, axes, strict=True)]
        return max(float(np.abs(after - before).max()) for before, after in pairwise(places))

    moved = max(float(np.linalg.norm(after - before, axis=1).max()) for before, after in pairwise(frames))
    followed = [follow_axes(frames[: stop + 1]) for stop in range(len(frames))]
    assert jump(followed) < 3 * moved
    assert jump([followed[-1]] * len(frames)) <= moved  # as the page shows a replay: all of it along the last axes
    assert jump([principal_axes(points) for points in frames]) > 100 * moved  # what is avoided


def drift():
    """A replay whose points hardly move, but whose first axis becomes its second: the variances cross on the way."""
    still = np.random.default_rng(3).normal(size=(60, 6))
    still, _ = np.linalg.qr(still - still.mean(axis=0))  # 6 directions, uncorrelated
    for t in np.linspace(0, 1, 40):
        yield still * np.array([1 + 0.02 * t, 1.02 - 0.02 * t, 0.5, 0.4, 0.3, 0.2]) * 8


def test_cosines_are_torchs_and_the_nearest_come_first_and_never_oneself():
    points = cloud(1).astype(np.float32)
    t = torch.tensor(points, dtype=torch.float64)
    expected = torch.nn.functional.cosine_similarity(t[:, None], t[None], dim=-1).numpy()
    np.testing.assert_allclose(vectors.cosines(points), expected, atol=1e-9)
    assert vectors.cosines(np.array([[0.0, 0.0], [1.0, 2.0]])).tolist() == [[0, 0], [0, pytest.approx(1)]]
    for this in range(len(points)):
        rest = sorted(set(range(len(points))) - {this}, key=lambda other, this=this: -expected[this, other])
        nearest = vectors.nearest(points, this, 99)
        assert [other for other, _ in nearest] == rest
        assert [cosine for _, cosine in nearest] == pytest.approx([expected[this, other] for other in rest])
        assert vectors.nearest(points, this, 4) == nearest[:4]


def test_what_is_said_of_points_and_states_is_true_and_too_little_is_refused():
    points = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])  # by token: 7 is along x, 8 along y
    result = vectors.kinship_fact(points, [7, 8, 7, 8], [1, 1, 2, 2])
    assert result.values == {"token": "1.00", "place": "0.00", "neither": "0.00"}
    assert vectors.kinship_fact(points, [7, 8, 9, 10], [1, 1, 2, 2]) is None  # no token occurs twice
    for ask in (lambda: principal_axes(np.ones((1, 4))), lambda: principal_axes(np.ones((5, 1))), lambda: follow_axes([])):
        with pytest.raises(ValueError):
            ask()
    assert vectors.shares(np.ones((3, 4)), np.eye(4)[:2]).tolist() == [0, 0]  # all points are the same
    points = np.array([[-3.0, 1.0, 0.0], [0.0, -2.0, 0.0], [3.0, 1.0, 0.0]])  # 18 along x, 6 along y, none along z
    assert vectors.share_fact(points, principal_axes(points)).values == {"percent": 100, "first": 75, "second": 25, "dims": 3}
    points = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [-1.0, 0.0]])
    pair = vectors.pair_fact(points, "abcd")
    assert [pair.values[name] for name in ("one", "other", "cosine", "this", "that", "least")] == ["a", "b", "1.00", "a", "d", "-1.00"]
    assert vectors.pair_fact(points[:2], "ab") is None
    spread = vectors.spread_fact(vectors.cosines(points))
    assert spread.values == {"pairs": 6, "above": 1, "below": 2, "much": 0.5, "mean": "-0.15"}
    assert vectors.spread_fact(np.array([[1, -0.001], [-0.001, 1]])).values["mean"] == "0.00"  # no minus before a zero


def test_a_batch_is_padded_and_masked_as_in_training():
    t, f = True, False
    result = masks.batch([[7, EOS], [7, 8, 9, EOS]], [[BOS, 5, 6], [BOS, 5]])
    assert result["memory"][:, 0].tolist() == result["padding"][:, 0].tolist() == [[t, t, f, f], [t, t, t, t]]
    assert result["causal"][1].tolist() == [[t, f, f], [t, t, f], [t, t, t]]
    assert result["target"][0].tolist() == [[t, f, f], [t, t, f], [t, t, t]]
    assert result["target"][1].tolist() == [[t, f, f], [t, t, f], [t, t, f]]
    for wrong in (([], []), ([[1]], [])):
        with pytest.raises(ValueError, match="sources"):
            masks.batch(*wrong)


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
