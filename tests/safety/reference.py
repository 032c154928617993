"""An independent reference for small problems: the slow obvious twin of the whole package.

Nothing of the solver is used: pieces are read for their names and parameters only, and every formula is written again,
plainly, in extended precision. A conic solver finds the face of the solution, Newton's method polishes the solution on
that face, and the naive duality gap says how good it is. What is not proved optimal to `ACCURACY` raises
`UnprovedError`.

Coordinates are in units of atoms: column j is divided by its weight, so that `kappa(c) = sum over blocks of norm2(c_g)`
(or `max |c_j|` for the cube).
"""

import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import cvxpy as cp
import numpy as np
from scipy import linalg, optimize, sparse

REAL = np.longdouble
ACCURACY = 1e-12
"""Largest gap of a reference, relative to the objective at x = 0."""

CERTAIN = 1e-6
"""Part of the mass above which a block counts as certainly in the support."""


class UnprovedError(Exception):
    """The reference could not be proved optimal to `ACCURACY`."""


# Losses: (value, slope, curvature as a block-diagonal matrix, conjugate), all of n x K predictions.


class Squared:
    classes = 1

    def __init__(self, piece, y):
        self.piece, self.y = piece, y[:, None]

    def value(self, u):
        return ((u - self.y) ** 2 / 2)[:, 0]

    def slope(self, u):
        return u - self.y

    def curvature(self, u):
        return np.ones((len(u), 1, 1))

    def conjugate(self, t):
        return (t**2 / 2 + t * self.y)[:, 0]

    def convex(self, u):
        return cp.square(u[:, 0] - self.y[:, 0]) / 2


class Logistic(Squared):
    def value(self, u):
        return np.logaddexp(REAL(0), -self.y * u)[:, 0]

    def slope(self, u):
        return -self.y * np.exp(-np.logaddexp(REAL(0), self.y * u))

    def curvature(self, u):
        s = np.exp(-np.logaddexp(REAL(0), self.y * u))
        return (s * (1 - s))[:, :, None]

    def conjugate(self, t):
        s = -t * self.y
        return (x_log_x(s) + x_log_x(1 - s))[:, 0]

    def convex(self, u):
        return cp.logistic(-cp.multiply(self.y[:, 0], u[:, 0]))


class SquaredHinge(Squared):
    def value(self, u):
        return (np.maximum(0, 1 - self.y * u) ** 2 / 2)[:, 0]

    def slope(self, u):
        return -self.y * np.maximum(0, 1 - self.y * u)

    def curvature(self, u):
        return np.where(self.y * u < 1, 1.0, 0.0)[:, :, None]

    def conjugate(self, t):
        return np.where(t * self.y <= 0, t**2 / 2 + t * self.y, np.inf)[:, 0]

    def convex(self, u):
        return cp.square(cp.pos(1 - cp.multiply(self.y[:, 0], u[:, 0]))) / 2


class Huber(Squared):
    @property
    def delta(self):
        return REAL(self.piece.delta)

    def value(self, u):
        r = np.abs(u - self.y)
        return np.where(r <= self.delta, r**2 / 2, self.delta * r - self.delta**2 / 2)[:, 0]

    def slope(self, u):
        return np.clip(u - self.y, -self.delta, self.delta)

    def curvature(self, u):
        return np.where(np.abs(u - self.y) <= self.delta, 1.0, 0.0)[:, :, None]

    def conjugate(self, t):
        return np.where(np.abs(t) <= self.delta, t**2 / 2 + t * self.y, np.inf)[:, 0]

    def convex(self, u):
        return cp.huber(u[:, 0] - self.y[:, 0], float(self.delta)) / 2


class Poisson(Squared):
    def value(self, u):
        return (np.exp(u) - self.y * u + x_log_x(self.y) - self.y)[:, 0]

    def slope(self, u):
        return np.exp(u) - self.y

    def curvature(self, u):
        return np.exp(u)[:, :, None]

    def conjugate(self, t):
        rate = t + self.y
        return (x_log_x(rate) - rate - x_log_x(self.y) + self.y)[:, 0]

    def convex(self, u):
        return cp.exp(u[:, 0]) - cp.multiply(self.y[:, 0], u[:, 0])


