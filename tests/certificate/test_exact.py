"""No false claim, ever: certificates of small problems against the truth in exact arithmetic."""

import numpy as np
import pytest
from truth import rational, solve_exactly

from atomsieve import L1, Atoms, Ball, Linear, NonNegative, Problem, Square, solve
from atomsieve.certificate import certify

SCALES = [1e-6, 1e-9, 1e-12, 1e-15, 2e-16, 1e-17]


def draw(rng):
    """Return data of one of many kinds, most of them mean."""
    n, d = int(rng.integers(1, 7)), int(rng.integers(1, 5))
    A = rng.integers(-3, 4, (n, d)).astype(float) if rng.random() < 0.6 else rng.standard_normal((n, d))
    y = rng.integers(-4, 5, n).astype(float) if rng.random() < 0.6 else rng.standard_normal(n)
    kind = rng.integers(10)
    if kind == 1:
        A[:, -1] = A[:, 0] * rng.choice([1, -1, 2])  # duplicates
    if kind == 2:
        A = np.outer(A[:, 0], rng.integers(-2, 3, d)).astype(float)  # rank 1
    if kind == 3:
        A[:, -1] = A[:, 0] * (1 + rng.choice(SCALES))  # near ties
    if kind == 4:
        A = A * 2.0**300
    if kind == 5:
        A, y = A * 2.0**-300, y * 2.0**-300
    if kind == 6:
        A = A + 2.0**53  # sums that cancel in the reals and not in floats
    if kind == 7:
        A = A * np.exp2(rng.integers(-40, 40, d))
    if kind == 8:
        y = y * 2.0**300
    return A, y


def draw_penalty(rng, A, y, counts, signed):
    """Return a penalty whose strength lies in the range where something happens; now and then exactly at its end."""
    with np.errstate(all="ignore"):
        pulls = A.T @ (counts * y) / counts.sum()
        top, bend = float(np.where(signed, np.abs(pulls), pulls).max()), float(np.abs(A).max()) ** 2
    top = top if 0 < top < np.inf else 1.0
    bend = bend if 0 < bend < np.inf else 1.0
    if rng.random() < 0.2:
        return [Linear(float(rng.integers(1, 4)) / 4), Square(float(rng.integers(1, 4)))][rng.integers(2)]
    kind = rng.integers(3)
    if kind == 0:
        return Linear(max(top * float(rng.choice([0.1, 0.3, 0.5, 0.9, 1.0, 1 - 1e-9])), 1e-300))
    if kind == 1:
        return Square(max(bend * float(rng.choice([0.01, 0.1, 1.0])), 1e-300))
    return Ball(max(top / bend * float(rng.choice([0.1, 0.5, 1.0])), 1e-300))


def draw_signs(rng, d):
    """Return which coefficients may be negative: all, none, or some of them."""
    return [np.full(d, True), np.full(d, False), rng.random(d) < 0.5][rng.choice(3, p=[0.4, 0.3, 0.3])]


def draw_gauge(rng, A):
    """Return a gauge, the columns of its lifted problem with prices and signs, all exact."""
    d = A.shape[1]
    signed = draw_signs(rng, d)
    prices = np.ones(d) if rng.random() < 0.7 else rng.integers(1, 4, d).astype(float)
    weights = None if (prices == 1).all() else prices
    if signed.any():
        return L1(weights, positive=None if signed.all() else ~signed), A, prices, signed
    if rng.random() < 0.5 and np.array_equal(A, np.round(A)) and np.abs(A).max() < 100:
        matrix = rng.integers(-2, 3, (d, int(rng.integers(1, 5)))).astype(float)
        return Atoms(matrix), A @ matrix, np.ones(matrix.shape[1]), np.full(matrix.shape[1], False)
    return [NonNegative(weights), L1(weights, positive=~signed)][rng.integers(2)], A, prices, signed


