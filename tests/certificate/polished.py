"""Problems of any floats, built around a point that solves them nearly, and their solutions in balls of 300 bits.

The point is built as in `built`, with rounding. Newton's method in high precision then finds the solution nearby of the
problem as its floats state it, and a step of interval Newton maps a box into itself: there is exactly one solution of
the equations in it. If the scores of all other coefficients are below the slope of the penalty, there is no other one.
"""

from dataclasses import dataclass

import numpy as np
from built_sheet import Built
from classes_truth import slopes_of
from flint import arb, arb_mat, ctx
from solutions import BITS, Truth, ceil, floor

from atomsieve import (
    L1,
    Ball,
    Huber,
    Linear,
    LinearSquare,
    LogBarrier,
    Logistic,
    NonNegative,
    Poisson,
    Power,
    Simplex,
    Square,
    Squared,
    SquaredHinge,
)

DELTA = 0.8
LOSSES = {
    "Squared": Squared(),
    "Huber": Huber(DELTA),
    "SquaredHinge": SquaredHinge(),
    "Logistic": Logistic(),
    "Poisson": Poisson(),
}


def polish(rng, name):
    """Return a problem with a loss; None where its solution is not proven."""
    drawn = _Drawn.of(rng, name)
    if drawn is None:
        return None
    before, ctx.prec = ctx.prec, BITS
    try:
        truth = _System(drawn).truth()
    except (ZeroDivisionError, _NotKnown):
        return None
    finally:
        ctx.prec = before
    return drawn.built(truth)


class _NotKnown(Exception):
    """No solution is proven."""


@dataclass
class _Drawn:
    """A problem in floats, and a point that nearly solves it."""

    A: np.ndarray
    B: np.ndarray
    y: np.ndarray
    offset: np.ndarray
    weights: np.ndarray
    loss: object
    penalty: object
    slope: float
    prices: np.ndarray
    signed: np.ndarray
    ridge: float
    x: np.ndarray
    b: np.ndarray
    gauge: object
    intercept: bool

    @classmethod
    def of(cls, rng, name):
        n, d = int(rng.integers(3, 10)), int(rng.integers(1, 7))
        intercept = bool(rng.random() < 0.35)
        u, y, slopes, weights = _samples(rng, name, n, intercept)
        if not weights[-1] > 0 or not slopes.any():
            return None
        theta, total = weights * slopes, float(weights.sum())
        gauge, prices, signed = _gauge(rng, d)
        on = rng.random(d) < 0.5
        x = np.where(on, rng.standard_normal(d) * 10.0 ** rng.uniform(-2, 1), 0.0)
        x = np.where(signed, x, np.abs(x))
        penalty, slope = draw_penalty(rng, float(prices @ np.abs(x)))
        ridge = float(10.0 ** rng.uniform(-4, 1)) if rng.random() < 0.25 else 0.0
        share = np.where(on, np.sign(x), rng.uniform(-0.97, 0.97, d))
        A = _columns(rng, theta, total * (slope * prices * share + ridge * x))
        free = _columns(rng, theta, np.zeros(int(rng.choice([0, 0, 0, 1, 2]))))
        B = np.hstack([np.ones((n, int(intercept))), free])
        b = rng.standard_normal(B.shape[1])
        image = A @ x + B @ b
        offset = u - image
        if LOSSES[name].translates:
            offset = rng.standard_normal(n) * (rng.random() < 0.3)
            beyond = np.where(np.abs(slopes) == DELTA, slopes * rng.random(n), 0.0) if name == "Huber" else 0.0
            y = image + offset - slopes - beyond
        stated = {"A": A, "B": B, "y": y, "offset": offset, "weights": weights, "loss": LOSSES[name]}
        pieces = {"penalty": penalty, "slope": slope, "gauge": gauge, "prices": prices, "signed": signed}
        return cls(**stated, **pieces, ridge=ridge, x=x, b=b, intercept=intercept)

    @property
    def traits(self):
        n, d = self.A.shape
        words = [type(self.gauge).__name__, type(self.penalty).__name__, "weights"]
        words += ["ridge"] * bool(self.ridge) + ["intercept"] * self.intercept + ["wide"] * (d > n)
        return words + ["offset"] * bool(self.offset.any()) + ["free columns"] * (self.B.shape[1] > self.intercept)

    def built(self, truth):
        pieces = {"loss": self.loss, "gauge": self.gauge, "penalty": self.penalty, "ridge": self.ridge}
        free = self.B[:, int(self.intercept) :]
        given = {
            "sample_weight": self.weights,
            "intercept": self.intercept,
            "free": free if free.shape[1] else None,
            "offset": self.offset if self.offset.any() else None,
        }
        return Built(self.traits, self.A, self.y, pieces, given, truth.corners[0], truth)