class Multinomial:
    def __init__(self, piece, y):
        self.classes = piece.classes or int(y.max()) + 1
        self.labels = np.eye(self.classes)[y.astype(int)].astype(REAL)

    def _chances(self, u):
        chances = np.exp(u - u.max(axis=1, keepdims=True))
        return chances / chances.sum(axis=1, keepdims=True)

    def value(self, u):
        return np.logaddexp.reduce(u, axis=1) - (u * self.labels).sum(axis=1)

    def slope(self, u):
        return self._chances(u) - self.labels

    def curvature(self, u):
        q = self._chances(u)
        return q[:, :, None] * np.eye(q.shape[1]) - q[:, :, None] * q[:, None, :]

    def conjugate(self, t):
        return x_log_x(t + self.labels).sum(axis=1)

    def convex(self, u):
        return cp.log_sum_exp(u, axis=1) - cp.sum(cp.multiply(u, self.labels.astype(float)), axis=1)


def x_log_x(x):
    """`x log x`, 0 at 0 and +inf below: the domain of the entropies."""
    inside = np.where(x > 0, x, 1)
    return np.where(x > 0, inside * np.log(inside), np.where(x == 0, REAL(0), np.inf))


LOSSES = {loss.__name__: loss for loss in (Squared, Logistic, SquaredHinge, Huber, Multinomial, Poisson)}


# Penalties: phi with two derivatives and its conjugate; `radius` where phi is the indicator of a ball.


class Penalty:
    radius = None

    def __init__(self, piece):
        self.name = type(piece).__name__
        self.piece = piece
        if self.name == "Ball" or getattr(piece, "p", None) == np.inf:
            self.name, self.radius = "Ball", REAL(piece.radius if self.name == "Ball" else 1.0)

    @property
    def unit(self):
        """A size well inside the domain of phi."""
        return min(REAL(1), REAL(getattr(self.piece, "radius", 1)))

    def _get(self, *names):
        return [REAL(getattr(self.piece, name)) for name in names]

    def value(self, s):
        """Return phi(s)."""
        match self.name:
            case "Ball":
                return REAL(0) if s <= self.radius else REAL(np.inf)
            case "LogBarrier":
                C, sharpness = self._get("radius", "sharpness")
                return (-np.log1p(-s / C) - s / C) / sharpness if s < C else REAL(np.inf)
            case "Power":
                a, p = self._get("strength", "p")
                return a * s**p / p
        a, m = self._line_and_square()
        return a * s + m * s**2 / 2

    def derivatives(self, s):
        """Return phi'(s) and phi''(s)."""
        match self.name:
            case "Ball":
                return REAL(0), REAL(0)
            case "LogBarrier":
                C, sharpness = self._get("radius", "sharpness")
                return s / (C - s) / (C * sharpness), 1 / (C - s) ** 2 / sharpness
            case "Power":
                a, p = self._get("strength", "p")
                return a * s ** (p - 1), a * (p - 1) * s ** (p - 2)
        a, m = self._line_and_square()
        return a + m * s, m

    def conjugate(self, t):
        """Return phi*(t)."""
        match self.name:
            case "Ball":
                return self.radius * t
            case "LogBarrier":
                C, sharpness = self._get("radius", "sharpness")
                return C * t - np.log1p(C * sharpness * t) / sharpness
            case "Power":
                a, p = self._get("strength", "p")
                q = p / (p - 1)
                return a * (t / a) ** q / q
        a, m = self._line_and_square()
        if t <= a:
            return REAL(0)
        return (t - a) ** 2 / (2 * m) if m > 0 else REAL(np.inf)

    def convex(self, s):
        """Return phi of a variable and its constraints, for the conic solver."""
        match self.name:
            case "Ball":
                return 0, [s <= float(self.radius)]
            case "LogBarrier":
                C, sharpness = map(float, self._get("radius", "sharpness"))
                return (-cp.log(1 - s / C) - s / C) / sharpness, []
            case "Power":
                a, p = map(float, self._get("strength", "p"))
                return a * cp.power(s, p) / p, []
        a, m = map(float, self._line_and_square())
        return a * s + m / 2 * cp.square(s), []

    def _line_and_square(self):
        """Return a and m of the penalties of the form `a s + m s^2 / 2`."""
        match self.name:
            case "Linear":
                return self._get("strength")[0], REAL(0)
            case "Square":
                return REAL(0), self._get("strength")[0]
            case "LinearSquare":
                return tuple(self._get("strength", "square"))
        raise NotImplementedError(self.name)


# Gauges: what the atoms of each block look like.


