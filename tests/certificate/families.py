"""Families of problems: random ones, their members, and which claims about all of them are false.

A member is a problem like any other. It is solved, and what its own certificate proves is taken for the truth: other
tests hold those against the truth by the thousand. A claim about the family is false if it contradicts that of a
member. No tolerance is needed, since what both prove is proven.

Members are drawn at corners: all errors at their bounds, in directions that move one coefficient, or the score of one
feature, furthest to first order; and at random.
"""

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
from judge import Tally, start_of
from scipy import sparse

from atomsieve import (  # fmt: skip
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
    NonNegative,
    Poisson,
    Power,
    Problem,
    Scaled,
    Square,
    Squared,
    SquaredHinge,
    solve,
)
from atomsieve.certificate import certify, face
from atomsieve.certificate.family import Family

LOSSES = ("Squared", "Squared", "Huber", "Logistic", "Poisson", "SquaredHinge", "Squared, outputs")
PENALTIES = ("Linear", "Linear", "Square", "Ball", "LogBarrier", "Power", "LinearSquare", "unit ball")
GAUGES = ("L1", "L1", "prices", "positive", "mixed signs", "Group", "Group", "Scaled", "Image", "steps", "Atoms")


@dataclass
class Drawn:
    """A problem, a family around it, and the certificate of the family."""

    X: np.ndarray
    y: np.ndarray
    pieces: dict
    asked: dict
    """What the certificate is asked for: x_error, y_error, relative, strengths."""
    held: np.ndarray
    """Which entries of X are stored: others are exact."""
    is_sparse: bool
    traits: list
    result: object = None
    certificate: object = None

    def problem(self, X=None, y=None, penalty=None):
        """Return the stated problem, or a member."""
        X, y = self.X if X is None else X, self.y if y is None else y
        pieces = self.pieces if penalty is None else self.pieces | {"penalty": penalty}
        return Problem(self._stored(X) if self.is_sparse else X, y, **pieces)

    def _stored(self, X):
        rows, columns = np.nonzero(self.held)  # zeros are stored, too
        return sparse.csc_matrix((X[rows, columns], (rows, columns)), shape=X.shape)

    @property
    def x_errors(self):
        """The error of each entry of X."""
        return _errors(self.X, self.asked.get("x_error"), self.asked.get("relative", False)) * self.held

    @property
    def y_errors(self):
        """The error of each target."""
        return _errors(self.y, self.asked.get("y_error"), self.asked.get("relative", False))


def _errors(data, errors, relative):
    errors = np.broadcast_to(0.0 if errors is None else errors, data.shape)
    return errors * np.abs(data) if relative else errors


def draw(rng):
    """Return a random family with its certificate; None where the problem is refused, or nothing is asked."""
    traits = [str(rng.choice(LOSSES))]
    n, d = int(rng.integers(1, 25)), int(rng.integers(1, 15))
    X, held, is_sparse = _features(rng, n, d, traits)
    loss, y = _targets(rng, X, traits)
    penalty = _penalty(rng, traits)
    pieces = {
        "loss": loss,
        "penalty": penalty,
        "gauge": _gauge(rng, d, y.shape[1:], traits),
        "intercept": bool(rng.random() < 0.6),
        "sample_weight": rng.uniform(0.2, 2, n) if rng.random() < 0.3 else None,
        "free": rng.standard_normal((n, 1)) + rng.choice([0, 100]) if rng.random() < 0.15 else None,
        "offset": rng.standard_normal(y.shape) if rng.random() < 0.15 else None,
    }
    if rng.random() < 0.25 and not pieces["gauge"].mapped:
        pieces["ridge"] = 10.0 ** rng.uniform(-3, 0)
        traits.append("ridge")
    asked = _asked(rng, X, y, loss, pieces, traits)
    if "x_error" in asked and "prices" in traits and rng.random() < 0.5:
        asked["x_error"] = asked["x_error"] * (pieces["gauge"].weights > 0)
    if not set(asked) - {"relative"}:
        return None
    drawn = Drawn(X, y, pieces, asked, held, is_sparse, traits)
    try:
        drawn.result = solve(drawn.problem(), tol=10.0 ** -rng.integers(6, 15), time_limit=2.0)
    except ValueError:  # labels of one class, more free columns than samples
        return None
    drawn.certificate = drawn.result.certificate(**asked) if rng.random() < 0.7 else _elsewhere(rng, drawn)
    return drawn


