"""Pivots find the best point of a quadratic model: its optimality conditions hold, wherever they start."""

import numpy as np
import pytest

from atomsieve import Ball, Linear, LinearSquare, LogBarrier, Power, Square
from atomsieve.methods.corrective.pivot import best_face

PENALTIES = [Linear(0.3), Square(0.2), Ball(1.5), LogBarrier(3.0, 0.2), LinearSquare(0.2, 0.1), Power(0.3, 3.0)]


def model(seed: int, *, n: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a Hessian of correlated columns, a gradient at 0 and prices."""
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n, 1))
    return columns.T @ columns / n, columns.T @ rng.standard_normal(n) / np.sqrt(n), rng.uniform(0.5, 2.0, d)


def excess(hessian, gradient, prices, penalty, signed, x):
    """Return by how much the conditions of optimality at x fail."""
    slopes = gradient + hessian @ x
    mass = float(prices @ np.abs(x))
    alpha = penalty.slope(mass)
    assert penalty.admits(mass * (1 - 1e-12))
    if mass >= penalty.limit * (1 - 1e-9):  # the slope at the edge is what x bears
        alpha = max(penalty.slope(mass * (1 - 1e-12)), -float(x @ slopes) / mass)
    scores = np.where(signed, np.abs(slopes), -slopes) / prices
    on = x != 0
    return max(
        float((scores[~on] - alpha).max(initial=0.0)),
        float(np.abs(slopes[on] + alpha * prices[on] * np.sign(x[on])).max(initial=0.0)),
    )


@pytest.mark.parametrize("signed", [True, False, np.arange(40) % 3 > 0], ids=["both signs", "one sign", "mixed"])
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("seed", range(8))
def test_the_conditions_of_optimality_hold(penalty, signed, seed):
    hessian, gradient, prices = model(seed, n=60, d=40)
    rng = np.random.default_rng(seed)
    starts = [np.zeros(40), np.where(rng.random(40) < 0.3, rng.standard_normal(40), 0.0)]
    for start in starts:
        x0 = np.where(signed, start, np.abs(start))
        mass = float(prices @ np.abs(x0))
        if mass > 0.9 * penalty.limit:
            x0 = x0 * (0.9 * penalty.limit / mass)
        slope = penalty.slope(float(prices @ np.abs(x0)))
        found = best_face(hessian, gradient + hessian @ x0, x0, slope, penalty, prices=prices, signed=signed)
        assert found is not None
        x, _ = found
        assert (np.broadcast_to(signed, 40) | (x >= 0)).all()
        assert excess(hessian, gradient, prices, penalty, signed, x) < 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_more_columns_than_samples(seed):
    hessian, gradient, prices = model(seed, n=10, d=40)
    found = best_face(hessian, gradient, np.zeros(40), 0.05, Linear(0.05), prices=prices, signed=True)
    assert found is not None
    assert excess(hessian, gradient, prices, Linear(0.05), True, found[0]) < 1e-9


def test_a_duplicate_never_enters_beside_its_twin():
    hessian, gradient, prices = model(0, n=60, d=20)
    twice = np.r_[np.arange(20), np.arange(20)]
    hessian, gradient, prices = hessian[np.ix_(twice, twice)], gradient[twice], prices[twice]
    found = best_face(hessian, gradient, np.zeros(40), 0.1, Linear(0.1), prices=prices, signed=True)
    assert found is not None
    x, _ = found
    assert not ((x[:20] != 0) & (x[20:] != 0)).any()
    assert excess(hessian, gradient, prices, Linear(0.1), True, x) < 1e-9


def test_a_dependent_start_is_refused():
    hessian = np.ones((3, 3))
    lost = best_face(hessian, -np.ones(3), np.ones(3), 0.1, Linear(0.1), prices=np.ones(3), signed=True)
    assert lost is None
