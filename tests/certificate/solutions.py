"""All solutions of a problem whose one solution is known, in exact rational arithmetic.

    minimise  sum_i s_i loss(u_i, y_i) + S phi(sum_g price_g norm2(x_g)) + S sum_k ridge_k x_k^2 / 2

with u = A x + B b + offset.

The known solution is taken for one only if it meets the optimality conditions exactly. The slopes of the losses are the
same in all solutions. So are the predictions, where a loss is strictly convex ("tight" samples); elsewhere (beyond the
kink of Huber, without a shortfall) they stay on one side of a bound. A block that is not zero in every solution has a
score equal to the slope of the penalty, and points along z. So the solutions are a polytope, known by its corners.
"""

from dataclasses import dataclass, field
from itertools import combinations
from math import isqrt

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat

from atomsieve import (  # fmt: skip
    Ball,
    Huber,
    Linear,
    LinearSquare,
    LogBarrier,
    Logistic,
    Multinomial,
    Poisson,
    Power,
    Square,
    Squared,
    SquaredHinge,
)

BITS = 300
ZERO, ONE = fmpq(0), fmpq(1)


@dataclass
class Stated:
    """A problem in plain floats, and one of its solutions; rows are samples, or samples and their outputs."""

    A: np.ndarray
    B: np.ndarray
    y: np.ndarray
    """One target per row; for several classes one label per sample."""
    loss: object
    penalty: object
    weights: np.ndarray
    """One per row."""
    total: float
    offset: np.ndarray
    labels: np.ndarray
    """The block of each entry of x."""
    prices: np.ndarray
    """The price of each block; blocks of price inf are 0. Columns of price 0 belong to B, their entries here are 0."""
    signed: np.ndarray
    """Which entries may be negative."""
    ridge: np.ndarray
    x: np.ndarray
    b: np.ndarray
    slope: float = 0.0
    """The slope of the penalty at the solution: only a ball needs to be told."""
    classes: int = 1
    own: list = field(default_factory=list)
    """The entries of x whose columns stand at the end of B."""


@dataclass
class Truth:
    """What holds in every solution, rounded so that a comparison with a float is exact.

    A bound below a number is true if and only if it is at most the largest float that is at most the number.
    """

    zero: np.ndarray
    nonzero: np.ndarray
    low: np.ndarray
    high: np.ndarray
    free_low: np.ndarray
    free_high: np.ndarray
    value: tuple
    corners: list
    """All corners of the set of solutions as floats: places to certify at."""


def rational(number):
    """Return a float as a fraction."""
    return fmpq(*float(number).as_integer_ratio())


def rationals(array):
    """Return the entries of an array as fractions."""
    return [fmpq(*v.as_integer_ratio()) for v in array.ravel().tolist()]


def floor(v):
    """Return the largest float that is at most a fraction (or certainly not above a ball)."""
    v = _fraction(v.upper()) if isinstance(v, arb) else v
    near = int(v.p) / int(v.q)
    return near if rational(near) <= v else float(np.nextafter(near, -np.inf))


def ceil(v):
    """Return the smallest float that is at least a fraction (or certainly not below a ball)."""
    return -floor(-v)


def _fraction(ball):
    man, exp = ball.mid().man_exp()
    return fmpq(man) * fmpq(2) ** int(exp)


def known(stated):
    """Return the truth; None where the known point is no solution, or the solutions are no small polytope."""
    before, ctx.prec = ctx.prec, BITS
    try:
        return _Optimum(stated).truth()
    except _NotKnown:
        return None
    finally:
        ctx.prec = before


class _NotKnown(Exception):
    """The point is no solution, or not all solutions are known."""


def _require(condition):
    if not condition:
        raise _NotKnown


