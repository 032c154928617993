"""Statuses are true: each sentence holds of the run that ends with it."""

import numpy as np
import pytest

from atomsieve import L1, L2, Linear, Logistic, Multinomial, Poisson, Problem, Square, Squared, Status, solve
from atomsieve import certificate as proofs


def data(n=60, d=20):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] - X[:, 1] + 0.1 * rng.standard_normal(n)


class Unknown(Squared):
    """A loss that drops error bounds."""

    def value(self, u, y):
        return np.square(u - y) / 2


class OwnGauge(L2):
    """A gauge whose author gives neither prices nor bounds."""

    def prices(self, *_):
        return None


@pytest.mark.parametrize(
    "problem",
    [
        Problem(*data(), gauge=OwnGauge(), penalty=Linear(0.1)),
        Problem(*data(), loss=Unknown(), penalty=Linear(0.1)),
        Problem(data()[0], np.arange(60) % 3, loss=Multinomial(), gauge=OwnGauge(), penalty=Linear(0.01)),
    ],
)
def test_where_nothing_can_be_proven_the_run_says_so_at_once(problem):
    plain, result = solve(problem), solve(problem, until="decided")
    assert result.status is Status.UNPROVEN
    assert not result.converged
    assert not result.certificate().valid
    assert result.n_iter == plain.n_iter  # no smaller gap was asked for in vain


@pytest.fixture
def certificates(monkeypatch):
    """A list that grows with every certificate."""
    made, certify = [], proofs.certify
    monkeypatch.setattr(proofs, "certify", lambda *given, **more: made.append(1) or certify(*given, **more))
    return made


@pytest.mark.parametrize("twin", ["equal", "opposite", "but for a constant"])
def test_twins_stay_undecided_and_cost_one_certificate(twin, certificates):
    X, y = data()
    X[:, 0] = np.round(X[:, 0])
    X[:, 2] = {"equal": X[:, 0], "opposite": -X[:, 0], "but for a constant": 1 - X[:, 0]}[twin]
    problem = Problem(X, y, penalty=Linear(0.1), intercept=twin == "but for a constant")
    result = solve(problem, until="decided")
    assert result.status is Status.UNDECIDED
    assert result.gap > 1e-13  # no gap decides more, and so none at the level of rounding was asked for
    assert not result.converged
    assert np.flatnonzero(result.certificate().undecided).tolist() == [0, 2]
    assert len(certificates) == 1


def test_twins_at_different_prices_are_decided():
    X, y = data()
    X[:, 2] = X[:, 0]
    gauge = L1(np.where(np.arange(20) == 2, 1 + 1e-5, 1.0))
    result = solve(Problem(X, y, gauge=gauge, penalty=Linear(0.1)), tol=1e-3, until="decided")
    assert result.status is Status.DECIDED
    assert result.certificate().zero[2]


def test_blocks_that_screening_leaves_are_not_certified_in_vain(certificates):
    X, y = data()
    y = np.sign(y)
    problem = Problem(X, y, loss=Logistic(), penalty=Linear(0.05))
    plain = solve(problem, tol=1e-2)
    assert plain.alive[plain.x == 0].any()
    assert plain.certificate().undecided.any()
    certificates.clear()
    result = solve(problem, tol=1e-2, until="decided")
    assert result.status is Status.DECIDED
    assert len(certificates) == 1
    certificates.clear()
    assert solve(problem, tol=1e-2, until="decided", screening="off").status is Status.DECIDED
    assert len(certificates) == 2  # nothing is known beforehand


def test_converged_says_that_rounding_is_within_the_tolerance_too():
    X, y = data()
    for tol in (1e-6, 1e-10, 1e-13, 1e-15, 1e-17, 0.0):
        result = solve(Problem(1e6 + X, y, penalty=Linear(0.1), intercept=True), tol=tol)
        assert result.converged == (max(result.gap, result.point.rounding) <= tol * result.problem.baseline)
        assert result.converged or result.status in (Status.STALLED, Status.EXHAUSTED)


def test_rounding_is_blamed_only_where_it_is_to_blame():
    """A method that goes nowhere has not run into rounding."""
    from atomsieve.run.limits import Limits  # noqa: PLC0415

    point = Problem(*data(), penalty=Square(0.1)).origin
    assert Limits.without_headway(point) is Status.NO_HEADWAY
    found = solve(Problem(*data(), penalty=Square(0.1)), tol=1e-15).point
    assert Limits.without_headway(found) is Status.EXHAUSTED


def test_the_last_point_is_proven_where_the_first_proof_expects_nothing():
    """Exposures over decades: bounds of the curvature shrink faster than the root of the gap."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 8))
    exposure = np.exp(3 * rng.standard_normal(2000) + 1.5 * X[:, 7])
    counts = rng.poisson(exposure * np.exp(-1 + 0.4 * X[:, 0]))
    given = {"loss": Poisson(), "penalty": Linear(0.23733427646269753), "intercept": True, "offset": np.log(exposure)}
    assert solve(Problem(X, counts, **given), until="decided").status is Status.DECIDED
