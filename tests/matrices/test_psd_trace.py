"""The trace of semidefinite matrices: laws, the same optimum as a conic solver, and proofs."""

import json
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from flint import arb, arb_mat
from low_rank import rank_above

from atomsieve import Ball, Linear, LogBarrier, Logistic, Problem, PSDTrace, Scaled, Square, Squared, solve, verify
from atomsieve.certificate.file import seal
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.standalone.verify.gauges.spectral import SMALL, exactly, highest_eigenvalue, positive_definite
from atomsieve.testing import check_gauge


def test_laws():
    check_gauge(PSDTrace(), (4, 4))
    check_gauge(Scaled(PSDTrace(), 2.0), (3, 3))


def test_twins():
    rng = np.random.default_rng(0)
    for _ in range(30):
        z = rng.normal(size=(4, 4))
        even = (z + z.T) / 2
        values, vectors = np.linalg.eigh(even)
        assert PSDTrace().support(z) == pytest.approx(max(values[-1], 0.0))
        assert np.allclose(PSDTrace().prox(z, (0.3, 0.0)), (vectors * np.maximum(values - 0.3, 0.0)) @ vectors.T)
        bound = PSDTrace().enclose_scores(Enclosure(z, np.full(z.shape, 0.01)))
        assert bound.low[0] <= max(values[-1], 0.0) <= bound.high[0]
        limit = float(rng.choice(values)) + 0.01
        assert np.count_nonzero(values >= limit) <= rank_above(PSDTrace(), Enclosure.exact(z), limit)
        q = rng.normal(size=(4, 2))
        assert PSDTrace().value(q @ q.T) == pytest.approx(np.sum(q * q))
        settled = PSDTrace().settled(q @ q.T)
        assert np.isfinite(PSDTrace().enclose_sizes(settled).high[0])
    assert PSDTrace().value(-np.eye(2)) == np.inf
    with pytest.raises(ValueError, match="square"):
        Problem(np.eye(6), np.ones(6), gauge=PSDTrace(), shape=(2, 3))


def stated(seed, loss):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 6))
    n = int(rng.integers(6, 30))
    q = rng.normal(size=(m, 2))
    A = rng.normal(size=(n, m * m))
    y = A @ (q @ q.T).ravel() + rng.normal(size=n)
    return A, (y if loss is Squared else np.where(y > np.median(y), 1.0, -1.0)), m, rng


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")  # of the reference, to 1e-11
@pytest.mark.thin(3)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("penalty", [Linear, Square, Ball, LogBarrier])
@pytest.mark.parametrize("loss", [Squared, Logistic])
def test_same_optimum(loss, penalty, seed):
    A, y, m, rng = stated(seed, loss)
    given = Problem(A, y, loss=loss(), gauge=PSDTrace(), shape=(m, m))
    slope = given.critical * float(rng.choice([0.5, 0.1, 0.02]))
    mass = solve(given.at_penalty(Linear(slope)), tol=1e-8).point.state.mass
    shaped = {
        Linear: Linear(slope),
        Square: Square(slope / mass),
        Ball: Ball(0.8 * mass),
        LogBarrier: LogBarrier(1.5 * mass, 2 / (1.5 * mass * slope)),
    }[penalty]
    problem = given.at_penalty(shaped)
    result = solve(problem, tol=1e-9)
    x = cp.Variable((m, m), PSD=True)
    kappa, u = cp.trace(x), A @ cp.vec(x, order="C")
    lost = cp.sum_squares(u - y) / 2 if loss is Squared else cp.sum(cp.logistic(-cp.multiply(y, u)))
    inside = kappa / getattr(shaped, "radius", 1.0)
    price, more = {
        Linear: lambda: (shaped.strength * kappa, []),
        Square: lambda: (shaped.strength * cp.square(kappa) / 2, []),
        Ball: lambda: (0.0, [kappa <= shaped.radius]),
        LogBarrier: lambda: ((-cp.log(1 - inside) - inside) / shaped.sharpness, []),
    }[penalty]()
    reference = cp.Problem(cp.Minimize(lost / len(y) + price), more)
    reference.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    scale, known = problem.baseline, reference.status == cp.OPTIMAL
    assert result.converged, result.status
    assert result.objective <= reference.value + 1e-7 * scale
    assert result.objective >= reference.value - 1e-7 * scale or not known
    certificate = result.certificate()
    assert certificate.valid, certificate.reason
    assert certificate.gap <= 1e-7 * scale
    values = np.linalg.eigvalsh(result.x)
    assert certificate.rank is None or certificate.rank >= np.count_nonzero(values > 1e-3 * values[-1])
    checked = verify(certificate, A, y)
    assert checked.valid, checked.reason


