"""What is chosen of a problem before its columns follow (see `built`): slopes, coefficients, prices, penalties."""

from dataclasses import dataclass

import numpy as np

from atomsieve import Ball, Linear, LinearSquare, LogBarrier, Power, Square

WHOLE_LENGTHS = {
    1: [(1,)],
    2: [(3, 4), (4, 3), (5, 12)],
    3: [(1, 2, 2), (2, 1, 2), (2, 3, 6)],
    4: [(1, 1, 1, 1)],
}
"""Whole vectors whose length is whole."""

ONE_OUTPUT = ("L1", "prices", "positive", "NonNegative", "Simplex", "Scaled", "Atoms", "Image", "Group")
OUTPUTS = ("L1", "prices", "NonNegative", "Group")
CLASSES = ("L1", "prices", "Group")
WITH_PRICES = ("prices", "positive", "Scaled")
POSITIVE = ("NonNegative", "Simplex", "Atoms")
PENALTIES = ("Linear", "Linear", "Square", "LinearSquare", "Ball", "inside", "Power", "cube", "root", "LogBarrier")
STEPS = {
    "Squared": ((-4, -3, -2, -1, 0, 1, 2, 3, 4), (-2, -1, 1, 2)),
    "Huber": ((-2, -2, -1, 0, 1, 2, 2), (-2, -1, 1, 2)),
    "SquaredHinge": ((-3, -2, -1, 0, 0, 1, 2, 3), (-2, -1, 1, 2)),
    "Poisson": ((-3, -2, -1, 0, 1, 1), (-2, -1, 1)),
}
"""The slopes that a loss can have, and those of them that are powers of two."""


@dataclass
class Samples:
    """The slopes of all samples and outputs, and in which sample the entry is that makes a pull right."""

    slopes: np.ndarray
    weights: np.ndarray
    pivots: np.ndarray
    divisors: np.ndarray
    intercept: bool
    labels: np.ndarray | None = None
    """The class of each sample."""

    @property
    def theta(self):
        return self.weights[:, None] * self.slopes

    @property
    def outputs(self):
        return self.slopes.shape[1]


@dataclass
class Features:
    """The coefficients with their blocks and prices; x, ways and pulls have one row per feature."""

    gauge: str
    labels: np.ndarray
    prices: np.ndarray
    """One per feature; for groups one per block."""
    x: np.ndarray
    ways: np.ndarray
    """The direction of each block, times what the pull is beside slope times price."""
    pulls: np.ndarray
    ridge: np.ndarray
    """One per feature."""
    lengths: np.ndarray
    """The length of the direction of each block."""

    @property
    def own(self):
        """The features without a price."""
        return np.flatnonzero(self.prices == 0) if self.gauge != "Group" else np.zeros(0, dtype=int)

    @property
    def single(self):
        return self.gauge != "Group"


def draw_samples(rng, loss, outputs):
    intercept = bool(rng.random() < 0.35)
    weighted = bool(rng.random() < 0.3)
    if loss == "Multinomial":
        return _classes(rng, int(rng.choice([2, 2, 4])), intercept, weighted)
    n = int(rng.integers(outputs + 2, 9))
    weights = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    pivots = np.arange(outputs)
    weights[pivots] = np.minimum(weights[pivots], 2)
    if loss == "Logistic":
        slopes = rng.choice([-0.5, 0.5], (n, 1))
        if intercept:
            n -= n % 2
            slopes, weights = slopes[:n], weights[:n]
            slopes[1::2], weights[1::2] = -slopes[::2], weights[::2]
    else:
        steps, powers = STEPS[loss]
        slopes = rng.choice(steps, (n, outputs)).astype(float)
        slopes[pivots] = np.diag(rng.choice(powers, outputs))
        if intercept:
            weights[-1] = 1
            slopes[-1] = -(weights[:-1] @ slopes[:-1])
            if loss == "Poisson" and slopes[-1].max() > 1:
                return None
    return Samples(slopes, weights, pivots, weights[pivots] * slopes[pivots, pivots], intercept)


