"""The solution of a small problem of several classes in balls of many digits, by formulas of its own.

    minimise  sum_i s_i (logsumexp(u_i) - u_i,label) + S phi(sum_g price_g norm2(x_g)) + S ridge norm2(x)^2 / 2

with u = A x + B b + o. Newton's method in high precision from a guess, on its support, then a step of interval Newton
that maps a box into itself: there is exactly one solution of the equations in it. If the scores of all other blocks are
below the slope of the penalty, it is the only solution of the problem, up to a number that is added to all classes of a
free coefficient; b is the one whose sum over the classes is 0.
"""

from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, ctx

from atomsieve import Ball, Linear, LinearSquare, LogBarrier, Power, Square

BITS = 240


@dataclass
class Statement:
    """A problem in plain numbers: x is a matrix of features and classes, b of free columns and classes."""

    A: np.ndarray
    labels: np.ndarray
    classes: int
    penalty: object
    weights: np.ndarray
    offset: np.ndarray
    B: np.ndarray
    blocks: np.ndarray
    """The block of every entry of x."""
    prices: np.ndarray
    """The price of every block; blocks of price inf are 0, those of price 0 are columns of B."""
    scale: float
    """What all prices are divided by."""
    signed: np.ndarray
    """Which entries may be negative."""
    ridge: float = 0.0


@dataclass
class Truth:
    """Balls around the solution, and the optimal value of the mean problem."""

    x: list
    b: list
    value: arb


def slopes_of(penalty, mass):
    """Return phi(mass), its slope and its curvature, in balls; the slope of a ball is an unknown."""
    parameters = {name: arb(value) for name, value in vars(penalty).items()}
    a = parameters.get("strength")
    if isinstance(penalty, Linear):
        return a * mass, a, arb(0)
    if isinstance(penalty, Square):
        return a * mass * mass / 2, a * mass, a
    if isinstance(penalty, LinearSquare):
        s = parameters["square"]
        return a * mass + s * mass * mass / 2, a + s * mass, s
    if isinstance(penalty, Power):
        p = parameters["p"]
        power = (p * mass.log()).exp()
        return a * power / p, a * power / mass, a * (p - 1) * power / (mass * mass)
    if isinstance(penalty, LogBarrier):
        r, sharpness = parameters["radius"], parameters["sharpness"]
        value = (-(-mass / r).log1p() - mass / r) / sharpness
        return value, (1 / (r - mass) - 1 / r) / sharpness, 1 / ((r - mass) * (r - mass) * sharpness)
    return None


def ball_radius(penalty):
    """Return the radius of a penalty that only bounds the mass, None for others."""
    if isinstance(penalty, Power) and penalty.p == np.inf:
        return 1.0
    return penalty.radius if isinstance(penalty, Ball) else None


def solve_classes(stated, x, b):
    """Return the truth, or None where the guess x and b does not lead to a solution that is proven."""
    before, ctx.prec = ctx.prec, BITS
    try:
        return _System(stated, x, b).solve()
    except (ZeroDivisionError, ValueError):
        return None
    finally:
        ctx.prec = before


