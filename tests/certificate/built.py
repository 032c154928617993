"""Problems that are built around their solution, so that the truth is known before the problem is.

Chosen are the solution x and b, the slopes of the losses and the slope of the penalty, all of them small whole numbers
(or halves, quarters). With theta the slopes times the weights, A_j . theta must then be minus the pull of entry j,

    S slope price x_j / norm + S ridge x_j   on the support,     in norm at most S slope price off it (equal: a tie).

One entry of each column is not free for that: the one in a sample whose theta is a power of two. Unpenalised columns
have the pull 0. At last come the targets, y = A x + B b - slopes, or the offset for losses whose targets are labels.
All numbers are exact in doubles. `solutions.known` checks the optimality in fractions; what fails there is not used.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from solutions import Stated, known

from atomsieve import (
    L1,
    Atoms,
    Ball,
    Group,
    Huber,
    Image,
    Linear,
    LinearSquare,
    LogBarrier,
    Logistic,
    Multinomial,
    NonNegative,
    Poisson,
    Power,
    Problem,
    Scaled,
    Simplex,
    Square,
    Squared,
    SquaredHinge,
)

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
class Built:
    """A problem, one of its solutions, and the truth about all of them."""

    traits: list
    X: object
    y: np.ndarray
    pieces: dict
    given: dict
    x: np.ndarray
    """A solution, in lifted coordinates."""
    truth: object

    def problem(self):
        return Problem(self.X, self.y, **self.pieces, **self.given)

    def told(self):
        """Return what the checker is told beside X and y."""
        return {name: self.given[name] for name in ("sample_weight", "free", "offset")}


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
    ridge: float
    lengths: np.ndarray
    """The length of the direction of each block."""

    @property
    def own(self):
        """The features without a price."""
        return np.flatnonzero(self.prices == 0) if self.gauge != "Group" else np.zeros(0, dtype=int)

    @property
    def single(self):
        return self.gauge != "Group"


def build(rng, loss, outputs=1):
    """Return a problem with a loss; None where the draw is no exact problem."""
    traits = []
    samples = _samples(rng, loss, outputs)
    if samples is None:
        return None
    features = _features(rng, samples, traits, bent=loss in ("Logistic", "Poisson", "Multinomial"))
    penalty, slope = _penalty(rng, features, traits)
    _pull(features, slope * samples.weights.sum(), features.ridge * samples.weights.sum())
    A = _columns(rng, samples, features.pulls, traits)
    if features.single:
        A = _twins(rng, samples, features, A, traits)
        A = _uneven(rng, features, A, traits)
    free = _columns(rng, samples, np.zeros((rng.choice([0, 0, 0, 0, 1, 2]), samples.outputs)), traits)
    if free.shape[1] and rng.random() < 0.2:
        free = np.hstack([free, 2 * free[:, :1]])
        traits.append("dependent free columns")
    return _Sheet(rng, loss, samples, features, A, free, penalty, slope, traits).built()


def _samples(rng, loss, outputs):
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
    """Return samples whose classes are all equally likely: slopes are 1 / classes, less 1 for the class of the sample."""
    rounds = int(rng.integers(2, 5 if classes == 2 else 4))
    labels = np.tile(np.arange(classes), rounds)
    weights = np.repeat(rng.choice([1.0, 2.0], rounds), classes) if weighted else np.ones(len(labels))
    if not intercept:
        labels[classes:] = rng.integers(0, classes, len(labels) - classes)
    slopes = 1 / classes - (labels[:, None] == np.arange(classes))
    return Samples(slopes, weights, np.arange(classes), -weights[:classes], intercept, labels)


def _features(rng, samples, traits, bent):
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
    ridge = float(rng.choice([0.25, 0.5, 1.0, 4.0])) if rng.random() < 0.25 and gauge not in ("Atoms", "Image") else 0.0
    x = np.where(on, np.sign(ways) if gauge != "Group" else ways, 0.0) * (sizes if not several else sizes[:, :1])
    if bent:
        x *= 2.0 ** -rng.integers(0, 9)  # offsets that are not too large
    if several and ridge and gauge != "Group":
        x = x * (x.sum(axis=1, keepdims=True) == 0)
    prices = _prices(rng, gauge, lengths, on)
    traits += [gauge] + ["ridge"] * bool(ridge)
    return Features(gauge, labels, prices, x, ways, np.zeros_like(x), ridge, lengths)


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


def _penalty(rng, features, traits):
    """Return a penalty and its slope at the mass of x."""
    name, mass = str(rng.choice(PENALTIES)), _mass(features)
    if not mass:
        name = str(rng.choice(["Linear", "LinearSquare", "Square"]))
    if name in ("root", "LogBarrier"):
        mass = _fit_mass(features, 4.0 ** np.ceil(np.log(mass) / np.log(4) + 0.01))
    a, slope = float(rng.choice([0.25, 0.5, 1.0])), float(rng.choice([0.25, 0.5, 1.0, 2.0, 3.0]))
    penalty, slope = {
        "Linear": lambda: (Linear(slope), slope),
        "Square": lambda: (Square(a), a * mass),
        "LinearSquare": lambda: (LinearSquare(slope, a), slope + a * mass),
        "Ball": lambda: (Ball(mass), slope),
        "inside": lambda: (Ball(2 * mass), 0.0),
        "Power": lambda: (Power(a, 2.0), a * mass),
        "cube": lambda: (Power(a, 3.0), a * mass * mass),
        "root": lambda: (Power(a, 1.5), a * np.sqrt(mass)),
        "LogBarrier": lambda: (LogBarrier(2 * mass, 2.0**k / (2 * mass)), 2.0**-k),
    }[name]() if (k := int(rng.integers(-1, 2))) is not None else None
    traits.append(name)
    return penalty, float(slope)


def _fit_mass(features, wanted):
    """Change one coefficient so that the mass is a given number, where that is possible; return the mass."""
    on = np.flatnonzero(features.x)
    k = int(on[-1])
    price = _entry_prices(features).ravel()[k]
    if features.single and not (features.ridge and features.x.shape[1] > 1):
        missing = (wanted - _mass(features)) / price
        features.x.ravel()[k] += np.sign(features.x.ravel()[k]) * missing
    return _mass(features)


def _pull(features, slope, ridge):
    """Set the pulls, for a slope and a ridge that are multiplied by the sum of the weights."""
    prices = _entry_prices(features)
    scale = np.where((prices > 0) & (prices < np.inf), prices, 0.0) / features.lengths[features.labels]
    features.pulls = slope * scale * features.ways + ridge * features.x


def _columns(rng, samples, pulls, traits):
    """Return whole-number columns with given pulls."""
    theta, pivots = samples.theta, samples.pivots
    A = rng.integers(-3, 4, (len(theta), len(pulls))).astype(float)
    if len(pulls) and rng.random() < 0.1:
        A += 1e6
        traits.append("huge offsets")
    A[pivots] = 0
    A[pivots] = ((-pulls - A.T @ theta) / samples.divisors).T
    return A


def _twins(rng, samples, features, A, traits):
    """Add a twin of a feature: equal, mirrored or scaled, or off by one unit in the last place; or untie a tie."""
    kind = str(rng.choice(["none", "none", "none", "twin", "twin", "near twin", "near tie"]))
    ties = (np.abs(features.ways) == 1).any(axis=1) & ~features.x.any(axis=1)
    priced = np.flatnonzero((features.prices > 0) & (features.prices < np.inf) & (ties if kind == "near tie" else True))
    if kind == "none" or not len(priced):
        return A
    j = int(rng.choice(priced))
    if kind == "near tie":
        traits.append(kind)
        return _nudged(rng, samples, features, A, j)
    for _ in range(int(rng.choice([1, 1, 2]))):
        factors = [1.0]
        if kind == "twin" and features.gauge not in (*POSITIVE, "positive"):
            factors = [1.0, -1.0, 2.0, -0.5] if features.gauge in WITH_PRICES and not features.ridge else [1.0, -1.0]
        factor = float(rng.choice(factors))
        A = np.hstack([A, factor * A[:, j : j + 1]])
        share = factor if features.ridge else float(rng.choice([0.0, 0.5, 1.0])) / factor
        features.x = np.vstack([features.x, features.x[j] * (share if kind == "twin" else 0.0)])
        features.ways = np.vstack([features.ways, np.sign(factor) * features.ways[j]])
        features.pulls = np.vstack([features.pulls, factor * features.pulls[j]])
        features.prices = np.append(features.prices, abs(factor) * features.prices[j])
        features.labels = np.arange(features.x.size).reshape(features.x.shape)
        if kind == "near twin":
            A = _nudged(rng, samples, features, A, len(features.x) - 1)
        traits.append(kind)
    return A


def _nudged(rng, samples, features, A, j):
    """Move one entry of a column by one unit in the last place, so that its largest pull gets smaller."""
    c = int(np.abs(features.pulls[j]).argmax())
    theta = samples.theta[:, c] * np.sign(features.pulls[j, c])
    i = int(rng.choice(np.flatnonzero(theta))) if theta.any() else 0
    A = A.copy()
    A[i, j] = np.nextafter(A[i, j], np.copysign(np.inf, theta[i]))
    return A


def _uneven(rng, features, A, traits):
    """Give columns other units, and their prices too."""
    if features.ridge or features.gauge not in WITH_PRICES or rng.random() > 0.3:
        return A
    units = np.exp2(rng.integers(-20, 21, len(features.x)))
    units[(features.prices == 0) | (features.prices == np.inf)] = 1.0
    features.x, features.pulls = features.x / units[:, None], features.pulls * units[:, None]
    features.prices = features.prices * units
    traits.append("uneven units")
    return A * units


class _Sheet:
    """The last steps: targets, units, the gauge, storage."""

    def __init__(self, rng, loss, samples, features, A, free, penalty, slope, traits):
        self.rng, self.name, self.samples, self.features = rng, loss, samples, features
        self.A, self.free, self.penalty, self.slope, self.traits = A, free, penalty, slope, traits
        self.delta = float(max(np.abs(samples.slopes).max(), 1) + rng.choice([0, 0, 1]))
        self.B = np.hstack([np.ones((len(A), int(samples.intercept))), free, A[:, features.own]])
        self.b = rng.integers(-3, 4, (self.B.shape[1], samples.outputs)).astype(float)
        if samples.labels is not None:
            self.b -= self.b[:, ::-1]

    def built(self):
        """Return the problem, if it is exact."""
        y, offset = self._targets()
        y, offset = self._in_units(y, offset)
        truth = known(self._stated(y, offset))
        if truth is None:
            return None
        return self._problem(y, offset, truth)

    def _targets(self):
        """Return targets, and an offset."""
        rng, slopes = self.rng, self.samples.slopes
        u = self.A @ self.features.x + self.B @ self.b
        extra = rng.choice([0.0, 1.0, 2.0], slopes.shape)
        if self.name in ("Squared", "Huber"):
            offset = rng.integers(-5, 6, slopes.shape).astype(float) * (rng.random() < 0.3)
            beyond = np.where(np.abs(slopes) == self.delta, np.sign(slopes) * extra, 0.0)
            return u + offset - slopes - (beyond if self.name == "Huber" else 0.0), offset
        if self.name == "SquaredHinge":
            y = np.where(slopes == 0, rng.choice([-1.0, 1.0], slopes.shape), -np.sign(slopes))
            return y, y * np.where(slopes == 0, 1 + extra, 1 - np.abs(slopes)) - u
        if self.name == "Multinomial":
            return self.samples.labels, rng.integers(-2, 3, (len(u), 1)) - u
        return (1 - slopes if self.name == "Poisson" else -2 * slopes), -u

    def _in_units(self, y, offset):
        """Return y and the offset in other units of the features and, for losses without units, of the targets."""
        if self.rng.random() > 0.15:
            return y, offset
        one, features = 2.0 ** self.rng.choice([-100, -40, -10, 10, 40, 100]), self.features
        size = 4.0 ** self.rng.choice([-20, -3, 0, 3, 20]) if self.name in ("Squared", "Huber") else 1 / one
        unit, change = one * size, one * size * one
        self.traits.append("other units")
        self.A = self.A * one
        self.b[len(self.b) - len(features.own) :] *= size / unit
        self.b *= unit
        self.B = np.hstack([self.B[:, : self.B.shape[1] - len(features.own)], self.A[:, features.own]])
        features.x, features.ridge = features.x * size, features.ridge * change / size
        self.penalty, self.slope = _rescaled(self.penalty, size, change), self.slope * change
        if self.name in ("Squared", "Huber"):
            self.delta *= unit
            return y * unit, offset * unit
        return y, offset

    def _stated(self, y, offset):
        features, K = self.features, self.samples.outputs
        eye = np.eye(K)
        own = [j * K + c for j in features.own.tolist() for c in range(K)]
        return Stated(
            A=np.kron(self.A, eye),
            B=np.kron(self.B, eye),
            y=y.ravel(),
            loss=self._loss(),
            penalty=self.penalty,
            weights=np.repeat(self.samples.weights, K),
            total=float(self.samples.weights.sum()),
            offset=np.broadcast_to(offset, self.samples.slopes.shape).ravel(),
            labels=features.labels.ravel(),
            prices=features.prices if not features.single else np.repeat(features.prices, K),
            signed=self._signed(),
            ridge=np.full(features.x.size, features.ridge),
            x=features.x.ravel(),
            b=self.b.ravel(),
            slope=self.slope,
            classes=1 if self.samples.labels is None else K,
            own=own,
        )

    def _loss(self):
        pieces = {"Squared": Squared, "SquaredHinge": SquaredHinge, "Poisson": Poisson, "Logistic": Logistic}
        if self.name == "Huber":
            return Huber(self.delta)
        return Multinomial(self.samples.outputs) if self.name == "Multinomial" else pieces[self.name]()

    def _signed(self):
        features = self.features
        if features.gauge in POSITIVE:
            return np.zeros(features.x.size, dtype=bool)
        if features.gauge == "positive":
            return ~self._must_not().ravel()
        return np.ones(features.x.size, dtype=bool)

    def _must_not(self):
        """Return which features must not be negative: every second one of those that are not."""
        return (self.features.x[:, 0] >= 0) & (np.arange(len(self.features.x)) % 2 == 0)

    def _gauge(self):
        """Return the gauge, and the matrix of which X is the product with the columns."""
        name, prices = self.features.gauge, self.features.prices
        plain = bool((prices == 1).all())
        matrix = np.eye(len(prices))
        if name in ("Atoms", "Image"):
            matrix += np.tril(self.rng.integers(-1, 2, matrix.shape), -1)
        radius = float(self.rng.choice([0.5, 2.0, 3.0]))
        gauge = {
            "L1": L1,
            "prices": lambda: L1(prices),
            "positive": lambda: L1(prices, positive=self._must_not()),
            "NonNegative": lambda: NonNegative(None if plain else prices),
            "Simplex": Simplex,
            "Scaled": lambda: Scaled(L1(prices * radius), radius),
            "Atoms": lambda: Atoms(matrix),
            "Image": lambda: Image(L1(), matrix),
            "Group": lambda: Group(self.features.labels[:, 0], prices),
        }[name]()
        return gauge, matrix if name in ("Atoms", "Image") else None

    def _problem(self, y, offset, truth):
        samples, traits = self.samples, self.traits
        gauge, matrix = self._gauge()
        X = self.A if matrix is None else np.round(self.A @ np.linalg.inv(matrix))
        if matrix is not None and not np.array_equal(X @ matrix, self.A):
            return None
        if self.rng.random() < 0.1:
            X = sparse.csc_array(X) if self.rng.random() < 0.5 else sparse.csr_array(X)
            traits.append("sparse")
        one = samples.outputs == 1
        shaped = y[:, 0] if one else y
        weighted = bool((samples.weights != 1).any())
        given = {
            "sample_weight": samples.weights if weighted else None,
            "intercept": samples.intercept,
            "free": self.free if self.free.shape[1] else None,
            "offset": (offset[:, 0] if one else offset) if np.any(offset) else None,
        }
        traits += [name for name, there in zip(("weights", "intercept", "free columns", "offset"), given.values())
                   if there is not None and there is not False]  # fmt: skip
        traits += ["unpenalised columns"] * bool(len(self.features.own))
        traits += ["wide"] * (X.shape[1] > X.shape[0]) + ["several solutions"] * (len(truth.corners) > 1)
        pieces = {"loss": self._loss(), "gauge": gauge, "penalty": self.penalty, "ridge": self.features.ridge}
        return Built(sorted(set(traits)), X, shaped, pieces, given, self.features.x.ravel(), truth)


def _rescaled(penalty, size, change):
    """Return the penalty where masses are multiplied by `size` and slopes by `change`."""
    if isinstance(penalty, Linear):
        return Linear(penalty.strength * change)
    if isinstance(penalty, Square):
        return Square(penalty.strength * change / size)
    if isinstance(penalty, LinearSquare):
        return LinearSquare(penalty.strength * change, penalty.square * change / size)
    if isinstance(penalty, Ball):
        return Ball(penalty.radius * size)
    if isinstance(penalty, Power):
        return Power(penalty.strength * change / size ** (penalty.p - 1), penalty.p)
    return LogBarrier(penalty.radius * size, penalty.sharpness / (change * size))