def _classes(rng, classes, intercept, weighted):
    """Return samples whose classes are all equally likely: the slopes are 1 / classes, less 1 for the own class."""
    rounds = int(rng.integers(2, 5 if classes == 2 else 4))
    labels = np.tile(np.arange(classes), rounds)
    weights = np.repeat(rng.choice([1.0, 2.0], rounds), classes) if weighted else np.ones(len(labels))
    if not intercept:
        labels[classes:] = rng.integers(0, classes, len(labels) - classes)
    slopes = 1 / classes - (labels[:, None] == np.arange(classes))
    return Samples(slopes, weights, np.arange(classes), -weights[:classes], intercept, labels)


def draw_features(rng, samples, traits, bent):
    K = samples.outputs
    several = samples.labels is not None
    names = CLASSES if several else OUTPUTS if K > 1 else ONE_OUTPUT
    gauge = str(rng.choice(names))
    if several and gauge == "Group" and K == 2:
        gauge = "L1"  # vectors of two entries of sum 0 have no whole length
    d = int(rng.integers(1, 7 if K == 1 else 4))
    if gauge == "Group" and K == 1:
        labels = np.sort(rng.integers(0, 3, d))
        while np.bincount(labels).max() > 3:
            labels = np.sort(rng.integers(0, 3, d))
        labels = np.unique(labels, return_inverse=True)[1].reshape(d, 1)
    elif gauge == "Group":
        labels = np.repeat(np.arange(d), K).reshape(d, K)
    else:
        labels = np.arange(d * K).reshape(d, K)
    ways, on, lengths = _ways(rng, gauge, labels, samples)
    sizes = rng.choice([0.5, 1.0, 1.0, 2.0, 3.0], labels.max() + 1)[labels]
    ridge = _ridge(rng, gauge, d)
    x = np.where(on, np.sign(ways) if gauge != "Group" else ways, 0.0) * (sizes if not several else sizes[:, :1])
    if bent:
        x *= 2.0 ** -rng.integers(0, 9)  # offsets that are not too large
    if several and ridge.any() and gauge != "Group":
        x = x * (x.sum(axis=1, keepdims=True) == 0)
    prices = _prices(rng, gauge, lengths, on)
    traits += [gauge] + ["ridge"] * bool(ridge.any())
    return Features(gauge, labels, prices, x, ways, np.zeros_like(x), ridge, lengths)


def _ridge(rng, gauge, d):
    if gauge in ("Atoms", "Image") or rng.random() > 0.25:
        return np.zeros(d)
    ridge = np.full(d, rng.choice([0.25, 0.5, 1.0, 4.0]))
    return ridge if gauge == "Group" or rng.random() < 0.7 else ridge * rng.choice([1.0, 2.0, 4.0], d)


def _ways(rng, gauge, labels, samples):
    """Return the direction of each block times its share of the largest pull, which blocks are on, and the lengths."""
    count = labels.max() + 1
    state = rng.choice(["on", "tie", "off"], count, p=[0.4, 0.12, 0.48])
    if samples.labels is not None and gauge != "Group":
        return _class_ways(rng, labels)
    ways, lengths = np.zeros(labels.shape), np.ones(count)
    lowest = -2 if gauge in POSITIVE else 0
    for g in range(count):
        here = labels == g
        length = int(here.sum())
        way = np.array(WHOLE_LENGTHS[length][rng.integers(len(WHOLE_LENGTHS[length]))], dtype=float)
        if samples.labels is not None:
            way = rng.permutation([1.0, 1.0, -1.0, -1.0])
        elif gauge not in POSITIVE:
            way *= rng.choice([-1, 1], length)
        share = 1.0 if state[g] != "off" else float(rng.choice([lowest, 0, 0.25, 0.5, 0.75]))
        ways[here], lengths[g] = way * share, np.linalg.norm(way)
    return ways, (state == "on")[labels], lengths