class _Optimum:
    """The optimality conditions at the known solution, in fractions."""

    def __init__(self, stated):
        self.stated = stated
        self.rows, self.entries = stated.A.shape
        self.width = stated.B.shape[1]
        self.columns = fmpq_mat(self.rows, self.entries + self.width, rationals(np.hstack([stated.A, stated.B])))
        self.x, self.b = rationals(stated.x), rationals(stated.b)
        self.total = rational(stated.total)
        self.blocks = [np.flatnonzero(stated.labels == g).tolist() for g in range(len(stated.prices))]
        image = self.columns * fmpq_mat(self.entries + self.width, 1, self.x + self.b)
        u = [v + o for v, o in zip(image.entries(), rationals(stated.offset))]
        self.sides = _sides(stated, u)
        theta = [s * side.slope for s, side in zip(rationals(stated.weights), self.sides)]
        pulls = (self.columns.transpose() * fmpq_mat(self.rows, 1, theta)).entries()
        _require(not any(pulls[self.entries :]))
        self.z = [-v for v in pulls[: self.entries]]
        self._check()

    def _check(self):
        """Require that the known point is a solution; note its mass, slope and the blocks that may be there."""
        stated = self.stated
        self.norms = [_norm([self.x[k] for k in block]) for block in self.blocks]
        self.prices = [rational(c) if 0 < c < np.inf else None for c in stated.prices.tolist()]
        self.held = [self.total * r for r in rationals(stated.ridge)]
        self.mass = sum((c * v for c, v in zip(self.prices, self.norms) if c is not None), ZERO)
        self.slope = self.total * _slope(stated, self.mass)
        self.there = []
        for g, (block, price, norm) in enumerate(zip(self.blocks, self.prices, self.norms)):
            signed = stated.signed[block[0]]
            if price is None:
                _require(norm == 0)
            elif norm != 0:
                along = self.slope * price / norm
                _require(all(self.z[k] == (along + self.held[k]) * self.x[k] for k in block))
                _require(signed or self.x[block[0]] > 0)
                self.there.append(g)
            else:
                most = self.slope * price
                score = sum((self.z[k] * self.z[k] for k in block), ZERO)
                _require(score <= most * most or (not signed and self.z[block[0]] < 0))
                if score == most * most and (signed or self.z[block[0]] > 0):
                    self.there.append(g)

    def truth(self):
        """Return what holds in every solution."""
        points = self._corners()
        x = [point[: self.entries] for point in points]
        b = [point[self.entries :] for point in points]
        low, high = _ranges(x, self.entries)
        free_low, free_high = _ranges(b, self.width)
        free_low[self.open], free_high[self.open] = -np.inf, np.inf
        own = self.stated.own
        if own:
            low[own], high[own] = free_low[-len(own) :], free_high[-len(own) :]
        present = [[any(point[k] != 0 for k in block) for block in self.blocks] for point in x]
        value = self._value()
        return Truth(
            zero=~np.any(present, axis=0),
            nonzero=np.all(present, axis=0),
            low=low,
            high=high,
            free_low=free_low,
            free_high=free_high,
            value=(floor(value), ceil(value)),
            corners=[np.array([int(v.p) / int(v.q) for v in point]) for point in x],
        )

    def _value(self):
        weights = rationals(self.stated.weights)
        if self.stated.classes > 1:
            weights = weights[:: self.stated.classes]
        losses = sum((side.value * s for side, s in zip(self.sides, weights)), ZERO)
        ridge = sum((r * v * v for r, v in zip(self.held, self.x)), ZERO) / 2
        return (losses + ridge) / self.total + _phi(self.stated.penalty, self.mass)

    def _corners(self):
        """Return the corners of the set of solutions: entries of x, then those of b."""
        here = self.x + self.b
        own, free = self._block_moves(), self._free_moves()
        if not own and not free:
            return [here]
        moves = [move for move, _ in own] + free
        shifts = _side_by_side(moves)
        images = self.columns * shifts
        kernel = _kernel(self._tight(images, shifts))
        if not kernel:
            return [here]
        _require(self.slope > 0 or not own)  # inside of a ball nothing bounds what moves
        steps = _polytope(self._bounds([room for _, room in own], images, kernel), len(kernel))
        corners = []
        for step in steps:
            chosen = [sum((t * v[a] for t, v in zip(step, kernel)), ZERO) for a in range(len(moves))]
            change = (shifts * fmpq_mat(len(moves), 1, chosen)).entries()
            corners.append([v + c for v, c in zip(here, change)])
        return corners

    def _block_moves(self):
        """Return the directions in which x can differ, each with how far back it can go."""
        if any(self.stated.ridge):
            return []
        if self.slope > 0:
            present = [(self.blocks[g], self.norms[g] != 0) for g in self.there]
            return [(self._along(self.x if on else self.z, block), ONE if on else ZERO) for block, on in present]
        if not isinstance(self.stated.penalty, Ball):
            return []  # the mass is 0
        ones = [ONE] * self.entries
        priced = [block for block, price in zip(self.blocks, self.prices) if price is not None]
        return [(self._along(ones, [k]), ZERO) for block in priced for k in block]

    def _along(self, vector, block):
        return [vector[k] if k in block else ZERO for k in range(self.entries)] + [ZERO] * self.width

    def _free_moves(self):
        """Return independent directions of b (of sum 0 over the classes), and note the entries that stay open."""
        K, moves = self.stated.classes, []
        for f in range(0, self.width, K):
            for c in range(max(K - 1, 1)):
                move = [ZERO] * (self.entries + self.width)
                move[self.entries + f + c] = ONE
                if K > 1:
                    move[self.entries + f + K - 1] = -ONE
                moves.append(move)
        self.open = np.zeros(self.width, dtype=bool)
        if not moves:
            return moves
        shifts = _side_by_side(moves)
        images = self._differences(self.columns * shifts)
        reduced, rank = images.rref()
        if rank == len(moves):
            return moves
        for vector in _kernel(images):
            change = (shifts * fmpq_mat(len(moves), 1, vector)).entries()[self.entries :]
            self.open |= np.array([v != 0 for v in change])
        return [moves[_first(reduced, row)] for row in range(rank)]

    def _differences(self, images):
        """Return the rows that losses see: of several classes, differences to the last one."""
        K = self.stated.classes
        if K == 1:
            return images
        lists = images.tolist()
        rows = [
            [v - w for v, w in zip(lists[i + c], lists[i + K - 1])]
            for i in range(0, self.rows, K)
            for c in range(K - 1)
        ]
        return fmpq_mat(rows)

    def _tight(self, images, shifts):
        """Return the rows that must not move: predictions that are unique, and the mass if it is."""
        rows = self._differences(images).tolist()
        if self.stated.classes == 1:
            rows = [row for row, side in zip(rows, self.sides) if side.tight]
        if not isinstance(self.stated.penalty, Linear) and self.slope > 0:
            along = shifts.tolist()
            price = [ZERO] * shifts.ncols()
            for g in self.there:
                norm = self.norms[g] if self.norms[g] != 0 else _norm([self.z[k] for k in self.blocks[g]])
                k = next(k for k in self.blocks[g] if self.z[k] != 0)
                for a, v in enumerate(along[k]):
                    if v != 0:
                        price[a] = self.prices[g] * norm
            rows.append(price)
        return fmpq_mat(rows) if rows else fmpq_mat(1, shifts.ncols())

    def _bounds(self, rooms, images, kernel):
        """Return (room, coefficients) for each bound `room + coefficients . step >= 0`."""
        bounds = [(room, [vector[a] for vector in kernel]) for a, room in enumerate(rooms)]
        if self.stated.classes == 1:
            for row, side in zip(images.tolist(), self.sides):
                if not side.tight:
                    moved = [sum((v * c for v, c in zip(row, vector)), ZERO) for vector in kernel]
                    bounds.append((side.room, [side.outward * v for v in moved]))
            _require(len(kernel) == 1 or all(side.tight for side in self.sides))
        return [bound for bound in bounds if any(bound[1])]


