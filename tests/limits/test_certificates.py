"""Certificates with limits: no claim is false, however poor the point; the checker follows, and refuses forgeries."""

import json
from collections import Counter

import numpy as np
import pytest
from drawn import draw
from scipy.sparse import csc_array, csr_array

from atomsieve import (
    L1,
    Ball,
    Certificate,
    CertifiedLasso,
    CertifiedLassoCV,
    CertifiedLogisticRegression,
    GaugeRegressor,
    Linear,
    Multinomial,
    Poisson,
    Problem,
    Square,
    solve,
    verify,
)
from atomsieve.certificate import certify
from atomsieve.certificate.file import seal
from atomsieve.certificate.proof import Proof

LIMITS = ([-0.4] * 3 + [-np.inf] + [-0.4] * 2, [0.4] * 3 + [np.inf] + [0.4] * 2)
KINDS = ("zero", "nonzero", "at_lower", "at_upper")


class Told:
    """What is in a file, as an object that `verify` takes."""

    def __init__(self, content):
        self._content = content

    def content(self):
        return self._content


def false_claims(seeds, points=2, ridge=0.0):
    """Return how many claims of each kind were made at poor points, and how many contradict good solutions."""
    made, false = Counter(), Counter()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem, _, _, stated = draw(rng, ridge=ridge)
        best = solve(problem, tol=1e-12)
        if not best.converged:
            continue
        x, (lower, upper) = best.x, stated["limits"]
        screened = solve(problem, tol=10.0 ** -rng.integers(0, 6))
        made["screened"] += int(screened.zero.sum())
        false["screened"] += int((np.abs(x)[screened.zero] > 1e-5).sum())
        rough = screened.point.state
        for _ in range(points):
            moved = rough.x + 10.0 ** -rng.integers(1, 6) * rng.standard_normal(len(x)) * rng.integers(0, 2)
            told = certify(problem, problem.limits.clip(moved), rough.coordinates)
            if not told.valid:
                continue
            made.update({kind: int(getattr(told, kind).sum()) for kind in KINDS})
            off = {"zero": np.abs(x), "at_lower": np.abs(x - lower), "at_upper": np.abs(x - upper)}
            false.update({kind: int((off[kind][getattr(told, kind)] > 1e-5).sum()) for kind in off})
            false["interval"] += int(((x < told.lower - 1e-5) | (x > told.upper + 1e-5)).sum())
            false["value"] += int(told.dual > best.objective + 1e-10) + int(told.primal < best.dual - 1e-10)
    return made, false


@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_no_claim_is_false(ridge):
    made, false = false_claims(range(40), ridge=ridge)
    assert all(made[kind] > 20 for kind in KINDS)
    assert not any(false.values()), false


@pytest.mark.deep
def test_no_claim_is_false_in_many_problems():
    made, false = false_claims(range(1000, 1600))
    assert all(made[kind] > 200 for kind in KINDS)
    assert not any(false.values()), false


def test_a_smaller_radius_is_found_out(monkeypatch):
    whole = Proof.gap_bound.fget
    monkeypatch.setattr(Proof, "gap_bound", property(lambda self: whole(self) / 400))
    _, false = false_claims(range(40))
    assert sum(false.values()) > 20, false


def test_the_checker_follows():
    checked = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        problem, X, y, stated = draw(rng, ridge=(0.0, 0.1)[seed % 2])
        told = solve(problem, tol=10.0 ** -rng.integers(1, 13)).certificate()
        verdict = verify(told, X, y, sample_weight=stated["sample_weight"])
        assert verdict, (seed, verdict)
        checked += verdict.checked
    assert checked > 500


