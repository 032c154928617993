"""The nuclear norm: oracle, gauge, prox, face and bounds against naive twins; the same optimum as a conic solver."""

import tracemalloc
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from low_rank import rank_above

from atomsieve import (
    Ball,
    GaugeRegressor,
    Linear,
    LogBarrier,
    Logistic,
    Multinomial,
    Nuclear,
    Positive,
    Problem,
    Scaled,
    Square,
    Squared,
    solve,
    verify,
)
from atomsieve.gauges.matrix import RowByRow
from atomsieve.gauges.triplets import decomposed
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.numerics.spectral import largest_eigenvalue, nuclear_norm, spectral_norm
from atomsieve.testing import check_gauge

PENALTIES = [Linear, Square, Ball, LogBarrier]


def drawn(seed, *, rank=None):
    """Return a matrix of any scale, often with equal singular values or of a low rank."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(1, 8, size=2)
    z = rng.normal(size=(rows, columns)) * 10.0 ** rng.integers(-6, 7)
    left, values, right = np.linalg.svd(z, full_matrices=False)
    if seed % 3 == 0:
        values[: len(values) // 2 + 1] = values[0]
    if rank is not None or seed % 3 == 1:
        values[rank or 1 :] = 0.0
    return (left * values) @ right


seeds = st.integers(0, 10**6)


@pytest.mark.parametrize("shape", [(4, 3), (2, 5), (1, 4), (3, 1)])
def test_laws(shape):
    check_gauge(Nuclear(), shape)
    check_gauge(Scaled(Nuclear(), 2.5), shape)


@settings(deadline=None)
@given(seeds)
def test_oracle_and_gauge_are_singular_values(seed):
    z = drawn(seed)
    values = np.linalg.svd(z, compute_uv=False)
    gauge, flat = Nuclear(), RowByRow(Nuclear(), z.shape)
    assert gauge.value(z) == pytest.approx(values.sum(), rel=1e-12)
    assert gauge.support(z) == pytest.approx(np.sqrt(np.linalg.eigvalsh(z.T @ z)[-1]), rel=1e-7)
    atom = gauge.lmo(z).toarray(z.shape)
    assert np.vdot(atom, z) == pytest.approx(values[0], rel=1e-10)
    assert np.linalg.svd(atom, compute_uv=False).sum() == pytest.approx(1.0)
    assert flat.value(z.ravel()) == gauge.value(z)
    assert np.array_equal(flat.atom(z.ravel(), 0).toarray((z.size,)), atom.ravel())


@settings(deadline=None)
@given(seeds, st.floats(0.01, 1.5), st.floats(0.0, 2.0))
def test_prox_minimises(seed, part, bend):
    v = drawn(seed)
    gauge, scale = Nuclear(), float(np.linalg.norm(v, 2))
    line = (part * scale, bend)
    x = gauge.prox(v, line)
    kappa = gauge.value(x)
    slope = line[0] + bend * kappa
    # v - x is a subgradient of slope times the norm: its values are at most the slope, and it is aligned with x
    assert np.linalg.norm(v - x, 2) <= slope + 1e-9 * scale
    assert np.vdot(v - x, x) == pytest.approx(slope * kappa, abs=1e-9 * scale * scale)


@settings(deadline=None)
@given(seeds)
def test_face_is_smooth(seed):
    x = drawn(seed, rank=3)
    gauge, rng = Nuclear(), np.random.default_rng(seed)
    face = gauge.face(x)
    assert np.allclose(face.directions.T @ face.coordinates, x.ravel(), atol=1e-9 * np.abs(x).max())
    size = gauge.value(x)
    smallest = face.coordinates[face.coordinates > 0].min()
    step = rng.normal(size=len(face.coordinates))
    step *= 1e-3 * smallest / np.linalg.norm(step)
    moved = gauge.value((face.directions.T @ (face.coordinates + step)).reshape(x.shape))
    expected = size + face.gradient @ step + step @ face.hessian @ step / 2
    assert moved == pytest.approx(expected, abs=1e-7 * smallest + 1e-13 * size)


@settings(deadline=None)
@given(seeds)
def test_bounds_hold_in_fractions(seed):
    """Upper bounds are proven by the squares of all digits: `t^2 I - Z'Z` has no negative pivot in exact arithmetic."""
    z = drawn(seed)
    bound = Fraction(spectral_norm(Enclosure.exact(z)))
    exact = [[Fraction(v) for v in row] for row in z.tolist()]
    count = z.shape[1]
    rows = [
        [(bound * bound if i == j else 0) - sum(row[i] * row[j] for row in exact) for j in range(count)]
        for i in range(count)
    ]
    for k in range(count):
        assert rows[k][k] >= 0
        for i in range(k + 1, count):
            factor = rows[i][k] / rows[k][k] if rows[k][k] else Fraction(0)
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    assert float(bound) <= np.linalg.norm(z, 2) * (1 + 1e-11)
    size = nuclear_norm(z)
    assert float(size.high - size.low) <= 1e-11 * float(size.high)
    assert size.low <= np.linalg.svd(z, compute_uv=False).sum() * (1 + 1e-14)
    assert size.high >= np.linalg.svd(z, compute_uv=False).sum() * (1 - 1e-14)


@settings(deadline=None)
@given(seeds)
def test_bounds_cover_what_is_enclosed(seed):
    z, rng = drawn(seed), np.random.default_rng(seed)
    radius = np.abs(z).max() * rng.uniform(0, 0.1, size=z.shape)
    bound = Nuclear().enclose_scores(Enclosure(z, radius))
    for _ in range(5):
        moved = z + radius * rng.choice([-1.0, 1.0], size=z.shape)
        assert bound.low[0] <= np.linalg.norm(moved, 2) * (1 + 1e-12)
        assert np.linalg.norm(moved, 2) <= bound.high[0] * (1 + 1e-12)
        least = np.linalg.svd(moved, compute_uv=False)
        limit = float(rng.choice(least)) * 1.01
        assert np.count_nonzero(least >= limit) <= rank_above(Nuclear(), Enclosure(z, radius), limit)


def test_bounds_far_from_one():
    for scale in (1e-300, 1e-160, 1e160, 1e300):
        z = scale * np.array([[3.0, 0.0], [0.0, 1.0]])
        assert spectral_norm(Enclosure.exact(z)) >= 3 * scale
        assert spectral_norm(Enclosure.exact(z)) <= 3.001 * scale
        size = nuclear_norm(z)
        assert size.low <= 4 * scale <= size.high <= 4.001 * scale
    assert spectral_norm(Enclosure.exact(np.array([[np.inf, 0.0]]))) == np.inf
    assert largest_eigenvalue(np.array([[np.nan]]), 0.0) == np.inf
    assert spectral_norm(Enclosure.exact(np.zeros((2, 3)))) <= 1e-300


def test_exact_cases():
    """A = I, Y = diag(3, 1) and alpha = 2: the solution is diag(1, 0), and its rank is proven."""
    X, y = np.eye(2), np.diag([3.0, 1.0])
    problem = Problem(X, y, gauge=Nuclear(), penalty=Linear(1.0))  # the mean over two samples: alpha / 2
    result = solve(problem, tol=1e-13)
    certificate = result.certificate()
    assert np.allclose(result.x, np.diag([1.0, 0.0]), atol=1e-7)
    assert certificate.rank == 1
    assert certificate.dual <= (4 + 1) / 4 + 1.0 <= certificate.primal
    assert "rank 1 at most" in str(certificate)
    assert verify(certificate, X, y).valid
    assert certificate.excludes(np.array([[0.0, 0.0], [0.0, 1.0]]))
    assert not certificate.excludes(np.array([[1.0, 0.0], [0.0, 0.0]]))
    nothing = solve(problem.at_penalty(Linear(1.51)), tol=1e-12)
    assert not nothing.x.any()
    assert nothing.certificate().zero.all()
    shape = solve(Problem(np.eye(4), y.ravel(), gauge=Nuclear(), penalty=Linear(0.5), shape=(2, 2)), tol=1e-13)
    assert np.allclose(shape.x, np.diag([1.0, 0.0]), atol=1e-7)


def test_refusals():
    with pytest.raises(ValueError, match="measures a matrix"):
        Problem(np.eye(3), np.ones(3), gauge=Nuclear())
    with pytest.raises(ValueError, match=r"Positive|signs"):
        Problem(np.eye(3), np.ones((3, 2)), gauge=Positive(Nuclear()))


def charged(penalty, kappa):
    """Return phi(kappa) for cvxpy, with its constraint."""
    if isinstance(penalty, Linear):
        return penalty.strength * kappa, []
    if isinstance(penalty, Square):
        return penalty.strength * cp.square(kappa) / 2, []
    if isinstance(penalty, Ball):
        return 0.0, [kappa <= penalty.radius]
    inside = kappa / penalty.radius
    return (-cp.log(1 - inside) - inside) / penalty.sharpness, []


def optimum(problem, X, y):
    x, b, kappa = cp.Variable((X.shape[1], y.shape[1])), cp.Variable((1, y.shape[1])), cp.Variable()
    u = X @ x + np.ones((len(X), 1)) @ b
    lost = cp.sum_squares(u - y) / 2 if isinstance(problem.loss, Squared) else cp.sum(cp.logistic(-cp.multiply(y, u)))
    price, more = charged(problem.penalty, kappa)
    stated = cp.Problem(cp.Minimize(lost / len(y) + price), [cp.normNuc(x) <= kappa, *more])
    stated.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return stated.value, stated.status == cp.OPTIMAL


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")  # of the reference, to 1e-11
@pytest.mark.thin(3)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", [Squared, Logistic])
def test_same_optimum(loss, penalty, seed):
    rng = np.random.default_rng(seed)
    n, d, K = int(rng.integers(6, 16)), int(rng.integers(1, 6)), int(rng.integers(2, 5))
    X = rng.normal(size=(n, d)) @ np.diag(10 ** rng.uniform(-0.5, 0.5, d))
    y = X @ rng.normal(size=(d, 1)) @ rng.normal(size=(1, K)) + 0.5 * rng.normal(size=(n, K))
    y = y if loss is Squared else np.where(y > np.median(y), 1.0, -1.0)
    given = Problem(X, y, loss=loss(), gauge=Nuclear(), intercept=True)
    slope = given.critical * float(rng.choice([0.5, 0.1, 0.02]))
    mass = solve(given.at_penalty(Linear(slope)), tol=1e-8).point.state.mass
    shaped = {
        Linear: Linear(slope),
        Square: Square(slope / mass),
        Ball: Ball(0.8 * mass),
        LogBarrier: LogBarrier(1.5 * mass, 2 / (1.5 * mass * slope)),
    }[penalty]
    problem = given.at_penalty(shaped)
    result = solve(problem, tol=1e-10)
    (truth, known), scale = optimum(problem, X, y), problem.baseline
    assert result.gap <= 1e-8 * scale  # one case ends at 1.9e-10, just above what was asked for
    assert result.objective <= truth + 1e-7 * scale
    assert result.objective >= truth - 1e-7 * scale or not known
    certificate = result.certificate()
    assert certificate.dual <= result.objective <= certificate.primal
    assert certificate.gap <= 1e-8 * scale
    checked = verify(certificate, X, y)
    assert checked.valid, checked.reason


@pytest.mark.parametrize("loss", [Squared, Logistic])
@pytest.mark.parametrize("part", [0.5, 0.1, 0.02])
def test_few_passes(loss, part):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 100))
    y = X @ rng.normal(size=(100, 3)) @ rng.normal(size=(3, 8)) / 10 + 0.5 * rng.normal(size=(300, 8))
    y = y if loss is Squared else np.sign(y)
    critical = Problem(X, y, loss=loss(), gauge=Nuclear()).critical
    problem = Problem(X, y, loss=loss(), gauge=Nuclear(), penalty=Linear(part * critical))
    assert solve(problem, tol=1e-6).converged
    assert problem.meter.passes <= 25


def test_measurements_by_subspaces():
    """More entries than a model of all may have: a core between subspaces is solved, again and again."""
    rng = np.random.default_rng(1)
    truth = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 30))
    A = rng.normal(size=(400, 1200))
    y = A @ truth.ravel() + rng.normal(size=400)
    problem = Problem(A, y, gauge=Nuclear(), shape=(40, 30), intercept=True)
    result = solve(problem.at_penalty(Linear(0.1 * problem.critical)), tol=1e-7)
    assert result.converged
    assert np.linalg.matrix_rank(result.x, 1e-6 * np.linalg.norm(result.x, 2)) == 2
    assert np.linalg.norm(result.x - truth) <= 0.2 * np.linalg.norm(truth)


def test_classes():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 6)), rng.integers(0, 4, 60)
    problem = Problem(X, y, loss=Multinomial(), gauge=Nuclear(), intercept=True)
    result = solve(problem.at_penalty(Linear(0.3 * problem.critical)), tol=1e-9)
    assert result.converged
    certificate = result.certificate()
    assert certificate.gap <= 1e-8
    assert verify(certificate, X, y).valid


@pytest.mark.parametrize("penalty", [Linear(0.05), Square(0.1), Ball(0.5)])
def test_ridge_beside(penalty):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 5)), rng.normal(size=(40, 3))
    problem = Problem(X, y, gauge=Nuclear(), penalty=penalty, ridge=0.2)
    result = solve(problem, tol=1e-10)
    assert result.converged
    x, kappa = cp.Variable((5, 3)), cp.Variable()
    price, more = charged(penalty, kappa)
    lost = cp.sum_squares(X @ x - y) / 80 + 0.1 * cp.sum_squares(x)
    stated = cp.Problem(cp.Minimize(lost + price), [cp.normNuc(x) <= kappa, *more])
    stated.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    assert result.objective == pytest.approx(stated.value, rel=1e-7)
    certificate = result.certificate()
    assert certificate.rank is None
    assert verify(certificate, X, y).valid


def test_estimator():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 10))
    y = X @ rng.normal(size=(10, 1)) @ rng.normal(size=(1, 5)) + 0.1 * rng.normal(size=(80, 5))
    model = GaugeRegressor(gauge=Nuclear(), penalty=Linear(0.5)).fit(X, y)
    assert model.coef_.shape == (5, 10)
    assert np.linalg.matrix_rank(model.coef_, 1e-6) == 1
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("near", [1e-12, 1e-7])
def test_many_values_next_to_each_other(near):
    """At an optimum they meet at the slope, which methods that part them need not survive; nor need all be 0."""
    rng = np.random.default_rng(5)
    left, right = (np.linalg.qr(rng.normal(size=(420, 420)))[0] for _ in range(2))
    z = left * np.where(np.arange(420) < 60, 1 - near * rng.random(420), 0.99 * rng.random(420)) @ right
    values = np.linalg.svd(z, compute_uv=False)
    for count in (1, 4):
        found = decomposed(z, count)
        np.testing.assert_allclose(found.values, values[:count], rtol=2 * near + 1e-13)
        np.testing.assert_allclose(np.linalg.norm(z @ found.right, axis=0), found.values, rtol=near + 1e-12)
    score = Nuclear().enclose_scores(Enclosure.exact(z))
    assert score.low[0] <= values[0] * (1 + 1e-14)
    assert score.high[0] >= values[0] * (1 - 1e-14)
    assert score.rad[0] <= near + 1e-10
    nothing = decomposed(np.zeros((420, 410)), 2)
    assert not nothing.values.any()
    assert np.array_equal(nothing.left.T @ nothing.left, np.eye(2))


def test_columns_of_many_outputs_are_not_formed():
    """Beyond so many coefficients there are no intervals, so their columns, mostly zeros, are not needed."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 210))
    Y = X[:, :2] @ rng.normal(size=(2, 20)) + 0.1 * rng.normal(size=(60, 20))
    problem = Problem(X, Y, gauge=Nuclear())
    result = solve(problem.at_penalty(Linear(0.3 * problem.critical)), tol=1e-8)
    tracemalloc.start()
    try:
        certificate = result.certificate()
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert certificate.rank == 2
    assert most < X.shape[1] * Y.shape[1] * Y.size * 8 / 4