@dataclass
class _Side:
    """The loss of a sample (or of one class of it) at the solution."""

    slope: fmpq
    value: object
    tight: bool = True
    outward: int = 1
    room: fmpq = ZERO
    """How far the prediction can move inwards before the slope changes; not for tight samples."""


def _sides(stated, u):
    loss, y = stated.loss, rationals(stated.y)
    if isinstance(loss, Multinomial):
        return _even_classes(stated, u)
    if isinstance(loss, Squared):
        return [_Side(v - t, (v - t) ** 2 / 2) for v, t in zip(u, y)]
    if isinstance(loss, Huber):
        return [_huber(v - t, rational(loss.delta)) for v, t in zip(u, y)]
    if isinstance(loss, SquaredHinge):
        return [_hinge(v, t) for v, t in zip(u, y)]
    _require(not any(u))  # elsewhere slopes are no fractions
    if isinstance(loss, Poisson):
        return [_Side(1 - t, 1 - t + (arb(t) * arb(t).log() if t > 0 else 0)) for t in y]
    _require(isinstance(loss, Logistic))
    return [_Side(-t / 2, arb(2).log()) for t in y]


def _huber(r, delta):
    if abs(r) < delta:
        return _Side(r, r * r / 2)
    sign = 1 if r > 0 else -1
    return _Side(sign * delta, delta * (abs(r) - delta / 2), tight=False, outward=sign, room=abs(r) - delta)


