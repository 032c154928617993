"""Problems on which the method once walked off, stood still, or mixed up units."""

import numpy as np
import pytest
from scipy import sparse

from atomsieve import Ball, Group, Huber, Linear, LogBarrier, Power, Problem, Squared, solve


@pytest.mark.parametrize("seed", [15, 25, 57, 58])
def test_groups_of_sparse_columns_that_come_near_the_constant(seed):
    """What the intercept explains is subtracted from a curvature, and rounding may leave less than nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(10, 100)) * (rng.random((10, 100)) < 0.1)
    groups = rng.integers(0, 25, 100)
    y = X @ rng.normal(size=100) + rng.normal(size=10)
    problem = Problem(sparse.csc_array(X), y, gauge=Group(groups), intercept=True)
    penalty = Linear(1e-3 * problem.critical)
    dense = solve(Problem(X, y, gauge=Group(groups), intercept=True, penalty=penalty), tol=1e-8)
    result = solve(problem.at_penalty(penalty), tol=1e-8)
    assert result.converged
    assert result.objective == pytest.approx(dense.objective, rel=1e-6)


def test_one_slope_and_many_masses():
    """A loss that is linear has solutions of many masses at one slope; a level line picks none of them."""
    result = solve(Problem([[1.0]], [100.0], loss=Huber(1.0), penalty=Ball(1.0)))
    assert result.converged
    assert result.x == pytest.approx([1.0], abs=1e-4)
    assert result.objective == pytest.approx(98.5)


@pytest.mark.parametrize("penalty", [Ball(1.0), LogBarrier(1.0, 1.0), Power(1.0, 4)], ids=repr)
@pytest.mark.parametrize("delta", [0.1, 1.0])
@pytest.mark.parametrize("seed", range(6))
def test_shapes_of_penalties_far_from_the_targets(seed, delta, penalty):
    rng = np.random.default_rng(seed)
    n, d = int(rng.choice([2, 50, 300])), int(rng.choice([2, 10, 60]))
    X = rng.normal(size=(n, d))
    y = 30 * (X[:, 0] + 0.3 * rng.normal(size=n)) + 10
    for tol in (1e-6, 1e-10):
        assert solve(Problem(X, y, loss=Huber(delta), penalty=penalty), tol=tol, time_limit=10).converged


class Loose:
    """A safe rule that removes some blocks at the first look and more at the second."""

    def __init__(self, alive):
        self.alive, self.looks = alive, 0

    def keep(self, point):
        self.looks += 1
        if len(point.scores) < len(self.alive):
            return np.ones(len(point.scores), dtype=bool)
        kept = self.alive.copy()
        kept[:: 3 if self.looks == 1 else 8] = True
        return kept


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_units_outlast_the_columns_that_leave(seed):
    """The Gram matrix is kept in units of the blocks, and those must not change with the problem."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1500, 4000))
    y = X[:, :400] @ rng.normal(size=400) + rng.normal(size=1500)
    problem = Problem(X, y, loss=Squared(), gauge=Group(np.arange(4000) // 8))
    problem = problem.at_penalty(Linear(float(rng.choice([0.25, 0.3, 0.35])) * problem.critical))
    result = solve(problem, tol=1e-10)
    assert solve(problem, tol=1e-10, screening=Loose(result.alive)).converged
