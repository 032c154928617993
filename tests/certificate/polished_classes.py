"""Problems of three classes and any floats, built around a point that solves them nearly; their solutions in balls."""

import numpy as np
from built_sheet import Built
from classes_truth import Statement, solve_classes
from polished import draw_penalty
from solutions import Truth, ceil, floor

from atomsieve import L1, Group, Multinomial

CLASSES = 3


def polish_classes(rng):
    """Return a problem of three classes; None where its solution is not proven."""
    stated, x, b, traits = _draw(rng)
    found = solve_classes(stated, x, b)
    if found is None:
        return None
    blocks = stated.blocks.ravel()
    present = np.bincount(blocks, [not v == 0 for v in found.x]) > 0
    truth = Truth(
        zero=~present,
        nonzero=present,
        low=np.array([floor(v) for v in found.x]),
        high=np.array([ceil(v) for v in found.x]),
        free_low=np.array([floor(v) for v in found.b]),
        free_high=np.array([ceil(v) for v in found.b]),
        value=(floor(found.value), ceil(found.value)),
        corners=[np.array([float(v.mid()) for v in found.x])],
    )
    gauge = L1() if len(present) == x.size else Group()
    pieces = {"loss": Multinomial(CLASSES), "gauge": gauge, "penalty": stated.penalty, "ridge": stated.ridge}
    given = {"sample_weight": stated.weights, "intercept": False, "offset": stated.offset}
    given["free"] = stated.B if len(b) else None
    return Built(traits, stated.A, stated.labels, pieces, given, truth.corners[0], truth)


def _draw(rng):
    n, d = int(rng.integers(4, 10)), int(rng.integers(1, 5))
    labels = np.concatenate([np.arange(CLASSES), rng.integers(0, CLASSES, n - CLASSES)])
    u = rng.standard_normal((n, CLASSES)) * 10.0 ** rng.uniform(-1, 0.5)
    weights = rng.uniform(0.2, 3.0, n) if rng.random() < 0.5 else np.ones(n)
    p = np.exp(u) / np.exp(u).sum(axis=1, keepdims=True)
    theta = weights[:, None] * (p - (labels[:, None] == np.arange(CLASSES)))
    rows = bool(rng.random() < 0.5)
    x, share = _coefficients(rng, d, rows)
    mass = float(np.linalg.norm(x, axis=1).sum() if rows else np.abs(x).sum())
    penalty, slope = draw_penalty(rng, mass)
    even = np.allclose(x.sum(axis=1), 0)  # a ridge leaves no other sums over the classes
    ridge = float(10.0 ** rng.uniform(-3, 1)) if even and rng.random() < 0.3 else 0.0
    A = _columns(rng, theta, weights.sum() * (slope * share + ridge * x))
    free = _columns(rng, theta, np.zeros((int(rng.choice([0, 0, 1])), CLASSES)))
    b = rng.standard_normal((free.shape[1], CLASSES))
    b -= b.mean(axis=1, keepdims=True)
    blocks = np.arange(d * CLASSES).reshape(d, CLASSES)
    stated = Statement(
        A,
        labels,
        CLASSES,
        penalty,
        weights=weights,
        offset=u - A @ x - free @ b,
        B=free,
        blocks=blocks // CLASSES if rows else blocks,
        prices=np.ones(d if rows else d * CLASSES),
        scale=1.0,
        signed=np.ones((d, CLASSES), dtype=bool),
        ridge=ridge,
    )
    traits = ["Group" if rows else "L1", type(penalty).__name__, "weights", "offset"]
    return stated, x, b, traits + ["ridge"] * bool(ridge) + ["free columns"] * bool(len(b))


def _coefficients(rng, d, rows):
    """Return x, and the pull of each entry as a share of the largest one; shares add up to 0 over the classes."""
    x, share = np.zeros((d, CLASSES)), np.zeros((d, CLASSES))
    for j in range(d):
        way = rng.standard_normal(CLASSES) if rows else rng.permutation([1.0, -1.0, 0.0])
        way = (way - way.mean()) / (np.linalg.norm(way - way.mean()) if rows else 1.0)
        size = 10.0 ** rng.uniform(-2, 0.5) * (rng.random() < 0.5)
        share[j] = way if size else way * rng.uniform(0, 0.95)
        x[j] = size * (way if rows or rng.random() < 0.5 else np.maximum(way, 0))
    return x, share


def _columns(rng, theta, pulls):
    """Return columns with given pulls by all classes, nearly."""
    A = rng.standard_normal((len(theta), len(pulls)))
    return A - np.linalg.pinv(theta.T) @ (theta.T @ A + pulls.T)
