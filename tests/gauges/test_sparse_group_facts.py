"""What is proven of single coefficients under the sparse group norm: true of the solution, and checked."""

import json

import numpy as np
import pytest

from atomsieve import Ball, GaugeRegressor, Linear, Logistic, Problem, SparseGroup, Square, Squared, solve, verify
from atomsieve.certificate import proof as proofs
from atomsieve.certificate.file import seal


def drawn(seed):
    """Return a problem with groups in any order, and its solution to nearly all digits."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 20)), int(rng.integers(3, 16))
    X, labels = rng.normal(size=(n, d)), rng.integers(0, max(d // 3, 1), size=d)
    y = X @ (rng.normal(size=d) * (rng.uniform(size=d) < 0.4)) + 0.3 * rng.normal(size=n)
    loss = Logistic() if seed % 3 == 0 else Squared()
    y = np.where(y > np.median(y), 1.0, -1.0) if seed % 3 == 0 else y
    gauge = SparseGroup(labels, float(rng.choice([0.05, 0.5, 0.95])))
    given = Problem(X, y, loss=loss, gauge=gauge, intercept=bool(seed % 2))
    slope = given.critical * float(rng.choice([0.5, 0.2, 0.05]))
    mass = solve(given.at_penalty(Linear(slope)), tol=1e-6).point.state.mass
    problem = given.at_penalty([Linear(slope), Square(slope / mass), Ball(0.8 * mass)][seed % 4 % 3])
    best = solve(problem, tol=1e-15)
    pulls, size = best.point.z, problem.penalty.slope(best.point.state.mass)
    size = max(size, best.point.sigma)
    moved = problem.core.prox(best.x + pulls, (size, 0.0))
    assert np.abs(moved - best.x).max() <= 1e-7 * (1 + np.abs(best.x).max())  # a fixed point of the proximal step
    return problem, X, y, best.x


def false_claims(certificate, x):
    """Return how many verdicts, signs and intervals of a certificate are not true of a solution."""
    near = 1e-6 * (1 + np.abs(x).max())
    wrong = (np.abs(x) > near) & certificate.zero
    wrong |= (x == 0) & certificate.nonzero
    wrong |= (x < certificate.lower - near) | (x > certificate.upper + near)
    wrong |= certificate.facts.signs * x < -near
    return int(wrong.sum())


@pytest.mark.thin(9)
@pytest.mark.parametrize("seed", range(60))
def test_every_claim_is_true_of_the_solution_and_checked(seed):
    problem, X, y, x = drawn(seed)
    decided = 0
    for tol in (1e-2, 1e-4, 1e-7):
        certificate = solve(problem, tol=tol).certificate()
        assert false_claims(certificate, x) == 0
        checked = verify(certificate, X, y)
        assert checked.valid, checked.reason
        decided = int((certificate.zero | certificate.nonzero).sum())
    assert decided > 0


def test_with_a_radius_cut_to_a_hundredth_claims_are_false(monkeypatch):
    radius = proofs.Proof.radius.fget
    monkeypatch.setattr(proofs.Proof, "radius", property(lambda self: radius(self) / 100))
    found = 0
    for seed in range(8):
        problem, _, _, x = drawn(seed)
        for tol in (1e-1, 1e-2, 1e-3):
            found += false_claims(solve(problem, tol=tol).certificate(), x)
    assert found > 0


def test_forged_verdicts_are_refused(tmp_path):
    problem, X, y, x = drawn(1)
    path = tmp_path / "certificate.json"
    solve(problem, tol=1e-12).certificate().save(path)
    content = json.loads(path.read_text())
    assert verify(path, X, y).valid

    def refused(change):
        forged = json.loads(json.dumps(content))
        change(forged)
        path.write_text(json.dumps(forged | {"seal": seal(forged)}))
        return not verify(path, X, y).valid

    claims = content["claims"]
    zero = next(j for j in range(len(x)) if j not in claims["nonzero"] + claims["undecided"])
    assert refused(lambda c: c["claims"]["nonzero"].remove(claims["nonzero"][0]))
    assert refused(lambda c: c["claims"].update(nonzero=sorted([*claims["nonzero"], zero])))
    assert refused(lambda c: c["problem"]["gauge"].update(balance=0.9 * content["problem"]["gauge"]["balance"]))
    assert refused(lambda c: c["problem"]["gauge"].update(balance=2.0))
    assert refused(lambda c: c["claims"]["facts"].update(clusters=[[0, 1]]))


def test_groups_and_features_in_estimators():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 9))
    y = X[:, 0] - 2 * X[:, 1] + 0.1 * rng.normal(size=60)
    groups = {"first": [0, 1, 2], "second": [3, 4, 5], "third": [6, 7, 8]}
    model = GaugeRegressor(gauge=SparseGroup(groups, 0.5), penalty=Linear(0.1)).fit(X, y)
    report = model.group_report().set_index("group")["verdict"].to_dict()
    assert report == {"first": "non-zero", "second": "zero", "third": "zero"}
    verdicts = model.certify(X, y).to_frame()
    assert verdicts["verdict"].tolist()[:3] == ["non-zero", "non-zero", "zero"]
    assert verdicts["group"].tolist() == ["first"] * 3 + ["second"] * 3 + ["third"] * 3