def _class_ways(rng, labels):
    """Return directions of sum 0 over the classes."""
    d, K = labels.shape
    ways, on = np.zeros(labels.shape), np.zeros(labels.shape, dtype=bool)
    for j in range(d):
        other = rng.choice([0.0, 0.5, 1.0])
        pattern = [1.0, -1.0] if K == 2 else [1.0, -1.0, other, -other]
        ways[j] = rng.permutation(pattern) * (1.0 if rng.random() < 0.6 else 0.5)
        on[j] = (np.abs(ways[j]) == 1) & (rng.random(K) < 0.6)
    return ways, on, np.ones(labels.size)


def _prices(rng, gauge, lengths, on):
    """Return prices; those of groups are multiples of the lengths of their directions."""
    if gauge == "Group":
        return lengths * rng.choice([0.5, 1.0, 2.0], len(lengths))
    d = len(on)
    if gauge not in WITH_PRICES and not (gauge == "NonNegative" and rng.random() < 0.5):
        return np.ones(d)
    prices = rng.choice([0.5, 1.0, 1.0, 2.0, 3.0], d)
    if gauge == "prices":
        idle = ~on.any(axis=1)
        prices[idle] = rng.choice([0.0, np.inf, 1.0], int(idle.sum()), p=[0.15, 0.1, 0.75])
        if not ((prices > 0) & (prices < np.inf)).any():
            prices[0] = 1.0
    return prices


def _entry_prices(features):
    """Return the price of the block of each entry."""
    if not features.single:
        return features.prices[features.labels]
    return np.repeat(features.prices[:, None], features.x.shape[1], axis=1)


def _mass(features):
    prices = features.prices if not features.single else np.repeat(features.prices, features.x.shape[1])
    lengths = np.sqrt(np.bincount(features.labels.ravel(), features.x.ravel() ** 2, len(prices)))
    return float(sum(p * v for p, v in zip(prices.tolist(), lengths.tolist()) if v))


def draw_penalty(rng, features, traits):
    """Return a penalty and its slope at the mass of x."""
    name, mass = str(rng.choice(PENALTIES)), _mass(features)
    if not mass:
        name = str(rng.choice(["Linear", "LinearSquare", "Square"]))
    if name in ("root", "LogBarrier"):
        mass = _fit_mass(features, 4.0 ** np.ceil(np.log(mass) / np.log(4) + 0.01))
    traits.append(name)
    a, slope = float(rng.choice([0.25, 0.5, 1.0])), float(rng.choice([0.25, 0.5, 1.0, 2.0, 3.0]))
    if name == "LogBarrier":
        slope = 2.0 ** rng.integers(-1, 2)
        return LogBarrier(2 * mass, 1 / (2 * mass * slope)), slope
    return {
        "Linear": lambda: (Linear(slope), slope),
        "Square": lambda: (Square(a), a * mass),
        "LinearSquare": lambda: (LinearSquare(slope, a), slope + a * mass),
        "Ball": lambda: (Ball(mass), slope),
        "inside": lambda: (Ball(2 * mass), 0.0),
        "Power": lambda: (Power(a, 2.0), a * mass),
        "cube": lambda: (Power(a, 3.0), a * mass * mass),
        "root": lambda: (Power(a, 1.5), a * float(np.sqrt(mass))),
    }[name]()


def _fit_mass(features, wanted):
    """Change one coefficient so that the mass is a given number, where that is possible; return the mass."""
    k = int(np.flatnonzero(features.x)[-1])
    price = _entry_prices(features).ravel()[k]
    if features.single and not (features.ridge.any() and features.x.shape[1] > 1):
        missing = (wanted - _mass(features)) / price
        features.x.ravel()[k] += np.sign(features.x.ravel()[k]) * missing
    return _mass(features)


def set_pulls(features, slope, total):
    """Set the pulls."""
    prices = _entry_prices(features)
    scale = np.where((prices > 0) & (prices < np.inf), prices, 0.0) / features.lengths[features.labels]
    features.pulls = total * (slope * scale * features.ways + features.ridge[:, None] * features.x)
