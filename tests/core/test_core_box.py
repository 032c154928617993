"""Coordinate descent within limits: against a twin that reads like the formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atomsieve.core import box_descent


def twin(hessian, z, x, prices, lower, upper, line, sweeps):
    """Return x and z after sweeps, each entry minimised in turn and cut at its limits."""
    a, b = line
    x, z = x.copy(), z.copy()
    for _ in range(sweeps):
        for j in range(len(x)):
            rest = prices @ np.abs(x) - prices[j] * abs(x[j])
            aim, charge = hessian[j, j] * x[j] + z[j], prices[j] * (a + b * rest)
            to = np.sign(aim) * max(abs(aim) - charge, 0) / (hessian[j, j] + b * prices[j] ** 2)
            to = np.clip(to, lower[j], upper[j])
            z -= hessian[:, j] * (to - x[j])
            x[j] = to
    return x, z


@given(seed=st.integers(0, 10_000))
@settings(max_examples=40)
def test_each_entry_goes_to_its_minimum(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 8))
    root = rng.standard_normal((int(rng.integers(1, 8)), m))
    hessian = np.ascontiguousarray(root.T @ root + 1e-3 * np.eye(m))
    lower = rng.uniform(-1, 0.2, m)
    upper = lower + rng.uniform(0, 1, m)
    lower[rng.random(m) < 0.2], upper[rng.random(m) < 0.2] = -np.inf, np.inf
    x, prices = np.clip(0.0, lower, upper), rng.uniform(0.5, 2, m)
    z, line = rng.standard_normal(m), (rng.uniform(0, 1), rng.uniform(0, 1) * rng.integers(2))
    there, left = twin(hessian, z, x, prices, lower, upper, line, 3)
    box_descent(hessian, z, x, prices, (lower, upper), line, 3)
    np.testing.assert_allclose(x, there, atol=1e-12)
    np.testing.assert_allclose(z, left, atol=1e-11)


def test_an_entry_that_nothing_holds_back_stays():
    x, z = np.array([0.5]), np.array([2.0])
    box_descent(np.zeros((1, 1)), z, x, np.ones(1), (np.array([-1.0]), np.array([1.0])), (1.0, 0.0), 5)
    assert (x[0], z[0]) == (0.5, 2.0)


@pytest.mark.parametrize("wrong", ["z", "prices", "hessian"])
def test_arrays_of_other_lengths_are_refused(wrong):
    parts = {"hessian": np.eye(2), "z": np.ones(2), "x": np.zeros(2), "prices": np.ones(2)} | {wrong: np.ones(3)}
    with pytest.raises(ValueError, match=wrong.removesuffix("s")):
        box_descent(*parts.values(), (-np.ones(2), np.ones(2)), (1.0, 0.0), 1)
