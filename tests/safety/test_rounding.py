"""Where rounding once ruled out what was needed: ill-conditioned free columns, far starts, offsets, twins."""

import numpy as np
import pytest

from atomsieve import Ball, Huber, LogBarrier, Logistic, Pairwise, Problem, Square, solve


@pytest.mark.parametrize("seed", range(20))
def test_ill_conditioned_free_columns(seed):
    """Powers of the year, beside the same span in a good basis taken out beforehand."""
    rng = np.random.default_rng(seed)
    year = 1992.0 + np.arange(21)
    trend = np.stack([year**k for k in range(1, 5)], axis=1)
    Q, _ = np.linalg.qr(np.vander((year - 2002) / 10, 5))
    noise = 0.1 * rng.normal(size=(21, 4))
    A = year[:, None] * rng.uniform(0.5, 3, size=4) + noise
    y = 10 * noise @ rng.normal(size=4) + 0.3 * rng.normal(size=21)

    def outside(v):
        return v - Q @ (Q.T @ v)

    truth = solve(Problem(outside(outside(A)), outside(outside(y)), penalty=Square(0.005)), tol=1e-11, screening="off")
    result = solve(Problem(A, y, free=trend, intercept=True, penalty=Square(0.005)))
    assert result.alive[np.abs(truth.x) > 1e-3].all()
    assert result.dual <= truth.objective * (1 + 1e-5)


@pytest.mark.parametrize("size", [1e4, 1e10, 1e13])
@pytest.mark.parametrize("seed", range(10))
def test_far_start(seed, size):
    """Predictions that cancel from far away are computed afresh."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(8, 3))
    y = A @ [1, -1, 0.5] + 0.1 * rng.normal(size=8)
    problem = Problem(A, y, penalty=Square(0.1))
    truth = solve(problem, tol=1e-12)
    result = solve(problem, Pairwise(), start=size * np.sign(truth.x))
    assert result.alive[np.abs(truth.x) > 1e-3].all()
    assert result.dual <= truth.objective + 1e-9
    assert result.point.state.image == pytest.approx(A @ result.x, abs=1e-9)


@pytest.mark.parametrize("offset", [300.0, 1000.0, 1e4, 1e6])
@pytest.mark.parametrize("loss", [None, Logistic()], ids=["squared", "logistic"])
def test_twins_up_to_an_offset_share_their_fate(offset, loss):
    """With an intercept, a feature and the same feature plus a constant are one and the same."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        E = np.round(rng.normal(size=(60, 5)) * 1024) / 1024
        A = np.hstack([E, E[:, :2] + offset])
        y = E[:, 0] + E[:, 1] + 0.3 * rng.normal(size=60)
        pieces = {} if loss is None else {"loss": loss}
        problem = Problem(A, y if loss is None else np.sign(y), intercept=True, penalty=Square(0.3), **pieces)
        result = solve(problem, tol=1e-13, max_iter=400)
        assert (result.alive[:2] == result.alive[5:]).all()


@pytest.mark.parametrize("cv", [1e-4, 1e-6, 3e-7])
def test_a_tiny_variation_on_a_large_mean(cv):
    """The length of the best atom enters the distance as it is, not rounded up."""
    n, rng = 1000, np.random.default_rng(0)
    Q, _ = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, 2))]))
    q, e = Q[:, 1] * n**0.5, Q[:, 2] * n**0.5
    A = np.column_stack([1 + cv * q, cv * (2 * q + e)])
    y = A @ [0.9, 0.1] + 30 * cv * (q - e)
    result = solve(Problem(A, y, intercept=True, penalty=Ball(1.0)), start=[0.0, 1.0])
    assert result.alive.all()
    assert result.dual <= 900 * cv**2 * (1 + 1e-6)


@pytest.mark.parametrize("size", [500, 700, 1400, 5000])
def test_best_intercept_of_saturated_predictions_is_finite(size):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = np.where(np.arange(14) % 2 == 0, 1.0, -1.0)
        problem = Problem(rng.normal(size=(14, 2)), y, loss=Logistic(), intercept=True)
        coordinates, u, slopes = problem.span.minimise(rng.uniform(-size, size, size=14), problem.span.origin)
        assert np.isfinite(coordinates).all()
        assert np.isfinite(u).all()
        assert abs(problem.weights @ slopes) <= 1e-10


@pytest.mark.parametrize("seed", range(30))
def test_free_directions_of_hubers_loss_settle_when_most_residuals_are_clipped(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 20))
    free = rng.normal(size=(n, int(rng.integers(1, 4))))
    problem = Problem(rng.normal(size=(n, 2)), rng.normal(size=n), loss=Huber(0.05), free=free)
    point = problem.at(problem.state(rng.normal(size=2) * 10 ** rng.uniform(-2, 2)))
    assert (
        np.abs(free.T @ (problem.weights * np.asarray(problem.loss.gradient(point.u, problem.targets)))).max() <= 1e-12
    )


def test_barrier_far_from_its_wall_is_a_square():
    """C^2 sharpness = 1: phi(s) = s^2 / 2 to first order, which must not drown in rounding."""
    penalty = LogBarrier(1e9, 1e-18)
    assert penalty.value(1.0) == pytest.approx(0.5, rel=1e-8)
    assert penalty.conjugate(1.0) == pytest.approx(0.5, rel=1e-8)
