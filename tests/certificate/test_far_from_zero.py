"""Features, targets and free columns far from zero: with an intercept they change no verdict, and `verify` agrees."""

import numpy as np
import pytest
from scipy import sparse

from atomsieve import (
    L1,
    L2,
    Ball,
    Group,
    Huber,
    Image,
    Linear,
    Logistic,
    Multinomial,
    NonNegative,
    Poisson,
    Problem,
    Square,
    Squared,
    SquaredHinge,
    solve,
    verify,
)

RNG = np.random.default_rng(7)
N, D = 80, 12
PLAIN = RNG.standard_normal((N, D))
SIGNAL = PLAIN[:, :3] @ [1.0, -1.0, 0.5]
NOISY = SIGNAL + RNG.standard_normal(N)
COVARIATE = RNG.standard_normal((N, 1))
WEIGHTS = RNG.integers(1, 4, N).astype(float)
FAR = 1e6

TARGETS = {
    Squared: NOISY,
    Huber: NOISY,
    Logistic: np.where(NOISY > 0, 1.0, -1.0),
    SquaredHinge: np.where(NOISY > 0, 1.0, -1.0),
    Poisson: RNG.poisson(np.exp(0.5 * SIGNAL)).astype(float),
    Multinomial: np.digitize(NOISY, [-1.0, 1.0]),
}
LOSSES = [Squared(), Huber(0.7), Logistic(), SquaredHinge(), Poisson(), Multinomial()]


def decided(features, y, free=None, **pieces):
    """Solve until every coefficient is decided; return the certificate, which `verify` confirms."""
    pieces = {"loss": Squared()} | pieces
    problem = Problem(features, y, free=free, intercept=True, **pieces)
    if "penalty" not in pieces:
        problem = problem.at_penalty(Linear(0.15 * problem.critical))
    certificate = solve(problem, until="decided").certificate()
    judged = verify(
        certificate, features, y, free=free, sample_weight=pieces.get("sample_weight"), offset=pieces.get("offset")
    )
    assert judged.valid, judged
    return certificate


def same(far, near):
    assert not near.undecided.any()
    assert np.array_equal(far.zero, near.zero)
    assert np.array_equal(far.nonzero, near.nonzero)
    assert (far.lower <= near.upper + 1e-7).all()
    assert (far.upper >= near.lower - 1e-7).all()


class TestFeatures:
    @pytest.mark.parametrize("loss", LOSSES, ids=repr)
    def test_every_loss(self, loss):
        y = TARGETS[type(loss)]
        away = FAR * RNG.uniform(-1, 1, D)
        same(decided(PLAIN + away, y, loss=loss), decided(PLAIN, y, loss=loss))

    @pytest.mark.parametrize(
        "gauge",
        [L1(), NonNegative(), Group(np.arange(D) // 3), L2(), L1(weights=np.r_[0.0, np.ones(D - 1)])],
        ids=["l1", "positive", "groups", "l2", "one of price 0"],
    )
    @pytest.mark.parametrize("shape", [Linear(0.1), Square(0.2), Ball(1.1)], ids=repr)
    def test_every_gauge_and_penalty(self, gauge, shape):
        same(decided(PLAIN + FAR, NOISY, gauge=gauge, penalty=shape), decided(PLAIN, NOISY, gauge=gauge, penalty=shape))

    def test_an_image(self):
        gauge = Image(L1(), np.triu(np.ones((D, D))))
        same(decided(PLAIN + FAR, NOISY, gauge=gauge), decided(PLAIN, NOISY, gauge=gauge))

    def test_several_outputs(self):
        y = np.c_[NOISY, PLAIN[:, 5] + 0.3 * RNG.standard_normal(N)]
        same(decided(PLAIN + FAR, y), decided(PLAIN, y))

    def test_weights_offset_and_ridge(self):
        more = {"sample_weight": WEIGHTS, "offset": 0.3 * PLAIN[:, 7], "ridge": 0.1}
        same(decided(PLAIN + FAR, NOISY, **more), decided(PLAIN, NOISY, **more))

    def test_stored_by_rows_and_by_columns(self):
        far = PLAIN + FAR
        same(decided(np.asfortranarray(far), NOISY), decided(np.ascontiguousarray(far), NOISY))

    def test_a_sparse_matrix_may_judge_a_dense_one(self):
        problem = Problem(PLAIN + 3.0, NOISY, intercept=True, penalty=Linear(0.1))
        certificate = solve(problem, until="decided").certificate()
        assert verify(certificate, sparse.csr_array(PLAIN + 3.0), NOISY).valid


class TestTargetsAndFreeColumns:
    @pytest.mark.parametrize("loss", [Squared(), Huber(0.7)], ids=repr)
    def test_targets(self, loss):
        same(decided(PLAIN, NOISY + FAR, loss=loss), decided(PLAIN, NOISY, loss=loss))

    @pytest.mark.parametrize("loss", LOSSES, ids=repr)
    def test_free_columns(self, loss):
        y = TARGETS[type(loss)]
        same(decided(PLAIN, y, COVARIATE + FAR, loss=loss), decided(PLAIN, y, COVARIATE, loss=loss))

    def test_all_at_once(self):
        same(decided(PLAIN + FAR, NOISY - FAR, COVARIATE + FAR), decided(PLAIN, NOISY, COVARIATE))

    def test_the_intercept_is_known(self):
        certificate = decided(PLAIN + FAR, NOISY - FAR, COVARIATE + FAR)
        near = decided(PLAIN, NOISY, COVARIATE)
        level = near.free[0] - FAR - FAR * near.x.sum() - FAR * near.free[1]
        width = certificate.free_upper[0] - certificate.free_lower[0]
        assert width < 1e-2 * FAR
        assert abs(certificate.free[0] - level) < width
