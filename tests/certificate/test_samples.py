"""Samples that can be left out: compared with fits without them, and with parts of their weight."""

from fractions import Fraction

import numpy as np
import pytest

from atomsieve import (  # fmt: skip
    L1,
    Ball,
    Group,
    Huber,
    Image,
    Linear,
    Logistic,
    Multinomial,
    Poisson,
    Problem,
    Squared,
    SquaredHinge,
    solve,
)
from atomsieve.certificate import samples
from atomsieve.certificate.face import Face
from atomsieve.certificate.family import Family

LOSSES = [Squared(), Huber(1.0), Logistic(), Poisson(), SquaredHinge()]


def drawn(rng, loss):
    """Return random data for a loss."""
    n, d = int(rng.integers(6, 30)), int(rng.integers(2, 12))
    X = rng.standard_normal((n, d))
    if rng.random() < 0.3:
        X = X + rng.standard_normal(d) * 10 ** rng.uniform(0, 3)
    u = (X - X.mean(axis=0))[:, : min(3, d)] @ rng.standard_normal(min(3, d))
    u = u / (u.std() + 1e-9)
    if loss.translates:
        return X, u + 0.3 * rng.standard_normal(n)
    if isinstance(loss, Poisson):
        return X, rng.poisson(np.exp(0.5 * u)).astype(float)
    y = np.where(u + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0)
    y[:4] = [1.0, -1.0, 1.0, -1.0]
    return X, y


def pieces_of(rng, d, loss):
    gauge = L1(positive=(rng.random(d) < 0.5).tolist()) if rng.random() < 0.2 else L1()
    return {
        "loss": loss,
        "gauge": gauge,
        "intercept": bool(rng.random() < 0.7),
        "penalty": Linear(float(10 ** rng.uniform(-2, -0.4))),
    }


def compared(seeds, loss, parts=(0.0, 0.5)):
    """Return how many samples are claimed, how many could be, how many there are, and false claims."""
    claimed = possible = every = 0
    false = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X, y = drawn(rng, loss)
        pieces = pieces_of(rng, X.shape[1], loss)
        weights = rng.uniform(0.2, 2, len(y)) if rng.random() < 0.4 else np.ones(len(y))
        result = solve(Problem(X, y, sample_weight=weights, **pieces), tol=1e-13)
        certificate = result.certificate()
        if not certificate.valid or certificate.undecided.any():
            continue
        found = certificate.without_each_sample()
        every, claimed = every + len(y), claimed + int(found.sum())
        for i in range(len(y)):
            same = all(_same(X, y, weights, pieces, result.x, i, part) for part in parts)
            possible += same
            if found[i] and not same:
                false.append((seed, i))
    return claimed, possible, every, false


def _same(X, y, weights, pieces, x, i, part):
    """Return whether the support and its signs are the same with a part of the weight of a sample."""
    left = weights.copy()
    left[i] *= part
    other = solve(Problem(X, y, sample_weight=left, **pieces), tol=1e-13).x
    return np.array_equal(np.sign(np.where(np.abs(other) < 1e-11, 0.0, other)), np.sign(x))


@pytest.mark.parametrize("loss", LOSSES, ids=lambda v: type(v).__name__)
def test_no_false_claim(loss):
    claimed, possible, every, false = compared(range(8), loss)
    assert not false
    assert 0.1 * every < claimed <= possible


@pytest.mark.deep
@pytest.mark.parametrize("loss", LOSSES, ids=lambda v: type(v).__name__)
def test_no_false_claim_of_many(loss):
    assert not compared(range(100, 200), loss, (0.0, 0.3, 0.7))[-1]


def test_nearly_all_are_found_for_the_squared_loss():
    claimed, possible, _, _ = compared(range(20, 40), Squared(), (0.0, 0.3, 0.6, 0.9))
    assert claimed > 0.9 * possible


@pytest.mark.parametrize("bound", ["scores", "signs"])
def test_a_missing_bound_would_be_noticed(monkeypatch, bound):
    monkeypatch.setattr(samples._Moves, bound, lambda self, *_: np.ones(len(self.samples), dtype=bool))
    assert len(compared(range(20), Squared())[-1]) > 5