def _gauge(rng, d):
    """Return a gauge of single coefficients, their prices, and which of them may be negative."""
    plain, prices, positive = np.ones(d), rng.uniform(0.2, 2.0, d), rng.random(d) < 0.5
    both, none = np.ones(d, dtype=bool), np.zeros(d, dtype=bool)
    return [
        (L1(), plain, both),
        (L1(prices), prices, both),
        (L1(prices, positive=positive), prices, ~positive),
        (NonNegative(prices), prices, none),
        (Simplex(), plain, none),
    ][rng.integers(5)]


def _samples(rng, name, n, intercept):
    """Return predictions, targets, slopes and weights; with an intercept theta adds up to about 0."""
    loss = LOSSES[name]
    u = rng.standard_normal(n) * 10.0 ** rng.uniform(-1, 0.7)
    weights = rng.uniform(0.2, 3.0, n) if rng.random() < 0.5 else np.ones(n)
    if name in ("Squared", "Huber"):
        slopes = rng.standard_normal(n)
        slopes = np.clip(slopes, -DELTA, DELTA) if name == "Huber" else slopes
        if intercept:
            slopes[-1] = 0.7 * -np.sign(weights[:-1] @ slopes[:-1])
        y = u
    else:
        y = rng.poisson(2.0, n).astype(float) if name == "Poisson" else rng.choice([-1.0, 1.0], n)
        rest = weights[:-1] @ loss.gradient(u, y)[:-1]
        if intercept:
            y[-1] = (0.0 if rest < 0 else 50.0) if name == "Poisson" else np.sign(rest)
            u[-1] = min(u[-1] * y[-1], 0.5) * y[-1] if name == "SquaredHinge" else u[-1]
        slopes = loss.gradient(u, y)
    if intercept:
        weights[-1] = -(weights[:-1] @ slopes[:-1]) / slopes[-1]
    return u, y, slopes, weights


def draw_penalty(rng, mass):
    """Return a penalty and its slope at a mass."""
    name = str(rng.choice(["Linear", "Linear", "Square", "Ball", "LinearSquare", "Power", "LogBarrier"]))
    a, m, p = (float(v) for v in (10.0 ** rng.uniform(-2, 0.5), 10.0 ** rng.uniform(-2, 0.5), rng.uniform(1.2, 4.0)))
    if not mass or name == "Linear":
        return Linear(a), a
    if name == "Ball":
        return Ball(mass), a
    penalty = {
        "Square": Square(m),
        "LinearSquare": LinearSquare(a, m),
        "Power": Power(a, p),
        "LogBarrier": LogBarrier(mass * (1 + a), m / mass),
    }[name]
    return penalty, float(penalty.slope(mass))


def _columns(rng, theta, pulls):
    """Return columns with given pulls, nearly."""
    A = rng.standard_normal((len(theta), len(pulls))) + (rng.random() < 0.1) * 1e4
    return A - np.outer(theta, (theta @ A + pulls) / (theta @ theta))


def _balls(array):
    return arb_mat(*array.shape, [arb(v) for v in array.ravel().tolist()])