def point(rng, problem):
    """Return where to certify: mostly a solution, sometimes something far from one."""
    kind = rng.integers(6)
    if kind == 0:
        return np.zeros(problem.shape)
    if kind == 1:
        x = rng.standard_normal(problem.shape)
        return np.where(problem.core.signed, x, np.abs(x)) if rng.random() < 0.9 else x
    return solve(problem, tol=1e-3 if kind == 2 else 1e-14).lifted


def false_claims(certificate, truth):
    """Return the claims that are not true of every solution."""
    wrong = []
    for corner in truth.corners:
        for j, x in enumerate(corner):
            if certificate.zero[j] and x != 0:
                wrong.append(f"zero {j}")
            if certificate.nonzero[j] and x == 0:
                wrong.append(f"nonzero {j}")
            if np.isfinite(certificate.lower[j]) and rational(certificate.lower[j]) > x:
                wrong.append(f"lower {j}")
            if np.isfinite(certificate.upper[j]) and rational(certificate.upper[j]) < x:
                wrong.append(f"upper {j}")
    if np.isfinite(certificate.primal) and rational(certificate.primal) < truth.value:
        wrong.append("primal")
    if np.isfinite(certificate.dual) and rational(certificate.dual) > truth.value:
        wrong.append("dual")
    return wrong


def draw_ridge(rng, A, gauge):
    """Return a ridge, one number or one for each coefficient: of the size of the curvature, or far from it."""
    with np.errstate(all="ignore"):
        bend = float(np.abs(A).max()) ** 2
    bend = bend if 0 < bend < np.inf else 1.0
    ridge = max(bend * float(rng.choice([1e-12, 1e-6, 0.01, 1.0, 100.0])), 1e-280)
    if rng.random() < 0.2:
        ridge = float(rng.integers(1, 4)) / 4
    return ridge if rng.random() < 0.6 or gauge.mapped else ridge * rng.integers(1, 5, A.shape[1])


def trial(seed, ridged=False):
    """Return the false claims of one random problem, and whether it was decided; None where there is no problem."""
    rng = np.random.default_rng(seed)
    A, y = draw(rng)
    counts = np.ones(len(y)) if rng.random() < 0.7 else rng.integers(1, 4, len(y)).astype(float)
    gauge, columns, prices, signed = draw_gauge(rng, A)
    penalty = draw_penalty(rng, columns, y, counts, signed)
    ridge = draw_ridge(rng, columns, gauge) if ridged and not gauge.mapped else 0.0
    held = np.broadcast_to(ridge, prices.shape)
    truth = solve_exactly(columns, y, penalty, counts=counts, prices=prices, signed=signed, ridge=held)
    if truth is None:
        return None
    weights = None if (counts == 1).all() else counts
    try:
        problem = Problem(A, y, gauge=gauge, penalty=penalty, sample_weight=weights, ridge=ridge)
    except ValueError:
        return None  # overflow at x = 0 is refused in a sentence
    certificate = certify(problem, point(rng, problem), np.zeros(0))
    return false_claims(certificate, truth), bool(certificate.undecided.any())


def run(seeds, ridged=False):
    """Try many problems."""
    tried = decided = 0
    for seed in seeds:
        outcome = trial(seed, ridged)
        if outcome is None:
            continue
        wrong, undecided = outcome
        assert not wrong, f"seed {seed}: {wrong}"
        tried += 1
        decided += not undecided
    return tried, decided


@pytest.mark.thin(4)
@pytest.mark.parametrize("part", range(8))
def test_no_false_claim(part):
    tried, decided = run([part, k] for k in range(250))
    assert tried > 150
    assert decided > tried / 3


@pytest.mark.thin(4)
@pytest.mark.parametrize("part", range(300, 308))
def test_no_false_claim_about_elastic_nets(part):
    tried, decided = run(([part, k] for k in range(250)), ridged=True)
    assert tried > 150
    assert decided > tried / 3


@pytest.mark.deep
@pytest.mark.parametrize("ridged", [False, True])
@pytest.mark.parametrize("part", range(100, 108))
def test_no_false_claim_in_very_many(part, ridged):
    tried, _ = run(([part, k] for k in range(1100)), ridged)
    assert tried >= 900