@dataclass
class Geometry:
    """The lifted coefficients: `x = matrix c`, each of the `size * K` entries of c with a block and an atom size.

    An atom size of 0 excludes the entry, +inf leaves it free. `signed` says which rows of c may be negative.
    """

    matrix: np.ndarray
    blocks: np.ndarray
    atom: np.ndarray
    signed: np.ndarray
    cube: bool = False


def geometry(gauge, d, classes):
    """Return the geometry of a gauge of d x K coefficients, read off its name and parameters."""
    name = type(gauge).__name__
    if name == "Scaled":
        inner = geometry(gauge.gauge, d, classes)
        return Geometry(inner.matrix, inner.blocks, inner.atom * gauge.radius, inner.signed, inner.cube)
    if name in ("Image", "Atoms"):
        matrix = gauge.matrix.toarray() if sparse.issparse(gauge.matrix) else np.asarray(gauge.matrix, dtype=float)
        inner = geometry(gauge.gauge, matrix.shape[1], classes)
        return Geometry(matrix @ inner.matrix, inner.blocks, inner.atom, inner.signed, inner.cube)
    if name in ("L2", "LInf"):
        return Geometry(np.eye(d), np.zeros((d, classes), int), np.ones((d, classes)), np.full(d, True), name == "LInf")
    if name == "Group":
        codes = np.arange(d) if gauge.groups is None else np.unique(gauge.groups, return_inverse=True)[1]
        by_name = {"equal": np.ones(d), "sqrt": np.sqrt(np.bincount(codes))}
        atom = 1 / (by_name[gauge.weights] if isinstance(gauge.weights, str) else np.asarray(gauge.weights))[codes]
        codes, atom = (np.repeat(values[:, None], classes, 1) for values in (codes, atom))
        return Geometry(np.eye(d), codes, atom, np.full(d, True))
    weights = np.ones(1) if gauge.weights is None else np.asarray(gauge.weights, dtype=float)
    weights = np.broadcast_to(weights if weights.ndim == 2 else weights[:, None], (d, classes))
    atom = np.array([[np.inf if w == 0 else 1 / w for w in row] for row in weights])
    signed = np.full(d, name == "L1")
    if name == "L1" and gauge.positive is not None:
        signed = np.array([not flag for flag in gauge.positive])
    return Geometry(np.eye(d), np.arange(d * classes).reshape(d, classes), atom, signed)


