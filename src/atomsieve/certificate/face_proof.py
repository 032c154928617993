"""What a point proves about all problems of a family, in the shape of a proof about one: radius, reach and slope."""

from dataclasses import dataclass

import numpy as np

from atomsieve.certificate.proof import Proof
from atomsieve.certificate.scores import low
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Enclosure, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask


@dataclass(frozen=True, eq=False)
class FaceProof(Proof):
    """A proof for all problems of a family. Its z covers the products of all their columns with the slopes."""

    least: Array
    most: Array
    farthest: float
    near: float
    moves: tuple[Array, Array]
    """How x and b move along the line of a range of strengths, from the point to its upper end."""

    ends: tuple[tuple[Enclosure, float], ...]
    """At both ends of a range of strengths: z, and a lower bound of the slope of the penalty."""

    masses: tuple[float, float]
    """Bounds of the gauge of the optima: from below at the lower end of such a range, from above at the upper one."""

    @property
    def curvatures(self) -> tuple[Array, Array]:
        """Bounds of loss'' between the point and the optimum of every problem."""
        return self.least, self.most

    @property
    def radius(self) -> float:
        """How far the slopes of the optimum can be from those of the point, in the inverse of the curvature metric."""
        return self.farthest

    @property
    def reach(self) -> float:
        """How far the predictions of the coefficients can be from those of the optimum, for the stated columns."""
        return self.near

    @property
    def sway(self) -> tuple[Array, Array]:
        """How far x and b move along the line of a range of strengths, in either direction."""
        x, b = self.moves
        return np.abs(x), np.abs(b)

    @property
    def held(self) -> Array | None:
        """What the ridge adds to the curvature of each entry, rounded down: all of it, since it is in the metric."""
        ridges = self.statement.ridges
        return None if ridges is None else np.asarray(ridges.low[self.statement.labels])

    @property
    def box(self) -> None:
        """Nothing: the dual point alone bounds the coefficients of one problem only."""
        return

    @property
    def least_slope(self) -> float:
        """A lower bound of the slope of the penalty at the optima, times S: with a ridge, of scores of `z - R x`."""
        statement, ridges = self.statement, self.statement.ridges
        if ridges is None:
            return super().least_slope
        first = float((statement.total * statement.penalty.first_slope).low)
        if not statement.problem.penalty.superlinear:
            return first
        held = ridges[statement.labels] * Enclosure.exact(self.x.ravel())
        pulled = self.z_flat - held
        shape = self.z.shape
        below = self.at(Enclosure(pulled.mid.reshape(shape), pulled.rad.reshape(shape))).scores[0]
        away = up(self.radius * self.spread[0] + up(root(ridges.high) * self.near / low(statement.prices)))
        floors = below - away - 4 * EPS * (np.abs(below) + away)
        return float(np.max(floors, where=statement.problem.eligible & ~np.isnan(floors), initial=first))

    def zero(self) -> Mask:
        """Return the blocks that are zero in every solution of every problem: at both ends of a range of strengths."""
        return self._zero.copy()

    @cached_property
    def _zero(self) -> Mask:
        if not self.ends:
            return super().zero()
        found = self.statement.problem.eligible.copy()
        with np.errstate(all="ignore"):
            apart = up(self.radius * self.spread[0])
            for z, slope in self.ends:
                above = self.at(z).scores[1]
                found &= above + apart + 4 * EPS * (np.abs(above) + apart) < slope
        return found

    def beaten(self, index: Index) -> Mask:
        """Return that no coordinate is ruled out by another one: their columns move independently."""
        return np.zeros(len(index), dtype=bool)
