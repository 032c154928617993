"""The conjugate of penalty and limits: against brute force, and its slope grows with the scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atomsieve import Ball, Linear, LinearSquare, LogBarrier, Power, Square
from atomsieve.problem.limits import CoefficientLimits

PENALTIES = [Linear(0.7), Square(0.5), Ball(1.3), LogBarrier(2.0, 3.0), LinearSquare(0.2, 0.5), Power(0.5, 1.5)]


def drawn(rng, d):
    """Return limits whose least point has a gauge below 1."""
    lower = rng.uniform(-2, 0.2 / d, d)
    upper = lower + rng.uniform(0, 2, d)
    upper = np.maximum(upper, -0.2 / d)
    return CoefficientLimits(lower, np.maximum(lower, upper), rng.uniform(0.3, 1.5, d))


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=30)
def test_no_point_within_the_limits_has_a_larger_value(penalty, seed):
    rng = np.random.default_rng(seed)
    limits = drawn(rng, d := int(rng.integers(1, 3)))
    z = rng.standard_normal(d) * rng.choice([0.1, 1.0, 5.0])
    value, t = limits.conjugate(penalty, z, np.ones(d, dtype=bool))
    sides = [np.unique(np.append(np.linspace(low, high, 21), np.clip(0.0, low, high))) for low, high in
             zip(limits.lower, limits.upper, strict=True)]  # fmt: skip
    points = np.stack([part.ravel() for part in np.meshgrid(*sides)], axis=1)
    masses = np.abs(points) @ limits.prices
    inside = np.array([penalty.admits(mass) for mass in masses])
    found = points[inside] @ z - np.array([penalty.value(mass) for mass in masses[inside]])
    reach = max(high - low for low, high in zip(limits.lower, limits.upper, strict=True)) / 20
    slopes = np.abs(z).sum() + (t + 1) * limits.prices.sum()
    assert found.max(initial=-np.inf) <= value + 1e-9
    assert found.max(initial=-np.inf) >= value - 4 * reach * slopes


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=30)
def test_no_other_slope_gives_a_smaller_bound(penalty, seed):
    rng = np.random.default_rng(seed)
    limits = drawn(rng, d := int(rng.integers(1, 8)))
    z = rng.standard_normal(d) * 2
    value, t = limits.conjugate(penalty, z, np.ones(d, dtype=bool))

    def bound(t):
        ways = [limits.lower, limits.upper, limits.nearest]
        return penalty.conjugate(t) + np.max([z * q - t * limits.prices * np.abs(q) for q in ways], axis=0).sum()

    assert bound(t) == pytest.approx(value, abs=1e-12)
    for other in [0.0, *rng.uniform(0, 4, 8), *(t * (1 + rng.choice([-1, 1], 4) * 10.0 ** -rng.integers(1, 8, 4)))]:
        assert bound(other) >= value - 1e-12


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=30)
def test_the_slope_rises_with_every_score(penalty, seed):
    rng = np.random.default_rng(seed)
    limits = drawn(rng, d := int(rng.integers(1, 8)))
    scores, rooms = rng.uniform(0, 3, d), rng.uniform(0, 2, d)
    if rng.random() < 0.3:
        rooms[rng.integers(d)] = np.inf
    higher = scores + rng.uniform(0, 1, d) * rng.integers(0, 2, d)
    rounding = 1 - 1e-14  # sums in another order
    assert limits.slope(penalty, higher, rooms) >= limits.slope(penalty, scores, rooms) * rounding


def test_a_side_without_limit_needs_a_slope_that_no_score_exceeds():
    limits = CoefficientLimits(np.array([-np.inf]), np.array([1.0]), np.ones(1))
    alive = np.ones(1, dtype=bool)
    assert limits.conjugate(Square(1.0), np.array([-3.0]), alive) == (4.5, 3.0)
    assert limits.conjugate(Linear(1.0), np.array([-3.0]), alive).value == np.inf
    assert limits.conjugate(Linear(1.0), np.array([3.0]), alive) == (2.0, 1.0)