@pytest.mark.parametrize("loss", [Huber(1.0), SquaredHinge()], ids=lambda v: type(v).__name__)
def test_losses_that_are_quadratic_only_near_the_point(loss):
    """All samples lie where the loss is a parabola, and without one of them others leave it."""
    claimed = 0
    for seed in (9, 20, 47, 59, 65):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((7, 3)) * np.exp(rng.standard_normal((7, 1)))
        y = X @ rng.standard_normal(3) + rng.uniform(-1, 1, 7)
        y = y if loss.translates else np.where(rng.random(7) < 0.5, 1.0, -1.0)
        pieces = {"loss": loss, "penalty": Linear(0.2)}
        result = solve(Problem(X, y, **pieces), tol=1e-13)
        found = result.certificate().without_each_sample()
        claimed += found.sum()
        assert all(_same(X, y, np.ones(7), pieces, result.x, i, 0.0) for i in np.flatnonzero(found))
    assert claimed


def exact(array):
    """Return floats as fractions."""
    return np.vectorize(Fraction, otypes=[object])(array)


@pytest.mark.parametrize("far", [0.0, 1e8])
def test_rounding_is_bounded_in_exact_arithmetic(far):
    """The columns of an image are rounded; far from zero, their differences lose digits."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 6)) + far
    Q = 0.3 * np.vstack([np.eye(3), -np.eye(3)])
    y = (X @ Q) @ [1.0, -1.0, 0.0] + 0.1 * rng.standard_normal(9)
    weights = rng.uniform(0.5, 2, 9)
    problem = Problem(X, y, gauge=Image(L1(), Q), penalty=Linear(0.1), sample_weight=weights)
    certificate = solve(problem, tol=1e-13).certificate()
    proof = certificate.proof
    face = Face.of(proof, Family.none(problem))
    place = face.place(~certificate.zero, np.ones(9), np.ones(9))
    moves = samples._Moves.of(face, place, np.ones(9))
    columns = (exact(X) @ exact(Q))[:, place.index]
    x, s = exact(proof.x[place.index]), exact(weights)
    theta = s * (columns @ x - exact(y))
    rests, shifts = moves._rest(), moves.shift
    for i in range(9):
        moved = exact(moves.first[i]) + exact(moves.second[i])
        pulled = theta[i] * columns[i] + s[i] * Fraction(0.1) * np.sign(x)
        s_left = np.where(np.arange(9) == i, 0, s)
        left = pulled - columns.T @ (s_left * (columns @ moved))
        assert all(abs(left) <= exact(rests[i]))
        assert all(abs(columns @ moved) <= exact(shifts[i]))
        assert all(abs(columns @ exact(moves.first[i])) <= exact(shifts[i]))


def test_twins_of_all_samples():
    """With every sample twice, each is half of its weight."""
    rng = np.random.default_rng(0)
    X, y = np.vstack([np.eye(3)] * 4), np.tile([2.0, 0.1, -1.0], 4)
    certificate = solve(Problem(X, y, penalty=Linear(0.1)), tol=1e-13).certificate()
    assert certificate.without_each_sample().all()
    y[0] = 2.0 + 20 * rng.random()
    certificate = solve(Problem(X, y, penalty=Linear(0.1)), tol=1e-13).certificate()
    assert certificate.without_each_sample()[1:].all()


REFUSED = {
    "classes in groups": (
        Problem(np.eye(6), np.arange(6) % 3, loss=Multinomial(), gauge=Group(), penalty=Linear(0.01)),
        "gauge of coordinates",
    ),
    "two outputs": (Problem(np.eye(4), np.eye(4)[:, :2] * 5, penalty=Linear(0.1)), "one target"),
    "a ridge": (Problem(np.eye(3), [3.0, 2.0, 1.0], penalty=Linear(0.1), ridge=0.1), "without a ridge"),
    "groups": (
        Problem(np.eye(3), [3.0, 2.0, 1.0], gauge=Group([0, 0, 1]), penalty=Linear(0.1)),
        "gauge of coordinates",
    ),
    "a ball": (Problem(np.eye(3), [3.0, 2.0, 1.0], penalty=Ball(1.0)), "the penalty Linear"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    problem, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        solve(problem, tol=1e-10).certificate().without_each_sample()


def test_certificates_without_data(tmp_path):
    certificate = solve(Problem(np.eye(3), [3.0, 2.0, 1.0], penalty=Linear(0.1)), tol=1e-10).certificate()
    with pytest.raises(ValueError, match="needs the data"):
        certificate.without_data().without_each_sample()
    with pytest.raises(ValueError, match="needs the data"):
        certificate.without_data().predict(np.eye(3))


def test_families_are_refused():
    result = solve(Problem(np.eye(3), [3.0, 2.0, 1.0], penalty=Linear(0.1)), tol=1e-12)
    with pytest.raises(ValueError, match="one problem"):
        result.certificate(x_error=1e-6).without_each_sample()
