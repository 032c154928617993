"""Graphs to draw problems on, and total variation over them by another solver."""

import cvxpy as cp
import numpy as np
from scipy.sparse import csr_array

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
)

PENALTIES = [Linear(0.3), Square(0.5), Ball(3.0), LogBarrier(5.0, 1.0)]
LOSSES = [Squared(), Huber(1.0), Logistic(), Poisson()]


def path(rng, rows):
    return [[i, i + 1] for i in range(rows - 1)]


def star(rng, rows):
    return [[0, i] for i in range(1, rows)]


def tree(rng, rows):
    names = rng.permutation(rows)
    return [[names[rng.integers(i)], names[i]] for i in range(1, rows)]


def forest(rng, rows):
    return [edge for edge in tree(rng, rows) if rng.random() < 0.8] or [[0, 1]]


TREES = [path, star, tree, forest]


def jumps(gauge, rows):
    """Return the differences over the edges as a matrix, and their weights."""
    D = np.zeros((len(gauge.edges), rows))
    every = np.arange(len(D))
    D[every, gauge.edges[:, 0]], D[every, gauge.edges[:, 1]] = -1.0, 1.0
    return D, np.ones(len(D)) if gauge.weights is None else gauge.weights


def drawn(seed, kinds, rows=12, **given):
    """Return a problem over one of some kinds of graphs, some with the identity, some sparse; with X, y, and A."""
    rng = np.random.default_rng(seed)
    loss, penalty = LOSSES[seed % 4], PENALTIES[seed // 4 % 4]
    edges = np.array(kinds[seed // 3 % len(kinds)](rng, rows))
    n = rows if seed % 3 == 0 else 40
    A = np.eye(rows) if seed % 3 == 0 else rng.normal(size=(n, rows))
    truth = rng.normal(size=3)[rng.integers(3, size=rows)]
    y = A @ truth + 0.3 * rng.normal(size=n)
    if isinstance(loss, Logistic):
        y = np.where(y + 3 * rng.normal(size=n) > np.median(y), 1.0, -1.0)
    if isinstance(loss, Poisson):
        y = rng.poisson(np.exp(np.clip(y, -2, 2))).astype(float)
    if isinstance(loss, Logistic | Poisson) and seed % 3 == 0:  # levels of single samples would be infinite
        A, y = np.vstack([A] * 3), np.concatenate([y, y[::-1], -y if isinstance(loss, Logistic) else y + 1])
    X = csr_array(A) if seed % 2 else A
    weights = rng.uniform(0.5, 2, len(edges)) if seed % 5 == 0 else None
    gauge = TotalVariation(edges=edges, weights=weights)
    return Problem(X, y, loss=loss, gauge=gauge, penalty=penalty, intercept=seed % 7 == 0, **given), X, y, A


def reference(problem, A, y):
    """Return the optimal value by another solver."""
    loss, penalty = problem.loss, problem.penalty
    D, prices = jumps(problem.gauge, A.shape[1])
    x, b, size = cp.Variable(A.shape[1]), cp.Variable() if problem.data.intercept else 0.0, cp.Variable()
    u, kappa = A @ x + b, cp.norm1(cp.multiply(prices, D @ x))
    losses = {
        "Squared": lambda: cp.sum_squares(u - y) / 2,
        "Huber": lambda: cp.sum(cp.huber(u - y, 1.0)) / 2,
        "Logistic": lambda: cp.sum(cp.logistic(-cp.multiply(y, u))),
        "Poisson": lambda: cp.sum(cp.exp(u) - cp.multiply(y, u)),
    }
    constant = np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0)) - y, 0.0).mean() if loss == Poisson() else 0.0
    charges = {
        "Linear": lambda: penalty.strength * kappa,
        "Square": lambda: penalty.strength / 2 * cp.square(kappa),
        "Ball": lambda: 0.0,
        "LogBarrier": lambda: -cp.log(1 - size / penalty.radius) - size / penalty.radius,
    }
    limits = [kappa <= penalty.radius] if isinstance(penalty, Ball) else [size >= kappa]
    asked = losses[type(loss).__name__]() / len(y) + charges[type(penalty).__name__]()
    program = cp.Problem(cp.Minimize(asked), limits)
    program.solve(solver="CLARABEL")
    return program.value + constant


def false_claims(certificate, c, gap):
    """Return how many verdicts and intervals are not true of an accurate solution."""
    near = 1e-5 * (1 + np.abs(c).max()) + np.sqrt(gap)
    inside = np.ones(len(c), dtype=bool)
    inside[certificate.statement["unpenalised"]] = False
    wrong = (np.abs(c) > near) & certificate.zero
    wrong |= (c == 0) & certificate.nonzero & inside
    wrong |= ((c < certificate.lower - near) | (c > certificate.upper + near)) & inside
    return int(wrong.sum())