@pytest.fixture(scope="module", params=[Linear(0.2), Square(0.3), Ball(1.1)], ids=repr)
def told(request):
    """Return a certificate with coefficients at limits, inside and at zero, as a file has it, and its data."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((40, 8))
    y = X @ [2.0, -2.0, 0.5, 0, 0, 0, 0, 1.0] + 0.1 * rng.standard_normal(40)
    lower, upper = np.full(8, -0.4), np.full(8, 0.4)
    lower[2], upper[7] = -np.inf, np.inf
    problem = Problem(X, y, penalty=request.param, limits=(lower, upper))
    return solve(problem, tol=1e-12).certificate().content(), X, y


def test_the_file_holds_all_that_is_proven(told, tmp_path):
    content, X, y = told
    (tmp_path / "told.json").write_text(json.dumps(content))
    read = Certificate.load(tmp_path / "told.json")
    assert read.at_upper.nonzero()[0].tolist() == content["claims"]["at_upper"] == [0]
    assert read.at_lower.nonzero()[0].tolist() == [1]
    assert read.lower[0] == read.upper[0] == 0.4
    assert "at a limit" in repr(read)
    assert read.to_frame()["verdict"].tolist()[:2] == ["at its upper limit", "at its lower limit"]
    assert verify(tmp_path / "told.json", X, y)


def inside(content):
    """Return a coefficient that is proven to be strictly within its limits."""
    at = {*content["claims"]["at_lower"], *content["claims"]["at_upper"]}
    return next(j for j in content["claims"]["nonzero"] if j not in at)


FORGERIES = {
    "another is at its upper limit": lambda c: c["claims"]["at_upper"].append(inside(c)),
    "the wrong limit": lambda c: c["claims"].update(at_upper=[], at_lower=[0, 1]),
    "wider limits": lambda c: c["problem"]["limits"]["upper"].__setitem__(0, 0.5),
    "narrower limits": lambda c: c["problem"]["limits"]["upper"].__setitem__(0, 0.3),
    "no limits": lambda c: c["problem"].pop("limits"),
    "no limit of one": lambda c: c["problem"]["limits"]["lower"].__setitem__(1, None),
    "limits for fewer": lambda c: c["problem"]["limits"]["lower"].pop(),
    "a larger value": lambda c: c["claims"]["value"].update(lower=c["claims"]["value"]["upper"] * 1.001),
    "a zero too many": lambda c: c["claims"]["nonzero"].remove(inside(c)),
    "a narrower interval": lambda c: c["claims"]["intervals"]["lower"].__setitem__(
        c["claims"]["intervals"]["index"].index(inside(c)), c["point"]["x"]["value"][-1]
    ),
    "an interval beside the limit": lambda c: c["claims"]["intervals"]["upper"].__setitem__(0, 0.39),
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES.keys())
def test_forged_files_are_refused(told, forge, tmp_path):
    content, X, y = json.loads(json.dumps(told[0])), *told[1:]
    forge(content)
    content["seal"] = seal(content)
    (tmp_path / "forged.json").write_text(json.dumps(content))
    verdict = verify(tmp_path / "forged.json", X, y)
    assert not verdict
    assert "seal" not in verdict.reason


def test_the_exact_case():
    problem = Problem(np.eye(4) * 2, [4.0, -4.0, 1.5, 0.5], penalty=Linear(0.5), limits=(-1, 1))
    told = solve(problem, tol=1e-14).certificate()  # z = (2 - x) / 2 and so on: soft(y / 2, 0.5), cut at 1
    assert told.at_upper.tolist() == [True, False, False, False]
    assert told.at_lower.tolist() == [False, True, False, False]
    assert told.zero.tolist() == [False, False, False, True]
    assert told.lower[2] <= 0.25 <= told.upper[2]


def test_zero_outside_of_the_limits_and_equal_limits():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 4)), rng.standard_normal(30)
    problem = Problem(X, y, penalty=Linear(5.0), limits=([0.1, -1, 0.3, 0], [1, -0.2, 0.3, 0]))
    result = solve(problem, tol=1e-12)
    told = result.certificate()
    np.testing.assert_array_equal(result.x, [0.1, -0.2, 0.3, 0])
    np.testing.assert_array_equal(told.lower, told.upper)
    assert told.to_frame()["verdict"].tolist() == [
        "at its lower limit",
        "at its upper limit",
        "fixed by its limits",
        "zero",
    ]
    assert verify(told, X, y)


def test_what_limits_do_not_allow_is_said():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 4)), rng.standard_normal(30)
    result = solve(Problem(X, y, penalty=Linear(0.1), limits=(-1, 0.01)), tol=1e-12)
    with pytest.raises(ValueError, match="limits"):
        result.certificate(x_error=1e-6)
    with pytest.raises(ValueError, match="limits"):
        result.certificate().without_each_sample()


def test_estimators():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 5))
    y = X @ [3.0, -3.0, 0.5, 0, 0] + 0.1 * rng.standard_normal(60)
    model = CertifiedLasso(alpha=0.1, limits=(-1, [1, 1, 1, 1, 0]), standardize=True).fit(X, y)
    assert model.support_report()["verdict"].tolist()[:2] == ["at its upper limit", "at its lower limit"]
    assert (np.abs(model.coef_) <= 1).all()
    assert model.verify(X, y)
    assert "at its upper limit" in str(model.summary())
    chosen = CertifiedLassoCV(cv=3, limits=(0, 1)).fit(X, y)
    assert ((chosen.coef_ >= 0) & (chosen.coef_ <= 1)).all()
    labels = np.where(y > 0, "yes", "no")
    logistic = CertifiedLogisticRegression(C=1.0, limits=(None, 0.5)).fit(X, labels)
    assert logistic.coef_.max() == 0.5
    assert logistic.verify(X, labels)


def test_gauges_with_signs_and_free_columns():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((40, 6))
    y = X @ [1.0, -1.0, 0.5, 0, 0, 2.0] + 5
    gauge = L1([1, 1, 1, 2, 1, 0], positive=[True, False, False, False, False, False])
    lower, upper = np.full(6, -np.inf), np.full(6, np.inf)
    upper[0], lower[1] = 0.3, -0.3
    problem = Problem(X, y, gauge=gauge, penalty=Square(0.05), limits=(lower, upper), intercept=True)
    told = solve(problem, tol=1e-13).certificate()
    assert told.at_upper.tolist() == [True, *[False] * 5]
    assert told.at_lower.tolist() == [False, True, *[False] * 4]
    assert verify(told, X, y)


def test_a_ridge_beside_limits_and_columns_without_a_price(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 5))
    y = X @ [2.0, -2.0, 0.5, 1.0, 0.0] + 0.1 * rng.standard_normal(30)
    lower, upper = np.array([-0.4, -0.4, -0.4, -np.inf, -0.4]), np.array([0.4, 0.4, 0.4, np.inf, 0.4])
    problem = Problem(
        X, y, gauge=L1([1.0, 1.0, 1.0, 0.0, 1.0]), penalty=Linear(0.1), limits=(lower, upper), ridge=0.5, intercept=True
    )
    result = solve(problem, tol=1e-12)
    told = result.certificate()
    assert told.at_upper[0]
    assert told.at_lower[1]
    # the coefficient without a price has no ridge either
    rest = y - X[:, :3] @ result.x[:3] - X[:, 4] * result.x[4]
    free = np.linalg.lstsq(np.column_stack([np.ones(30), X[:, 3]]), rest, rcond=None)[0]
    assert result.x[3] == pytest.approx(free[1], abs=1e-8)
    path = tmp_path / "certificate.json"
    told.save(path)
    assert verify(path, X, y).valid
    content = json.loads(path.read_text())
    for ridge in (0.25, 50.0):
        content["problem"]["ridge"] = ridge
        path.write_text(json.dumps(content | {"seal": seal(content)}))
        assert not verify(path, X, y).valid


def test_estimators_with_a_ridge_and_limits():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 6)) * [1, 10, 0.1, 1, 1, 1]
    y = X @ [1.0, 0.2, 20.0, 0, 0, 0] + 0.2 * rng.standard_normal(60)
    model = GaugeRegressor(penalty=Linear(0.1), ridge=0.2, limits=(0, 0.5), standardize=True, tol=1e-10).fit(X, y)
    assert (model.coef_ >= 0).all()
    assert (model.coef_ <= 0.5).all()
    assert model.support_report().verdict[0] == "at its upper limit"


def of_classes(rng):
    """Return a problem of three classes with limits, and its data."""
    n, d = int(rng.integers(8, 30)), int(rng.integers(2, 7))
    X = rng.standard_normal((n, d))
    y = np.argmax(2 * X @ rng.standard_normal((d, 3)) + rng.gumbel(size=(n, 3)), axis=1)
    y[:3] = range(3)
    lower, upper = -rng.uniform(0, 0.6, (d, 3)), rng.uniform(0, 0.6, (d, 3))
    if rng.random() < 0.4:
        lower[0], upper[0], lower[1], upper[1] = -np.inf, np.inf, 0.1, 0.3
    penalty = (Linear(10 ** rng.uniform(-2.5, -1)), Square(0.05), Ball(3.5))[rng.integers(3)]
    stated = {"penalty": penalty, "limits": (lower, upper), "intercept": bool(rng.integers(2))}
    return Problem(X, y, loss=Multinomial(), **stated), X, y


def test_several_classes_within_limits():
    made, false, checked = Counter(), Counter(), 0
    for seed in range(16):
        rng = np.random.default_rng(seed)
        problem, X, y = of_classes(rng)
        best, (lower, upper) = solve(problem, tol=1e-12), problem.stated_limits
        x = best.x.ravel()
        moved = problem.limits.clip(best.lifted + 1e-4 * rng.standard_normal(best.lifted.shape))
        rough = solve(problem, tol=10.0 ** -rng.integers(2, 10))
        for told in (rough.certificate(), certify(problem, moved, best.point.state.coordinates)):
            made.update({kind: int(getattr(told, kind).sum()) for kind in KINDS})
            off = {"zero": np.abs(x), "at_lower": np.abs(x - lower), "at_upper": np.abs(x - upper)}
            false.update({kind: int((off[kind][getattr(told, kind)] > 1e-5).sum()) for kind in off})
            false["interval"] += int(((x < told.lower.ravel() - 1e-5) | (x > told.upper.ravel() + 1e-5)).sum())
            false["value"] += int(told.dual > best.objective + 1e-10) + int(told.primal < best.dual - 1e-10)
            verdict = verify(told, X, y)
            assert verdict.valid, (seed, str(verdict))
            checked += verdict.checked
    assert all(made[kind] > 20 for kind in KINDS), made
    assert not any(false.values()), false
    assert checked > 500


def test_forged_limits_of_several_classes_are_refused(tmp_path):
    problem, X, y = of_classes(np.random.default_rng(5))
    content, path = solve(problem, tol=1e-11).certificate().content(), tmp_path / "certificate.json"
    claims, limits = content["claims"], content["problem"]["limits"]
    assert claims["at_upper"]
    place = claims["at_upper"][0]
    for change in (
        lambda: limits["upper"].__setitem__(place, limits["upper"][place] / 2),
        lambda: claims.update(at_lower=sorted({*claims["at_lower"], place}), at_upper=claims["at_upper"][1:]),
    ):
        before = json.dumps(content)
        change()
        path.write_text(json.dumps(content | {"seal": seal(content)}))
        assert not verify(path, X, y).valid
        restored = json.loads(before)
        claims.update(restored["claims"])
        limits.update(restored["problem"]["limits"])


def test_sparse_data_with_empty_columns_and_a_ridge():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((25, 6)) * (rng.random((25, 6)) < 0.4)
    X[:, 2] = 0.0
    y = X @ [2.0, -2.0, 0.0, 1.0, 0.0, 0.5] + 0.1 * rng.standard_normal(25)
    for data in (X, csr_array(X), csc_array(X)):
        problem = Problem(data, y, gauge=L1([1, 1, 1, 0, 1, 1]), penalty=Linear(0.05), ridge=0.2, limits=LIMITS)
        told = solve(problem, tol=1e-11).certificate()
        assert told.at_upper[0]
        assert verify(told, data, y).valid


def counts_far_from_zero(seed):
    """Return a problem whose intercept is 5e9 and as coarse as 1e-6 in doubles, and its data."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 3))
    y = rng.poisson(np.exp(0.5 * X[:, 0] - 0.3 * X[:, 1])).astype(float)
    pieces = {"loss": Poisson(), "penalty": Ball(0.5), "intercept": True, "limits": (0, 0.5)}
    return Problem(X + 1e10, y, **pieces), X + 1e10, y