class Model:
    """The problem in plain arrays: predictions `u = D c + B b`, flattened n x K, samples of weight 0 left out.

    The free columns are made orthonormal and taken out of D (and of real targets), which only changes the
    coordinates b.
    """

    def __init__(self, X, y, *, loss, gauge, penalty, sample_weight=None, intercept=False, free=None, without=None):
        X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
        weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        used = weights > 0
        X, y, weights = X[used].astype(REAL), np.asarray(y)[used].astype(REAL), weights[used].astype(REAL)
        self.weights = weights / weights.sum()
        self.loss = LOSSES[type(loss).__name__](loss, y)
        self.penalty = Penalty(penalty)
        self.n, self.classes = len(y), self.loss.classes
        self.geometry = shape = geometry(gauge, X.shape[1], self.classes)
        columns, atom = X @ shape.matrix.astype(REAL), np.where(shape.blocks == without, 0, shape.atom).ravel()
        self.kept = np.flatnonzero((atom > 0) & np.isfinite(atom))
        self.D = np.kron(columns, np.eye(self.classes))[:, self.kept] * atom[self.kept].astype(REAL)
        self.signed = np.repeat(shape.signed, self.classes)[self.kept]
        self.numbers = np.unique(shape.blocks.ravel()[self.kept])
        self.members = [np.flatnonzero(shape.blocks.ravel()[self.kept] == number) for number in self.numbers]
        unpenalised = [np.ones((self.n, int(intercept))), columns[:, np.isinf(shape.atom).all(axis=1)]]
        if free is not None:
            unpenalised.append(np.asarray(free, dtype=float).reshape(len(used), -1)[used])
        B = np.kron(np.hstack(unpenalised).astype(REAL), np.eye(self.classes))
        self.B, self.back = orthonormal(B)
        self.origin = np.zeros(self.B.shape[1])
        if type(self.loss) in (Squared, Huber):
            self.origin = self.B.T @ y
            self.loss.y = (y - self.B @ self.origin)[:, None]
        self.along = self.B.T @ self.D
        rest = self.D - self.B @ self.along
        self.D = np.where([norm(new) > 1e-14 * norm(old) for new, old in zip(rest.T, self.D.T, strict=True)], rest, 0)

    def predictions(self, c, b):
        """Return u."""
        return (self.D @ c + self.B @ b).reshape(self.n, self.classes)

    def risk(self, c, b):
        """Return F(u)."""
        return self.weights @ self.loss.value(self.predictions(c, b))

    def theta(self, c, b):
        """Return the gradient of F at u, flattened."""
        return (self.weights[:, None] * self.loss.slope(self.predictions(c, b))).ravel()

    def curvature(self, c, b):
        """Return the Hessian of F at u."""
        parts = self.weights[:, None, None] * self.loss.curvature(self.predictions(c, b))
        return linalg.block_diag(*parts.astype(float))

    def sizes(self, c):
        """Return kappa of each block's part of c."""
        if self.geometry.cube:
            return np.array([np.abs(c).max(initial=0)])
        return np.array([norm(c[rows]) for rows in self.members])

    def scores(self, z):
        """Return `max of p . z` over the atoms p of each block and 0."""
        if self.geometry.cube:
            return np.array([np.abs(z).sum()])
        z = np.where(self.signed, z, np.maximum(z, 0))
        return np.array([norm(z[rows]) for rows in self.members])

    def kappa(self, c):
        """Return the gauge of c, +inf outside the cone of the atoms."""
        return self.sizes(c).sum() if (self.signed | (c >= 0)).all() else REAL(np.inf)

    def sigma(self, z):
        """Return the support function at z."""
        return self.scores(z).max(initial=0)

    @cached_property
    def rest(self):
        """The best b for c = 0, good to a few digits."""
        nothing = np.zeros(self.D.shape[1])
        towards = -self.loss.slope(np.zeros((self.n, self.classes))).ravel().astype(float)
        start = np.linalg.lstsq(self.B.astype(float), towards, rcond=None)[0]
        if not len(start):
            return start
        answer = optimize.minimize(
            lambda b: float(self.risk(nothing, b)),
            start,
            jac=lambda b: (self.B.T @ self.theta(nothing, b)).astype(float),
        )
        return answer.x

    @cached_property
    def baseline(self):
        """The objective at x = 0."""
        return self.risk(np.zeros(self.D.shape[1]), self.rest)

    @cached_property
    def sigma_at_rest(self):
        """The largest score at x = 0, the scale of all scores."""
        return self.sigma(-self.D.T @ self.theta(np.zeros(self.D.shape[1]), self.rest))

    def bounds(self, c, b):
        """Return a lower and an upper bound of the optimum: the dual and the primal value at (c, b).

        The dual point is the gradient, scaled where phi* would be infinite. What `B' theta` is off zero is charged for
        a way of the length of b to the true minimiser.
        """
        upper = self.risk(c, b) + self.penalty.value(self.kappa(c))
        theta, slopes = self.theta(c, b), self.loss.slope(self.predictions(c, b))
        sigma = self.sigma(-self.D.T @ theta)
        if self.penalty.name == "Linear" and sigma > self.penalty.derivatives(0)[0]:
            factor = self.penalty.derivatives(0)[0] / sigma
            theta, slopes, sigma = factor * theta, factor * slopes, factor * sigma
        lower = -self.weights @ self.loss.conjugate(slopes) - self.penalty.conjugate(sigma)
        return lower - np.abs(self.B.T @ theta) @ (1 + np.abs(b)), upper


def norm(v):
    return np.sqrt((v.astype(REAL) ** 2).sum())


def orthonormal(columns):
    """Return an orthonormal basis of the span (Gram and Schmidt, twice over) and T with `basis = columns @ T`."""
    basis, transform = np.zeros((len(columns), 0), REAL), np.zeros((columns.shape[1], 0), REAL)
    for j, column in enumerate(columns.T):
        rest, weights = column.copy(), np.eye(columns.shape[1], dtype=REAL)[j]
        for _ in range(2):
            part = basis.T @ rest
            rest, weights = rest - basis @ part, weights - transform @ part
        if norm(rest) > 1e-12 * norm(column):
            basis = np.column_stack([basis, rest / norm(rest)])
            transform = np.column_stack([transform, weights / norm(rest)])
    return basis, transform


