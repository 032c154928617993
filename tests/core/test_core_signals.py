"""Running sums, squares of sums of columns, and denoising, against slow twins that read like the formulas."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import lsq_linear
from scipy.sparse import csr_array

from atomsieve.core import _plain, signals

NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)


def twin(y, weights, prices):
    """Return the denoised signal from its dual: `x = y - D' f / w`, with the f in the box that minimises it."""
    D = np.diff(np.eye(len(y)), axis=0)
    if not len(D):
        return y
    roots = np.sqrt(weights)
    f = lsq_linear((D / roots).T, roots * y, (-prices, prices), method="bvls", tol=1e-15, max_iter=10_000).x
    return y - D.T @ f / weights


def assert_optimal(x, y, weights, prices):
    """Check the conditions that hold of the solution and of no other point."""
    pulls = np.cumsum(weights * (y - x).astype(np.longdouble))
    near = 1e-9 * (1 + np.abs(weights * y).sum())
    assert abs(pulls[-1]) <= near
    assert (np.abs(pulls[:-1]) <= prices + near).all()
    jumps = np.diff(x)
    assert (np.abs(pulls[:-1] + np.sign(jumps) * prices)[jumps != 0] <= near).all()


@pytest.mark.parametrize("seed", range(30))
def test_denoising_is_what_the_dual_says(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 25))
    y, weights, prices = np.round(rng.normal(size=n), 1), rng.uniform(0.2, 2, n), rng.choice([0.2, 0.5, 1.0], n - 1)
    np.testing.assert_allclose(signals.denoised(y, weights, prices), twin(y, weights, prices), atol=1e-8)


@settings(deadline=None)
@given(arrays(float, st.integers(1, 60), elements=NUMBERS), st.floats(0.0, 1e6), st.integers(0, 99))
def test_denoised_signals_are_optimal(y, price, seed):
    rng = np.random.default_rng(seed)
    weights, prices = rng.uniform(0.1, 3, len(y)), price * rng.uniform(0.1, 1, len(y) - 1)
    assert_optimal(signals.denoised(y, weights, prices), y, weights, prices)


def test_exact_cases():
    ones = np.ones(4)
    assert signals.denoised(np.array([0.0, 0.0, 4.0, 4.0]), ones, ones[1:]).tolist() == [0.5, 0.5, 3.5, 3.5]
    assert signals.denoised(np.full(4, 2.0), ones, ones[1:]).tolist() == [2.0] * 4
    assert signals.denoised(np.array([1.0]), ones[:1], ones[:0]).tolist() == [1.0]
    assert signals.denoised(np.array([3.0, 1.0]), ones[:2], np.zeros(1)).tolist() == [3.0, 1.0]


@given(arrays(float, st.integers(0, 50), elements=NUMBERS))
def test_running_sums_are_exact_up_to_their_bounds(values):
    total, small, size, spread = signals.running_sums(values, np.abs(values))
    for i in range(len(values)):
        exact = sum(map(Fraction, values[: i + 1].tolist()), Fraction(0))
        found = Fraction(float(total[i])) + Fraction(float(small[i]))
        assert abs(found - exact) <= Fraction(float(size[i])) * (i + 1) * Fraction(2) ** -52
    np.testing.assert_allclose(spread, np.cumsum(np.abs(values)))


@pytest.mark.parametrize("upward", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_squares_of_sums(seed, upward):
    rng = np.random.default_rng(seed)
    matrix = csr_array(rng.uniform(size=(6, 9)) * (rng.random((6, 9)) < 0.4))
    matrix.sort_indices()
    weights = rng.uniform(size=6)
    rows = matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int64)
    dense = matrix.toarray()
    sums = np.cumsum(dense, axis=1) if upward else np.cumsum(dense[:, ::-1], axis=1)[:, ::-1]
    for unit, least in ((0.0, -1e-13), (2.0**-52, 0.0)):
        change, size = signals.squares_of_sums(rows, weights, 9, upward=upward, unit=unit)
        found = np.cumsum(change) if upward else np.cumsum(change[::-1])[::-1]
        np.testing.assert_allclose(found, weights @ sums**2, atol=1e-12)
        assert (found - weights @ sums**2 >= least - 1e-15).all()
        assert (size >= 0).all()


def test_what_does_not_fit_is_refused():
    ones, places, starts = np.ones(3), np.zeros(3, dtype=np.int32), np.array([0, 3])
    with pytest.raises(ValueError, match="rising places"):
        signals.squares_of_sums((ones, places, starts), ones[:1], 5, upward=True, unit=0.0)
    with pytest.raises(ValueError, match="rising places"):
        signals.squares_of_sums((ones, np.arange(3, dtype=np.int32), starts), ones[:1], 2, upward=True, unit=0.0)
    with pytest.raises(ValueError, match="prices: expected 2 numbers"):
        signals.denoised(ones, ones, ones)
    with pytest.raises(ValueError, match="at least one"):
        _plain.denoised(ones[:0], ones[:0], ones[:0], ones[:0].copy())


def sides(values, root):
    """Return the exact levels and sums of steps around a root, from their formulas."""
    exact = [Fraction(float(v)) for v in values]
    levels, moved = [], []
    for i in range(len(values)):
        levels.append(exact[root] + sum(exact[root + 1 : i + 1], Fraction(0)) - sum(exact[i:root], Fraction(0)))
        moved.append(sum(exact[i:], Fraction(0)) if i > root else -sum(exact[: i + 1], Fraction(0)))
    moved[root] = sum(exact, Fraction(0))
    return levels, moved


@given(arrays(float, st.integers(1, 40), elements=NUMBERS), st.integers(0, 39))
def test_levels_and_what_jumps_move_are_rounded_once(values, root):
    root %= len(values)
    size = Fraction(float(np.abs(values).sum()))
    found = signals.levels(values, root), signals.moved(values, root)
    for some, exact in zip(found, sides(values, root), strict=True):
        for one, known in zip(some.tolist(), exact, strict=True):
            assert abs(Fraction(one) - known) <= abs(known) * Fraction(2) ** -52 + size * Fraction(2) ** -98


@settings(deadline=None)
@given(arrays(float, st.integers(1, 40), elements=NUMBERS), st.integers(0, 39), st.floats(0.0, 1e5), st.integers(0, 99))
def test_jumps_of_a_denoised_signal_add_up_to_its_levels(y, root, price, seed):
    root %= len(y)
    rng = np.random.default_rng(seed)
    weights, prices = rng.uniform(0.1, 3, len(y)), price * rng.uniform(0.1, 1, len(y) - 1)
    x = signals.denoised(y, weights, prices)
    jumps, above = signals.jumps_of(y, weights, prices, root, x)
    assert jumps[root] == above[root] == 0
    np.testing.assert_array_equal(np.delete(jumps, root) != 0, np.diff(above) != 0)
    exact = sides(jumps, root)[0]
    largest = Fraction(float(np.abs(above).max()))
    assert all(abs(Fraction(float(a)) - b) <= largest * Fraction(2) ** -52 for a, b in zip(above, exact, strict=True))
    near = 1e-9 * (1 + float(np.abs(weights * y).sum()) / float(weights.sum()) + 1e-3 * float(np.abs(y).max()))
    np.testing.assert_allclose(above - above[root], x - x[root], atol=near)


def test_roots_elsewhere_are_refused():
    ones = np.ones(3)
    for found in (signals.levels, signals.moved):
        with pytest.raises(ValueError, match="one of the places"):
            found(ones, 3)
    with pytest.raises(ValueError, match="one of the places"):
        signals.jumps_of(ones, ones, ones[1:], -1, ones)


def bent_twin(y, weights, prices):
    """Return the best piecewise lines from the dual, as `twin` does."""
    D, roots = np.diff(np.eye(len(y)), 2, axis=0), np.sqrt(weights)
    f = lsq_linear((D / roots).T, roots * y, (-prices, prices), method="bvls", tol=1e-15, max_iter=10_000).x
    return y - D.T @ f / weights


@pytest.mark.parametrize("quick", [0, 40])
@pytest.mark.parametrize("seed", range(30))
def test_bends_are_what_the_dual_says(seed, quick):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 25))
    y, weights, prices = np.round(rng.normal(size=n), 1), rng.uniform(0.2, 2, n), rng.choice([0.01, 0.5, 5.0], n - 2)
    bends, ended = signals.bends_of(y, weights, prices, quick, 100)
    assert ended
    np.testing.assert_allclose(bends, np.diff(bent_twin(y, weights, prices), 2), atol=1e-8)


@settings(deadline=None)
@given(st.integers(3, 300), st.sampled_from([1e-6, 1e-3, 0.1, 10.0]), st.booleans(), st.integers(0, 99))
def test_bent_lines_are_optimal(n, price, circles, seed):
    """The dual is within the prices, and it is at them where lines bend: these conditions hold of the optimum alone."""
    rng = np.random.default_rng(seed)
    y, weights = np.cumsum(rng.normal(size=n)), rng.uniform(0.1, 3, n)
    prices = price * n * n * rng.uniform(0.1, 1, n - 2)
    bends, ended = signals.bends_of(y, weights, prices, 3 if circles else 40, 100)
    assert ended
    basis = np.column_stack([np.ones(n), np.arange(n) / n])
    rest = y - np.concatenate([[0.0, 0.0], np.cumsum(np.cumsum(bends))])
    line = np.linalg.lstsq(basis * np.sqrt(weights)[:, None], rest * np.sqrt(weights), rcond=None)[0]
    dual = np.cumsum(np.cumsum(weights * (rest - basis @ line)))[:-2]
    near = 1e-8 * prices.max() + 1e-13 * n * n * np.abs(y).max()  # of sums of sums, in doubles
    assert (np.abs(dual) <= prices + near).all()
    assert (np.abs(dual - np.sign(bends) * prices)[bends != 0] <= near).all()


def test_signals_too_short_to_bend_are_refused():
    ones = np.ones(2)
    with pytest.raises(ValueError, match="at least three"):
        signals.bends_of(ones, ones, ones[:0], 1, 1)
