"""Certificates as users meet them: decisions, sentences, hard data, and the failures of others."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, make_regression

from atomsieve import (
    GCG,
    L1,
    L2,
    Ball,
    Group,
    Huber,
    Linear,
    Logistic,
    NonNegative,
    Problem,
    Square,
    Squared,
    Status,
    solve,
    verify,
)
from atomsieve.certificate import certify

X, Y = load_diabetes(return_X_y=True)
CANCER, LABELS = load_breast_cancer(return_X_y=True)
CANCER = (CANCER - CANCER.mean(axis=0)) / CANCER.std(axis=0)
LABELS = 2.0 * LABELS - 1


def wide(seed=0):
    """Return more columns than samples, in general position."""
    return make_regression(60, 500, n_informative=8, noise=5.0, random_state=seed)


class OwnGauge(L2):
    """A gauge whose author gives neither prices nor bounds."""

    def prices(self, *_):
        return None


class TestStrength:
    @pytest.mark.parametrize("intercept", [False, True])
    @pytest.mark.parametrize("fraction", [0.3, 0.1, 0.03])
    @pytest.mark.parametrize("linear", [False, True])
    @pytest.mark.parametrize("loss", [Squared(), Logistic(), Huber(20.0)], ids=repr)
    def test_nothing_is_left_undecided(self, loss, linear, fraction, intercept):
        data, y = wide()
        y = np.sign(y) if isinstance(loss, Logistic) else y
        problem = Problem(data, y, loss=loss, intercept=intercept)
        top = problem.origin.sigma
        problem = problem.at_penalty(Linear(fraction * top) if linear else Square(fraction * top))
        certificate = solve(problem, tol=1e-13).certificate()
        assert not certificate.undecided.any(), str(certificate)
        assert certificate.nonzero.any()
        assert 0 < certificate.margin <= 1

    def test_groups(self):
        problem = Problem(X, Y, gauge=Group(np.arange(10) // 2), penalty=Linear(0.5), intercept=True)
        certificate = solve(problem, tol=1e-13).certificate()
        assert not certificate.undecided.any()
        assert certificate.zero.any()
        assert certificate.nonzero.any()

    def test_sparse_and_dense_agree(self):
        data, y = wide()
        data[np.abs(data) < 1] = 0
        certificates = [
            solve(Problem(kind(data), y, penalty=Linear(5.0), intercept=True), tol=1e-13).certificate()
            for kind in (np.asarray, np.asfortranarray, sparse.csr_matrix, sparse.csc_array)
        ]
        for certificate in certificates:
            assert not certificate.undecided.any()
            np.testing.assert_array_equal(certificate.zero, certificates[0].zero)
            assert certificate.digest == certificates[0].digest

    def test_other_types_of_numbers(self):
        whole = np.random.default_rng(0).integers(-9, 9, (40, 20))
        y = whole[:, 0] * 3 + whole[:, 1]
        plain = solve(Problem(whole.astype(float), y, penalty=Linear(0.5)), tol=1e-13).certificate()
        for data in (whole, whole.astype(np.float32), whole.astype(np.int8)):
            certificate = solve(Problem(data, y, penalty=Linear(0.5)), tol=1e-13).certificate()
            assert certificate.digest == plain.digest
            assert not certificate.undecided.any()
            assert verify(certificate, data, y).valid

    def test_any_method_may_find_the_point(self):
        """What is not solved is still certified, as far as it goes."""
        problem = Problem(X, Y, penalty=Square(0.01))
        best = solve(problem, tol=1e-13).certificate()
        rough = solve(problem, GCG(), max_iter=300).certificate()
        assert rough.valid
        assert not (rough.zero & ~best.zero).any()
        assert rough.dual <= best.primal
        assert best.dual <= rough.primal


class TestUntilDecided:
    def test_goes_on_until_everything_is_decided(self):
        data, y = wide(1)
        problem = Problem(data, np.sign(y), loss=Logistic(), penalty=Linear(0.03))
        early = solve(problem, tol=1e-2)
        result = solve(problem, tol=1e-2, until="decided", trace=True)
        assert early.certificate().undecided.any()
        assert result.status is Status.DECIDED
        assert result.converged
        assert not result.certificate().undecided.any()
        assert result.trace.iteration == list(range(1, len(result.trace) + 1))

    def test_says_why_it_cannot(self):
        twins = np.hstack([X, X[:, 2:3]])
        result = solve(Problem(twins, Y, penalty=Linear(0.3)), until="decided")
        certificate = result.certificate()
        assert result.status is Status.UNDECIDED
        np.testing.assert_array_equal(np.flatnonzero(certificate.undecided), [2, 10])
        assert "Columns 2, 10 are linearly dependent" in certificate.reason
        assert verify(certificate, twins, Y).valid

    def test_tells_sets_of_dependent_columns_apart(self):
        names = [*"abcdefghij", "c2", "e2", "c3"]
        twins = np.hstack([X, X[:, [2, 4, 2]]])
        certificate = solve(Problem(twins, Y, penalty=Linear(0.01), names=names), tol=1e-12).certificate()
        assert certificate.dependent_sets == [["c", "c2", "c3"], ["e", "e2"]]
        assert "2 sets of columns are linearly dependent" in str(certificate)
        assert "of a set: 'c', 'c2', 'c3'; 'e', 'e2'." in certificate.reason
        many = solve(Problem(np.hstack([X, X]), Y, penalty=Linear(1e-6)), tol=1e-12).certificate()
        assert len(many.dependent_sets) == 10
        assert many.dependent_sets[1] == ["x1", "x11"]
        assert "0, 10; 1, 11; 2, 12; 3, 13; 4, 14; and 5 more (`Certificate.dependent_sets` has all)" in many.reason

    def test_names_the_intercept_among_dependent_columns(self):
        dummies = np.eye(2)[np.arange(len(Y)) % 2]
        problem = Problem(dummies, dummies[:, 0] + 0.01 * Y, penalty=Linear(1e-3), intercept=True, names=["on", "off"])
        certificate = solve(problem, tol=1e-12).certificate()
        assert "Columns 'on', 'off', the intercept are linearly dependent" in certificate.reason
        assert certificate.dependent_sets == [["on", "off"]]

    def test_a_tie_stays_undecided(self):
        """Exactly at the critical slope the first score is tied with the slope."""
        result = solve(Problem(np.eye(3), [3.0, 1.0, 0.0], penalty=Linear(1.0)), until="decided")
        assert result.status is Status.UNDECIDED
        assert result.certificate().undecided.tolist() == [True, False, False]

    def test_other_words_are_refused(self):
        with pytest.raises(ValueError, match='until must be None or "decided"'):
            solve(Problem(X, Y), until="bored")


class TestHonesty:
    @pytest.mark.parametrize("x", ["zero", "random", "huge"])
    def test_far_from_the_optimum_little_is_decided_and_nothing_wrong(self, x):
        problem = Problem(X, Y, penalty=Square(0.01))
        best = solve(problem, tol=1e-13).certificate()
        rng = np.random.default_rng(0)
        start = {"zero": np.zeros(10), "random": rng.standard_normal(10), "huge": 1e150 * rng.standard_normal(10)}[x]
        certificate = certify(problem, start, np.zeros(0))
        assert not (certificate.zero & best.nonzero).any()
        assert not (certificate.nonzero & best.zero).any()
        assert certificate.dual <= best.primal

    def test_pieces_without_bounds_decide_nothing_and_say_so(self):
        certificate = solve(Problem(X, Y, gauge=OwnGauge(), penalty=Square(1.0))).certificate()
        assert not certificate.valid
        assert str(certificate) == (
            "Nothing is proven: OwnGauge has no prices, and no bounds of its own (enclose_sizes and enclose_scores)."
        )
        assert not verify(certificate, X, Y).known

    def test_overflow_is_no_claim(self):
        certificate = solve(Problem(X * 1e200, Y * 1e-20, penalty=Ball(1e-180)), max_iter=3).certificate()
        assert not (certificate.zero & certificate.nonzero).any()

    def test_weights_that_vanish(self):
        weights = np.ones(len(Y))
        weights[0], weights[1] = 1e-300, 1e300
        assert "left out" in solve(Problem(X, Y, penalty=Linear(0.5), sample_weight=weights)).certificate().reason


class TestFailuresOfOthers:
    """Reported bugs of other libraries, as tests: screening that removed what it should not, or gaps below zero."""

    def test_weights_of_zero(self):
        """celer 188: a feature without a price was screened."""
        data, y = wide(3)
        weights = np.ones(500)
        weights[[3, 77]] = 0.0
        result = solve(Problem(data, y, gauge=L1(weights), penalty=Linear(3.0)), tol=1e-12)
        certificate = result.certificate()
        assert not certificate.zero[[3, 77]].any()
        assert (np.abs(result.x[[3, 77]]) > 0).all()
        assert (certificate.lower[[3, 77]] <= result.x[[3, 77]]).all()
        assert (result.x[[3, 77]] <= certificate.upper[[3, 77]]).all()
        assert verify(certificate, data, y).valid

    @pytest.mark.parametrize("seed", range(5))
    def test_correlated_columns_and_a_weak_penalty(self, seed):
        """celer 174, 201, 202 and lightning 140: features removed that the solution needs, and no convergence then."""
        rng = np.random.default_rng(seed)
        base = rng.standard_normal((50, 5))
        data = np.hstack([base + 1e-3 * rng.standard_normal((50, 5)) for _ in range(30)])
        y = data[:, :5] @ rng.standard_normal(5) + 0.01 * rng.standard_normal(50)
        problem = Problem(data, y)
        problem = problem.at_penalty(Linear(1e-4 * problem.origin.sigma))
        screened, plain = solve(problem, tol=1e-10), solve(problem, tol=1e-10, screening="off")
        assert screened.converged
        assert abs(screened.objective - plain.objective) <= 2e-10 * problem.baseline
        certificate = screened.certificate()
        assert not (certificate.zero & (np.abs(plain.x) > 1e-3)).any()

    def test_constant_columns_and_an_intercept(self):
        """A constant column beside an intercept is of no use, and proven so."""
        data = np.hstack([X, np.ones((len(Y), 1)), np.zeros((len(Y), 1))])
        certificate = solve(Problem(data, Y, penalty=Linear(0.3), intercept=True), tol=1e-12).certificate()
        assert certificate.zero[[10, 11]].all()

    def test_gaps_are_never_negative(self):
        """scikit-learn reported negative gaps for large targets."""
        for scale in (1.0, 1e8, 1e-8, 1e100):
            result = solve(Problem(X, Y * scale, penalty=Linear(0.3 * scale)), tol=1e-12)
            certificate = result.certificate()
            assert result.gap >= 0
            assert certificate.gap >= 0
            assert certificate.dual <= certificate.primal

    def test_non_negative(self):
        certificate = solve(Problem(X, Y, gauge=NonNegative(), penalty=Linear(0.3)), tol=1e-12).certificate()
        assert not certificate.undecided.any()
        assert (certificate.lower >= 0).all()
