"""Gauges with a prox, every penalty, several losses: the same optimum as a conic solver finds."""

import cvxpy as cp
import numpy as np
import pytest

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
    Poisson,
    Problem,
    SparseGroup,
    Square,
    Squared,
    solve,
    verify,
)

GAUGES = [OWL, OSCAR, SLOPE, KSupport, KSparse, LInf, SparseGroup]
LOSSES = [Squared, Logistic, Poisson]
PENALTIES = [Linear, Square, Ball, LogBarrier]


def gauge_of(kind, d, rng):
    if kind is OWL:
        weights = np.sort(rng.integers(0, 5, size=d))[::-1].astype(float)
        weights[0] += 1
        return OWL(weights)
    if kind is SparseGroup:
        labels = rng.integers(0, max(d // 3, 1), size=d)
        return SparseGroup(labels, float(rng.choice([0.05, 0.5, 0.9, 1.0])), str(rng.choice(["sqrt", "equal"])))
    given = {OSCAR: (0.5, 0.2), SLOPE: (0.2,), LInf: ()}
    return kind(*given.get(kind, (int(rng.integers(1, d + 2)),)))


def modelled(gauge, x):
    """Return kappa(x) for cvxpy."""
    d = x.shape[0]
    if isinstance(gauge, LInf):
        return cp.norm_inf(x)
    if isinstance(gauge, KSparse):
        return cp.maximum(cp.norm_inf(x), cp.norm1(x) / gauge.k)
    if isinstance(gauge, KSupport):  # (sum of x^2 / eta + t) / 2 over eta <= t, sum of eta <= k t
        eta, t, kappa = cp.Variable(d, nonneg=True), cp.Variable(nonneg=True), cp.Variable()
        parts = sum(cp.quad_over_lin(x[j], eta[j]) for j in range(d))
        return kappa, [eta <= t, cp.sum(eta) <= gauge.k * t, parts + t <= 2 * kappa]
    if isinstance(gauge, SparseGroup):
        labels = np.unique(gauge.groups, return_inverse=True)[1]
        prices = np.sqrt(np.bincount(labels)) if gauge.weights == "sqrt" else np.ones(labels.max() + 1)
        lengths = sum(price * cp.norm2(x[np.flatnonzero(labels == g)]) for g, price in enumerate(prices))
        return gauge.balance * cp.norm1(x) + (1 - gauge.balance) * lengths
    weights = gauge.weights
    drops = weights - np.append(weights[1:], 0.0)
    return sum(drop * cp.sum_largest(cp.abs(x), k + 1) for k, drop in enumerate(drops) if drop > 0)


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


def lost(loss, u, y):
    if isinstance(loss, Squared):
        return cp.sum_squares(u - y) / 2
    if isinstance(loss, Logistic):
        return cp.sum(cp.logistic(-cp.multiply(y, u)))
    return cp.sum(cp.exp(u) - cp.multiply(y, u) + _least(y))


def _least(y):
    """Return what makes the least Poisson loss of a count 0."""
    return np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0)) - y, 0.0)


def optimum(problem, X, y):
    x, b = cp.Variable(X.shape[1]), cp.Variable()
    found = modelled(problem.gauge, x)
    kappa, limits = found if isinstance(found, tuple) else (found, [])
    if not limits:
        slack = cp.Variable()
        limits, kappa = [kappa <= slack], slack
    price, more = charged(problem.penalty, kappa)
    objective = lost(problem.loss, X @ x + b, y) / len(y) + price
    stated = cp.Problem(cp.Minimize(objective), limits + more)
    stated.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return stated.value, stated.status == cp.OPTIMAL


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")  # of the reference, to 1e-11
@pytest.mark.thin(3)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("gauge", GAUGES)
def test_same_optimum(gauge, loss, penalty, seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 16)), int(rng.integers(2, 13))
    X = rng.normal(size=(n, d)) @ np.diag(10 ** rng.uniform(-0.5, 0.5, d))
    if seed % 3 == 0:
        X[:, -1] = X[:, 0]  # twins
    signal = X @ (rng.normal(size=d) * (rng.uniform(size=d) < 0.5)) / 2
    noisy = signal + 0.5 * rng.normal(size=n)
    y = {
        Squared: noisy,
        Logistic: np.where(noisy > np.median(noisy), 1.0, -1.0),
        Poisson: rng.poisson(np.exp(noisy / 3)),
    }[loss]
    given = Problem(X, y, loss=loss(), gauge=gauge_of(gauge, d, rng), intercept=True)
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
    (truth, known), scale = optimum(problem, X, np.asarray(y, dtype=float)), problem.baseline
    assert result.converged, result.status
    assert result.gap <= 1e-8 * scale
    assert result.objective <= truth + 1e-7 * scale
    assert result.objective >= truth - 1e-7 * scale or not known  # a reference that stalls is too high
    certificate = result.certificate()
    assert certificate.dual <= result.objective <= certificate.primal
    assert certificate.dual <= truth + 1e-7 * scale
    assert certificate.gap <= 1e-8 * scale
    checked = verify(certificate, X, y)
    assert checked.valid, checked.reason
