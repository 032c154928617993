"""Certificates of elastic nets: two-sided also for columns that depend on each other, and checked by other formulas."""

import copy
import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from flint import arb
from truth import solve_logistic

from atomsieve import (
    L1,
    L2,
    Ball,
    Certificate,
    Group,
    Huber,
    Linear,
    LinearSquare,
    LogBarrier,
    Logistic,
    Multinomial,
    NonNegative,
    Poisson,
    Power,
    Problem,
    Scaled,
    Square,
    Squared,
    SquaredHinge,
    path,
    solve,
    verify,
)
from atomsieve.certificate import certify
from atomsieve.certificate.file import seal

RNG = np.random.default_rng(0)
X = RNG.standard_normal((25, 12)).round(3)
X[:, 5] = X[:, 0]
X[:, 7] = -2 * X[:, 1]
SIGNAL = X[:, :4] @ np.array([2.0, -1.0, 1.0, 0.5]) + 0.3 * RNG.standard_normal(25)
GROUPS = np.repeat(np.arange(4), 3)
LOSSES = {
    Squared(): SIGNAL,
    Huber(0.5): SIGNAL,
    Logistic(): np.where(SIGNAL > 0, 1.0, -1.0),
    SquaredHinge(): np.where(SIGNAL > 0, 1.0, -1.0),
    Poisson(): RNG.poisson(np.exp(np.clip(SIGNAL, -2, 2))).astype(float),
}
GAUGES = [
    L1(),
    L1([0.0, 1, 2, 0.5, 1, 1, 1, 1, np.inf, 1, 1, 3], positive=np.arange(12) == 2),
    NonNegative(),
    Group(GROUPS, [1.0, 2.0, 0.5, 1.0]),
    Scaled(Group(GROUPS), 3.0),
    L2(),
]
PENALTIES = [Linear(0.1), Square(0.1), Ball(0.8), LinearSquare(0.05, 0.1), Power(0.1, 3.0), LogBarrier(2.0, 3.0)]


@pytest.mark.thin(6)
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("gauge", GAUGES, ids=lambda g: type(g).__name__)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_everything_is_decided_and_follows_by_other_formulas(loss, gauge, penalty):
    """Also with twins among the columns, and more columns than a regular Gram matrix could have."""
    y = LOSSES[loss]
    problem = Problem(X, y, loss=loss, gauge=gauge, penalty=penalty, ridge=0.05, intercept=True)
    certificate = solve(problem, until="decided").certificate()
    assert not certificate.undecided.any(), certificate
    assert not certificate.dependencies
    free = problem.core.unpenalised()
    assert np.isfinite(np.delete(certificate.lower, free)).all()
    assert np.isfinite(np.delete(certificate.upper, free)).all()
    verdict = verify(certificate, X, y)
    assert verdict.valid, verdict


def test_twins_share_their_weight():
    problem = Problem(X, SIGNAL, penalty=Linear(0.05), ridge=0.1, intercept=True)
    result = solve(problem, tol=1e-14, until="decided")
    certificate = result.certificate()
    assert result.x[5] == pytest.approx(result.x[0], rel=1e-10)
    assert result.x[0] != 0
    assert certificate.nonzero[[0, 5]].all()
    assert (certificate.upper - certificate.lower).max() < 1e-4
    without = solve(problem.at_penalty(problem.penalty), tol=1e-14).certificate()
    assert not without.dependencies
    alone = solve(Problem(X, SIGNAL, penalty=Linear(0.05), intercept=True), until="decided").certificate()
    assert alone.undecided[[0, 5]].all()


def test_more_columns_than_samples_all_in_the_support():
    """No Gram matrix of 100 columns of 20 samples is regular without the ridge."""
    rng = np.random.default_rng(1)
    A, y = rng.standard_normal((20, 100)), rng.standard_normal(20)
    certificate = solve(Problem(A, y, penalty=Linear(1e-4), ridge=0.5), until="decided").certificate()
    assert certificate.nonzero.sum() > 60
    assert not certificate.undecided.any()
    assert verify(certificate, A, y).valid


