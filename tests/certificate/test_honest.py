"""The checker accepts what is honest: certificates of every kind of problem, at good points and at bad ones."""

import honest
import numpy as np
import pytest
from scipy import sparse

from atomsieve import (
    L1,
    Atoms,
    Ball,
    Group,
    Image,
    Linear,
    LinearSquare,
    Logistic,
    Poisson,
    Power,
    Problem,
    Square,
    SquaredHinge,
    solve,
    verify,
)
from atomsieve.certificate import certify


def accepted(problem, X, y, certificate=None, **given):
    certificate = solve(problem, tol=1e-12).certificate() if certificate is None else certificate
    verdict = verify(certificate, X, y, **given)
    assert verdict.valid, verdict.reason
    return certificate


@pytest.mark.parametrize(
    "seed",
    [
        2_001_572,  # a constant column beside an intercept and a ridge, whose pull is exactly 0
        35,  # dependent columns beside a barrier, whose mass is far below its radius
        611,
        58,
        220,
        286,
        962,
        1029,
        1598,
        2189,
        2757,
        3074,
        3645,
        3941,
        3987,
        4930,
        5014,
        19000,
        50430,  # one sample and an intercept: columns less their means are nothing, and so is their pull
        51160,  # a gap of next to nothing, and columns that are only nearly dependent
        51410,  # a column beside the intercept that is its twin, and a sum with the intercept
        1001561,
        500030,
        500181,
        2000290,
    ],
)
def test_what_was_once_refused(seed):
    case = honest.draw(seed)
    verdict = case.verdict(case.certificate())
    assert verdict.valid, (case.words, verdict.reason)


def test_every_kind_of_problem():
    tally, refused = honest.run(100_000, 150)
    assert not refused
    assert tally["decided"] > 50


def test_outputs_offsets_and_shapes():
    tally, refused = honest.run(honest.WIDER, 100)
    assert not refused
    assert tally["decided"] > 30


def test_gauges_without_blocks_and_images_of_images():
    tally, refused = honest.run(honest.WHOLE, 100)
    assert not refused
    assert tally["decided"] > 30


@pytest.mark.parametrize("first", [honest.RIDGED, honest.RIDGED_AND_WIDER])
def test_ridges(first):
    tally, refused = honest.run(first, 100)
    assert not refused
    assert tally["decided"] > 30


@pytest.mark.parametrize("seed", [2_007_411, 2_008_547])
def test_scores_that_are_not_known_bound_nothing(seed):
    """Curvatures of Poisson may have no upper bound; NaN was then taken for no score at all."""
    case = honest.draw(seed)
    certificate = case.certificate()
    assert (certificate.lower <= certificate.upper).all()
    assert case.verdict(certificate).valid


@pytest.mark.deep
@pytest.mark.parametrize("first", [200_000, honest.WIDER + 1000, honest.RIDGED + 1000, honest.RIDGED_AND_WIDER + 1000])
def test_many_problems(first):
    tally, refused = honest.run(first, 1_000)
    assert not refused
    assert tally["certificates"] > 875


class TestAntisymmetric:
    """Sums of balls around 0 are squared: the square is no power."""

    X = np.array([[1.0], [-1.0], [2.0], [-2.0]])

    @pytest.mark.parametrize(
        ("loss", "y"),
        [(Logistic(), [-1.0, 1.0, -1.0, 1.0]), (Poisson(), [1.0, 1.0, 2.0, 2.0]), (SquaredHinge(), [1.0, -1, 1, -1])],
    )
    @pytest.mark.parametrize("penalty", [Linear(0.1), Square(0.1), LinearSquare(0.05, 0.1)])
    def test_with_an_intercept(self, loss, y, penalty):
        accepted(Problem(self.X, y, loss=loss, penalty=penalty, intercept=True), self.X, y)

    @pytest.mark.parametrize("seed", range(10))
    def test_random(self, seed):
        rng = np.random.default_rng(seed)
        half = rng.standard_normal((4, 3))
        X, y = np.vstack([half, -half]), np.repeat([1.0, -1.0], 4)
        accepted(Problem(X, y, loss=Logistic(), penalty=Linear(0.05), intercept=True), X, y)


