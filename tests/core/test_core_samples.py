"""What the core computes of the samples, beside formulas in extended precision: views, measures, sums of squares."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from twins import LONG, make, weighted

from atomsieve import core

BUILDS = [core._plain, core._core]
EPS = np.finfo(float).eps


def samples(seed, loss, n, spread):
    """Return a problem, and predictions that are up to `spread` away from 0."""
    case = make(seed, loss, n, 3, offset=False)
    rng = np.random.default_rng(seed)
    u = spread * rng.standard_normal(n)
    u[rng.random(n) < 0.1] = 0.0
    return case, u


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("loss", range(5))
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**20), n=st.integers(1, 70), spread=st.sampled_from([0.0, 1e-8, 1.0, 30.0, 300.0]))
def test_slopes_and_theta(build, loss, seed, n, spread):
    """Each slope to a few units in its last place, tails of the exponential included."""
    case, u = samples(seed, loss, n, min(spread, 30.0) if loss == 4 else spread)
    found, slopes, theta = np.empty((3, n))
    kind, given_samples = (loss, case.delta), (case.y, case.w, None, np.zeros(0))
    build.view(kind, given_samples, u, np.zeros(0), found, slopes, theta)
    np.testing.assert_array_equal(found, u)
    known = case.slope(u.astype(LONG))
    sizes = np.abs(known) if loss == 1 else np.abs(known) + np.abs(case.y) + np.abs(u) * (loss != 4)
    assert (np.abs(slopes - known) <= 8 * EPS * sizes + 1e-300).all()
    np.testing.assert_allclose(theta, case.w * slopes, rtol=4 * EPS, atol=0)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("loss", range(5))
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**20), n=st.integers(1, 70), spread=st.sampled_from([0.0, 1e-8, 1.0, 20.0]))
def test_slopes_and_curvatures_with_weights(build, loss, seed, n, spread):
    case, u = samples(seed, loss, n, spread)
    slopes, bends = np.empty((2, n))
    build.sight((loss, case.delta), case.y, case.w, u, slopes, bends)
    far = u.astype(LONG)
    np.testing.assert_allclose(slopes, case.slope(far).astype(float), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(bends, (case.w * case.curvature(far)).astype(float), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("loss", range(5))
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**20), n=st.integers(0, 1200), k=st.integers(0, 3), moves=st.booleans())
@example(seed=0, n=512, k=1, moves=True)
@example(seed=0, n=513, k=1, moves=True)
def test_what_a_place_tells(build, loss, seed, n, k, moves):
    """All sums, also where samples are more than what is taken at a time."""
    case, image = samples(seed, loss, max(n, 1), 1.0)
    rng = np.random.default_rng(seed)
    y, w, image = case.y[:n], case.w[:n], image[:n]
    basis, move = rng.standard_normal((n, k)), rng.standard_normal(n)
    coordinates, taken = rng.standard_normal((2, k))
    sums = np.full(k * (k + 2), np.nan)
    given_move = (move, taken) if moves else (None, None)
    kind = (loss, case.delta)
    steep, reach, bent, square, slope, far = build.told(
        kind, y, w, basis.ravel(), image, coordinates, *given_move, sums
    )
    u = image + basis @ coordinates
    slopes, bends = np.empty((2, n))
    build.sight(kind, y, w, u, slopes, bends)
    theta, spans, sizes = w * slopes, np.abs(basis).sum(axis=1), np.abs(image) + np.abs(u)
    known = [spans @ np.abs(theta), spans @ (w * sizes), spans @ (bends * sizes), image @ (w * image)]
    np.testing.assert_allclose([steep, reach, bent, square], known, rtol=1e-12)
    assert far == pytest.approx(np.abs(u).max(initial=0.0), rel=1e-15)
    assert slope == pytest.approx(
        theta @ (move - basis @ taken) if moves else 0.0, abs=1e-12 * (1 + np.abs(theta).sum())
    )
    expected = [basis.T @ theta, basis.T @ (w * image), (basis.T @ (bends[:, None] * basis)).ravel()]
    np.testing.assert_allclose(sums, np.concatenate(expected), rtol=1e-10, atol=1e-12 * (1 + np.abs(theta).sum()))


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_place_that_is_too_far_away_says_so(build, bad):
    image, ones, sums = np.zeros(600), np.ones(600), np.empty(3)
    image[5] = bad
    far = build.told((1, 0.0), ones, ones, ones, image, np.zeros(1), None, None, sums)[-1]
    assert not far < 1e300


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("loss", range(5))
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**20),
    n=st.integers(1, 70),
    spread=st.sampled_from([0.0, 1e-8, 1.0, 20.0, 300.0]),
    scale=st.sampled_from([1.0, 1 - 1e-9, 0.999, 0.5, 1e-3, 0.0]),
)
@example(seed=132, n=1, spread=1e-8, scale=1.0)
def test_measures(build, loss, seed, n, spread, scale):
    """The loss, the Fenchel-Young gap at scaled slopes, and two norms; the gap to the digits of its terms."""
    case, u = samples(seed, loss, n, min(spread, 20.0) if loss == 4 else spread)
    far = u.astype(LONG)
    slopes = case.slope(far).astype(float)
    value, apart, size, steep = build.measure((loss, case.delta), case.y, case.w, u, slopes, scale)
    exact = case.slope(far)
    losses = case.value(far)
    if loss == 4:  # less its minimum over u, so that nothing cancels
        counts = case.y.astype(LONG)
        losses = np.where(counts > 0, counts * _beyond_linear(far - np.log(np.where(counts > 0, counts, 1))), losses)
    assert value == pytest.approx(float(weighted(case.w, losses)), rel=1e-13, abs=1e-300)
    gaps = case.value(far) + case.conjugate(scale * exact) - scale * exact * far
    terms = np.abs(case.value(far)) + np.abs(case.conjugate(scale * exact)) + np.abs(scale * exact * far)
    allowed = 16 * EPS * (1 - scale) * np.abs(exact) * (1 + np.abs(far)) + 1e-18 * (1 + terms)  # the twin's own error
    assert abs(apart - float(weighted(case.w, gaps))) <= float(weighted(case.w, allowed))
    assert size == pytest.approx(float(np.sqrt(weighted(case.w, far * far))), rel=1e-14, abs=1e-150)
    assert steep == pytest.approx(float(np.sqrt(weighted(case.w, exact * exact))), rel=1e-13, abs=1e-150)


def _beyond_linear(d):
    """Return `exp(d) - 1 - d`, by its series where the difference would cancel."""
    series = sum(d**k / math.factorial(k) for k in range(2, 12))
    return np.where(np.abs(d) < 1e-2, series, np.exp(d) - 1 - d)


@pytest.mark.parametrize("build", BUILDS)
def test_logarithms_where_powers_of_two_change(build):
    """The Fenchel-Young gap of Logistic runs through log(1 + d) for every d: none of its joints shows."""
    d = np.concatenate(
        [2.0 ** np.arange(-40.0, 43.0), np.sqrt(2) * 2.0 ** np.arange(-3.0, 43.0), np.sqrt([0.5, 2.0]) - 1]
    )
    d = np.concatenate([d[d > 0], np.nextafter(d[d > 0], 0), np.nextafter(d[d > 0], np.inf)])
    scale = 0.5
    u = np.log(d / (1 - scale))  # d = (1 - scale) exp(-margin), for y = -1
    y = -np.ones(1)
    for one in u[(u > -29) & (u < 29)]:
        slope = np.array([float(1 / (1 + np.exp(-LONG(one))))])
        _, apart, _, _ = build.measure((1, 0.0), y, np.ones(1), np.array([one]), slope, scale)
        p, q = 1 / (1 + np.exp(-LONG(one))), scale / (1 + np.exp(-LONG(one)))
        right = 1 / (1 + np.exp(LONG(one)))
        known = q * np.log(LONG(scale)) + (right + (p - q)) * np.log1p((p - q) / right)
        assert apart == pytest.approx(float(known), rel=1e-14, abs=1e-17)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.floats(-1e100, 1e100), max_size=40), max_size=12))
def test_sums_of_squares(runs):
    ends = np.cumsum([len(run) for run in runs], dtype=np.int64)
    values = np.array([number for run in runs for number in run], dtype=float)
    known = [float(sum(LONG(number) ** 2 for number in run)) for run in runs]
    np.testing.assert_allclose(core.squares(values, ends), known, rtol=1e-14)