def _hinge(u, y):
    short = 1 - y * u
    if short > 0:
        return _Side(-y * short, short * short / 2)
    return _Side(ZERO, ZERO, tight=False, outward=int(y.p), room=-short)


def _even_classes(stated, u):
    """Return the sides where all classes of a sample have the same prediction; the first ones hold the values."""
    K = stated.classes
    _require(all(u[i + c] == u[i] for i in range(0, len(u), K) for c in range(K)))
    slopes = [fmpq(1, K) - int(c == label) for label in stated.y.tolist() for c in range(K)]
    return [_Side(slope, arb(K).log()) for slope in slopes]


def _slope(stated, mass):
    """Return the slope of phi at the mass."""
    penalty = stated.penalty
    a = {name: rational(value) for name, value in vars(penalty).items() if np.isfinite(value)}
    if isinstance(penalty, Ball):
        told = rational(stated.slope)
        _require(mass == a["radius"] or (mass < a["radius"] and told == 0))
        return told
    if isinstance(penalty, Linear):
        return a["strength"]
    if isinstance(penalty, Square):
        return a["strength"] * mass
    if isinstance(penalty, LinearSquare):
        return a["strength"] + a["square"] * mass
    if isinstance(penalty, LogBarrier):
        _require(mass < a["radius"])
        return mass / (a["radius"] - mass) / (a["radius"] * a["sharpness"])
    _require(isinstance(penalty, Power))
    return a["strength"] * _power(mass, a["p"] - 1)


def _phi(penalty, mass):
    a = {name: rational(value) for name, value in vars(penalty).items() if np.isfinite(value)}
    if isinstance(penalty, Ball):
        return ZERO
    if isinstance(penalty, Linear):
        return a["strength"] * mass
    if isinstance(penalty, Square):
        return a["strength"] * mass * mass / 2
    if isinstance(penalty, LinearSquare):
        return a["strength"] * mass + a["square"] * mass * mass / 2
    if isinstance(penalty, LogBarrier):
        part = mass / a["radius"]
        return (-arb(1 - part).log() - part) / arb(a["sharpness"])
    return a["strength"] * _power(mass, a["p"]) / a["p"]


def _power(mass, p):
    """Return mass^p for multiples p of 1/2."""
    _require(int((2 * p).q) == 1)
    base = mass if int(p.q) == 1 else _root(mass)
    return base ** int((p if int(p.q) == 1 else 2 * p).p)


def _root(v):
    p, q = isqrt(int(v.p)), isqrt(int(v.q))
    _require(p * p == int(v.p) and q * q == int(v.q))
    return fmpq(p, q)


def _norm(entries):
    if len(entries) == 1:
        return abs(entries[0])
    return _root(sum((v * v for v in entries), ZERO))


def _side_by_side(columns):
    return fmpq_mat(columns).transpose()


def _first(reduced, row):
    return next(a for a in range(reduced.ncols()) if reduced[row, a] != 0)


def _kernel(matrix):
    """Return a basis of the vectors that a matrix maps to 0."""
    size = matrix.ncols()
    reduced, rank = matrix.rref()
    if rank == size:
        return []
    pivots = [_first(reduced, row) for row in range(rank)]
    kernel = []
    for a in set(range(size)) - set(pivots):
        vector = [ZERO] * size
        vector[a] = ONE
        for row, pivot in enumerate(pivots):
            vector[pivot] = -reduced[row, a]
        kernel.append(vector)
    return kernel


def _polytope(bounds, size):
    """Return the corners of `room + coefficients . step >= 0`, which must be bounded."""
    _require(size <= 3 and len(bounds) > size)
    corners = []
    for chosen in combinations(bounds, size):
        matrix = fmpq_mat([coefficients for _, coefficients in chosen])
        if matrix.rank() < size:
            continue
        step = matrix.solve(fmpq_mat(size, 1, [-room for room, _ in chosen])).entries()
        inside = all(room + sum((c * t for c, t in zip(line, step)), ZERO) >= 0 for room, line in bounds)
        if inside and step not in corners:
            corners.append(step)
    _require(corners and (size > 1 or _two_sided(bounds)))
    return corners


def _two_sided(bounds):
    return any(line[0] > 0 for _, line in bounds) and any(line[0] < 0 for _, line in bounds)


def _ranges(points, size):
    low, high = np.zeros(size), np.zeros(size)
    for k in range(size):
        values = [point[k] for point in points]
        low[k], high[k] = floor(min(values)), ceil(max(values))
    return low, high