def _elsewhere(rng, drawn):
    """Return the certificate at another point: it may decide less, and never wrongly."""
    problem, x, asked = drawn.result.problem, drawn.result.lifted, drawn.asked
    noise = 10.0 ** rng.uniform(-9, -1) * rng.standard_normal(x.shape)
    point = [x * (1 + noise), x + noise, x * (rng.random(x.shape) < 0.7), 0.9 * x, 0.0 * x][int(rng.integers(5))]
    errors = asked.get("x_error"), asked.get("y_error"), asked.get("strengths"), None
    drawn.traits.append("another point")
    family = Family.of(problem, *errors, relative=asked.get("relative", False))
    return certify(problem, point, start_of(problem), family)


def _features(rng, n, d, traits):
    X, held = rng.standard_normal((n, d)), np.ones((n, d), dtype=bool)
    if rng.random() < 0.2:
        X = X + rng.standard_normal(d) * 10.0 ** rng.uniform(0, 4)
        traits.append("far from zero")
    if d > 1 and rng.random() < 0.2:  # the score is nearly that of another feature
        X[:, -1] = X[:, 0] + 10.0 ** rng.uniform(-6, -1) * rng.standard_normal(n)
        traits.append("near twins")
    if is_sparse := bool(rng.random() < 0.25):
        held = rng.random((n, d)) < 0.6
        X = np.where(held & (rng.random((n, d)) < 0.9), X, 0.0)
        traits.append("sparse")
    return X, held, is_sparse


def _targets(rng, X, traits):
    kind, outputs = traits[0].split(",")[0], 2 if "outputs" in traits[0] else 1
    beta = np.where(rng.random((X.shape[1], outputs)) < 0.4, rng.standard_normal((X.shape[1], outputs)), 0.0)
    u = (X - X.mean(axis=0)) @ beta
    u = (u / (u.std() or 1.0)).squeeze(axis=1) if outputs == 1 else u / (u.std() or 1.0)
    noisy = u + 0.3 * rng.standard_normal(u.shape)
    if kind in ("Squared", "Huber"):
        return Squared() if kind == "Squared" else Huber(float(rng.choice([0.2, 1.0]))), noisy + rng.choice([0, 50])
    if kind == "Poisson":
        return Poisson(), rng.poisson(np.exp(np.minimum(u, 3))).astype(float)
    return Logistic() if kind == "Logistic" else SquaredHinge(), np.where(noisy > 0, 1.0, -1.0)


def _penalty(rng, traits):
    strength, kind = 10.0 ** rng.uniform(-2, 0), str(rng.choice(PENALTIES))
    traits.append(kind)
    return {
        "Linear": Linear(strength),
        "Square": Square(strength),
        "Ball": Ball(10 * strength),
        "LogBarrier": LogBarrier(10 * strength, 1.0),
        "Power": Power(strength, float(rng.choice([1.5, 3.0]))),
        "LinearSquare": LinearSquare(strength, 0.5),
        "unit ball": Power(1.0, np.inf),
    }[kind]


