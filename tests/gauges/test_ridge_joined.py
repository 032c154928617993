"""A ridge beside images of other coefficients, and beside an oracle: it acts on x, and is joined to the samples."""

import json

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from test_against_cvxpy import charged, lost

from atomsieve import (
    L1,
    L2,
    OWL,
    Atoms,
    Ball,
    Image,
    LatentGroup,
    Linear,
    Logistic,
    Multinomial,
    Oracle,
    Poisson,
    Problem,
    Square,
    Squared,
    Status,
    TotalVariation,
    TrendFilter,
    Union,
    solve,
    verify,
)
from atomsieve.certificate.file import seal

RIDGE, D = 0.3, 6
Q = np.random.default_rng(7).integers(-2, 3, size=(D, 5)) / 2 + np.eye(D, 5)
WIDE = np.hstack([np.eye(D), np.tri(D)])
CHAIN = [[0, 1, 2], [2, 3], [3, 4, 5], [0, 5]]
PENALTIES = [Linear(0.05), Square(0.2), Ball(0.4)]


def first(z):
    """Return the best atom of the l1 ball."""
    j = int(np.abs(z).argmax())
    return [j], [float(np.sign(z[j]))]


def most(z, err):
    """Return the largest score of the l1 ball over a box."""
    return float(np.nextafter((np.abs(z) + err).max(), np.inf))


GAUGES = {
    "Image": Image(L1(), Q),
    "Wide": Image(L1(), WIDE),
    "ImageOWL": Image(OWL([2.0, 1.0, 1.0, 0.0, 0.0]), Q),
    "Latent": LatentGroup(CHAIN, weights="equal"),
    "Atoms": Atoms(Q),
    "Union": Union(L1(), L2()),
    "Oracle": Oracle(first, most),
}


def drawn(loss, seed, n=14):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    y = X @ rng.integers(-1, 2, size=D) + rng.normal(size=n)
    if isinstance(loss, Poisson):
        return X / 4, rng.poisson(1.0, size=n).astype(float) + 1
    return X, y if isinstance(loss, Squared) else np.where(y > 0, 1.0, -1.0)


def kappa_of(name, x):
    """Return a bound of the gauge as a convex program: minimised, it is the gauge."""
    if name == "Oracle":
        return cp.norm(x, 1), []
    if name == "Union":
        v = cp.Variable(D)
        return cp.norm(v, 1) + cp.norm(x - v, 2), []
    if name == "Latent":
        parts = [cp.Variable(len(group)) for group in CHAIN]
        spread = [np.eye(D)[:, group] for group in CHAIN]
        return sum(cp.norm(v, 2) for v in parts), [sum(S @ v for S, v in zip(spread, parts, strict=True)) == x]
    matrix = WIDE if name == "Wide" else Q
    c = cp.Variable(matrix.shape[1])
    if name == "Atoms":
        return cp.sum(c), [matrix @ c == x, c >= 0]
    value = cp.norm(c, 1)
    if name == "ImageOWL":
        value = cp.sum_largest(cp.abs(c), 1) + cp.sum_largest(cp.abs(c), 3)
    return value, [matrix @ c == x]


def optimum(X, y, loss, name, penalty):
    x, b, kappa = cp.Variable(D), cp.Variable(), cp.Variable()
    value, inside = kappa_of(name, x)
    charge, limits = charged(penalty, kappa)
    losses = lost(loss, X @ x + b, y) / len(y)
    problem = cp.Problem(
        cp.Minimize(losses + charge + RIDGE / 2 * cp.sum_squares(x)), [*inside, value <= kappa, *limits]
    )
    problem.solve(solver=cp.CLARABEL, **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11))
    return problem.value, x.value


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")  # of the reference, to 1e-11
@pytest.mark.thin(3)
@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda piece: type(piece).__name__)
@pytest.mark.parametrize("name", GAUGES)
@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=lambda piece: type(piece).__name__)
def test_value_and_coefficients_are_those_of_a_conic_solver(loss, name, penalty):
    X, y = drawn(loss, 1)
    problem = Problem(X, y, loss=loss, gauge=GAUGES[name], penalty=penalty, ridge=RIDGE, intercept=True)
    result = solve(problem, tol=1e-10)
    value, x = optimum(X, y, loss, name, penalty)
    assert result.status is Status.CONVERGED
    assert abs(result.objective - value) <= 1e-7 * problem.baseline
    np.testing.assert_allclose(result.x, x, atol=3e-4)
    certificate = result.certificate()
    assert certificate.dual - 1e-8 <= value <= certificate.primal + 1e-8
    frame = certificate.feature_frame()
    assert (frame["lower"] - 1e-6 <= x).all()
    assert (x <= frame["upper"] + 1e-6).all()
    assert np.isfinite(frame["upper"] - frame["lower"]).all()


