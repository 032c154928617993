"""Total variation and trend filtering: oracle, gauge and solutions against the formulas, and what is proven of them."""

import json

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array

from atomsieve import (
    Ball,
    Huber,
    Linear,
    LogBarrier,
    Logistic,
    Poisson,
    Problem,
    Square,
    Squared,
    TotalVariation,
    TrendFilter,
    solve,
    verify,
)
from atomsieve.certificate import proof as proofs
from atomsieve.certificate.file import seal
from atomsieve.design import CumulatedDesign, Steps, as_design
from atomsieve.numerics.enclosures import Enclosure

PENALTIES = [Linear(0.3), Square(0.5), Ball(3.0), LogBarrier(5.0, 1.0)]
LOSSES = [Squared(), Huber(1.0), Logistic(), Poisson()]
SIGNALS = [TotalVariation(), TrendFilter(1), TrendFilter(2)]


def differences(gauge, rows):
    return np.diff(np.eye(rows), gauge.differences, axis=0)


@pytest.mark.parametrize("gauge", SIGNALS)
@pytest.mark.parametrize("rows", [4, 5, 9])
def test_oracle_and_gauge_are_the_formulas(gauge, rows):
    rng, D = np.random.default_rng(rows), differences(gauge, rows)
    weights = rng.uniform(0.5, 2, len(D))
    gauge = type(gauge)(**{**gauge.get_params(), "weights": weights})
    x = rng.normal(size=rows)
    assert gauge.value(x) == pytest.approx(weights @ np.abs(D @ x))
    flow = rng.normal(size=len(D))  # the only f with D' f = z
    assert gauge.support(D.T @ flow) == pytest.approx((np.abs(flow) / weights).max())
    atom = gauge.lmo(D.T @ flow).toarray((rows,))
    assert gauge.value(atom) == pytest.approx(1)
    assert atom @ D.T @ flow == pytest.approx(gauge.support(D.T @ flow))
    np.testing.assert_allclose(gauge.lower(gauge.over(rows).matrix.matvec(np.zeros(rows))), 0)


def test_exact_cases():
    assert TotalVariation().support(np.array([-1.0, -1.0, 1.0, 1.0])) == 2
    result = solve(Problem(None, [0.0, 0.0, 4.0, 4.0], gauge=TotalVariation(), penalty=Linear(0.25)), tol=1e-12)
    np.testing.assert_allclose(result.x, [0.5, 0.5, 3.5, 3.5], atol=1e-12)
    for strength in (1e-3, 1.0):
        flat = solve(Problem(None, np.full(5, 2.0), gauge=TotalVariation(), penalty=Linear(strength)))
        np.testing.assert_allclose(flat.x, 2.0, atol=1e-12)
        assert flat.certificate().zero.sum() == 4
    line = solve(Problem(None, np.arange(6.0), gauge=TrendFilter(), penalty=Linear(0.1)))
    np.testing.assert_allclose(line.x, np.arange(6.0), atol=1e-9)


@pytest.mark.parametrize(("count", "root", "fixed"), [(7, 3, ()), (7, 0, ()), (7, 6, ()), (8, 4, (2,)), (8, 1, (3, 6))])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_steps_are_never_formed(count, root, fixed, form):
    rng = np.random.default_rng(count + root)
    A = rng.normal(size=(6, count)) * (rng.random((6, count)) < 0.6)
    H = np.eye(count)
    for j in range(count):
        for i in range(count):
            if j not in fixed and i not in fixed:
                H[i, j] = 1.0 if j == root or root < j <= i else -1.0 if i <= j < root else 0.0
    design, Q = CumulatedDesign(as_design(form(A)), Steps(count, root, fixed)), A @ H
    x, r, w, some = rng.normal(size=count), rng.normal(size=6), rng.uniform(size=6), np.array([0, 2, 5])
    pairs = [
        (design.matvec(x), Q @ x),
        (design.rmatvec(r), Q.T @ r),
        (design.columns(some), Q[:, some]),
        (design.matvec(x[:3], some), Q[:, some] @ x[:3]),
        (design.select(some).rmatvec(r), Q[:, some].T @ r),
        (design.squared_norms(w), w @ Q**2),
        (design.products([r, 2 * r]), [Q.T @ r, 2 * Q.T @ r]),
    ]
    for found, expected in pairs:
        np.testing.assert_allclose(found, expected, atol=1e-13)
    lengths = np.sqrt(w @ Q**2)
    assert (design.norm_bounds(w) >= lengths * (1 - 1e-15)).all()
    np.testing.assert_allclose(design.norm_bounds(w), lengths, atol=1e-12)
    theta, every = Enclosure.exact(r), np.arange(count)
    for found, expected in [
        (design.enclose(Enclosure.exact(x)), Q @ x),
        (design.enclose_adjoint(theta), Q.T @ r),
        (design.sharp(x, every), Q @ x),
        (design.sharp_adjoint(theta, some), Q[:, some].T @ r),
        (design.enclose_columns(some), Q[:, some]),
    ]:
        assert (np.abs(found.mid - expected) <= found.rad + 1e-15).all()
        assert found.rad.max() < 1e-12


