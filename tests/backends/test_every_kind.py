"""The same coefficients, gap and verdicts whatever library the data come in, and `verify` accepts them with NumPy's."""

import math
from functools import cache

import numpy as np
import pytest
from kinds import COUNTS, ELSEWHERE, FREE, KINDS, OFFSET, SIGNS, WEIGHTS, D, X, Y, library
from scipy import sparse

from atomsieve import (
    GCG,
    L1,
    L2,
    Away,
    Ball,
    Corrective,
    Group,
    Huber,
    Linear,
    LinearSquare,
    LineSearch,
    LInf,
    LogBarrier,
    Logistic,
    Pairwise,
    Poisson,
    Power,
    Problem,
    Square,
    Squared,
    SquaredHinge,
    path,
    solve,
    verify,
)

LOSSES = {Squared(): Y, Logistic(): SIGNS, Huber(0.5): Y, SquaredHinge(): SIGNS, Poisson(): COUNTS}
PENALTIES = (Linear(0.06), Square(0.3), Power(0.2, 3), Ball(0.8), LogBarrier(2.0, 0.1), LinearSquare(0.05, 0.1))
GROUPS = np.repeat(np.arange(D // 5), 5)
TOL = 1e-17
"""So small that rounding ends every run, and is all that is left between two of them."""


def way(kind):
    put = KINDS[kind]
    put(X)  # skips a library that is not installed
    return put


@pytest.fixture(params=KINDS)
def put(request):
    """The way from NumPy to a kind of array."""
    return way(request.param)


@pytest.fixture(params=ELSEWHERE)
def put_elsewhere(request):
    """The way from NumPy to an array of another library."""
    return way(request.param)


@cache
def reference(loss, **pieces):
    """Return the solution for NumPy arrays, and its certificate."""
    found = solve(Problem(X, LOSSES[loss], loss=loss, **dict(pieces)), tol=TOL)
    return found, found.certificate()


def distance(found, pieces):
    """Return how far two runs may be apart: 1e-10, or what the rounding of a gap hides.

    That is the distance by strong convexity beside a ridge, and for a barrier, whose slope is searched until the gap is
    rounding: curvatures of the losses here are above 0.05.
    """
    hidden = found.point.uncertainty
    if ridge := pieces.get("ridge"):
        return 4 * math.sqrt(2 * hidden / ridge)
    return math.sqrt(2 * hidden / 0.05) if isinstance(pieces.get("penalty"), LogBarrier) else 1e-10


def assert_agrees(put, loss, expected, **pieces):
    """Compare a run and its certificate with those for NumPy arrays."""
    samples = {name: value for name, value in pieces.items() if name in ("free", "offset", "sample_weight")}
    moved = pieces | {name: put(value) for name, value in samples.items()}
    found = solve(Problem(put(X), put(LOSSES[loss]), loss=loss, **moved), tol=TOL)
    certificate = found.certificate()
    near = distance(found, pieces)
    assert np.abs(found.x - expected[0].x).max() <= near
    assert abs(found.intercept - expected[0].intercept) <= near
    assert abs(found.gap - expected[0].gap) <= 1e-15 * found.problem.baseline + 2 * found.point.uncertainty
    for claim in ("zero", "nonzero", "undecided"):
        assert np.array_equal(getattr(certificate, claim), getattr(expected[1], claim))
    assert certificate.valid
    verdict = verify(certificate, X, LOSSES[loss], **samples)
    assert verdict.valid, verdict.reason


@pytest.mark.thin(2)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("gauge", [L1(), Group(GROUPS)], ids=["L1", "Group"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_losses(put, loss, gauge, intercept):
    pieces = {"gauge": gauge, "penalty": Linear(0.06), "intercept": intercept}
    assert_agrees(put, loss, reference(loss, **pieces), **pieces)


@pytest.mark.thin(3)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_penalties(put, penalty, loss):
    pieces = {"penalty": penalty, "intercept": True}
    assert_agrees(put, loss, reference(loss, **pieces), **pieces)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_free_columns_offsets_and_weights(put, loss):
    pieces = {"penalty": Linear(0.05), "intercept": True, "free": FREE, "offset": OFFSET, "sample_weight": WEIGHTS}
    found = solve(Problem(X, LOSSES[loss], loss=loss, **pieces), tol=TOL)
    assert_agrees(put, loss, (found, found.certificate()), **pieces)


@pytest.mark.parametrize(
    "pieces",
    [{"ridge": 0.1, "penalty": Linear(0.06)}, {"limits": (-0.2, 0.5)}, {"gauge": L2()}, {"gauge": LInf()}],
    ids=repr,
)
def test_ridges_limits_and_larger_blocks(put, pieces):
    pieces = {"penalty": Square(0.3), "intercept": True} | pieces
    found = solve(Problem(X, Y, **pieces), tol=TOL)
    assert_agrees(put, Squared(), (found, found.certificate()), **pieces)


@pytest.mark.parametrize("method", [GCG(LineSearch()), GCG(), Away(LineSearch()), Pairwise(LineSearch())], ids=repr)
@pytest.mark.parametrize("gauge", [L1(), Group(GROUPS)], ids=["L1", "Group"])
def test_methods_take_the_same_steps(put_elsewhere, method, gauge):
    pieces = {"loss": Logistic(), "gauge": gauge, "penalty": Square(0.3), "intercept": True}
    expected = solve(Problem(X, SIGNS, **pieces), method, max_iter=40)
    found = solve(Problem(put_elsewhere(X), put_elsewhere(SIGNS), **pieces), method, max_iter=40)
    assert found.n_iter == expected.n_iter
    assert np.abs(found.x - expected.x).max() <= 1e-10
    assert abs(found.gap - expected.gap) <= 1e-10


@pytest.mark.parametrize("screening", ["auto", "paper", "off"])
def test_screening(put_elsewhere, screening):
    pieces = {"penalty": Linear(0.1), "intercept": True}
    expected = solve(Problem(X, Y, **pieces), tol=1e-9, screening=screening)
    found = solve(Problem(put_elsewhere(X), put_elsewhere(Y), **pieces), tol=1e-9, screening=screening)
    assert np.array_equal(found.alive, expected.alive)


def test_paths(put_elsewhere):
    expected = path(Problem(X, Y, intercept=True), n=8, ratio=0.05, tol=1e-12)
    found = path(Problem(put_elsewhere(X), put_elsewhere(Y), intercept=True), n=8, ratio=0.05, tol=1e-12)
    assert np.allclose(found.slopes, expected.slopes, rtol=1e-12)
    assert np.abs(found.coefs - expected.coefs).max() <= 1e-8
    assert np.allclose(found.deviance_explained, expected.deviance_explained, atol=1e-10)


def test_ranges_of_data_and_strengths(put_elsewhere):
    found = solve(Problem(put_elsewhere(X), put_elsewhere(Y), penalty=Linear(0.1)), tol=1e-12)
    expected = solve(Problem(X, Y, penalty=Linear(0.1)), tol=1e-12)
    for asked in ({"decimals": 5}, {"strengths": (0.0999, 0.1001)}):
        certificate = found.certificate(**asked)
        assert np.array_equal(certificate.zero, expected.certificate(**asked).zero)
        assert verify(certificate, X, Y).valid


def test_until_decided(put_elsewhere):
    found = solve(Problem(put_elsewhere(X), put_elsewhere(Y), penalty=Linear(0.1)), until="decided")
    assert found.converged
    assert not found.certificate().undecided.any()


def test_the_digest_is_that_of_the_numbers(put):
    certificate = solve(Problem(put(X), put(Y))).certificate()
    assert certificate.digest == solve(Problem(X, Y)).certificate().digest


def test_what_is_as_long_as_the_samples_stays(put_elsewhere):
    X_there, y_there = put_elsewhere(X), put_elsewhere(SIGNS)
    problem = Problem(X_there, y_there, loss=Logistic(), penalty=Linear(0.05), intercept=True)
    point = solve(problem, Corrective()).point
    for array in (problem.y, problem.weights, point.u, point.theta, point.slopes, point.state.image):
        assert type(array) is type(X_there)
        assert getattr(array, "device", None) == X_there.device
    assert problem.data.design.matrix is X_there
    for array in (point.z, point.scores, point.state.x, point.state.coordinates):
        assert type(array) is np.ndarray


def proven(held, same):
    """Check that what is proven of X in some form is what the checker finds for the same in doubles."""
    certificate = solve(Problem(held, Y, penalty=Linear(0.06), intercept=True), tol=1e-12).certificate()
    assert certificate.nonzero.any()
    assert verify(certificate, same, Y).valid


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_doubles_whose_byte_order_is_stated(form):
    held, stated = form(X), np.dtype("f8").newbyteorder("<")
    if isinstance(held, np.ndarray):
        proven(held.view(stated), X)
    else:
        held.data = held.data.view(stated)
        proven(held, X)


def test_brain_floats_which_numpy_does_not_know():
    torch = library("torch")
    held = torch.asarray(X).to(torch.bfloat16)
    proven(held, held.to(torch.float64).numpy())