class _System:
    """The optimality conditions on the support of x; for a ball the slope is the last unknown."""

    def __init__(self, drawn):
        self.drawn = drawn
        self.on = np.flatnonzero(drawn.x).tolist()
        self.size, self.width = len(self.on), len(self.on) + drawn.B.shape[1]
        self.ball = isinstance(drawn.penalty, Ball)
        self.C = _balls(np.hstack([drawn.A[:, self.on], drawn.B]))
        self.Ct = self.C.transpose()
        self.offset = [arb(v) for v in drawn.offset.tolist()]
        self.weights = [arb(v) for v in drawn.weights.tolist()]
        self.total = sum(self.weights, arb(0))
        self.normals = [arb(float(drawn.prices[j])) * (1 if drawn.x[j] > 0 else -1) for j in self.on]
        self.held = self.total * arb(drawn.ridge)

    def equations(self, w):
        """Return what must vanish, its Jacobian, theta, the slope of the penalty and the objective."""
        u = self.offset
        if self.width:
            image = (self.C * arb_mat(self.width, 1, w[: self.width])).entries()
            u = [v + o for v, o in zip(image, u)]
        sides = [_side(self.drawn.loss, v, arb(t)) for v, t in zip(u, self.drawn.y.tolist())]
        theta = [s * slope for s, (slope, _, _) in zip(self.weights, sides)]
        bent = [s * curvature for s, (_, curvature, _) in zip(self.weights, sides)]
        mass = sum((c * v for c, v in zip(self.normals, w)), arb(0))
        phi, slope, curve = (arb(0), w[-1], arb(0)) if self.ball else self._phi(mass)
        losses = sum((s * value for s, (_, _, value) in zip(self.weights, sides)), arb(0))
        squares = sum((v * v for v in w[: self.size]), arb(0))
        objective = (losses + self.held * squares / 2) / self.total + phi
        return *self._conditions(w, theta, bent, (mass, slope, curve)), theta, slope, objective

    def _phi(self, mass):
        if self.size:
            return slopes_of(self.drawn.penalty, mass)
        return arb(0), arb(self.drawn.penalty.strength), arb(0)  # a linear one

    def _conditions(self, w, theta, bent, penalty):
        mass, slope, curve = penalty
        count = self.width + self.ball
        f, J = arb_mat(count, 1), arb_mat(count, count)
        if self.width:
            pulls = (self.Ct * arb_mat(len(theta), 1, theta)).entries()
            rows = self.C.tolist()
            scaled = arb_mat([[h * v for v in row] for h, row in zip(bent, rows)])
            hessian = self.Ct * scaled
            for a in range(self.width):
                f[a, 0] = pulls[a]
                for e in range(self.width):
                    J[a, e] = hessian[a, e]
        for a, normal in enumerate(self.normals):
            f[a, 0] += self.total * slope * normal + self.held * w[a]
            J[a, a] += self.held
            for e, other in enumerate(self.normals):
                J[a, e] += self.total * curve * normal * other
            if self.ball:
                J[a, self.width] = self.total * normal
                J[self.width, a] = normal
        if self.ball:
            f[self.width, 0] = mass - arb(self.drawn.penalty.radius)
        return f, J

    def solve(self):
        """Return a box around the only solution on this support."""
        drawn = self.drawn
        w = [arb(v) for v in drawn.x[self.on].tolist() + drawn.b.tolist() + [drawn.slope] * self.ball]
        if not w:
            return w
        tiny = arb(2) ** (40 - BITS)
        for _ in range(30):
            f, J, *_ = self.equations(w)
            step = J.solve(f).entries()
            w = [arb((v - s).mid()) for v, s in zip(w, step)]
            if all(abs(s) < tiny * (1 + abs(v)) for v, s in zip(w, step)):
                break
        else:
            raise _NotKnown
        wide = [arb(v.mid(), ((1 + abs(v)) * arb(2) ** (100 - BITS)).upper()) for v in w]
        step = self.equations(wide)[1].solve(self.equations(w)[0]).entries()
        if not all(box.contains_interior(v - s) for box, v, s in zip(wide, w, step)):
            raise _NotKnown
        return wide

    def truth(self):
        """Return what holds in the only solution."""
        drawn, w = self.drawn, self.solve()
        _, _, theta, slope, value = self.equations(w)
        if any(not v * c > 0 for v, c in zip(w, self.normals)) or not slope > 0:
            raise _NotKnown
        pulls = (_balls(drawn.A.T.copy()) * arb_mat(len(theta), 1, theta)).entries()
        for j in np.flatnonzero(drawn.x == 0).tolist():
            score = abs(pulls[j]) if drawn.signed[j] else -pulls[j]
            if not score < self.total * slope * arb(float(drawn.prices[j])):
                raise _NotKnown
        x = [arb(0)] * len(drawn.x)
        for j, v in zip(self.on, w):
            x[j] = v
        b = w[self.size : self.width]
        return Truth(
            zero=drawn.x == 0,
            nonzero=drawn.x != 0,
            low=np.array([floor(v) for v in x]),
            high=np.array([ceil(v) for v in x]),
            free_low=np.array([floor(v) for v in b]),
            free_high=np.array([ceil(v) for v in b]),
            value=(floor(value), ceil(value)),
            corners=[np.array([float(v.mid()) for v in x])],
        )


def _side(loss, u, y):
    """Return slope, curvature and value of a loss in balls."""
    if isinstance(loss, Logistic):
        p = 1 / (1 + (y * u).exp())
        return -y * p, p * (1 - p), (-y * u).exp().log1p()
    if isinstance(loss, Poisson):
        rate = u.exp()
        return rate - y, rate, rate - y * u - y + (y * y.log() if y > 0 else 0)
    if isinstance(loss, SquaredHinge):
        short = 1 - y * u
        return (-y * short, arb(1), short * short / 2) if _certainly(short) else (arb(0), arb(0), arb(0))
    r = u - y
    if isinstance(loss, Squared) or _certainly(arb(loss.delta) - abs(r)):
        return r, arb(1), r * r / 2
    delta = arb(loss.delta)
    return (delta if r > 0 else -delta), arb(0), delta * (abs(r) - delta / 2)


def _certainly(v):
    """Return whether a ball is positive; a ball around 0 leaves that open."""
    if not v > 0 and not v < 0:
        raise _NotKnown
    return bool(v > 0)