def drawn(seed, gauge, rows=12):
    """Return data for a problem, some with the identity, some sparse."""
    rng = np.random.default_rng(seed)
    loss, penalty = LOSSES[seed % 4], PENALTIES[seed // 4 % 4]
    n = rows if seed % 3 == 0 else 40
    A = np.eye(rows) if seed % 3 == 0 else rng.normal(size=(n, rows))
    signal = np.cumsum(rng.normal(size=rows) * (rng.random(rows) < 0.3))
    y = A @ signal + 0.3 * rng.normal(size=n)
    if isinstance(loss, Logistic):
        y = np.where(y + 3 * rng.normal(size=n) > np.median(y), 1.0, -1.0)
    if isinstance(loss, Poisson):
        y = rng.poisson(np.exp(np.clip(y, -2, 2))).astype(float)
    if isinstance(loss, Logistic | Poisson) and seed % 3 == 0:  # levels of single samples would be infinite
        A, y = np.vstack([A] * 3), np.concatenate([y, y[::-1], -y if isinstance(loss, Logistic) else y + 1])
    X = csr_array(A) if seed % 2 else A
    weights = rng.uniform(0.5, 2, rows - gauge.differences) if seed % 5 == 0 else None
    gauge = type(gauge)(**{**gauge.get_params(), "weights": weights})
    return Problem(X, y, loss=loss, gauge=gauge, penalty=penalty, intercept=seed % 7 == 0), X, y, A


def reference(problem, A, y):
    """Return the optimal value by another solver."""
    gauge, loss, penalty = problem.gauge, problem.loss, problem.penalty
    x, b = cp.Variable(A.shape[1]), cp.Variable() if problem.data.intercept else 0.0
    u, D = A @ x + b, differences(gauge, A.shape[1])
    prices = np.ones(len(D)) if gauge.weights is None else gauge.weights
    kappa = cp.norm1(cp.multiply(prices, D @ x))
    losses = {
        "Squared": lambda: cp.sum_squares(u - y) / 2,
        "Huber": lambda: cp.sum(cp.huber(u - y, 1.0)) / 2,
        "Logistic": lambda: cp.sum(cp.logistic(-cp.multiply(y, u))),
        "Poisson": lambda: cp.sum(cp.exp(u) - cp.multiply(y, u)),
    }
    constant = np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0)) - y, 0.0).mean() if loss == Poisson() else 0.0
    size = cp.Variable()
    barrier = (-cp.log(1 - size / penalty.radius) - size / penalty.radius) if isinstance(penalty, LogBarrier) else 0.0
    charge = {"Linear": lambda: penalty.strength * kappa, "Square": lambda: penalty.strength / 2 * cp.square(kappa)}
    limits = [kappa <= penalty.radius] if isinstance(penalty, Ball) else [size >= kappa]
    asked = losses[type(loss).__name__]() / len(y) + charge.get(type(penalty).__name__, lambda: barrier)()
    program = cp.Problem(cp.Minimize(asked), limits)
    program.solve(solver="CLARABEL")
    return program.value + constant


@pytest.mark.parametrize("gauge", SIGNALS)
@pytest.mark.parametrize("seed", range(16))
def test_objectives_are_those_of_another_solver(seed, gauge):
    problem, _, y, A = drawn(seed, gauge)
    result = solve(problem, tol=1e-10)
    assert result.point.objective == pytest.approx(reference(problem, A, y), rel=1e-7, abs=1e-7)
    assert gauge.differences > 1 or result.passes < 30


def false_claims(certificate, c, gap):
    """Return how many verdicts and intervals are not true of an accurate solution."""
    near = 1e-5 * (1 + np.abs(c).max()) + np.sqrt(gap)
    inside = np.ones(len(c), dtype=bool)
    inside[certificate.statement["unpenalised"]] = False
    wrong = (np.abs(c) > near) & certificate.zero
    wrong |= (c == 0) & certificate.nonzero & inside
    wrong |= ((c < certificate.lower - near) | (c > certificate.upper + near)) & inside
    return int(wrong.sum())


