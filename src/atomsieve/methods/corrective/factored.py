"""Second-order models beside a gauge of singular values or eigenvalues; x is held by its factors all the way."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from atomsieve.core.clock import look
from atomsieve.gauges.matrix import Near, products
from atomsieve.gauges.proximal import Line
from atomsieve.gauges.triplets import Triplets
from atomsieve.methods.corrective.curvature import Curvature
from atomsieve.methods.corrective.proximal import SHORTEST, STEPS, Minimum
from atomsieve.methods.corrective.surfaces import Surface, System, seen_by
from atomsieve.numerics.krylov import Beyond, Pairs
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array

JOINING = 6
"""Pairs of singular vectors that may join x in one step, at least; or half as many as its rank."""

KNOWN = 2
"""Pairs beyond that are found, for each that may join: what does not join shows how the surface bends."""

ITERATIONS = 200
"""Conjugate gradients for one Newton step."""

ROUGHLY = 0.05
"""Part of the right-hand side to which the system of a Newton step is solved."""

UNSETTLED = (0.3, 12)
"""The same, and the most iterations, where the rank has just changed, or the step before did not halve the gap."""

SETTLING = 4
"""Proximal steps where pairs join: their values are small after one, and a Newton step would take many out again."""

IDLE = 10
"""Steps that may fail to lower the gap of a model."""


class Outlook(NamedTuple):
    """What z shows around x: the table of z, what x sees of it, what lies beyond, and the largest pairs there."""

    table: Any
    near: Near
    beyond: Beyond
    pairs: Pairs

    @property
    def highest(self) -> float:
        """The largest value beyond, at least 0."""
        return max(float(self.pairs.values[0]), 0.0) if len(self.pairs.values) else 0.0

    def parted(self, slope: float) -> tuple[Pairs, Pairs]:
        """Return the pairs that join x, for their values exceed the slope, and the large ones that stay beyond."""
        values = self.pairs.values
        join = (values > slope) & (np.arange(len(values)) < joining(len(self.near.corner)))
        return self.pairs.at(join), self.pairs.at(~join & (2 * values > slope))


def joining(rank: int) -> int:
    """Return how many pairs may join an x of a rank."""
    return max(JOINING, rank // 2)


@dataclass(frozen=True, eq=False)
class FactoredModel:
    """The function `x . H x / 2 - x . r` beside a gauge of matrices whose penalty has a line of slopes.

    z is minus the gradient, as far as the losses see it: `r - H x` without the even part of the curvature.
    """

    gauge: Any
    curvature: Curvature
    line: Line

    def minimise(self, x: Triplets, z: Array, enough: float) -> Minimum:
        """Return the minimiser from x on, where minus the gradient is z, up to a gap."""
        length, gap, least, idle = 1 / max(self.curvature.steepest, 1e-300), math.inf, math.inf, 0
        start = np.zeros((self.curvature.form[1], 0))
        for _ in range(STEPS):
            look()
            outlook = self._outlook(x, z, start)
            gap = self._gap(x, outlook)
            idle = 0 if gap < least / 2 else idle + 1
            least = min(gap, least)
            if gap <= enough or idle == IDLE:
                break
            rank, (joined, others) = len(x.values), outlook.parted(self._slope(x))
            start = others.right
            x, z, length = self._proximal(x, z, joined, length)
            if len(x.values):
                how = UNSETTLED if idle or len(x.values) != rank else (ROUGHLY, ITERATIONS)
                x, z = self._newton(x, z, others, outlook.highest, how)
        return Minimum(x, z, gap)

    def response(self, x: Triplets, z: Array) -> float:
        """Return how fast the gauge of the minimiser falls as the slope rises, on the surface of x."""
        if not len(x.values):
            return 0.0
        price, outlook = seen_by(self.gauge)[1], self._outlook(x, z, np.zeros((self.curvature.form[1], 0)))
        surface = self._surface(x, outlook.table, outlook.parted(self._slope(x))[1], outlook.highest)
        gradient = surface.gradient
        solved = System(surface, self.curvature, 0.0).solved(gradient, 1e-4, ITERATIONS)
        return price * price * float(gradient @ solved)

    def _outlook(self, x: Triplets, z: Array, start: Array) -> Outlook:
        """Return what z shows around x; `start` are directions beyond that are known."""
        symmetric = seen_by(self.gauge)[2].symmetric
        table = self.curvature.table(z)
        beyond = Beyond(table, x.left, x.right, symmetric)
        count = joining(len(x.values))
        known = start[:, : count - 1]  # one direction at least is drawn: the others may say nothing of what is new
        drawn = np.random.default_rng(known.shape[1]).normal(size=(len(known), count - known.shape[1]))
        near = Near.of(table, x, symmetric=symmetric, even=self.curvature.even)
        return Outlook(table, near, beyond, beyond.leading(KNOWN * count, np.hstack([known, drawn])))

    def _gap(self, x: Triplets, outlook: Outlook) -> float:
        """Return a bound of what is left to gain; with a level line, if the minimiser is at most twice as large."""
        (a, b), price = self.line, seen_by(self.gauge)[1]
        kappa = self._kappa(x)
        sigma = max(seen_by(self.gauge)[2].score_near(outlook.near, outlook.highest), 0.0) / price
        held = a * kappa + b * kappa * kappa / 2 - outlook.near.pull(x)
        excess = max(sigma - a, 0.0)
        if b > 0:
            return held + excess * excess / (2 * b)
        return abs(held) + excess * kappa if kappa > 0 or excess == 0 else math.inf

    def _kappa(self, x: Triplets) -> float:
        return float(x.values.sum()) * seen_by(self.gauge)[1]

    def _slope(self, x: Triplets) -> float:
        """Return the slope of the penalty in the singular values."""
        return (self.line[0] + self.line[1] * self._kappa(x)) * seen_by(self.gauge)[1]

    def _charge(self, x: Triplets) -> float:
        """Return the penalty, and the even part of the curvature."""
        kappa = self._kappa(x)
        return self.line[0] * kappa + self.line[1] * kappa * kappa / 2 + self.curvature.even * _square(x) / 2

    def _proximal(self, x: Triplets, z: Array, joined: Pairs, length: float) -> tuple[Triplets, Array, float]:
        """Return the point after a proximal step on the vectors of x, z there, and the length of the next step.

        Where pairs join, a few steps are taken on their vectors too.
        """
        left, right = np.hstack([x.left, joined.left]), np.hstack([x.right, joined.right])
        core = np.zeros((left.shape[1], left.shape[1]))
        core[: len(x.values), : len(x.values)] = np.diag(x.values)
        for _ in range(SETTLING if len(joined.values) else 1):
            found, z, length = self._shrunk(core, z, left, right, length)
            core = found.whole
        return Triplets(left @ found.left, found.values, right @ found.right), z, length

    def _shrunk(self, core: Array, z: Array, left: Array, right: Array, length: float) -> tuple[Triplets, Array, float]:
        """Return the core after a proximal step between two subspaces, z there, and the length of the next step.

        The step is halved until the model allows it. The next one may be twice as long.
        """
        (a, b), (_, price, seen), table = self.line, seen_by(self.gauge), self.curvature.table(z)
        pull = left.T @ products(table, left, right, symmetric=seen.symmetric)[0] - self.curvature.even * core
        while True:
            line = (length * a * price, length * b * price * price)
            found = seen.shrunk(core + length * pull, line) if core.size else Triplets.nothing((0, 0))
            change = found.whole - core
            bent = self.curvature.seen(left @ change, right)
            product, square = self.curvature.times(bent), float(np.vdot(change, change))
            curved = float(bent @ product) + self.curvature.even * square
            if curved * length <= square * (1 + 1e-9) or square == 0:
                break
            length = min(length / 2, square / curved)
        return found, z - product, 2 * length

    def _surface(self, x: Triplets, table: Any, others: Pairs, highest: float) -> Surface:
        """Return the surface of the rank of x; what lies beyond is made no larger than the slope."""
        slope, seen = self._slope(x), seen_by(self.gauge)[2]
        return Surface(x, slope, table, 1.0 if highest <= slope else slope / highest, seen, others)

    def _newton(
        self, x: Triplets, z: Array, others: Pairs, highest: float, how: tuple[float, int]
    ) -> tuple[Triplets, Array]:
        """Return the point after a Newton step on the surface of x, or a part of it, where that lowers the function."""
        curvature, price = self.curvature, seen_by(self.gauge)[1]
        table = curvature.table(z)
        surface = self._surface(x, table, others, highest)
        system = System(surface, curvature, self.line[1] * price * price)
        step = system.solved(surface.parts(table, curvature.even) - surface.slope * surface.gradient, *how)
        at, here, before = surface.ways(step), self._charge(x), curvature.seen(x.left * x.values, x.right)
        best, taken, part = 0.0, None, 1.0
        while part >= SHORTEST:
            found = at(part)
            change = curvature.seen(found.left * found.values, found.right) - before
            bent = curvature.times(change)
            fall = float(change @ bent) / 2 - float(z @ change) + self._charge(found) - here
            if fall >= best and taken is not None:
                break
            if fall < best or (part == 1.0 and fall <= EPS * here):
                best, taken = fall, (found, bent)
                if part == 1.0:
                    break
            part /= 2
        return (x, z) if taken is None else (taken[0], z - taken[1])


def _square(x: Triplets) -> float:
    return float(x.values @ x.values)
