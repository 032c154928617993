"""Gauges of sorted absolute values against slow twins: all atoms one by one, conic programs, subgradients."""

import itertools
import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atomsieve import (
    OSCAR,
    OWL,
    SLOPE,
    Ball,
    KSparse,
    KSupport,
    Linear,
    LInf,
    LogBarrier,
    Logistic,
    Problem,
    Scaled,
    Square,
    solve,
)
from atomsieve.numerics.enclosures import Enclosure


def gauges(d):
    """Return one of each kind for vectors of a length, with ties and zeros among the weights."""
    falling = np.sort(np.random.default_rng(d).integers(0, 4, size=d).astype(float))[::-1]
    falling[0] += 1
    return [OWL(falling), OSCAR(0.5, 0.25).named(None, d), SLOPE(0.3).named(None, d), LInf()] + [
        kind(k) for kind in (KSparse, KSupport) for k in {1, 2, d}
    ]


def every_atom(gauge, d):
    """Yield the atoms of a polytope, sign by sign."""
    for signs in itertools.product([-1.0, 0.0, 1.0], repeat=d):
        p, count = np.array(signs), np.count_nonzero(signs)
        if count == 0:
            continue
        if isinstance(gauge, OWL):
            yield p / np.cumsum(gauge.weights)[count - 1]
        elif count == min(getattr(gauge, "k", d), d):
            yield p


def naive_sigma(gauge, z):
    if isinstance(gauge, KSupport):
        sets = itertools.combinations(range(len(z)), min(gauge.k, len(z)))
        return max(np.linalg.norm(z[list(chosen)]) for chosen in sets)
    return max(p @ z for p in every_atom(gauge, len(z)))


def naive_value(gauge, x):
    """Return kappa(x) as the conic program that defines it."""
    if isinstance(gauge, KSupport):
        sets = [list(s) for s in itertools.combinations(range(len(x)), min(gauge.k, len(x)))]
        parts = [cp.Variable(len(s)) for s in sets]
        total = sum(np.eye(len(x))[:, s] @ part for s, part in zip(sets, parts, strict=True))
        return cp.Problem(cp.Minimize(sum(cp.norm2(part) for part in parts)), [total == x]).solve(solver=cp.CLARABEL)
    atoms = np.stack(list(every_atom(gauge, len(x))), axis=1)
    c = cp.Variable(atoms.shape[1], nonneg=True)
    return cp.Problem(cp.Minimize(cp.sum(c)), [atoms @ c == x]).solve(solver=cp.CLARABEL)


vectors = st.lists(st.sampled_from([0.0, 1.0, -1.0, 2.0, -3.0, 0.3, 1e-3, -2.5]), min_size=1, max_size=5).map(np.array)
lines = st.tuples(st.sampled_from([0.0, 0.1, 1.0, 7.0]), st.sampled_from([0.0, 0.2, 3.0])).filter(any)


@given(vectors)
def test_support_function_is_the_best_of_all_atoms(z):
    for gauge in gauges(len(z)):
        assert gauge.support(z) == pytest.approx(naive_sigma(gauge, z), rel=1e-13)


@settings(max_examples=15)
@given(vectors.filter(lambda x: x.any()))
def test_value_is_the_least_mass_of_a_combination(x):
    for gauge in gauges(len(x)):
        assert gauge.value(x) == pytest.approx(naive_value(gauge, x), rel=1e-6)


def test_k_saturated_entries_leave_nothing_beside_them():
    """An entry that rounding left beside them is no coordinate of the face."""
    face = KSparse(2).face(np.array([1.0, -1.0, 1e-17]))
    assert face.directions.toarray().tolist() == [[1.0, -1.0, 0.0]]


@settings(max_examples=300)
@given(vectors, lines)
def test_prox_satisfies_the_conditions_of_optimality(v, line):
    """v - x is in the slope times the polar ball, and aligned with x."""
    for gauge in gauges(len(v)):
        x = gauge.prox(v, line)
        kappa = gauge.value(x)
        slope, size = line[0] + line[1] * kappa, 1 + np.abs(v).sum()
        assert gauge.support(v - x) <= slope + 1e-12 * size
        assert abs(x @ (v - x) - slope * kappa) <= 1e-12 * size**2


@settings(max_examples=200)
@given(vectors, lines, st.integers(0, 1000))
def test_the_gauge_is_smooth_on_its_face(v, line, seed):
    for gauge in gauges(len(v)):
        x = gauge.prox(v, line)
        if not x.any():
            continue
        face = gauge.face(x)
        np.testing.assert_allclose(face.directions.T @ face.coordinates, x, rtol=1e-13)
        change = 1e-6 * np.abs(x[x != 0]).min() * np.random.default_rng(seed).uniform(-1, 1, len(face.coordinates))
        moved = gauge.value(face.directions.T @ (face.coordinates + change))
        curved = 0.0 if face.hessian is None else change @ face.hessian @ change / 2
        assert moved == pytest.approx(gauge.value(x) + face.gradient @ change + curved, rel=1e-12)


