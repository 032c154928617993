"""Claims about the rank of solutions: true in every case, refused where they are forged, false by a false radius."""

from dataclasses import replace

import numpy as np
import pytest
from low_rank import File, forged, stated

from atomsieve import Certificate, Linear, Problem, solve, verify
from atomsieve.certificate import proof as proofs


def rank_of(problem):
    """Return the rank of the solution, by the place of the largest fall of its singular values."""
    x = solve(problem, tol=1e-13).x
    values = np.linalg.svd(x, compute_uv=False)
    return int(np.count_nonzero(values > 1e-6 * max(values[0], 1e-300)))


def claims_at(seed, *, shrink=1.0, monkeypatch=None):
    """Return the claimed rank at points at several distances from the optimum, with the radius times a number."""
    _, _, problem = stated(seed)
    if monkeypatch is not None:
        honest = proofs.Proof.radius.fget
        monkeypatch.setattr(proofs.Proof, "radius", property(lambda self: shrink * honest(self)))
    found = [solve(problem, tol=tol).certificate().rank for tol in (1e-1, 1e-2, 1e-3, 1e-5, 1e-8)]
    return [rank for rank in found if rank is not None], rank_of(problem)


@pytest.mark.thin(2)
@pytest.mark.parametrize("seed", range(30))
def test_claims_are_true(seed):
    found, rank = claims_at(seed)
    assert all(claimed >= rank for claimed in found)


def test_claims_are_made():
    """At good points nearly all ranks are proven to be what they are."""
    exact = 0
    for seed in range(8):
        found, rank = claims_at(seed)
        exact += bool(found) and found[-1] == rank
    assert exact >= 4


def test_negative_control(monkeypatch):
    """With a radius that is too small, some of the same claims are false: the test above can fail."""
    false = 0
    for seed in range(16):
        found, rank = claims_at(seed, shrink=0.001, monkeypatch=monkeypatch)
        false += any(claimed < rank for claimed in found)
    assert false >= 2


@pytest.mark.parametrize("seed", range(6))
def test_forged_claims_are_refused(seed):
    X, y, problem = stated(seed)
    result = solve(problem, tol=1e-9)
    certificate = result.certificate()
    assert verify(certificate, X, y).valid
    content = certificate.content()
    rank = rank_of(problem)
    if rank > 0:
        told = verify(File(forged(content, ("claims", "rank"), rank - 1)), X, y)
        assert not told.valid
        assert "rank" in told.reason
    value = content["claims"]["value"]
    width = max(abs(value["upper"]), 1.0)
    for side, moved in (("lower", value["lower"] + 1e-6 * width), ("upper", value["upper"] - 1e-6 * width)):
        assert not verify(File(forged(content, ("claims", "value", side), moved)), X, y).valid
    assert not verify(File(forged(content, ("claims", "gap"), content["claims"]["gap"] / 1e3)), X, y).valid


def test_rank_needs_a_matrix():
    X, y = np.eye(3), np.array([3.0, 1.0, 0.0])
    certificate = solve(Problem(X, y, penalty=Linear(0.1)), tol=1e-9).certificate()
    assert certificate.rank is None
    told = verify(File(forged(certificate.content(), ("claims", "rank"), 1)), X, y)
    assert not told.valid


def test_file_keeps_the_rank(tmp_path):
    X, y, problem = stated(1)
    certificate = solve(problem, tol=1e-9).certificate()
    assert certificate.rank is not None
    certificate.save(tmp_path / "c.json")
    read = Certificate.load(tmp_path / "c.json")
    assert read.rank == certificate.rank
    assert verify(tmp_path / "c.json", X, y).valid
    assert replace(certificate, rank=None).content()["claims"].get("rank") is None