def test_many_classes_have_intervals():
    """With a ridge they follow from the dual point, and from the point with an inverse."""
    classes = np.digitize(SIGNAL, [-1, 1])
    for gauge in (L1(), Group(), NonNegative()):
        problem = Problem(X, classes, loss=Multinomial(3), gauge=gauge, penalty=Linear(0.05), ridge=0.1)
        certificate = solve(problem, until="decided").certificate()
        best = solve(problem, tol=1e-14).x
        assert not certificate.undecided.any()
        assert certificate.nonzero.any()
        assert ((certificate.lower <= best + 1e-9) & (best <= certificate.upper + 1e-9)).all()
        assert (certificate.upper - certificate.lower).max() < 0.1


@pytest.mark.parametrize("penalty", [Linear(0.125), Square(0.25), Ball(0.5)], ids=repr)
@pytest.mark.parametrize("gauge", [L1(), NonNegative(), Group([0, 0, 1, 1])], ids=lambda g: type(g).__name__)
def test_stacked_rows_are_the_same_problem(gauge, penalty):
    """The ridge as further samples: certificates of both, proven in different ways, speak of the same optimum.

    8 samples of weight 1 and 4 of weight 2 have the total 16, twice that of the samples alone: `ridge = 2 / 8` on one
    side is half of every penalty on the other. All numbers are exact.
    """
    halved = {"Linear": Linear(0.0625), "Square": Square(0.125), "Ball": Ball(0.5)}[type(penalty).__name__]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A, y = rng.integers(-3, 4, (8, 4)).astype(float), rng.integers(-5, 6, 8).astype(float)
        if seed % 3 == 0:
            A[:, 3] = A[:, 0]
        stacked, targets = np.vstack([A, np.eye(4)]), np.append(y, np.zeros(4))
        weights = np.append(np.ones(8), 2 * np.ones(4))
        one = solve(Problem(A, y, gauge=gauge, penalty=penalty, ridge=0.25), until="decided").certificate()
        two = Problem(stacked, targets, gauge=gauge, penalty=halved, sample_weight=weights)
        two = solve(two, until="decided").certificate()
        assert not (one.zero & two.nonzero).any()
        assert not (one.nonzero & two.zero).any()
        assert (one.lower <= two.upper).all()
        assert (two.lower <= one.upper).all()
        assert one.dual <= 2 * two.primal
        assert 2 * two.dual <= one.primal


@pytest.mark.parametrize("poor", [0.0, 1e-6, 1e-2, 1.0])
def test_poor_points_of_logistic_problems(poor):
    """Solutions in balls of 300 bits against what is claimed at points near and far."""
    tried = 0
    for seed, penalty in product(range(6), (Linear(0.05), Square(0.1), Ball(0.7))):
        rng = np.random.default_rng(seed)
        A, y = rng.standard_normal((15, 5)), rng.choice([-1.0, 1.0], 15)
        if seed % 3 == 0:
            A[:, 4] = A[:, 0]
        ridge = float(rng.choice([1e-6, 0.01, 1.0]))
        problem = Problem(A, y, loss=Logistic(), penalty=penalty, ridge=ridge)
        best = solve(problem, tol=1e-14).x
        truth = solve_logistic(A, y, penalty, prices=np.ones(5), signed=[True] * 5, guess=best, ridge=ridge)
        if truth is None:
            continue
        tried += 1
        moved = best * (1 + poor * rng.standard_normal(5))
        certificate = certify(problem, moved, np.zeros(0))
        for j, x in enumerate(truth):
            assert not (certificate.zero[j] and not x == 0)
            assert not (certificate.nonzero[j] and x == 0)
            assert not arb(float(certificate.lower[j])) > x
            assert not arb(float(certificate.upper[j])) < x
        verdict = verify(certificate, A, y)
        assert verdict.valid, (seed, penalty, verdict)
    assert tried > 10


