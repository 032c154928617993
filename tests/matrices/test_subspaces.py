"""Claims about subspaces of solutions: true in every case, refused where they are forged, false by a false radius."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from low_rank import File, forged, stated

from atomsieve import Certificate, Completion, Linear, Nuclear, Problem, PSDTrace, Scaled, solve, verify
from atomsieve.certificate import proof as proofs
from atomsieve.gauges.leading import leak
from atomsieve.numerics.enclosures import Enclosure


def off(vectors, basis):
    """Return the sine of the largest angle between unit vectors, orthonormal themselves, and the span of a basis."""
    basis = np.linalg.qr(basis)[0]
    return float(np.linalg.norm(vectors - basis @ (basis.T @ vectors), 2))


def with_gap(rng, gauge):
    """Return a matrix with some values well above the others, and a number between."""
    rows, columns = (5, 5) if isinstance(gauge, PSDTrace) else (int(rng.integers(3, 9)), int(rng.integers(3, 9)))
    z = rng.normal(size=(rows, columns))
    if isinstance(gauge, PSDTrace):
        values, vectors = np.linalg.eigh((z + z.T) / 2)
        values[-2:] = np.abs(values[-2:]) + 3.0
        return (vectors * values) @ vectors.T + (z - z.T), float(values[-2:].min())
    left, values, right = np.linalg.svd(z, full_matrices=False)
    values[:2] += 3.0
    return (left * values) @ right, float(values[1])


def leading_vectors(gauge, z, least):
    """Return the left and right vectors of a matrix whose values are not below a number."""
    if isinstance(gauge, PSDTrace):
        values, vectors = np.linalg.eigh((z + z.T) / 2)
        return vectors[:, values >= least], vectors[:, values >= least]
    left, values, right = np.linalg.svd(z, full_matrices=False)
    return left[:, values >= least], right[values >= least].T


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([Nuclear(), PSDTrace(), Scaled(Nuclear(), 3.0).gauge]))
def test_vectors_of_matrices_nearby_are_as_near_as_the_bound_says(seed, gauge):
    rng = np.random.default_rng(seed)
    z, lowest = with_gap(rng, gauge)
    radius = rng.uniform(0, 1e-3) * rng.uniform(0, 1, size=z.shape)
    leading = gauge.leading_above(Enclosure(z, radius), 0.9 * lowest)
    assert leading is not None
    assert leading.rank == 2
    moved = 10.0 ** rng.uniform(-9, -0.5)
    for _ in range(4):
        push = rng.normal(size=z.shape)
        there = z + radius * rng.uniform(-1, 1, size=z.shape) + moved * push / np.linalg.norm(push, 2)
        value = 0.9 * lowest - moved
        left, right = leading_vectors(gauge, there, value)
        bound = leading.sine(value, moved)
        assert off(left, leading.left) <= bound + 1e-13
        assert off(right, leading.right) <= bound + 1e-13


def test_the_bound_is_reached():
    """A push that turns the vectors most reaches the bound, up to second order: a smaller bound would be false."""
    z = np.diag([2.0, 0.5])
    leading = Nuclear().leading_above(Enclosure.exact(z), 1.0)
    moved = 1e-5
    there = z + moved * np.array([[0.0, 1.0], [1.0, 0.0]])
    left, _ = leading_vectors(Nuclear(), there, 1.0)
    found = off(left, leading.left) / leading.sine(float(np.linalg.norm(there, 2)), moved)
    assert 0.999 < found <= 1.0


def scaled_norm(v):
    """Return the length of a vector whose squares may underflow."""
    scale = float(np.abs(v).max())
    return scale * float(np.linalg.norm(v / scale)) if scale else 0.0


def test_leaks_are_bounded():
    rng = np.random.default_rng(0)
    for k in range(50):
        rest = (1.0, 1e-300, 2.0**-1060)[k % 3] * rng.normal(size=(6, 5))
        basis = np.linalg.qr(rng.normal(size=(5, 2)))[0] + 0.01 * rng.normal(size=(5, 2))
        radius = 0.01 * np.abs(rest) * rng.uniform(size=rest.shape)
        bound = leak(Enclosure(rest, radius), basis)
        v = basis @ rng.normal(size=2)
        there = rest + radius * rng.uniform(-1, 1, size=rest.shape)
        v = v / np.linalg.norm(v)
        assert scaled_norm(there @ v) <= bound * (1 + 1e-12) + 4 * 2.0**-1074
    assert leak(Enclosure.exact(rest), np.ones((5, 2))) == np.inf


def true_sines(problem, certificate):
    """Return how far columns and rows of the solution are off the claimed subspaces, and the claim."""
    x = solve(problem, tol=1e-14).x
    left, values, right = np.linalg.svd(x, full_matrices=False)
    kept = values > 1e-5 * values[0]
    subspaces = certificate.subspaces
    return max(off(left[:, kept], subspaces.left), off(right[kept].T, subspaces.right)), subspaces.sine


def claims_at(seed):
    """Return true sines and claims at points at several distances from the optimum."""
    _, _, problem = stated(seed)
    found = [solve(problem, tol=tol).certificate() for tol in (1e-1, 1e-2, 1e-3, 1e-5, 1e-7)]
    return [true_sines(problem, certificate) for certificate in found if certificate.subspaces is not None]


@pytest.mark.thin(2)
@pytest.mark.parametrize("seed", range(30))
def test_claims_are_true(seed):
    assert all(true <= claimed + 1e-6 for true, claimed in claims_at(seed))


def test_claims_get_sharper():
    last = [claims_at(seed)[-1:] for seed in range(8)]
    assert sum(bool(found) and found[0][1] < 0.05 for found in last) >= 3


def test_negative_control(monkeypatch):
    """With a radius that is too small, some of the same claims are false: the test above can fail."""
    honest = proofs.Proof.radius.fget
    monkeypatch.setattr(proofs.Proof, "radius", property(lambda self: 1e-3 * honest(self)))
    assert sum(any(true > claimed + 1e-6 for true, claimed in claims_at(seed)) for seed in range(12)) >= 3


def certified(seed=1):
    X, y, problem = stated(seed)
    certificate = solve(problem, tol=1e-9).certificate()
    assert certificate.subspaces is not None
    return X, y, certificate


def test_forged_claims_are_refused():
    X, y, certificate = certified()
    content, sine = certificate.content(), certificate.subspaces.sine
    assert verify(certificate, X, y).valid
    for wrong in (sine / 2, 0.0, -1.0):
        told = verify(File(forged(content, ("claims", "subspaces", "sine"), wrong)), X, y)
        assert not told.valid
        assert "subspaces" in told.reason
    for key in ("left", "right"):
        basis = getattr(certificate.subspaces, key)
        turned = basis + 10 * sine * np.random.default_rng(0).normal(size=basis.shape)
        for wrong in (turned, 1e3 * basis, 0 * basis, basis[:, :0], basis[1:], np.hstack([basis, basis[:, :1]])):
            assert not verify(File(forged(content, ("claims", "subspaces", key), wrong.tolist())), X, y).valid


def test_subspaces_need_a_matrix():
    X, y = np.eye(3), np.array([3.0, 1.0, 0.0])
    certificate = solve(Problem(X, y, penalty=Linear(0.1)), tol=1e-9).certificate()
    assert certificate.subspaces is None
    claim = {"left": [[1.0], [0.0], [0.0]], "right": [[1.0]], "sine": 0.5}
    assert not verify(File(forged(certificate.content(), ("claims", "subspaces"), claim)), X, y).valid


def test_file_keeps_the_subspaces(tmp_path):
    X, y, certificate = certified()
    certificate.save(tmp_path / "c.json")
    read = Certificate.load(tmp_path / "c.json")
    assert read.subspaces.sine == certificate.subspaces.sine
    assert np.array_equal(read.subspaces.left, certificate.subspaces.left)
    assert np.array_equal(read.subspaces.right, certificate.subspaces.right)
    assert verify(tmp_path / "c.json", X, y).valid
    assert "degrees" in str(read)


def test_traces_and_completions():
    rng = np.random.default_rng(3)
    q = rng.normal(size=(6, 2))
    rows, columns = np.nonzero(rng.random((6, 6)) < 0.9)
    y = (q @ q.T)[rows, columns] + 0.01 * rng.normal(size=len(rows))
    design = Completion(rows, columns, (6, 6))
    for gauge in (PSDTrace(), Nuclear()):
        problem = Problem(design, y, gauge=gauge)
        certificate = solve(problem.at_penalty(Linear(0.003 * problem.critical)), tol=1e-12).certificate()
        assert certificate.rank >= 2
        assert certificate.subspaces.sine < 0.1
        assert off(np.linalg.qr(q)[0], certificate.subspaces.left) < 0.2
        assert verify(certificate, design, y).valid
