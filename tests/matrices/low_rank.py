"""Problems over matrices whose solutions may have any rank, and files with other claims."""

import json

import numpy as np

from atomsieve import Linear, Logistic, Nuclear, Problem, Scaled, Square, Squared
from atomsieve.certificate.file import seal


def stated(seed):
    """Return a problem whose solution may have any rank."""
    rng = np.random.default_rng(seed)
    n, d, K = int(rng.integers(6, 20)), int(rng.integers(2, 6)), int(rng.integers(2, 5))
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=(d, 2)) @ rng.normal(size=(2, K)) / 2 + 0.5 * rng.normal(size=(n, K))
    loss = Logistic() if seed % 4 == 0 else Squared()
    y = np.where(y > 0, 1.0, -1.0) if seed % 4 == 0 else y
    gauge = Scaled(Nuclear(), 2.0) if seed % 3 == 0 else Nuclear()
    problem = Problem(X, y, loss=loss, gauge=gauge)
    part = float(rng.choice([0.7, 0.3, 0.1, 0.02]))
    penalty = Linear(part * problem.critical) if seed % 2 else Square(part * problem.critical)
    return X, y, problem.at_penalty(penalty)


def rank_above(gauge, z, least):
    """Return how many values are not below a number at most, by the subspaces that a gauge finds."""
    leading = gauge.leading_above(z, least)
    return min(z.mid.shape) if leading is None else leading.rank


def forged(content, path, value):
    """Return a file with another number, and a seal that fits."""
    content = json.loads(json.dumps(content))
    place = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return content | {"seal": seal(content)}


class File:
    """What the checker reads."""

    def __init__(self, content):
        self._content = content

    def content(self):
        return self._content