@given(seed=st.integers(0, 10**6), size=st.floats(0.0, 3.0), name=st.sampled_from(["Image", "Latent", "ImageOWL"]))
def test_the_gap_bounds_the_distance_from_the_optimum(seed, size, name):
    """`gap >= objective - optimum >= ridge / 2 |Q c - x*|^2` wherever c is."""
    X, y = drawn(Squared(), seed % 7)
    for penalty in PENALTIES[:2]:
        problem = Problem(X, y, gauge=GAUGES[name], penalty=penalty, ridge=RIDGE)
        best = solve(problem, tol=1e-12)
        c = best.lifted + size * np.random.default_rng(seed).normal(size=best.lifted.shape)
        point = problem.at(problem.state(c))
        above = point.objective - best.objective
        assert point.gap >= above - 1e-12
        assert above >= RIDGE / 2 * np.sum((problem.lower(c) - best.x) ** 2) - 1e-9


@pytest.mark.parametrize("name", [name for name in GAUGES if name != "Oracle"])
def test_certificates_are_checked_and_forged_ones_refused(name, tmp_path):
    X, y = drawn(Logistic(), 3)
    path = tmp_path / "certificate.json"
    loss, penalty = (Logistic(), Linear(0.05)) if name in ("Latent", "ImageOWL") else (Squared(), Square(0.2))
    weights = np.linspace(0.5, 2.0, len(y))
    given = {"sample_weight": weights, "free": np.arange(len(y)) / 10, "offset": np.cos(np.arange(len(y)))}
    problem = Problem(X, y, loss=loss, gauge=GAUGES[name], penalty=penalty, ridge=RIDGE, intercept=True, **given)
    solve(problem, tol=1e-11).certificate().save(path)
    verdict = verify(path, X, y, **given)
    assert verdict.valid, str(verdict)
    content = json.loads(path.read_text())
    value, ranges = content["claims"]["value"], content["claims"]["intervals"]
    width = value["upper"] - value["lower"]
    forgeries = [
        (value, "lower", value["lower"] + 2 * width + 1e-9),
        (value, "upper", value["upper"] - 2 * width - 1e-9),
        (content["problem"], "ridge", 2 * RIDGE),
        (content["problem"], "ridge", RIDGE / 2),
        (ranges, "lower", [(v or 0.0) + 0.5 for v in ranges["lower"]]),
    ]
    for place, key, forged in forgeries:
        true, place[key] = place[key], forged
        path.write_text(json.dumps(content | {"seal": seal(content)}))
        assert not verify(path, X, y, **given).valid, (key, forged)
        place[key] = true


def test_poisson_sparse_data_and_several_outputs_are_checked():
    X, y = drawn(Poisson(), 2)
    both = np.stack([y, y[::-1]], axis=1)
    problems = [
        (X, Problem(X, y, loss=Poisson(), gauge=GAUGES["Latent"], penalty=Square(0.2), ridge=RIDGE), y),
        (csr_array(X), Problem(csr_array(X), y, gauge=GAUGES["Image"], penalty=Square(0.2), ridge=RIDGE), y),
        (X, Problem(X, both, gauge=GAUGES["Latent"], penalty=Square(0.2), ridge=RIDGE, intercept=True), both),
    ]
    for data, problem, targets in problems:
        result = solve(problem, tol=1e-10)
        assert result.status is Status.CONVERGED
        verdict = verify(result.certificate(), data, targets)
        assert verdict.valid, str(verdict)
        assert verdict.checked > 5


def test_the_identity_is_the_gauge_itself():
    """A ridge that is joined to the samples, and one that is eliminated, have the same optimum."""
    X, y = drawn(Squared(), 5)
    for penalty in PENALTIES:
        joined = Problem(X, y, gauge=Image(L1(), np.eye(D)), penalty=penalty, ridge=RIDGE, intercept=True)
        plain = Problem(X, y, gauge=L1(), penalty=penalty, ridge=RIDGE, intercept=True)
        found, known = solve(joined, tol=1e-12), solve(plain, tol=1e-12)
        np.testing.assert_allclose(found.x, known.x, atol=1e-6)
        assert abs(found.objective - known.objective) <= 1e-11
        np.testing.assert_allclose(
            found.certificate().predict(X).lower, known.certificate().predict(X).lower, atol=1e-4
        )