@pytest.mark.parametrize("seed", [36, 37])
def test_near_twins(seed):
    """The prover's rival is not the checker's where scores are equal up to rounding."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 12))
    X[:, 1] = X[:, 0] + 1e-6 * rng.standard_normal(40)
    X[:, 3] = X[:, 2] + 1e-5 * rng.standard_normal(40)
    y = X[:, 0] + X[:, 2] + X[:, 4] - X[:, 5] + 0.1 * rng.standard_normal(40)
    problem = Problem(X, y, penalty=Linear(0.1))
    accepted(problem, X, y, solve(problem, until="decided").certificate())


class TestStorage:
    y = np.array([1.0, 2.0])

    def stored(self, kind):
        data, row, column = [0.1, 0.2, 1.0, 0.3, 1e-17], [0, 0, 1, 0, 1], [0, 0, 1, 0, 1]
        entries = sparse.coo_array((np.array(data), (row, column)), shape=(2, 2))
        if kind == "coo":
            return entries
        if kind == "float32":
            return sparse.coo_array((np.array(data, dtype=np.float32), (row, column)), shape=(2, 2))
        order = [0, 1, 3, 2, 4]
        parts = np.array(data)[order], np.array([0, 0, 0, 1, 1]), np.array([0, 3, 5])
        return {"csr": sparse.csr_matrix, "csc": sparse.csc_array}[kind](parts, shape=(2, 2))

    @pytest.mark.parametrize("kind", ["csr", "csc", "coo", "float32"])
    def test_duplicate_entries(self, kind):
        X = self.stored(kind)
        certificate = accepted(Problem(X, self.y, penalty=Linear(0.01)), X, self.y)
        if kind != "float32":
            assert verify(certificate, X.toarray(), self.y).valid
        assert X.nnz == 5

    @pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bool", "int8", "float32", "sparse bool"])
    def test_matrices_of_gauges(self, kind):
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((6, 2)), rng.standard_normal(6)
        numbers = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
        if kind in ("csr", "csc", "coo"):
            matrix = self.stored(kind)
        else:
            matrix = sparse.csr_array(numbers.astype(bool)) if kind == "sparse bool" else numbers.astype(kind)
        for gauge in (Image(L1(), matrix), Atoms(matrix)):
            accepted(Problem(X, y, gauge=gauge, penalty=Linear(0.05)), X, y)


class TestExtremes:
    @pytest.mark.parametrize("penalty", [Linear(0.01), Square(0.01), Ball(5.0)], ids=repr)
    def test_rates_that_are_lost_beside_the_count(self, penalty):
        X, y = np.array([[1.0], [-100.0], [2.0]]), np.array([3.0, 2.0, 8.0])
        problem = Problem(X, y, loss=Poisson(), penalty=penalty)
        certificate = certify(problem, np.array([1.0]), np.zeros(0))
        assert certificate.valid
        accepted(problem, X, y, certificate)

    @pytest.mark.parametrize("gauge", [L1(), Group([0, 0, 1])], ids=repr)
    @pytest.mark.parametrize("penalty", [Square(1e100), Ball(1e118), Power(1e150, 3.0), Linear(1e-250)], ids=repr)
    @pytest.mark.parametrize("scales", [(1e-150, 1e120), (1e72, 1e111), (1e120, 1e-150), (1e88, 1e83)], ids=str)
    def test_scales(self, gauge, penalty, scales):
        """Squares overflow, points too: what is claimed then is little, and it is accepted."""
        rng = np.random.default_rng(1)
        X, y = scales[0] * rng.standard_normal((5, 3)), scales[1] * rng.standard_normal(5)
        problem = Problem(X, y, gauge=gauge, penalty=penalty)
        for x in (np.zeros(3), np.ones(3) / scales[0] * scales[1], np.full(3, 1e300), np.full(3, np.inf)):
            accepted(problem, X, y, certify(problem, x, np.zeros(0)))
