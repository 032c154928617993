"""Samples that can be left out with several classes: claims against solutions, and exact arithmetic."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_iris

from atomsieve import L1, Image, Linear, Multinomial, NonNegative, Problem, solve
from atomsieve.certificate.class_face import ClassFace
from atomsieve.certificate.class_moves import Moves
from atomsieve.certificate.class_samples import Around
from atomsieve.certificate.family import Family
from atomsieve.run.progress import watched_by


def drawn(rng):
    """Return random data of several classes, and a problem's pieces."""
    n, d, classes = int(rng.integers(15, 50)), int(rng.integers(2, 6)), int(rng.choice([3, 3, 4, 5]))
    X = rng.standard_normal((n, d))
    scores = X @ (rng.standard_normal((d, classes)) * (rng.random((d, classes)) < 0.5))
    y = np.argmax(scores + float(rng.choice([0.3, 1.0, 2.0])) * rng.gumbel(size=(n, classes)), axis=1)
    y[: 2 * classes] = np.tile(np.arange(classes), 2)[:n]
    if rng.random() < 0.3:
        X = X + rng.standard_normal(d) * 10 ** rng.uniform(0, 3)
    prices = rng.uniform(0.5, 2, d)
    prices[0] = rng.choice([0.0, 1.0, np.inf], p=[0.3, 0.5, 0.2])
    signs = (rng.random(d) < 0.5).tolist()
    gauge = (L1(), L1(), L1(prices), L1(positive=signs), NonNegative(), L1(rng.uniform(0.5, 2, (d, classes))))
    return (
        X,
        y,
        {
            "loss": Multinomial(classes),
            "gauge": gauge[int(rng.integers(6))],
            "intercept": bool(rng.random() < 0.7),
            "penalty": Linear(float(10 ** rng.uniform(-2, -0.8))),
            "offset": rng.standard_normal((n, classes)) if rng.random() < 0.2 else None,
            "free": rng.standard_normal((n, 1)) if rng.random() < 0.2 else None,
        },
    )


def compared(seeds, parts=(0.0, 0.5)):
    """Return how many samples are claimed, how many there are, and false claims."""
    claimed = every = 0
    false = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X, y, pieces = drawn(rng)
        weights = rng.uniform(0.2, 2, len(y)) if rng.random() < 0.4 else np.ones(len(y))
        try:
            result = solve(Problem(X, y, sample_weight=weights, **pieces), tol=1e-13)
        except ValueError:  # columns without a price that separate the classes
            continue
        certificate = result.certificate()
        if not certificate.valid or certificate.undecided.any():
            continue
        found = np.flatnonzero(certificate.without_each_sample())
        every, claimed = every + len(y), claimed + len(found)
        judged = (i for i in found if not all(_same(X, y, weights, pieces, result, i, part) for part in parts))
        false += [(seed, int(i)) for i in judged]
    return claimed, every, false


def _same(X, y, weights, pieces, result, i, part):
    """Return whether the support and its signs are the same with a part of the weight of a sample."""
    left = weights.copy()
    left[i] *= part
    try:
        other = solve(Problem(X, y, sample_weight=left, **pieces), tol=1e-12).lifted
    except ValueError:  # the last sample of a class
        return False
    return np.array_equal(np.sign(np.where(np.abs(other) < 1e-10, 0.0, other)), np.sign(result.lifted))


def test_no_false_claim():
    claimed, every, false = compared(range(10))
    assert not false
    assert every > 150
    assert claimed > every / 8


@pytest.mark.deep
def test_no_false_claim_of_many():
    claimed, every, false = compared(range(100, 160), (0.0, 0.3, 0.7))
    assert not false
    assert claimed > every / 8


@pytest.mark.parametrize("bound", ["scores", "signs"])
def test_a_missing_bound_would_be_noticed(monkeypatch, bound):
    monkeypatch.setattr(Around, bound, lambda self, *_: np.ones(len(self.moves.samples), dtype=bool))
    assert len(compared(range(9), (0.0,))[-1]) > 1


