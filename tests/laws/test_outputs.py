"""Several outputs, offsets and a shape of x: each is another way to say a problem that can be said without it."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import MultiTaskLasso

from atomsieve import (
    GCG,
    L1,
    L2,
    Away,
    Ball,
    Certificate,
    Group,
    Huber,
    Image,
    Linear,
    LInf,
    Logistic,
    Multinomial,
    NonNegative,
    Poisson,
    Problem,
    Scaled,
    Square,
    Squared,
    SquaredHinge,
    Status,
    path,
    solve,
    verify,
)

RNG = np.random.default_rng(3)
N, D, K = 40, 10, 3
X = RNG.normal(size=(N, D))
SIGNAL = X[:, :3] @ RNG.normal(size=(3, K)) + 0.5 * RNG.normal(size=(N, K))
WEIGHTS = RNG.uniform(0.2, 2.0, size=N)
OFFSET = 0.4 * RNG.normal(size=(N, K))
LOSSES = [Squared(), Huber(0.4), Logistic(), SquaredHinge(), Poisson()]


def targets(loss, signal=SIGNAL):
    if loss.targets == "signs":
        return np.where(signal > 0, 1.0, -1.0)
    return np.floor(np.exp(np.clip(signal, -2, 2))) if loss.targets == "counts" else signal


def repeated(gauge):
    """Return the gauge of the vector of all rows of x."""
    if isinstance(gauge, Group):
        return Group(np.repeat(np.arange(D), K), "equal")
    return L1(np.repeat(gauge.weights, K)) if getattr(gauge, "weights", None) is not None else gauge


class TestOutputs:
    @pytest.mark.parametrize("intercept", [False, True])
    @pytest.mark.parametrize("gauge", [L1(), Group(), NonNegative(), L2(), L1(np.r_[0.0, np.ones(D - 1)])])
    @pytest.mark.parametrize("loss", LOSSES, ids=repr)
    def test_outputs_are_samples_of_their_own(self, loss, gauge, intercept):
        """The mean over rows of sums over outputs is K times the mean over all entries of y."""
        y, eye = targets(loss), np.eye(K)
        ones = np.kron(np.ones((N, 1)), eye) if intercept else None
        given = {"loss": loss, "sample_weight": WEIGHTS}
        found = solve(Problem(X, y, gauge=gauge, penalty=Linear(0.05), intercept=intercept, **given), tol=1e-11)
        given["sample_weight"] = np.repeat(WEIGHTS, K)
        flat = Problem(np.kron(X, eye), y.ravel(), gauge=repeated(gauge), penalty=Linear(0.05 / K), free=ones, **given)
        same = solve(flat, tol=1e-11)
        assert found.x.shape == (D, K)
        assert found.x.ravel() == pytest.approx(same.x, abs=2e-5)
        assert found.objective == pytest.approx(K * same.objective, rel=1e-9)
        if intercept:
            assert found.intercept == pytest.approx(same.free, abs=2e-5)

    @pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_array])
    def test_as_scikit_learn(self, kind):
        reference = MultiTaskLasso(alpha=0.1, tol=1e-12).fit(X, SIGNAL)
        result = solve(Problem(kind(X), SIGNAL, gauge=Group(), penalty=Linear(0.1), intercept=True), tol=1e-12)
        assert result.x == pytest.approx(reference.coef_.T, abs=1e-6)
        assert result.intercept == pytest.approx(reference.intercept_, abs=1e-6)

    @pytest.mark.parametrize("method", [None, GCG(), Away()])
    @pytest.mark.parametrize("gauge", [L1(), Group(), LInf(), L2()], ids=repr)
    def test_every_method(self, gauge, method):
        problem = Problem(X, SIGNAL, gauge=gauge, penalty=Ball(1.0), intercept=True)
        result = solve(problem, method, tol=1e-2, max_iter=20000)
        assert result.converged
        best = solve(problem, tol=1e-5)
        assert best.dual <= result.objective
        assert result.dual <= best.objective

    def test_an_image_of_a_gauge(self):
        matrix = RNG.normal(size=(D, 6))
        y = SIGNAL
        result = solve(Problem(X, y, gauge=Image(Group(), matrix), penalty=Square(0.2), intercept=True), tol=1e-10)
        same = solve(Problem(X @ matrix, y, gauge=Group(), penalty=Square(0.2), intercept=True), tol=1e-10)
        assert result.x == pytest.approx(matrix @ same.x, abs=1e-6)
        assert verify(result.certificate(), X, y).valid

    @pytest.mark.parametrize("loss", LOSSES, ids=repr)
    @pytest.mark.parametrize("gauge", [L1(), Group(), Scaled(Group([0, 0, 0, 1, 1, 2, 2, 3, 3, 4]), 2.0)], ids=repr)
    def test_certificates_decide_and_are_checked(self, loss, gauge):
        y = targets(loss)
        problem = Problem(X, y, loss=loss, gauge=gauge, penalty=Linear(0.08), intercept=True, offset=OFFSET)
        certificate = solve(problem, tol=1e-9).certificate()
        assert certificate.valid
        assert certificate.lower.shape == (D, K)
        assert not certificate.undecided.any()
        assert verify(certificate, X, y, offset=OFFSET).valid
        assert "made with offset, which you did not pass" in verify(certificate, X, y).reason
        assert not verify(certificate, X, y[:, ::-1], offset=OFFSET).valid

    def test_until_every_coefficient_is_decided(self):
        result = solve(
            Problem(X, SIGNAL, gauge=Group(), penalty=Linear(0.08), intercept=True), tol=0.1, until="decided"
        )
        assert result.status is Status.DECIDED
        assert verify(result.certificate(), X, SIGNAL).valid

    @pytest.mark.parametrize(
        "given", [{"free": np.zeros(N)}, {"gauge": L1(np.r_[0.0, np.ones(D - 1)])}], ids=["free", "own"]
    )
    def test_unpenalised_columns_of_zeros(self, given):
        blank = X * np.r_[0.0, np.ones(D - 1)]
        assert solve(Problem(blank, SIGNAL, penalty=Linear(0.05), **given)).converged

    def test_paths(self):
        found = path(Problem(X, SIGNAL, gauge=Group(), intercept=True), n=5)
        assert found.coefs.shape == (5, D, K)
        assert found.intercepts.shape == (5, K)
        assert not found.coefs[0].any()
        assert list(found.coef_frame().columns.names) == ["feature", "output"]

    def test_classes_have_one_target_each(self):
        with pytest.raises(ValueError, match="one class per row"):
            Problem(X, np.zeros((N, K), dtype=int), loss=Multinomial())


def modelled(u, y, loss):
    """Return the losses of all entries, for cvxpy."""
    return {
        "Squared": lambda: cp.sum_squares(u - y) / 2,
        "Logistic": lambda: cp.sum(cp.logistic(-cp.multiply(y, u))),
        "Poisson": lambda: cp.sum(cp.exp(u) - cp.multiply(y, u)),
        "Huber": lambda: cp.sum(cp.huber(u - y, 0.4)) / 2,
        "SquaredHinge": lambda: cp.sum(cp.square(cp.pos(1 - cp.multiply(y, u)))) / 2,
    }[type(loss).__name__]()


class TestOffset:
    @pytest.mark.parametrize("outputs", [1, K])
    @pytest.mark.parametrize("loss", LOSSES, ids=repr)
    def test_as_cvxpy(self, loss, outputs):
        y = targets(loss)[:, :outputs]
        offset = OFFSET[:, :outputs]
        x, b = cp.Variable((D, outputs)), cp.Variable((1, outputs))
        u = X @ x + np.ones((N, 1)) @ b + offset
        penalty = 0.05 * cp.sum(cp.norm(x, 2, axis=1))
        cp.Problem(cp.Minimize(modelled(u, y, loss) / N + penalty)).solve(solver=cp.CLARABEL)
        one = outputs == 1
        y, offset = (y[:, 0], offset[:, 0]) if one else (y, offset)
        given = {"loss": loss, "gauge": Group(), "penalty": Linear(0.05), "intercept": True, "offset": offset}
        result = solve(Problem(X, y, **given), tol=1e-10)
        assert result.x.reshape(D, outputs) == pytest.approx(x.value, abs=1e-4)
        assert np.atleast_1d(result.intercept) == pytest.approx(b.value[0], abs=1e-4)

    def test_multinomial_as_cvxpy(self):
        labels = np.arange(N) % K
        x, b = cp.Variable((D, K)), cp.Variable((1, K))
        u = X @ x + np.ones((N, 1)) @ b + OFFSET
        chosen = cp.sum(cp.multiply(np.eye(K)[labels], u))
        penalty = 0.05 * cp.sum(cp.abs(x))
        cp.Problem(cp.Minimize((cp.sum(cp.log_sum_exp(u, axis=1)) - chosen) / N + penalty)).solve(solver=cp.CLARABEL)
        problem = Problem(X, labels, loss=Multinomial(), penalty=Linear(0.05), intercept=True, offset=OFFSET)
        assert solve(problem, tol=1e-10).x == pytest.approx(x.value, abs=1e-4)

    def test_an_offset_is_taken_from_targets_of_a_loss_of_the_difference(self):
        y, offset = SIGNAL[:, 0], OFFSET[:, 0]
        for loss in (Squared(), Huber(0.4)):
            made = {"loss": loss, "penalty": Linear(0.05), "intercept": True}
            first, second = Problem(X, y, offset=offset, **made), Problem(X, y - offset, **made)
            assert solve(first, tol=1e-11).x == pytest.approx(solve(second, tol=1e-11).x, abs=1e-9)

    @pytest.mark.parametrize("far", [1e6, 1e9, 1e12])
    def test_an_offset_far_away_costs_no_digits(self, far):
        y = far + np.round(SIGNAL[:, 0], 3)
        near = y - far
        made = {"penalty": Linear(0.05), "intercept": True}
        first, second = Problem(X, y, offset=np.full(N, far), **made), Problem(X, near, **made)
        assert solve(first, tol=1e-10).x == pytest.approx(solve(second, tol=1e-10).x, abs=1e-9)

    def test_no_offset_is_an_offset_of_zero(self):
        assert Problem(X, SIGNAL[:, 0], offset=np.zeros(N)).data.offset is None

    def test_an_offset_of_samples_that_do_not_count(self):
        weights, offset = np.ones(N), np.zeros(N)
        weights[0], offset[0] = 0.0, 3.0
        problem = Problem(X, SIGNAL[:, 0], penalty=Linear(0.1), sample_weight=weights, offset=offset)
        assert problem.data.offset is None
        certificate = solve(problem).certificate()
        assert verify(certificate, X, SIGNAL[:, 0], sample_weight=weights, offset=offset).valid

    @pytest.mark.parametrize("offset", [np.zeros(N - 1), np.ones((N, 2)), np.full(N, np.nan), "one", 3.0])
    def test_bad_offsets(self, offset):
        with pytest.raises(ValueError, match="offset"):
            Problem(X, SIGNAL[:, 0], offset=offset)


class TestShape:
    @pytest.mark.parametrize(
        ("gauge", "flat"),
        [
            (Group(), Group(np.repeat(np.arange(5), 2), "equal")),
            (Group([0, 0, 1, 1, 0]), Group(np.repeat([0, 0, 1, 1, 0], 2), np.sqrt([3.0, 2.0]))),
            (L1(), L1()),
            (L1(np.arange(5.0)), L1(np.repeat(np.arange(5.0), 2))),
            (L1(np.arange(10.0).reshape(5, 2) + 1), L1(np.arange(10.0) + 1)),
            (L1(positive=[True] + 4 * [False]), L1(positive=2 * [True] + 8 * [False])),
            (Scaled(Group(), 3.0), Scaled(Group(np.repeat(np.arange(5), 2), "equal"), 3.0)),
            (L2(), L2()),
        ],
        ids=repr,
    )
    def test_a_matrix_is_the_vector_of_its_rows(self, gauge, flat):
        y = SIGNAL[:, 0]
        made = {"penalty": Linear(0.05), "intercept": True}
        result = solve(Problem(X, y, gauge=gauge, shape=(5, 2), **made), tol=1e-11)
        same = solve(Problem(X, y, gauge=flat, **made), tol=1e-11)
        assert result.x.shape == (5, 2)
        assert result.zero.shape == (5, 2)
        assert result.x.ravel() == pytest.approx(same.x, abs=1e-9)
        certificate = result.certificate()
        assert certificate.lower.shape == (5, 2)
        assert verify(certificate, X, y).valid

    @pytest.mark.parametrize("shape", [(3, 3), (2.5, 4), (), (-5, -2), "ab", 0])
    def test_bad_shapes(self, shape):
        with pytest.raises(ValueError, match="shape"):
            Problem(X, SIGNAL[:, 0], shape=shape)

    def test_outputs_have_their_shape(self):
        assert solve(Problem(X, SIGNAL, shape=(D, K))).x.shape == (D, K)
        with pytest.raises(ValueError, match=r"\(10, 3\)"):
            Problem(X, SIGNAL, shape=(K, D))

    def test_images_map_vectors(self):
        with pytest.raises(TypeError, match="Image maps vectors"):
            Problem(X, SIGNAL[:, 0], gauge=Image(L1(), np.eye(5)), shape=(5, 2))


class TestNames:
    NAMES = tuple(f"gene {j}" for j in range(D))

    def test_names_reach_results_certificates_paths_and_files(self, tmp_path):
        problem = Problem(X, SIGNAL[:, 0], penalty=Linear(0.1), names=self.NAMES)
        result = solve(problem, tol=1e-9)
        assert result.to_frame().feature.tolist() == list(self.NAMES)
        certificate = result.certificate()
        certificate.save(tmp_path / "certificate.json")
        for proof in (certificate, Certificate.load(tmp_path / "certificate.json")):
            table = proof.to_frame()
            assert table.feature.tolist() == list(self.NAMES)
            assert (table.verdict == "zero").to_numpy() == pytest.approx(certificate.zero)
        assert path(problem, n=3).coef_frame().columns.tolist() == list(self.NAMES)
        assert verify(tmp_path / "certificate.json", X, SIGNAL[:, 0]).valid

    def test_names_of_groups(self, tmp_path):
        labels = ["blood"] * 4 + ["urine"] * 6
        certificate = solve(Problem(X, SIGNAL[:, 0], gauge=Group(labels), penalty=Linear(0.01)), tol=1e-9).certificate()
        certificate.save(tmp_path / "certificate.json")
        loaded = Certificate.load(tmp_path / "certificate.json")
        assert loaded.names["blocks"] == ("blood", "urine")
        assert loaded.to_frame().group.tolist() == labels

    def test_names_in_messages(self):
        twins = np.column_stack([X[:, 0], X[:, 0], X[:, 1]])
        problem = Problem(twins, SIGNAL[:, 0], penalty=Linear(0.01), names=["left", "right", "other"])
        assert "Columns 'left', 'right' are linearly dependent" in solve(problem, tol=1e-10).certificate().reason

    def test_names_of_a_data_frame(self):
        assert Problem(pd.DataFrame(X, columns=self.NAMES), SIGNAL[:, 0]).data.names == self.NAMES
        assert Problem(pd.DataFrame(X), SIGNAL[:, 0]).data.names is None

    @pytest.mark.parametrize("names", ["ab", "abcdefghij", ["a"], NAMES[:-1], ["a"] * D])
    def test_bad_names(self, names):
        with pytest.raises((TypeError, ValueError), match="names"):
            Problem(X, SIGNAL[:, 0], names=names)