# First phase: a conic solver, on the problem as it is written.


def conic(model):
    """Return (c, b) close to a solution; zero where the conic solver gives up."""
    c, b = cp.Variable(model.D.shape[1]), cp.Variable(model.B.shape[1])
    u = cp.reshape(model.D.astype(float) @ c + model.B.astype(float) @ b, (model.n, model.classes), order="C")
    s = cp.Variable(nonneg=True)
    charge, constraints = model.penalty.convex(s)
    if model.geometry.cube:
        constraints.append(cp.norm_inf(c) <= s)
    else:
        constraints.append(sum(cp.norm2(c[rows]) for rows in model.members) <= s)
    if not model.signed.all():
        constraints.append(c[~model.signed] >= 0)
    program = cp.Problem(cp.Minimize(model.weights.astype(float) @ model.loss.convex(u) + charge), constraints)
    tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            program.solve(solver=cp.CLARABEL, **tolerances)
        except cp.SolverError:
            return np.zeros(c.shape), model.rest
    if c.value is None or not np.isfinite(c.value).all():
        return np.zeros(c.shape), model.rest
    return np.where(model.signed, c.value, np.maximum(c.value, 0)), b.value if b.size else np.zeros(0)


# Second phase: Newton's method on the face where the gauge is smooth, `c = basis v`.


@dataclass
class BlockFace:
    """Some blocks are active; a block of one coordinate is held to its sign, so that kappa is linear in it."""

    model: Model
    signs: dict
    """Sign of each active block of one coordinate, 0 for larger blocks."""

    @classmethod
    def around(cls, model, c, steep, threshold):
        """Return the face of the steep blocks with more than a part of the mass, and the coordinates of c there."""
        sizes = model.sizes(c)
        face = cls(model, {})
        for block in np.flatnonzero(steep & (sizes > threshold * sizes.sum())):
            face.signs[int(block)] = face._sign(c[model.members[block]])
        return face, face.coordinates(c)

    def _sign(self, part):
        return float(np.sign(part[0])) if len(part) == 1 else 0.0

    @property
    def _rows(self):
        return np.concatenate([self.model.members[block] for block in self.signs] or [np.zeros(0, int)])

    @property
    def basis(self):
        return np.eye(self.model.D.shape[1], dtype=REAL)[:, self._rows]

    def coordinates(self, c):
        return c[self._rows].astype(REAL)

    def gauge(self, v):
        """Return kappa with its gradient and Hessian."""
        value, gradient, hessian, start = REAL(0), np.zeros(len(v), REAL), np.zeros((len(v), len(v))), 0
        for block, sign in self.signs.items():
            rows = slice(start, start + len(self.model.members[block]))
            start, part = rows.stop, v[rows]
            size = sign * part[0] if sign else norm(part)
            value += size
            gradient[rows] = sign or part / size
            if not sign:
                hessian[rows, rows] = (np.eye(len(part)) - np.outer(part, part) / size**2) / size
        return value, gradient, hessian

    def revised(self, v, z, slope):
        """Return the next face and its coordinates; None where this is the face of the solution."""
        c = self.basis @ v
        sizes, scores = self.model.sizes(c), self.model.scores(z)
        for block, sign in self.signs.items():
            sizes[block] *= 1 if sign == 0 else sign * np.sign(c[self.model.members[block][0]])
        worst = min(self.signs, key=lambda block: sizes[block], default=None)
        if worst is not None and sizes[worst] <= 1e-9 * sizes.max() * (self.signs[worst] == 0):
            smaller = BlockFace(self.model, {block: sign for block, sign in self.signs.items() if block != worst})
            return smaller, smaller.coordinates(c)
        scores[list(self.signs)] = 0
        if not len(scores):
            return None
        best = int(scores.argmax())
        if scores[best] <= slope + 1e-15 * (slope + self.model.sigma_at_rest):
            return None
        rows = self.model.members[best]
        larger = BlockFace(self.model, self.signs | {best: self._sign(z[rows])})
        c[rows] = z[rows] / scores[best] * 1e-3 * (sizes.max() or self.model.penalty.unit)
        return larger, larger.coordinates(c)


