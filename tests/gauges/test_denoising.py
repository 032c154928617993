"""Signals themselves: one step solves, levels and jumps are proven, and the inverse is that of the Gram matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, eye_array

from atomsieve import Ball, Linear, LogBarrier, Problem, Scaled, Square, TotalVariation, TrendFilter, solve, verify
from atomsieve.certificate.segments import SegmentInverse, segment_inverse
from atomsieve.design import CumulatedDesign, Steps, as_design
from atomsieve.numerics.enclosures import Enclosure

RNG = np.random.default_rng(0)
SIGNAL = np.repeat(2 * RNG.normal(size=8), 50) + 0.5 * RNG.normal(size=400)
BESIDE = [{}, {"sample_weight": RNG.uniform(0.5, 2, 400)}, {"offset": RNG.normal(size=400)}, {"intercept": True}]
GAUGES = [TotalVariation(), Scaled(TotalVariation(RNG.uniform(0.5, 2, 399)), 2.0)]


@pytest.mark.parametrize("beside", BESIDE, ids="".join)
@pytest.mark.parametrize("gauge", GAUGES)
@pytest.mark.parametrize("penalty", [Linear(0.02), Square(0.01), Ball(3.0), LogBarrier(9.0, 1.0)])
def test_one_step_is_the_solution_and_is_proven(penalty, gauge, beside):
    X = eye_array(400)
    result = solve(Problem(X, SIGNAL, gauge=gauge, penalty=penalty, **beside), tol=1e-12)
    assert result.n_iter == 1
    checked = verify(result.certificate(), X, SIGNAL, **{k: v for k, v in beside.items() if k != "intercept"})
    assert checked.valid, checked.reason
    # an identity that is stored with its zeros is solved on working sets
    slow = solve(Problem(np.eye(400), SIGNAL, gauge=gauge, penalty=penalty, **beside), tol=1e-12)
    assert slow.n_iter > 1
    assert result.point.objective == pytest.approx(slow.point.objective, rel=1e-10)
    np.testing.assert_allclose(result.x + result.intercept, slow.x + slow.intercept, atol=1e-4)


@settings(deadline=None, max_examples=50)
@given(st.integers(2, 12), st.integers(0, 10_000))
def test_the_inverse_is_that_of_the_gram_matrix(count, seed):
    rng = np.random.default_rng(seed)
    at, weights = count // 2, rng.uniform(0.1, 2, count)
    design = CumulatedDesign(as_design(csr_array(np.eye(count))), Steps(count, at))
    heads = np.flatnonzero((rng.random(count) < 0.5) & (np.arange(count) != at))
    found = segment_inverse(design, Enclosure.exact(np.ones((count, 1))), heads, weights)
    assert isinstance(found, SegmentInverse)
    C = np.hstack([np.ones((count, 1)), design.columns(heads)])
    inverse = np.linalg.inv(C.T @ (weights[:, None] * C))
    np.testing.assert_allclose(found.diagonal, inverse.diagonal(), rtol=1e-9)
    v = rng.normal(size=len(inverse))
    assert found.of(Enclosure.exact(v)) == pytest.approx(v @ inverse @ v, rel=1e-9)
    assert found.of(Enclosure.exact(v)) >= v @ inverse @ v * (1 - 1e-9)
    wide = Enclosure(v, np.full(len(v), 0.1))
    for _ in range(3):
        moved = v + 0.1 * rng.uniform(-1, 1, len(v))
        assert moved @ inverse @ moved <= found.of(wide) * (1 + 1e-9)
    assert segment_inverse(design, Enclosure.exact(np.full((count, 1), 2.0)), heads, weights) is None


def test_an_identity_that_was_changed_is_none_any_more():
    X = csr_array(np.eye(30))
    y = np.repeat([0.0, 2.0], 15)
    result = solve(Problem(X, y, gauge=TotalVariation(), penalty=Linear(0.05)))
    assert result.n_iter == 1
    X.data[3] = 5.0
    assert not result.certificate().gap < 1e-6  # of the problem with X as it is now


def test_a_long_signal():
    rng = np.random.default_rng(1)
    y = np.repeat(rng.normal(size=20), 5000) + rng.normal(size=100_000)
    result = solve(Problem(None, y, gauge=TotalVariation(), penalty=Linear(1e-3)))
    certificate = result.certificate()
    assert certificate.undecided.sum() < 100
    assert certificate.nonzero.sum() > 10
    x = result.x
    pulls = np.cumsum((y - x) / len(y))
    assert np.abs(pulls).max() <= 1e-3 * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_piecewise_lines_take_one_step(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([3, 4, 7, 60, 301]))
    y = np.cumsum(np.cumsum(rng.normal(size=n) * (rng.random(n) < 0.1))) + 0.3 * rng.normal(size=n)
    weights, prices = rng.uniform(0.5, 2, n), rng.uniform(0.5, 2, n - 2)
    given = {"gauge": TrendFilter(weights=prices), "sample_weight": weights}
    strength = 0.01 * Problem(np.eye(n), y, **given).critical
    result = solve(Problem(None, y, penalty=Linear(strength), **given), tol=1e-8)
    slow = solve(Problem(np.eye(n), y, penalty=Linear(strength), **given), tol=1e-9)
    assert result.n_iter == 1
    assert result.point.objective == pytest.approx(slow.point.objective, rel=1e-7)
    assert verify(result.certificate(), eye_array(n), y, sample_weight=weights).valid


@pytest.mark.parametrize("count", [3, 4, 5, 8, 9])
def test_lengths_of_ramps_are_those_of_the_columns(count):
    weights = np.random.default_rng(count).uniform(0.1, 2, count)
    design, _ = TrendFilter().lift(as_design(csr_array(np.eye(count))))
    assert design.is_ramp()
    squares = weights @ design.columns(np.arange(count)) ** 2
    np.testing.assert_allclose(design.squared_norms(weights), squares)
    assert (design.norm_bounds(weights) >= np.sqrt(squares) * (1 - 1e-15)).all()


def test_long_piecewise_lines():
    rng = np.random.default_rng(0)
    y = np.interp(np.arange(4_000.0), np.linspace(0, 4_000, 12), rng.normal(size=12)) + 0.3 * rng.normal(size=4_000)
    result = solve(Problem(None, y, gauge=TrendFilter(), penalty=Linear(1.0)))
    assert result.n_iter == 1
    assert len(result.point.state.support) < 100
    assert result.certificate().valid