def test_an_oracle_of_many_columns_and_one_without_a_bound():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 300))
    y = X[:, 0] - X[:, 1] + rng.normal(size=20)
    for oracle in (Oracle(first, most), Oracle(first)):
        problem = Problem(X, y, gauge=oracle, penalty=Square(0.2), ridge=RIDGE)
        plain = solve(Problem(X, y, penalty=Square(0.2), ridge=RIDGE), tol=1e-9)
        result = solve(problem, tol=1e-6)
        assert abs(result.objective - plain.objective) <= 1e-5 * problem.baseline
        assert result.certificate().valid == (oracle.bound is not None)


def test_paths_warm_starts_and_columns_without_a_price():
    X, y = drawn(Squared(), 4)
    gauge = Image(L1(weights=[0.0, 1.0, 1.0, 1.0, 1.0]), Q)
    result = solve(Problem(X, y, gauge=gauge, penalty=Linear(0.1), ridge=RIDGE), tol=1e-10)
    c = cp.Variable(5)
    goal = cp.sum_squares(X @ Q @ c - y) / 28 + 0.1 * cp.norm(c[1:], 1) + RIDGE / 2 * cp.sum_squares(Q @ c)
    program = cp.Problem(cp.Minimize(goal))
    program.solve(solver=cp.CLARABEL)
    assert abs(result.objective - program.value) <= 1e-6
    assert verify(result.certificate(), X, y).valid


def test_one_ridge_for_each_feature():
    X, y = drawn(Squared(), 6)
    ridges = np.linspace(0.1, 2.0, D)
    result = solve(Problem(X, y, gauge=Image(L1(), WIDE), penalty=Linear(0.05), ridge=ridges), tol=1e-11)
    c = cp.Variable(WIDE.shape[1])
    goal = cp.sum_squares(X @ WIDE @ c - y) / 28 + 0.05 * cp.norm(c, 1) + cp.sum(ridges @ cp.square(WIDE @ c)) / 2
    program = cp.Problem(cp.Minimize(goal))
    program.solve(solver=cp.CLARABEL)
    assert abs(result.objective - program.value) <= 1e-6
    certificate = result.certificate()
    assert verify(certificate, X, y).valid
    frame = certificate.feature_frame()
    assert (frame["lower"] <= result.x).all()
    assert (result.x <= frame["upper"]).all()


def test_what_has_no_proof_is_refused_in_a_sentence():
    X, y = drawn(Squared(), 0)
    with pytest.raises(ValueError, match="one for each class"):
        Problem(X, np.arange(14) % 3, loss=Multinomial(), gauge=GAUGES["Image"], ridge=RIDGE)
    problem = Problem(X, y, gauge=GAUGES["Image"], penalty=Linear(0.1), ridge=RIDGE)
    with pytest.raises(ValueError, match="part of the data"):
        problem.coupled()
    result = solve(problem, tol=1e-8)
    with pytest.raises(ValueError, match="a ridge beside images"):
        result.certificate(x_error=1e-6)
    with pytest.raises(ValueError, match="without a ridge"):
        result.certificate().without_each_sample()


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("tol", [1e-3, 1e-10])
def test_coefficients_that_are_not_penalised_are_part_of_x(order, tol):
    """What the ridge says of x holds for all of it, levels and other preimages of weight 0 included."""
    rng = np.random.default_rng(order)
    X = rng.standard_normal((20, D))
    y = X @ (3 + np.arange(D)) + rng.standard_normal(20)
    steps = np.diff(np.eye(D), n=order, axis=0)
    x = cp.Variable(D)
    charge = cp.sum_squares(X @ x - y) / 40 + 0.05 * cp.norm1(steps @ x) + RIDGE / 2 * cp.sum_squares(x)
    cp.Problem(cp.Minimize(charge)).solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    as_image = np.vstack([np.eye(order, D), steps])
    weights = np.append(np.zeros(order), np.ones(D - order))
    named = TotalVariation() if order == 1 else TrendFilter(order - 1)
    for gauge in (named, Image(L1(weights), np.linalg.inv(as_image))):
        problem = Problem(X, y, gauge=gauge, penalty=Linear(0.05), ridge=RIDGE)
        frame = solve(problem, tol=tol).certificate().feature_frame()
        assert (frame["lower"] - 1e-8 <= x.value).all()
        assert (x.value <= frame["upper"] + 1e-8).all()
        assert (frame["lower"] <= frame["upper"]).all()