@dataclass
class CubeFace:
    """Some coordinates are held at `+-t`, the others are free below it: v = (t, free coordinates)."""

    model: Model
    signs: np.ndarray
    """Sign of each coordinate at the bound, 0 for free ones."""

    @classmethod
    def around(cls, model, c, steep, threshold):
        """Return the face of the coordinates at the bound up to a part, and the coordinates of c there."""
        signs = np.where(steep & (np.abs(c) > (1 - threshold) * np.abs(c).max(initial=0)), np.sign(c), 0)
        face = cls(model, signs)
        return face, face.coordinates(c)

    @property
    def _free(self):
        return np.flatnonzero(self.signs == 0) if self.signs.any() else np.zeros(0, int)

    @property
    def basis(self):
        bound = self.signs[:, None].astype(REAL)
        return np.hstack([bound[:, : int(self.signs.any())], np.eye(len(self.signs), dtype=REAL)[:, self._free]])

    def coordinates(self, c):
        top = [np.abs(c[self.signs != 0]).max()] if self.signs.any() else []
        return np.concatenate([top, c[self._free]]).astype(REAL)

    def gauge(self, v):
        """Return kappa with its gradient and Hessian."""
        gradient = np.zeros(len(v), REAL)
        gradient[:1] = 1
        return v[:1].sum(), gradient, np.zeros((len(v), len(v)))

    def revised(self, v, z, slope):
        """Return the next face and its coordinates; None where this is the face of the solution."""
        c, signs = self.basis @ v, self.signs.copy()
        room = 1e-15 * (slope + self.model.sigma_at_rest)
        if not len(v):
            signs = np.sign(z) if np.abs(z).sum() > slope + room else signs
        elif np.abs(v[1:]).max(initial=0) > v[0]:
            signs[np.abs(c).argmax()] = np.sign(c[np.abs(c).argmax()])
        elif (signs * z).min() < -room and np.count_nonzero(signs) > 1:
            signs[(signs * z).argmin()] = 0
        face = CubeFace(self.model, signs)
        return None if (signs == self.signs).all() else (face, face.coordinates(c))


class Equations:
    """Stationarity on a face, in (v, b) and, where the ball binds, the multiplier of `kappa = radius`."""

    def __init__(self, model, face, *, binding):
        self.model, self.face, self.binding = model, face, binding
        self.M = np.hstack([model.D @ face.basis, model.B])
        self.m = face.basis.shape[1]

    def split(self, w):
        """Return c, b and the slope of the penalty."""
        v, b = w[: self.m], w[self.m : self.M.shape[1]]
        slope = w[-1] if self.binding else self.model.penalty.derivatives(self.face.gauge(v)[0])[0]
        return self.face.basis @ v, b, slope

    def residual(self, w):
        """Return the gradient of the Lagrangian; NaN outside the domain of the penalty."""
        c, b, slope = self.split(w)
        kappa, gradient, _ = self.face.gauge(w[: self.m])
        if not self.binding and self.model.penalty.radius is None and not np.isfinite(self.model.penalty.value(kappa)):
            return np.full(len(w), np.nan)
        total = self.M.T @ self.model.theta(c, b)
        total[: self.m] += slope * gradient
        return np.append(total, kappa - self.model.penalty.radius) if self.binding else total

    def jacobian(self, w):
        """Return the derivative of the residual, in double precision."""
        c, b, slope = self.split(w)
        kappa, gradient, hessian = self.face.gauge(w[: self.m])
        M, inner = self.M.astype(float), slice(0, self.m)
        total = np.zeros((len(w), len(w)))
        square = slice(0, self.M.shape[1])
        total[square, square] = M.T @ self.model.curvature(c, b) @ M
        total[inner, inner] += float(slope) * hessian
        if self.binding:
            total[inner, -1] = total[-1, inner] = gradient
        else:
            total[inner, inner] += float(self.model.penalty.derivatives(kappa)[1]) * np.outer(gradient, gradient)
        return total

    def solved(self, w):
        """Return the root near w: Newton's method with residuals in extended precision, which refines every step."""
        for _ in range(60):
            residual, jacobian = self.residual(w), self.jacobian(w)
            diagonal = np.abs(np.diag(jacobian))
            scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
            equilibrated = scale[:, None] * jacobian * scale
            if not (np.isfinite(equilibrated).all() and np.isfinite(residual).all()):
                raise np.linalg.LinAlgError("The search has left the domain.")
            direction = scale * np.linalg.lstsq(equilibrated, -(scale * residual).astype(float), rcond=1e-14)[0]
            size, step = norm(scale * residual), REAL(1)
            while not norm(scale * self.residual(w + step * direction)) < size and step > 1e-12:
                step /= 2
            if step <= 1e-12:
                break
            w = w + step * direction
        return w