def _gauge(rng, d, outputs, traits):
    kind = str(rng.choice(GAUGES))
    if outputs and kind in ("prices", "mixed signs"):
        kind = "L1"
    traits.append(kind)
    prices = rng.uniform(0.5, 2, d)
    if kind == "prices" and d > 1 and rng.random() < 0.5:
        prices[int(rng.integers(d))] = rng.choice([0.0, np.inf])
    groups = np.sort(rng.integers(0, 1 + d // 2, d)).tolist()
    points = rng.standard_normal((d, int(rng.integers(1, d + 3)))) * (rng.random((d, 1)) < 0.8)
    first = np.append(0.0, np.ones(d - 1)) if d > 1 else None  # the level of the steps has no price
    return {
        "L1": L1(),
        "prices": L1(weights=prices),
        "positive": NonNegative(),
        "mixed signs": L1(positive=(rng.random(d) < 0.5).tolist()),
        "Group": Group(groups),
        "Image": Image(L1(), sparse.csc_matrix(points) if rng.random() < 0.5 else points),
        "steps": Image(L1(weights=first), np.tril(np.ones((d, d)))),
        "Atoms": Atoms(points),
        "Scaled": Scaled(L1() if rng.random() < 0.5 else Group(groups), 0.7),
    }[kind]


def _asked(rng, X, y, loss, pieces, traits):
    penalty = pieces["penalty"]
    size, asked = 10.0 ** rng.uniform(-9, -1), {}
    (n, d), forms = X.shape, int(rng.integers(3))
    if relative := bool(rng.random() < 0.3):
        asked["relative"] = True
    unit = 1.0 if relative else float(X.std()) or 1.0
    if rng.random() < 0.7:
        shape = [(), (d,), (n, d)][forms]
        asked["x_error"] = size * unit * (rng.uniform(0, 1, shape) if shape else 1.0)
        traits.append("X")
    if loss.translates and rng.random() < 0.6:
        asked["y_error"] = size * float(rng.choice([1, 5])) * (rng.uniform(0, 1, y.shape) if forms else 1.0)
        traits.append("y")
    if not isinstance(penalty, Ball) and penalty.limit != 1 and rng.random() < (0.3 if penalty.superlinear else 0.6):
        if rng.random() < 0.5:
            asked.clear()
            traits[:] = [trait for trait in traits if trait not in {"X", "y"}]
        wide = min(size, 0.5) * float(rng.choice([0.1, 1, 5]))
        stated = getattr(penalty, penalty.main)
        asked["strengths"] = (stated * max(1 - wide, 0.1), stated * (1 + wide))
        traits.append("strengths")
    return asked


def members(rng, drawn, aimed):
    """Yield members: some that are aimed at a coefficient or score, one at a random corner and one within."""
    aims = list(_aims(rng, drawn))
    for _ in range(aimed if aims else 0):
        way, pull = aims[int(rng.integers(len(aims)))]
        side = float(rng.choice([-1, 1]))
        yield _member(rng, drawn, side * way, side * pull)
    for way in (rng.choice([-1.0, 1.0], drawn.X.shape), rng.uniform(-1, 1, drawn.X.shape)):
        yield _member(rng, drawn, way, rng.choice([-1.0, 1.0], drawn.y.shape))


def _member(rng, drawn, way, pull):
    """Return the member with the errors in these directions: parts from -1 to 1 of their bounds."""
    penalty = None
    if drawn.asked.get("strengths"):
        low, high = drawn.asked["strengths"]
        penalty = drawn.pieces["penalty"].at(float(rng.choice([low, high, rng.uniform(low, high)])))
    X, y = _moved(drawn.X, drawn.x_errors * way), _moved(drawn.y, drawn.y_errors * pull)
    return drawn.problem(X, y, penalty)


def _moved(data, errors):
    """Return data with errors, rounded so that they are within the bounds."""
    errors = errors * (1 - 2.0**-20)
    return np.where(np.abs(errors) > 2.0**-32 * np.abs(data), data + errors, data)


def _aims(rng, drawn):
    """Yield directions of the errors of X and of y that move a coefficient, or a score, furthest to first order."""
    if drawn.y.ndim > 1 or not np.isfinite(drawn.result.x).all():
        return
    problem, x = drawn.problem(), drawn.result.x
    u = drawn.X @ x + drawn.result.intercept + (0.0 if drawn.pieces["offset"] is None else drawn.pieces["offset"])
    if drawn.pieces["free"] is not None:
        u = u + drawn.pieces["free"] @ drawn.result.free
    weights, loss = problem.smooth.stated_weights, drawn.pieces["loss"]
    theta, bend = weights * loss.gradient(u, drawn.y), weights * loss.curvature(u, drawn.y)
    support = np.flatnonzero(x)
    free = [] if drawn.pieces["free"] is None else [drawn.pieces["free"]]
    constant = [np.ones((len(u), 1))] if drawn.pieces["intercept"] else []
    C = np.hstack([*constant, *free, drawn.X[:, support]])
    first, G = C.shape[1] - len(support), C.T @ (bend[:, None] * C)
    inverse = np.linalg.pinv(G + _bend_of_penalty(drawn, x, support, first, weights.sum()))

    def corner(shares, image, own=None):
        """Return the signs of the derivative `-(shares_k theta_i + image_i x_k)` by X, and `image` by y."""
        way = rng.choice([-1.0, 1.0], drawn.X.shape)
        way[:, support] = np.sign(-np.outer(theta, shares[first:]) - np.outer(image, x[support]))
        if own is not None:
            way[:, own] = np.sign(theta)
        return np.where(way == 0, 1.0, way), np.where(image >= 0, 1.0, -1.0)

    for k in range(len(support)):
        shares = inverse[first + k]
        yield corner(shares, bend * (C @ shares))
    for j in np.setdiff1d(np.arange(len(x)), support)[:20]:
        shares = inverse @ (C.T @ (bend * drawn.X[:, j]))
        yield corner(-shares, bend * (drawn.X[:, j] - C @ shares), own=j)


def _bend_of_penalty(drawn, x, support, first, total):
    """Return the part of a penalty that grows with the size of x in the Hessian, for prices of 1."""
    bend = np.zeros((first + len(support),) * 2)
    mass, penalty = np.abs(x).sum(), drawn.pieces["penalty"]
    if mass and penalty.superlinear and penalty.limit == np.inf:
        sign = np.append(np.zeros(first), np.sign(x[support]))
        bend = total * (penalty.slope(mass * 1.001) - penalty.slope(mass)) / (0.001 * mass) * np.outer(sign, sign)
    return bend


def made(claims):
    """Return how many claims a certificate makes."""
    return Counter(
        zeros=int(claims.zero.sum()),
        nonzeros=int(claims.nonzero.sum()),
        intervals=int(np.isfinite(claims.lower).sum() + np.isfinite(claims.free_lower).sum()),
        values=int(np.isfinite(claims.primal)) + int(np.isfinite(claims.dual)),
        undecided=int(claims.undecided.sum()),
    )


def contradicted(claims, truth):
    """Return what of the claims about a family the certificate of a member contradicts."""
    false = {
        "zero": claims.zero & truth.nonzero,
        "non-zero": claims.nonzero & truth.zero,
        "lower": claims.lower > truth.upper,
        "upper": claims.upper < truth.lower,
        "free lower": claims.free_lower > truth.free_upper,
        "free upper": claims.free_upper < truth.free_lower,
        "value": np.array([claims.dual > truth.primal, claims.primal < truth.dual]),
        "no number": np.isnan([*claims.lower.ravel(), *claims.free_lower.ravel(), claims.primal, claims.dual]),
    }
    return [f"{name} {k}" for name, mask in false.items() for k in np.flatnonzero(mask).tolist()]


def try_family(seed, number, tally, aimed=2):
    """Certify one family, show that to its members, and add what comes out to the tally."""
    rng = np.random.default_rng([seed, number])
    drawn = draw(rng)
    if drawn is None:
        return
    kind, claims = f"{drawn.traits[0]}, family", drawn.certificate
    tally.add(kind, drawn.traits[1:], Counter(certificates=1, silent=int(not claims.valid)) + made(claims))
    for k, problem in enumerate(members(rng, drawn, aimed) if claims.valid else ()):
        truth = solve(problem, tol=1e-13, time_limit=2.0).certificate()
        wrong = contradicted(claims, truth)
        tally.add(kind, drawn.traits[1:], Counter(false=len(wrong), members=int(truth.valid)))
        if wrong:
            fault = {"number": number, "member": k, "kind": kind, "traits": drawn.traits[1:], "wrong": wrong}
            tally.faults.append(fault)


def run(seed, numbers, aimed=2):
    """Return the tally of many families, with so many members aimed at a coefficient or score."""
    tally = Tally()
    for number in numbers:
        try_family(seed, number, tally, aimed)
    return tally


@contextmanager
def cut(part):
    """Cut the distances within the proofs of families: false claims should follow."""
    honest = face.Face._distances

    def shorter(self, *arguments):
        return tuple(part * distance for distance in honest(self, *arguments))

    with patch.object(face.Face, "_distances", shorter):
        yield