@pytest.mark.parametrize("ridge", [1e-9, 1e-12, 1e-15])
def test_a_tiny_ridge_changes_little(ridge):
    """It makes the solution unique and decides no less about columns that are independent."""
    A = X[:, [0, 1, 2, 3, 4, 6]]
    with_it = solve(Problem(A, SIGNAL, penalty=Linear(0.1), ridge=ridge), until="decided")
    without = solve(Problem(A, SIGNAL, penalty=Linear(0.1)), until="decided")
    assert with_it.x == pytest.approx(without.x, abs=10 * ridge + 1e-9)
    np.testing.assert_array_equal(with_it.certificate().zero, without.certificate().zero)
    np.testing.assert_array_equal(with_it.certificate().nonzero, without.certificate().nonzero)
    assert verify(with_it.certificate(), A, SIGNAL).valid


def test_the_start_of_a_path_is_proven_zero():
    found = path(Problem(X, SIGNAL, intercept=True, ridge=0.3), n=5)
    assert found.results[0].certificate().zero.all()
    assert not found.results[1].certificate().zero.all()


class TestFile:
    """The file states the ridge; one that states none is as it always was."""

    def certificate(self, **parts):
        return solve(Problem(X, SIGNAL, penalty=Linear(0.1), **parts), until="decided").certificate()

    def refusal(self, certificate, change):
        content = copy.deepcopy(certificate.content())
        change(content["problem"])
        content["seal"] = seal(content)

        class Told:
            def content(self):
                return content

        verdict = verify(Told(), X, SIGNAL)
        assert not verdict.valid
        return verdict.reason

    def test_a_round_trip(self, tmp_path):
        for ridge in (0.1, np.linspace(0.1, 1.0, 12)):
            made = self.certificate(ridge=ridge)
            made.save(tmp_path / "certificate.json")
            read = Certificate.load(tmp_path / "certificate.json")
            assert read.statement == made.statement
            np.testing.assert_array_equal(read.lower, made.lower)
            np.testing.assert_array_equal(np.array(read.statement["ridge"]), ridge)
            assert verify(tmp_path / "certificate.json", X, SIGNAL).valid

    def test_no_ridge_is_not_mentioned(self, tmp_path):
        self.certificate().save(tmp_path / "certificate.json")
        assert "ridge" not in json.loads((tmp_path / "certificate.json").read_text())["problem"]
        assert verify(tmp_path / "certificate.json", X, SIGNAL).valid

    def test_another_ridge_is_refused(self):
        made = self.certificate(ridge=0.1)
        for other in (0.11, 0.09, 0.2, 1e-3):
            assert self.refusal(made, lambda told, other=other: told.update(ridge=other))
        assert self.refusal(made, lambda told: told.pop("ridge"))
        assert self.refusal(self.certificate(), lambda told: told.update(ridge=0.1))

    def test_no_ridge_at_all_is_refused(self):
        made = self.certificate(ridge=0.1)
        for odd in (0.0, -0.1, "0.1", None, [0.1], [0.1] * 11, [0.1] * 11 + [0.0], True):
            assert "ridge" in self.refusal(made, lambda told, odd=odd: told.update(ridge=odd))

    def test_claims_that_are_too_narrow_are_refused(self):
        made = self.certificate(ridge=0.1)
        inner = np.where(made.upper > made.lower, made.lower + 0.6 * (made.upper - made.lower), made.lower)
        assert "narrow" in verify(replace(made, lower=inner), X, SIGNAL).reason
        zero = np.flatnonzero(made.zero)[0]
        wrong = replace(made, zero=made.zero & (np.arange(12) != zero), nonzero=made.nonzero | (np.arange(12) == zero))
        assert not verify(wrong, X, SIGNAL).valid
        gone = np.flatnonzero(made.nonzero)[0]
        wrong = replace(made, zero=made.zero | (np.arange(12) == gone), nonzero=made.nonzero & (np.arange(12) != gone))
        assert not verify(wrong, X, SIGNAL).valid