@pytest.mark.thin(9)
@pytest.mark.parametrize("seed", range(48))
def test_every_claim_is_true_and_checked(seed):
    gauge = SIGNALS[seed % 5 % 2]
    problem, X, y, _ = drawn(seed, gauge)
    best = solve(problem, tol=1e-14)
    for tol in (1e-2, 1e-4, 1e-7):
        certificate = solve(problem, tol=tol).certificate()
        assert false_claims(certificate, best.lifted, best.point.gap) == 0
        checked = verify(certificate, X, y)
        assert checked.valid, checked.reason
    assert certificate.valid
    if gauge.differences == 1:
        assert (certificate.zero | certificate.nonzero).any()


def test_with_a_radius_cut_to_a_fiftieth_claims_are_false(monkeypatch):
    radius = proofs.Proof.radius.fget
    monkeypatch.setattr(proofs.Proof, "radius", property(lambda self: radius(self) * 0.02))
    found = 0
    for seed in range(16):
        problem = drawn(seed, TotalVariation())[0]
        best = solve(problem, tol=1e-14)
        for tol in (0.3, 1e-1, 1e-2):
            start = 0.5 * best.lifted if tol == 0.3 else None
            certificate = solve(problem, tol=tol, start=start).certificate()
            found += false_claims(certificate, best.lifted, best.point.gap)
    assert found > 0


@pytest.mark.parametrize("gauge", SIGNALS[:2])
def test_forged_certificates_are_refused(tmp_path, gauge):
    rng = np.random.default_rng(0)
    y = np.repeat([0.0, 3.0, 1.0], 10) + 0.1 * rng.normal(size=30)
    X, path = eye_array(30), tmp_path / "certificate.json"
    certificate = solve(Problem(None, y, gauge=gauge, penalty=Linear(0.01)), tol=1e-12).certificate()
    certificate.save(path)
    assert verify(path, X, y).valid
    assert path.stat().st_size < 40_000
    content = json.loads(path.read_text())

    def refused(change):
        forged = json.loads(json.dumps(content))
        change(forged)
        path.write_text(json.dumps(forged | {"seal": seal(forged)}))
        return not verify(path, X, y).valid

    claims = content["claims"]
    free = content["problem"]["unpenalised"]
    zero = next(j for j in range(30) if j not in claims["nonzero"] + claims["undecided"] + free)
    assert refused(lambda c: c["claims"]["nonzero"].remove(claims["nonzero"][0]))
    assert refused(lambda c: c["claims"].update(nonzero=sorted([*claims["nonzero"], zero])))
    for change in ({"root": 14}, {"root": 31}, {"steps": 29}, {"fixed": [3]}, {"fixed": [15, 15]}, {"fixed": [40]}):
        assert refused(lambda c, change=change: c["problem"]["gauge"]["matrix"].update(change))


def test_words_are_about_jumps():
    problem = Problem(None, [0.0, 0.0, 4.0, 4.0], gauge=TotalVariation(), penalty=Linear(0.25), names=list("abcd"))
    certificate = solve(problem, tol=1e-12).certificate()
    assert str(certificate).startswith("2 of 3 places proven to have no jump, 1 proven jump, 0 undecided")
    assert certificate.to_frame()["preimage"].tolist() == ["a to b", "b to c", "level", "c to d"]
    frame = certificate.feature_frame()
    assert (frame["lower"] <= [0.5, 0.5, 3.5, 3.5]).all()
    assert (frame["upper"] >= [0.5, 0.5, 3.5, 3.5]).all()
    bend = solve(Problem(None, [0.0, 1.0, 2.0, 1.0, 0.0], gauge=TrendFilter(), penalty=Linear(0.01)), tol=1e-12)
    assert "knot" in str(bend.certificate())


def test_several_outputs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 8))
    Y = X @ np.repeat(rng.normal(size=(2, 2)), 4, axis=0) + 0.1 * rng.normal(size=(30, 2))
    result = solve(Problem(X, Y, gauge=TotalVariation(), penalty=Linear(0.1)), tol=1e-10)
    single = solve(Problem(X, Y[:, 0], gauge=TotalVariation(), penalty=Linear(0.1)), tol=1e-10)
    np.testing.assert_allclose(result.x[:, 0], single.x, atol=1e-5)
    assert verify(result.certificate(), X, Y).valid


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TotalVariation(weights=[1.0, -1.0]), "positive numbers"),
        (lambda: TotalVariation(weights=[1.0, 0.0]), "positive numbers"),
        (lambda: TrendFilter(0), "order"),
        (lambda: Problem(np.ones((3, 1)), np.ones(3), gauge=TotalVariation()), "more than 1 entries"),
        (lambda: Problem(None, np.ones(4), gauge=TotalVariation(weights=[1.0])), "3 in all, got 1"),
    ],
)
def test_what_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