def test_exact_case_and_forgeries():
    """Y = diag(3, 1) and alpha = 2: the solution is diag(1, 0)."""
    y = np.diag([3.0, 1.0]).ravel()
    result = solve(Problem(np.eye(4), y, gauge=PSDTrace(), penalty=Linear(0.5), shape=(2, 2)), tol=1e-13)
    certificate = result.certificate()
    assert np.allclose(result.x, np.diag([1.0, 0.0]), atol=1e-7)
    assert certificate.rank == 1
    assert verify(certificate, np.eye(4), y).valid

    class File:
        def __init__(self, content):
            self.told = content

        def content(self):
            return self.told | {"seal": seal(self.told)}

    for change in ("rank", "x", "lower"):
        content = json.loads(json.dumps(certificate.content()))
        if change == "rank":
            content["claims"]["rank"] = 0
        elif change == "lower":
            content["claims"]["value"]["lower"] = content["claims"]["value"]["upper"] + 1e-6
        else:
            content["point"]["x"] = {"index": [0, 3], "value": [1.0, -1e-3]}
        assert not verify(File(content), np.eye(4), y).valid


@pytest.mark.parametrize("penalty", [Linear(0.5), Square(0.5), Ball(0.5), LogBarrier(0.5, 1.0)], ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_nothing_to_find(penalty, seed):
    """Where z is negative definite, or semidefinite, 0 is the solution, and the checker says so."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    values = -rng.uniform(0.1, 3.0, size=3)
    values[0] *= seed % 2  # 0 is on the edge
    y = ((basis * values) @ basis.T).ravel()
    result = solve(Problem(np.eye(9), y, gauge=PSDTrace(), penalty=penalty, shape=(3, 3)), tol=1e-12)
    assert not result.x.any()
    checked = verify(result.certificate(), np.eye(9), y)
    assert checked.valid, checked.reason


@pytest.mark.parametrize("most", [1e-3, 1e-6, 1e-12])
def test_a_little_to_find_cannot_be_denied(most):
    """y = diag(-3, most): the solution is diag(0, s), and nobody may claim that 0 has no gap."""
    content = solve(
        Problem(np.eye(4), np.diag([-3.0, 0.0]).ravel(), gauge=PSDTrace(), penalty=Square(0.5), shape=(2, 2)), tol=1e-12
    ).certificate()
    y = np.diag([-3.0, most]).ravel()
    honest = solve(Problem(np.eye(4), y, gauge=PSDTrace(), penalty=Square(0.5), shape=(2, 2)), max_iter=0)
    told = honest.certificate().content()
    assert content.gap < told["claims"]["gap"]

    class File:
        def __init__(self, told):
            self.told = told

        def content(self):
            return self.told | {"seal": seal(self.told)}

    assert verify(honest.certificate(), np.eye(4), y).valid
    for part in (0.0, 0.5):
        forged = json.loads(json.dumps({k: v for k, v in told.items() if k != "seal"}))
        forged["claims"]["gap"] = part * told["claims"]["gap"]
        assert not verify(File(forged), np.eye(4), y).valid


def test_largest_eigenvalue_of_the_checker():
    """It holds that of every matrix within the balls, and it is 0 only where there is none above."""
    rng = np.random.default_rng(3)
    for trial in range(40):
        m = int(rng.integers(1, 5))
        basis = np.linalg.qr(rng.normal(size=(m, m)))[0]
        values = -rng.uniform(0.0, 1.0, size=m) if trial % 2 else rng.normal(size=m)
        values[0] = [values[0], 0.0, 1e-18, 1e-13][trial % 4]
        matrix = (basis * values) @ basis.T
        matrix, blur = (matrix + matrix.T) / 2, [0.0, 1e-17, 1e-3][trial % 3]
        gram = arb_mat([[arb(float(v), blur) for v in row] for row in matrix])
        found = highest_eigenvalue(gram)
        exact = is_negative_definite(matrix)
        for moved in (0.0, blur / 2, -blur / 2):
            top = np.linalg.eigvalsh(matrix + moved * np.eye(m))[-1]
            assert float(found.upper()) >= max(top, 0.0) - 1e-15
        if found == 0:
            assert (exact and blur == 0.0) or float(np.linalg.eigvalsh(matrix)[-1]) + m * blur <= 1e-15


def is_negative_definite(matrix):
    """Return whether a matrix of doubles is negative definite: all pivots of its exact elimination are."""
    rows = [[Fraction(v) for v in row] for row in matrix.tolist()]
    for k in range(len(rows)):
        if not rows[k][k] < 0:
            return False
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return True


@pytest.mark.parametrize("count", [1, SMALL, SMALL + 1, 3 * SMALL + 5])
def test_definite_matrices_are_told_from_others_by_halves(count):
    """The lower half counts, and a ball has to be definite as a whole."""
    rng = np.random.default_rng(count)
    for _ in range(5):
        vectors = np.linalg.qr(rng.normal(size=(count, count)))[0]
        values = rng.uniform(0.5, 2.0, size=count)
        upper = np.triu(np.full((count, count), np.nan), 1)  # nobody reads it
        for least, known in ((1e-9, True), (-1e-9, False), (1e-9, None)):
            values[rng.integers(count)] = least
            matrix = exactly(np.tril((vectors * values) @ vectors.T) + np.nan_to_num(upper, nan=7.0))
            if known is None:  # every entry of the diagonal may be less by more than the least eigenvalue
                for j in range(count):
                    matrix[j, j] += arb(0, 1e-7)
            assert positive_definite(matrix) is bool(known)
            values[values == least] = 1.0