def polished(model, c, b, threshold):
    """Return (c, b) on the face of the solution, found from c by adding and dropping one block at a time."""
    radius = model.penalty.radius
    scores = model.scores(-model.D.T @ model.theta(c, b))
    binding = radius is not None and model.kappa(c) > (1 - 1e-6) * radius
    slope = scores.max(initial=0) if binding else model.penalty.derivatives(model.kappa(c))[0]
    steep = scores > (1 - 1e-2) * slope - 1e-6 * model.sigma_at_rest
    face, v = (CubeFace if model.geometry.cube else BlockFace).around(model, c, steep, threshold)
    binding = binding and len(v) > 0
    for _ in range(100):
        equations = Equations(model, face, binding=binding)
        slope = [model.sigma(-model.D.T @ model.theta(face.basis @ v, b))] if binding else []
        w = equations.solved(np.concatenate([v, b, slope]).astype(REAL))
        c, b, slope = equations.split(w)
        if radius is not None and (slope < 0 if binding else face.gauge(w[: equations.m])[0] > radius):
            binding = not binding
            v = w[: equations.m]
            continue
        revised = face.revised(w[: equations.m], -model.D.T @ model.theta(c, b), slope)
        if revised is None:
            break
        face, v = revised
        binding = binding and len(v) > 0
    if radius is not None and model.kappa(c) > radius:
        c = c * (radius / model.kappa(c)) * (1 - 4 * np.finfo(REAL).eps)
    return c, b


@dataclass(frozen=True, eq=False)
class Reference:
    """A solution: lifted coefficients, free coefficients, bounds of the optimum, blocks certainly in the support."""

    x: np.ndarray
    b: np.ndarray
    lower: float
    upper: float
    baseline: float
    support: np.ndarray


def solution(model):
    """Return the best (gap, c, b, lower, upper) that polishing reaches, from the conic solution or else from zero."""
    start, free = conic(model)
    best = (REAL(np.inf), None, None, REAL(-np.inf), REAL(np.inf))
    for first, threshold in ((start, 1e-6), (start, 1e-4), (0 * start, 0.5), (start, 1e-8), (start, 1e-2)):
        with np.errstate(all="ignore"), suppress(np.linalg.LinAlgError):
            c, b = polished(model, first, free, threshold)
            lower, upper = model.bounds(c, b)
            if np.abs(upper - lower) < best[0]:
                best = (np.abs(upper - lower), c, b, lower, upper)
        if best[0] <= 1e-6 * ACCURACY * model.baseline:
            break
    return best


def reference(X, y, **pieces):
    """Return the solution of `Problem(X, y, **pieces)`, proved to `ACCURACY`; raise `UnprovedError` where it is not.

    The gap is also held to a small part of what x gains over x = 0, so that the support can be told from it.
    """
    model = Model(X, y, **pieces)
    gap, c, b, lower, upper = solution(model)
    gain = model.baseline - upper
    if gap <= ACCURACY * model.baseline and (not c.any() or (gap <= 1e-6 * gain and gain > 1e-11 * model.baseline)):
        return conclusion(model, c, b, float(lower), float(upper))
    raise UnprovedError(f"The gap of the reference stays at {float(gap):.1e}, {float(model.baseline):.1e} at x = 0.")


def needed(truth, X, y, **pieces):
    """Return which blocks of the support no solution can do without: leaving them out provably costs."""
    price = truth.upper + 1e-14 * truth.baseline
    return np.array([g for g in truth.support if solution(Model(X, y, without=g, **pieces))[3] > price], dtype=int)


def conclusion(model, c, b, lower, upper):
    """Return the reference in the coordinates of the problem."""
    shape = model.geometry.atom.shape
    x = np.zeros(shape)
    x.flat[model.kept] = c * model.geometry.atom.flat[model.kept]
    sizes = model.sizes(c)
    support = model.numbers[sizes > CERTAIN * sizes.sum()] if sizes.sum() > 0 else model.numbers[:0]
    x = x[:, 0] if model.loss.__class__ is not Multinomial else x
    b = (model.back @ (b + model.origin - model.along @ c)).astype(float).reshape(-1, model.classes)
    return Reference(x, b, lower, upper, float(model.baseline), support)
