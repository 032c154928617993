"""Random problems with limits of every kind: 0 inside and outside, one-sided, equal, none; weights, twins, d > n."""

import numpy as np

from atomsieve import (
    L1,
    Ball,
    Huber,
    Linear,
    LinearSquare,
    LogBarrier,
    Logistic,
    Poisson,
    Power,
    Problem,
    Square,
    Squared,
    SquaredHinge,
)


def limits_of(rng, d):
    """Return lower and upper limits: all kinds at once, or one kind for all."""
    lower, upper = -rng.uniform(0, 0.6, d), rng.uniform(0, 0.6, d)
    kind = rng.integers(6)
    if kind == 1:
        lower[:] = -np.inf
    elif kind == 2:
        lower[rng.random(d) < 0.5] = -np.inf
        upper[rng.random(d) < 0.5] = np.inf
    elif kind == 3 and d >= 3:
        lower[:3], upper[:3] = (0.2, 0.05, -0.2), (0.2, 0.1, -0.05)
    elif kind == 4:
        lower[:] = 0.0
    elif kind == 5:
        lower[:], upper[:] = -0.25, 0.25
    upper[0] = min(upper[0], 1.0)  # a problem without any limit is another one
    return lower, upper


def targets_of(rng, loss, m):
    """Return targets that fit a loss, for linear predictions m."""
    if isinstance(loss, Poisson):
        return rng.poisson(np.exp(np.clip(m, -3, 3))).astype(float)
    if isinstance(loss, (Squared, Huber)):
        return m + 0.3 * rng.standard_normal(len(m))
    return np.where(m + rng.standard_normal(len(m)) > 0, 1.0, -1.0)


def draw(rng, loss=None, penalty=None, ridge=0.0):
    """Return a problem with limits, and its data as `verify` needs them."""
    losses = [Squared(), Logistic(), Poisson(), Huber(1.0), SquaredHinge()]
    penalties = [Linear(10 ** rng.uniform(-2, -0.5)), Square(10 ** rng.uniform(-1.5, 0)), Ball(rng.uniform(0.8, 2))]
    penalties += [LogBarrier(rng.uniform(1, 3), 5.0), LinearSquare(0.05, 0.1), Power(0.1, 1.5)]
    loss = losses[rng.choice(5, p=[0.4, 0.3, 0.1, 0.1, 0.1])] if loss is None else loss
    penalty = penalties[rng.choice(6, p=[0.4, 0.2, 0.15, 0.1, 0.1, 0.05])] if penalty is None else penalty
    n, d = int(rng.integers(3, 20)), int(rng.integers(1, 20))
    X = rng.standard_normal((n, d))
    if rng.random() < 0.2 and d > 1:
        X[:, -1] = X[:, 0]
    if rng.random() < 0.2:
        X = np.round(X)
    beta = np.zeros(d)
    beta[:3] = (1.0, -1.0, 0.5)[:d]
    y = targets_of(rng, loss, X @ beta)
    stated = {
        "loss": loss,
        "penalty": penalty,
        "gauge": L1(rng.uniform(0.5, 1.5, d) if rng.integers(2) else None),
        "intercept": bool(rng.integers(2)) and isinstance(loss, (Squared, Huber)),
        "sample_weight": rng.uniform(0.1, 2, n) if rng.integers(2) else None,
        "limits": limits_of(rng, d),
        "ridge": ridge if rng.random() < 0.5 else np.full(d, ridge) * rng.uniform(0.5, 2.0, d) if ridge else 0.0,
    }
    return Problem(X, y, **stated), X, y, stated