@given(vectors, st.floats(1e-12, 1.0), st.integers(0, 1000))
def test_bounds_hold_for_all_of_an_enclosure(z, radius, seed):
    rng = np.random.default_rng(seed)
    for gauge in gauges(len(z)):
        found = gauge.enclose_scores(Enclosure(z, np.full(len(z), radius)))
        for _ in range(5):
            inside = z + radius * rng.uniform(-1, 1, len(z))
            assert found.low[0] <= gauge.support(inside) * (1 + 1e-14)
            assert gauge.support(inside) * (1 - 1e-14) <= found.high[0]
        exact = gauge.enclose_scores(Enclosure.exact(z))
        assert exact.high[0] - exact.low[0] <= 1e-13 * (1 + exact.high[0])


def k_support_squared(falling, k):
    """Return the square of the k-support norm in fractions."""
    count = min(k, len(falling))
    for heads in range(count):
        level = sum(falling[heads:]) / (count - heads)
        if (heads == 0 or falling[heads - 1] > level) and level >= falling[heads]:
            return sum(v * v for v in falling[:heads]) + level * level * (count - heads)
    raise AssertionError("one of them always fits")


@pytest.mark.parametrize("seed", range(10))
def test_k_support_norm_lies_within_its_bounds_at_ties(seed):
    """Tenths add up to tenths but for rounding, which must not decide which entries count by their squares."""
    rng = np.random.default_rng(seed)
    for _ in range(300):
        d = int(rng.integers(1, 9))
        x, k = rng.choice([0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.6, 0.7, 0.9, 1.1], size=d), int(rng.integers(1, d + 2))
        if not x.any():
            continue
        falling = [Fraction(v) for v in sorted(x.tolist(), reverse=True)]
        found = KSupport(k).enclose_sizes(x)
        low, high = Fraction(float(found.low[0])), Fraction(float(found.high[0]))
        assert low * low <= k_support_squared(falling, k) <= high * high
        assert found.rad[0] <= 1e-13 * found.mid[0]


class TestExactCases:
    def test_owl(self):
        gauge = OWL([4.0, 3.0, 2.0, 1.0])
        assert gauge.prox(np.array([8.0, 6.0, 4.0, 2.0]), (1.0, 0.0)).tolist() == [4.0, 3.0, 2.0, 1.0]
        assert gauge.prox(np.array([5.0, 5.0, 1.0, 0.0]), (1.0, 0.0)).tolist() == [1.5, 1.5, 0.0, 0.0]
        assert gauge.support(np.array([8.0, 6.0, 4.0, 2.0])) == 2.0

    def test_k_support(self):
        assert KSupport(2).value(np.ones(4)) == pytest.approx(math.sqrt(8), rel=1e-15)
        assert KSupport(1).value(np.array([1.0, -2.0, 3.0])) == 6.0
        assert KSupport(3).value(np.array([3.0, 4.0, 0.0])) == 5.0

    def test_k_sparse(self):
        assert KSparse(2).value(np.ones(3)) == 1.5

    def test_a_scaled_gauge_has_the_prox_of_the_scaled_line(self):
        v = np.array([3.0, -1.0, 0.5])
        half = KSupport(2).prox(v, (0.5, 0.25))
        np.testing.assert_allclose(Scaled(KSupport(2), 2.0).prox(v, (1.0, 1.0)), half, rtol=1e-14)


@pytest.mark.parametrize("weights", [[1.0, 2.0], [-1.0], [0.0, 0.0], [], [math.nan], [[1.0]]])
def test_weights_that_make_no_norm_are_refused(weights):
    with pytest.raises(ValueError, match="OWL: weights"):
        OWL(weights)


@pytest.mark.parametrize("k", [0, -1, 1.5, math.nan, "2", None])
def test_k_must_be_a_positive_whole_number(k):
    for kind in (KSparse, KSupport):
        with pytest.raises(ValueError, match="k must be a positive whole number"):
            kind(k)


@pytest.mark.parametrize("shape", [Linear(), Square(), Ball(), LogBarrier()], ids=lambda shape: type(shape).__name__)
@pytest.mark.parametrize("gauge", [OSCAR(1.0, 0.01), SLOPE(0.1), KSupport(10), KSparse(10)], ids=repr)
def test_every_penalty_takes_few_passes(gauge, shape):
    """All have the solution of `Linear` at a tenth of the critical slope, and no slope that is tried costs a pass."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 500))
    y = np.where(X[:, :20] @ rng.choice([-1.0, 1.0], 20) + rng.logistic(size=300) > 0, 1.0, -1.0)
    problem = Problem(X, y, loss=Logistic(), gauge=gauge)
    slope = problem.critical / 10
    mass = solve(problem.at_penalty(Linear(slope)), tol=1e-9).point.state.mass
    penalty = Linear(slope) if isinstance(shape, Linear) else shape.through(mass, slope)
    found = solve(Problem(X, y, loss=Logistic(), gauge=gauge, penalty=penalty), tol=1e-6)
    assert found.converged
    assert found.passes <= 12