def test_nearly_all_are_found_for_flowers():
    X, y = load_iris(return_X_y=True)
    X, pieces = X / X.std(axis=0), {"loss": Multinomial(), "intercept": True, "penalty": Linear(0.04)}
    result = solve(Problem(X, y, **pieces), tol=1e-13)
    found = result.certificate().without_each_sample()
    some = range(0, 150, 3)
    same = np.array([_same(X, y, np.ones(150), pieces, result, i, 0.0) for i in some])
    assert not (found[some] & ~same).any()
    assert 0.9 * same.sum() < found[some].sum()
    assert not same.all()


def test_shorter_moves_and_distances_would_be_noticed(monkeypatch):
    """With a thousandth of how far optima move, and of how far they are from there."""
    of, away = Moves.of.__func__, Around.away.func

    def shorter(cls, *given):
        moves = of(cls, *given)
        return replace(moves, first=moves.first / 1000, second=moves.second / 1000)

    monkeypatch.setattr(Moves, "of", classmethod(shorter))
    monkeypatch.setattr(Around, "away", property(lambda self: away(self) / 1000))
    assert len(compared(range(4), (0.0,))[-1]) > 20


def exact(array):
    """Return floats as fractions."""
    return np.vectorize(Fraction, otypes=[object])(array)


@pytest.mark.parametrize("far", [0.0, 1e4])
def test_rounding_is_bounded_in_exact_arithmetic(far):
    """The columns of an image are rounded; far from zero, their differences lose digits."""
    rng = np.random.default_rng(0)
    X, Q = rng.standard_normal((12, 6)) + far, 0.3 * np.vstack([np.eye(3), -np.eye(3)])
    y = np.argmax((X @ Q) @ rng.standard_normal((3, 3)) + rng.gumbel(size=(12, 3)), axis=1)
    weights = rng.uniform(0.5, 2, 12)
    problem = Problem(X, y, loss=Multinomial(3), gauge=Image(L1(), Q), penalty=Linear(0.02), sample_weight=weights)
    certificate = solve(problem, tol=1e-13).certificate()
    face = ClassFace.of(certificate.proof, Family.none(problem))
    moves = next(Moves.of(face, ~certificate.zero).parts(np.arange(12)))
    assert len(moves.rows.feature) > 1
    columns = (exact(X) @ exact(Q))[:, np.flatnonzero(face.nominal.x.any(axis=1))[moves.rows.feature]]
    C = columns[:, None, :] * exact(moves.rows.signs)[None]
    s, p = exact(weights), exact(moves.rows.shares)
    H = [s[k] * (np.diag(p[k]) - np.outer(p[k], p[k]) / sum(p[k])) for k in range(12)]
    G = sum(C[k].T @ H[k] @ C[k] for k in range(12))
    pulled = Fraction(0.02) * exact(np.sign(face.nominal.x.ravel()[moves.entries[1]]))
    rest = moves.rest()
    for i in range(12):
        g, h, m = exact(moves.first[i]), exact(moves.second[i]), exact(moves.back[i])
        q = C[i].T @ (s[i] * exact(face.nominal.slopes.mid[i])) + s[i] * pulled
        assert all(abs(q - g @ G) + abs(C[i].T @ m - h @ G) <= exact(rest[i]))
        assert all(abs(H[i] @ C[i] @ (g + h) - m) <= exact(moves.left[i]))
        for k in range(12):
            assert all(np.ptp(C[k] @ v) <= Fraction(moves.apart[i, k]) for v in (g, g + h))


def test_features_in_all_classes_leave_nothing_to_say():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = (X[:, 0] + 0.5 * rng.standard_normal(40) > 0).astype(int)
    certificate = solve(
        Problem(X, y, loss=Multinomial(), penalty=Linear(0.05), intercept=True), tol=1e-12
    ).certificate()
    assert not certificate.without_each_sample().any()


def test_watchers_are_told():
    X, y = load_iris(return_X_y=True)
    certificate = solve(Problem(X, y, loss=Multinomial(), penalty=Linear(0.2), intercept=True), tol=1e-12).certificate()
    texts = []
    somebody = SimpleNamespace(see=lambda *_: None, say=texts.append, end=lambda: None)
    with watched_by(somebody):
        found = certificate.without_each_sample()
    assert texts[-1] == f"{found.sum()} of 150 samples can be left out, so far"
