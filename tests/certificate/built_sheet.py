"""The last steps of a problem that is built around its solution (see `built`): targets, units, gauge, storage."""

from dataclasses import dataclass, replace

import numpy as np
from built_choices import POSITIVE, Features, Samples
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
class Sheet:
    """The last steps: targets, units, the gauge, storage."""

    rng: np.random.Generator
    loss: str
    samples: Samples
    features: Features
    A: np.ndarray
    free: np.ndarray
    penalty: object
    slope: float
    traits: list

    def __post_init__(self):
        rng, samples = self.rng, self.samples
        self.delta = float(max(np.abs(samples.slopes).max(), 1) + rng.choice([0, 0, 1]))
        self.B = np.hstack([np.ones((len(self.A), int(samples.intercept))), self.free, self.A[:, self.features.own]])
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
        if self.loss in ("Squared", "Huber"):
            offset = rng.integers(-5, 6, slopes.shape).astype(float) * (rng.random() < 0.3)
            beyond = np.where(np.abs(slopes) == self.delta, np.sign(slopes) * extra, 0.0)
            return u + offset - slopes - (beyond if self.loss == "Huber" else 0.0), offset
        if self.loss == "SquaredHinge":
            y = np.where(slopes == 0, rng.choice([-1.0, 1.0], slopes.shape), -np.sign(slopes))
            return y, y * np.where(slopes == 0, 1 + extra, 1 - np.abs(slopes)) - u
        if self.loss == "Multinomial":
            return self.samples.labels, rng.integers(-2, 3, (len(u), 1)) - u
        return (1 - slopes if self.loss == "Poisson" else -2 * slopes), -u

    def _in_units(self, y, offset):
        """Return y and the offset in other units of the features and, for losses without units, of the targets."""
        if self.rng.random() > 0.15:
            return y, offset
        one, features = 2.0 ** self.rng.choice([-100, -40, -10, 10, 40, 100]), self.features
        size = 4.0 ** self.rng.choice([-20, -3, 0, 3, 20]) if self.loss in ("Squared", "Huber") else 1 / one
        unit, change = one * size, one * size * one
        self.traits.append("other units")
        self.A = self.A * one
        self.b[len(self.b) - len(features.own) :] *= size / unit
        self.b *= unit
        self.B = np.hstack([self.B[:, : self.B.shape[1] - len(features.own)], self.A[:, features.own]])
        features.x, features.ridge = features.x * size, features.ridge * change / size
        self.penalty, self.slope = _rescaled(self.penalty, size, change), self.slope * change
        if self.loss in ("Squared", "Huber"):
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
            ridge=np.repeat(features.ridge, K),
            x=features.x.ravel(),
            b=self.b.ravel(),
            slope=self.slope,
            classes=1 if self.samples.labels is None else K,
            own=own,
        )

    def _loss(self):
        pieces = {"Squared": Squared, "SquaredHinge": SquaredHinge, "Poisson": Poisson, "Logistic": Logistic}
        if self.loss == "Huber":
            return Huber(self.delta)
        return Multinomial(self.samples.outputs) if self.loss == "Multinomial" else pieces[self.loss]()

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

    def _with_weightless(self, X, y, offset):
        """Return the data with one more sample, whose weight is 0."""
        self.traits.append("samples of weight 0")
        self.samples = replace(self.samples, weights=np.append(self.samples.weights, 0.0))
        self.free = np.vstack([self.free, np.full((1, self.free.shape[1]), 7.0)])
        X = np.vstack([X, self.rng.integers(-9, 10, (1, X.shape[1]))])
        return X, np.vstack([y, y[:1]]), np.vstack([offset, np.ones((1, offset.shape[1]))])

    def _problem(self, y, offset, truth):
        traits = self.traits
        gauge, matrix = self._gauge()
        X = self.A if matrix is None else self.A @ np.round(np.linalg.inv(matrix))
        if matrix is not None and not np.array_equal(X @ matrix, self.A):
            return None
        if self.samples.labels is None and self.rng.random() < 0.05:
            X, y, offset = self._with_weightless(X, y, offset)
        samples = self.samples
        if self.rng.random() < 0.1:
            X = sparse.csc_array(X) if self.rng.random() < 0.5 else sparse.csr_array(X)
            traits.append("sparse")
        given = {
            "sample_weight": samples.weights if (samples.weights != 1).any() else None,
            "intercept": samples.intercept,
            "free": self.free if self.free.shape[1] else None,
            "offset": (offset[:, 0] if samples.outputs == 1 else offset) if np.any(offset) else None,
        }
        shaped = y[:, 0] if samples.outputs == 1 else y
        words = {"sample_weight": "weights", "intercept": "intercept", "free": "free columns", "offset": "offset"}
        traits += [words[name] for name, value in given.items() if value is not None and value is not False]
        traits += ["unpenalised columns"] * bool(len(self.features.own))
        traits += ["wide"] * (X.shape[1] > X.shape[0]) + ["several solutions"] * (len(truth.corners) > 1)
        ridge = self.features.ridge
        same = bool((ridge == ridge[0]).all())
        pieces = {"loss": self._loss(), "gauge": gauge, "penalty": self.penalty}
        pieces["ridge"] = float(ridge[0]) if same else ridge
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