def test_the_checker_follows_counts_far_from_zero():
    """One Newton step from a rounded intercept leaves 1e-13 of curved losses, and the prover knows gaps of 1e-15."""
    for seed in range(12):
        problem, X, y = counts_far_from_zero(seed)
        told = solve(problem, tol=1e-12).certificate()
        assert told.nonzero.any()
        assert verify(told, X, y), (seed, verify(told, X, y))


FAR_FORGERIES = {
    "an intercept that rounding does not explain": lambda c: c["point"]["free"].__setitem__(
        0, c["point"]["free"][0] + 1e-3
    ),
    "a smaller gap": lambda c: c["claims"].update(gap=c["claims"]["gap"] / 1e4),
    "a larger value": lambda c: c["claims"]["value"].update(lower=c["claims"]["value"]["upper"] * (1 + 1e-13)),
    "a zero too many": lambda c: c["claims"]["nonzero"].pop(),
    "a narrow intercept": lambda c: c["claims"]["free"].update(
        lower=[np.nextafter(c["point"]["free"][0], -np.inf)], upper=[np.nextafter(c["point"]["free"][0], np.inf)]
    ),
    "a limit of another": lambda c: c["claims"].update(at_upper=[c["claims"]["nonzero"][0]]),
    "wider limits": lambda c: c["problem"]["limits"].update(lower=[-0.5] * 3),
}


@pytest.mark.parametrize("forge", FAR_FORGERIES.values(), ids=FAR_FORGERIES.keys())
def test_forged_counts_far_from_zero_are_refused(forge):
    problem, X, y = counts_far_from_zero(2)
    told = solve(problem, tol=1e-12).certificate()
    content = json.loads(json.dumps(told.content()))
    assert verify(Told(content), X, y)
    forge(content)
    content["seal"] = seal(content)
    assert not verify(Told(content), X, y)
