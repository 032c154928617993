"""No false claim for logistic problems either: the truth from interval Newton steps in 300 bits."""

import numpy as np
import pytest
from flint import arb
from test_exact import draw_signs
from truth import solve_logistic

from atomsieve import L1, Ball, Linear, Logistic, NonNegative, Problem, Square, solve
from atomsieve.certificate import certify


def trial(seed):
    """Return the false claims of one random problem; None where its truth is not proven."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 9)), int(rng.integers(1, 5))
    A = rng.integers(-3, 4, (n, d)).astype(float) if rng.random() < 0.5 else rng.standard_normal((n, d))
    A = A * np.exp2(rng.integers(-20, 20, d)) if rng.random() < 0.2 else A
    y = rng.choice([-1.0, 1.0], n)
    signed, prices = draw_signs(rng, d), rng.choice([1.0, 1.0, 2.0, 0.5], d)
    pulls = A.T @ y / n / 2
    top, bend = float(np.abs(pulls).max()), float(np.abs(A).max()) ** 2
    if top == 0:
        return None
    penalty = [
        Linear(top * float(rng.choice([0.9, 0.5, 0.1, 0.01]))),
        Square(bend * float(rng.choice([1.0, 0.1, 0.01]))),
        Ball(top / bend * float(rng.choice([0.1, 1.0, 3.0]))),
    ][rng.integers(3)]
    gauge = L1(prices, positive=~signed) if signed.any() else NonNegative(prices)
    problem = Problem(A, y, loss=Logistic(), gauge=gauge, penalty=penalty)
    solved = solve(problem, tol=1e-14).lifted
    truth = solve_logistic(A, y, penalty, prices=prices, signed=signed, guess=solved)
    if truth is None:
        return None
    x = [solved, np.zeros(d), solve(problem, tol=1e-2).lifted][int(rng.choice([0, 0, 0, 1, 2]))]
    certificate = certify(problem, x, np.zeros(0))
    wrong = []
    for j, exact in enumerate(truth):
        if certificate.zero[j] and not exact == 0:
            wrong.append(f"zero {j}")
        if certificate.nonzero[j] and exact == 0:
            wrong.append(f"nonzero {j}")
        if np.isfinite(certificate.lower[j]) and arb(float(certificate.lower[j])) > exact:
            wrong.append(f"lower {j}")
        if np.isfinite(certificate.upper[j]) and arb(float(certificate.upper[j])) < exact:
            wrong.append(f"upper {j}")
    return wrong


def run(seeds):
    """Try many problems, and return how many had a truth."""
    tried = 0
    for seed in seeds:
        wrong = trial(seed)
        assert not wrong, f"seed {seed}: {wrong}"
        tried += wrong is not None
    return tried


@pytest.mark.parametrize("part", range(2))
def test_no_false_claim(part):
    assert run([part, k] for k in range(100)) > 60


@pytest.mark.deep
@pytest.mark.parametrize("part", range(100, 104))
def test_no_false_claim_in_many(part):
    assert run([part, k] for k in range(330)) >= 250