class _System:
    """The optimality conditions on the support of a guess; for a ball the slope is the last unknown."""

    def __init__(self, stated, x, b):
        self.stated = stated
        self.n, self.d = stated.A.shape
        self.K = stated.classes
        self.total = sum((arb(w) for w in stated.weights.tolist()), arb(0))
        flat = stated.blocks.ravel()
        self.alive = sorted({int(g) for g, v in zip(flat, x.ravel()) if v != 0})
        self.support = [k for k, g in enumerate(flat.tolist()) if g in self.alive]
        self.prices = [arb(c) / arb(stated.scale) if 0 < c < np.inf else None for c in stated.prices.tolist()]
        self.radius = ball_radius(stated.penalty)
        self.slack = self.radius is not None and bool(self.mass_of(x) < self.radius * (1 - 1e-6))
        self.unknown_slope = self.radius is not None and not self.slack
        self.free = [(f, c) for f in range(stated.B.shape[1]) for c in range(self.K - 1)]
        self.guess = [arb(float(x.ravel()[k])) for k in self.support]
        centred = b - b.mean(axis=1, keepdims=True) if len(b) else b
        self.guess += [arb(float(centred[f, c])) for f, c in self.free]
        self.columns = self._columns()

    def mass_of(self, x):
        """Return the mass of a guess, in doubles."""
        squares = np.bincount(self.stated.blocks.ravel(), x.ravel() ** 2, len(self.prices))
        return sum(float(c.mid()) * v**0.5 for c, v in zip(self.prices, squares.tolist()) if v)

    def _columns(self):
        """Return the column of every unknown: numbers by sample and class."""
        columns = []
        for k in self.support:
            column = np.zeros((self.n, self.K))
            column[:, k % self.K] = self.stated.A[:, k // self.K]
            columns.append(column)
        for f, c in self.free:
            column = np.zeros((self.n, self.K))
            column[:, c], column[:, -1] = self.stated.B[:, f], -self.stated.B[:, f]
            columns.append(column)
        return [[arb(v) for v in column.ravel().tolist()] for column in columns]

    def probabilities(self, unknown):
        """Return p of every sample and class, and the sum of the losses."""
        u = [arb(v) for v in self.stated.offset.ravel().tolist()]
        for column, value in zip(self.columns, unknown):
            u = [v + a * value for v, a in zip(u, column)]
        p, losses = [], arb(0)
        for i, label in enumerate(self.stated.labels.tolist()):
            part = u[i * self.K : (i + 1) * self.K]
            powers = [(v - part[label]).exp() for v in part]
            whole = sum(powers, arb(0))
            p += [power / whole for power in powers]
            losses += arb(float(self.stated.weights[i])) * whole.log()
        return p, losses

    def scores(self, p):
        """Return z for all entries of x."""
        theta = [
            arb(float(self.stated.weights[i])) * (p[i * self.K + c] - int(c == label))
            for i, label in enumerate(self.stated.labels.tolist())
            for c in range(self.K)
        ]
        A = [[arb(v) for v in row] for row in self.stated.A.tolist()]
        z = [
            -sum((A[i][j] * theta[i * self.K + c] for i in range(self.n)), arb(0))
            for j in range(self.d)
            for c in range(self.K)
        ]
        return z, theta

    def normals(self, unknown):
        """Return the gradient of the mass, its Jacobian by blocks, the mass and the squares, on the support."""
        size = len(self.support)
        normal, bend = [arb(0)] * size, arb_mat(size, size)
        mass, squares = arb(0), arb(0)
        for g in self.alive:
            places = [a for a, k in enumerate(self.support) if int(self.stated.blocks.ravel()[k]) == g]
            price = self.prices[g]
            whole = sum((unknown[a] * unknown[a] for a in places), arb(0))
            norm = whole.sqrt()
            mass, squares = mass + price * norm, squares + whole
            for a in places:
                normal[a] = price * unknown[a] / norm
                for e in places:
                    if len(places) > 1:
                        bend[a, e] = price * (int(a == e) - unknown[a] * unknown[e] / whole) / norm
        return normal, bend, mass, squares

    def equations(self, unknown):
        """Return what must vanish, its Jacobian, z, the slope and the objective."""
        size, count = len(self.support), len(self.columns)
        p, losses = self.probabilities(unknown)
        z, theta = self.scores(p)
        normal, bend, mass, squares = self.normals(unknown)
        held = self.total * arb(self.stated.ridge)
        if self.slack:
            value = slope = curvature = arb(0)
        elif self.radius is None:
            value, slope, curvature = slopes_of(self.stated.penalty, mass) if size else _flat(self.stated.penalty)
            slope, curvature = self.total * slope, self.total * curvature
        else:
            value, slope, curvature = arb(0), unknown[count], arb(0)
        f, J = arb_mat(count + self.unknown_slope, 1), self._hessian(p)
        for a, column in enumerate(self.columns):
            f[a, 0] = sum((t * v for t, v in zip(theta, column)), arb(0))
        for a in range(size):
            f[a, 0] += slope * normal[a] + held * unknown[a]
            J[a, a] += held
            for e in range(size):
                J[a, e] += slope * bend[a, e] + curvature * normal[a] * normal[e]
            if self.unknown_slope:
                J[a, count] = J[count, a] = normal[a]
        if self.unknown_slope:
            f[count, 0] = mass - arb(self.radius)
        return f, J, z, slope, (losses + self.total * value + held * squares / 2) / self.total

    def _hessian(self, p):
        count = len(self.columns)
        J = arb_mat(count + self.unknown_slope, count + self.unknown_slope)
        bent = []
        for column in self.columns:
            rows = []
            for i in range(self.n):
                here = slice(i * self.K, (i + 1) * self.K)
                mean = sum((q * v for q, v in zip(p[here], column[here])), arb(0))
                weight = arb(float(self.stated.weights[i]))
                rows += [weight * q * (v - mean) for q, v in zip(p[here], column[here])]
            bent.append(rows)
        for a, rows in enumerate(bent):
            for e, column in enumerate(self.columns[: a + 1]):
                J[a, e] = J[e, a] = sum((v * w for v, w in zip(rows, column)), arb(0))
        return J

    def solve(self):
        """Return the truth, or None."""
        unknown = list(self.guess)
        if self.unknown_slope:
            if not self.support:
                return None
            z, _ = self.scores(self.probabilities(unknown)[0])
            unknown.append(arb(max(float(s.mid()) for s in self._block_scores(z).values())))
        wide = self._newton(unknown) if unknown else []
        if wide is None:
            return None
        _, _, z, slope, value = self.equations(wide)
        return self._checked(wide, z, slope, value)

    def _newton(self, unknown):
        tiny = arb(2) ** (40 - BITS)
        sizes = [1 / max(abs(v) for v in column) for column in self.columns[len(self.support) :]]
        sizes = [arb(0)] * len(self.support) + sizes + [arb(0)] * self.unknown_slope
        for _ in range(50):
            f, J, *_ = self.equations(unknown)
            step = J.solve(f)
            unknown = [arb((v - step[a, 0]).mid()) for a, v in enumerate(unknown)]
            if all(abs(step[a, 0]) < tiny * (size + abs(v)) for a, (v, size) in enumerate(zip(unknown, sizes))):
                break
        else:
            return None
        wide = [arb(v.mid(), ((abs(v) + size) * arb(2) ** (100 - BITS)).upper()) for v, size in zip(unknown, sizes)]
        f = self.equations(unknown)[0]
        step = self.equations(wide)[1].solve(f)
        image = [v - step[a, 0] for a, v in enumerate(unknown)]
        return wide if all(w.contains_interior(v) for w, v in zip(wide, image)) else None

    def _block_scores(self, z):
        scores = {}
        for k, g in enumerate(self.stated.blocks.ravel().tolist()):
            if self.prices[g] is not None:
                alone = z[k] if self.stated.signed.ravel()[k] else z[k].max(arb(0))
                scores[g] = scores.get(g, arb(0)) + alone * alone
        return {g: s.max(arb(0)).sqrt() / self.prices[g] for g, s in scores.items()}

    def _must_not(self, k):
        return not self.stated.signed.ravel()[k]

    def _checked(self, wide, z, slope, value):
        """Return the truth if signs and scores prove that it is one."""
        single = self.stated.blocks.size == len(self.prices)
        for a, k in enumerate(self.support):
            if single and not wide[a] * self.guess[a] > 0:
                return None
            if self._must_not(k) and not wide[a] > 0:
                return None
        if self.unknown_slope and not wide[-1] > 0:
            return None
        if self.slack and not self.normals(wide)[2] < self.radius:
            return None
        scores = self._block_scores(z)
        repelled = {g for k, g in enumerate(self.stated.blocks.ravel().tolist()) if self._must_not(k) and z[k] < 0}
        if any(not scores[g] < slope for g in scores if g not in self.alive and g not in repelled):
            return None
        x = [arb(0)] * self.stated.blocks.size
        for a, k in enumerate(self.support):
            x[k] = wide[a]
        b, size = [], len(self.support)
        for f in range(self.stated.B.shape[1]):
            others = wide[size + f * (self.K - 1) : size + (f + 1) * (self.K - 1)]
            b += [*others, -sum(others, arb(0))]
        return Truth(x, b, value)


def _flat(penalty):
    """Return value, slope and curvature of a penalty at 0."""
    first = {Linear: "strength", LinearSquare: "strength"}.get(type(penalty))
    return arb(0), arb(0) if first is None else arb(getattr(penalty, first)), arb(0)
