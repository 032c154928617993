"""What a certificate needs of a loss: values, slopes and curvatures of all samples, as enclosures.

The formulas of the loss are evaluated on enclosures; its parameters and the targets are enclosures too. If a number
occurs more than once in a formula, its radius counts each time. Therefore values and slopes are computed at the
midpoint, where the radius is 0, and the mean value theorem gives the radius.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from atomsieve.core import _core
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import LEAST, Enclosure, gamma, quiet, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.piece import Formulas
from atomsieve.typing import Array

if TYPE_CHECKING:
    from atomsieve.losses.base import Loss

SETTLED = 0.99
"""Bounds of curvatures are made anew, at most three times, until none of them falls below this part of itself."""


class Sight(NamedTuple):
    """What the samples show at the best free coefficients."""

    shift: float
    """How far these are from the stated ones."""

    slopes: Enclosure
    theta: Enclosure
    """Slopes times weights."""

    losses: Enclosure
    """The sum of the losses times weights."""


@dataclass(frozen=True, eq=False)
class LossBounds:
    """Bounds that include rounding; Uncertain is raised if a formula of the loss does not run on enclosures."""

    loss: "Loss"

    @cached_property
    def _formulas(self) -> Formulas:
        return Formulas(self.loss, {})

    @cached_property
    def smoothness(self) -> float:
        """An upper bound of the Lipschitz constant of the gradient."""
        return float(self._formulas.evaluate("smoothness", shape=()).high)

    @cached_property
    def entry_smoothness(self) -> float:
        """An upper bound of the Lipschitz constant of the gradient when only one output changes."""
        return float(self._formulas.evaluate("entry_smoothness", shape=()).high)

    def slopes(self, u: Enclosure, y: Array) -> Enclosure:
        """Return the slopes at all enclosed predictions: those at the midpoint, widened by curvature times radius."""
        if u.ndim > 1:
            return self._formulas.evaluate("gradient", u, Enclosure.exact(y), shape=u.shape)
        middle = self.slopes_at(u.mid, y)
        return middle if not np.any(u.rad) else self.moved(middle, u.rad, self.curvature(u, y))

    def slopes_at(self, u: Array, y: Array) -> Enclosure:
        """Return the slopes at exact predictions."""
        return self._formulas.evaluate("gradient", Enclosure.exact(u), Enclosure.exact(y), shape=u.shape)

    def moved(self, slopes: Enclosure, rad: Array, curvature: Enclosure) -> Enclosure:
        """Return slopes at the middle of predictions of one output, widened by curvature times radius."""
        with quiet():
            return slopes.widened(np.fmin(curvature.high, self.entry_smoothness) * rad)

    def curvature(self, u: Enclosure, y: Array) -> Enclosure:
        """Return loss'' at all enclosed predictions, as the formula tells it."""
        return self._formulas.evaluate("curvature", u, Enclosure.exact(y), shape=u.shape)

    def least_curvatures(self, u: Enclosure, y: Array) -> Array:
        """Return lower bounds of loss'' at all enclosed predictions."""
        return np.fmax(self.curvature(u, y).low, 0.0)

    def values(self, u: Enclosure, slopes: Enclosure, y: Array) -> Enclosure:
        """Return the losses: those at the midpoint, widened by slope times radius."""
        middle = self.values_at(u.mid, y)
        if not np.any(u.rad):
            return middle
        with quiet():
            moved = slopes.size * u.rad
            return middle.widened(moved if u.ndim == 1 else moved.sum(axis=1) * (1 + 2.0**-40))

    def values_at(self, u: Array, y: Array) -> Enclosure:
        """Return the losses at exact predictions."""
        return self._formulas.evaluate("value", Enclosure.exact(u), Enclosure.exact(y), shape=u.shape[:1])

    def conjugates(self, low: Array, high: Array, y: Array) -> Array:
        """Return upper bounds of the conjugate over the slopes between low and high that lie in its domain."""
        slopes = Enclosure.between(low, high)
        return self._formulas.evaluate("conjugate", slopes, Enclosure.exact(y), shape=low.shape[:1]).high

    def curvatures(self, low: Array, high: Array, y: Array) -> tuple[Array, Array]:
        """Return a lower and an upper bound of loss'' over slopes between low and high."""
        slopes = Enclosure.between(low, high)
        found = self._formulas.evaluate("curvature_at_slope", slopes, Enclosure.exact(y), shape=low.shape)
        return np.fmax(found.low, 0.0), np.fmin(found.high, self.entry_smoothness)

    def largest(self, low: Array, high: Array, y: Array, gap_bound: Array) -> Array:
        """Return upper bounds of loss'' between slopes from low to high and the optimum (see smoothness_towards)."""
        arguments = Enclosure.between(low, high), Enclosure.exact(y), Enclosure.exact(gap_bound)
        found = self._formulas.evaluate("smoothness_towards", *arguments, shape=low.shape)
        return np.fmin(found.high, self.entry_smoothness)

    def between(
        self, slopes: Enclosure, shrink: float, y: Array, counts: Array, gap_bound: float
    ) -> tuple[Array, Array]:
        """Return bounds of loss'' between a point, the same with scaled slopes, and the optimum (see `Proof`)."""
        low, high = scaled_range(slopes, shrink)
        with quiet():
            most, blur = self.largest(low, high, y, up(gap_bound / counts)), 4 * EPS * slopes.size
            for _ in range(3):
                before = most
                # what rounding takes from the sums is within the last term, and the 2^-48 that a root is rounded up by
                away = root(up(up(most / counts) * gap_bound)) + blur
                ends = low - away, high + away
                least, most = self.curvatures(*ends, y)
                if (most >= SETTLED * before).all():
                    break
            return (least if slopes.ndim == 1 else self.shares(*ends, y)), most

    def stiffness(self, slopes: Enclosure, shrink: float, y: Array, counts: Array) -> float:
        """Return a bound of the sum of `s t^2 / loss''` over slopes t, with the least loss'' down to `shrink t`."""
        sizes, (low, high) = slopes.size, scaled_range(slopes, shrink)
        blur = 4 * EPS * sizes + 2 * LEAST  # products with the scale are rounded once, and so are these sums
        with quiet():
            least = self.curvatures(low - blur, high + blur, y)[0]
            bent = np.where(sizes > 0, sizes * (sizes / least), 0.0)
            underflow = 4 * LEAST * (float(counts.sum()) + len(sizes))
            return (float(counts @ bent) + underflow) * (1 + float(gamma(len(sizes) + 8)))

    def dual_sum(self, slopes: Enclosure, shrink: float, y: Array, counts: Array) -> Enclosure:
        """Return an upper bound of the sum of the conjugates at scaled slopes, times weights."""
        with quiet():
            low, high = shrink * slopes.low, shrink * slopes.high
        ends = np.nextafter(np.minimum(low, high), -np.inf), np.nextafter(np.maximum(low, high), np.inf)
        return (Enclosure.exact(self.conjugates(*ends, y)) * Enclosure.exact(counts)).sum()

    def seen(
        self, image: Enclosure, column: Enclosure | None, coefficient: float, samples: tuple[Array, Array]
    ) -> Sight | None:
        """Return what targets and weights show, with one free column at most, from the compiled core.

        Entries of the column are at most about 1. None where the core does not know the loss, or cannot tell.
        """
        return None

    def largest_eigenvalues(self, most: Array) -> Array:
        """Return upper bounds of the eigenvalues of the Hessian of each sample, from bounds of its diagonal."""
        return np.asarray(np.minimum(np.sum(most, axis=1) * (1 + 2.0**-40), self.smoothness))

    def shares(self, low: Array, high: Array, y: Array) -> Array:
        """Return q for which the Hessian of every sample is at least `diag(q) - q q' / sum(q)`, if slopes are between.

        Nothing is known of a loss of several outputs in general.
        """
        return np.zeros(low.shape)

    def tops(self, low: Array, high: Array, y: Array) -> Array:
        """Return r for which slopes of a sample between low and high obey `|t - t'|^2 / r <= (t - t') . (u - u')`.

        The left side is a sum over the outputs. Nothing is known of a loss of several outputs in general.
        """
        return np.full(low.shape, np.inf)

    def check(self, u: Array, y: Array) -> None:
        """Raise Uncertain if a formula does not run on enclosures at all."""
        near = Enclosure.exact(u).widened(2.0**-30)
        slopes = self.slopes(near, y)
        self.values(near, slopes, y)
        self.conjugates(slopes.low, slopes.high, y)
        self.curvatures(slopes.low, slopes.high, y)
        self.largest(slopes.low, slopes.high, y, np.ones((len(y), *[1] * (u.ndim - 1))))


@dataclass(frozen=True, eq=False)
class CompiledBounds(LossBounds):
    """Bounds of a loss that the core knows; those of losses that are made of it are what their own formulas tell."""

    @property
    def number(self) -> int | None:
        """The number of the loss in the core, None if it is another one."""
        return None

    def seen(
        self, image: Enclosure, column: Enclosure | None, coefficient: float, samples: tuple[Array, Array]
    ) -> Sight | None:
        number, n = self.number, len(image)
        if number is None:
            return None
        slopes, rest = np.empty((2, n)), np.empty((8, n))
        free = (None, None) if column is None else (column.mid, column.rad)
        found = _core.see(number, *samples, image.mid, image.rad, *free, coefficient, slopes, rest)
        if found is None or found[0] < 0:
            return None
        shift, *losses = found
        return Sight(shift, Enclosure(*slopes), Enclosure(rest[2], rest[3]), Enclosure(*losses))

    def stiffness(self, slopes: Enclosure, shrink: float, y: Array, counts: Array) -> float:
        given, out = (slopes.mid, slopes.rad, y, counts, shrink), np.empty((5, len(y)))
        found = None if self.number is None else _core.stiffness(self.number, *given, out)
        return super().stiffness(slopes, shrink, y, counts) if found is None else float(found)

    def dual_sum(self, slopes: Enclosure, shrink: float, y: Array, counts: Array) -> Enclosure:
        given, out = (slopes.mid, slopes.rad, y, counts, shrink), np.empty((5, len(y)))
        found = None if self.number is None else _core.dual_sum(self.number, *given, out)
        return super().dual_sum(slopes, shrink, y, counts) if found is None else Enclosure(*found)

    def conjugates(self, low: Array, high: Array, y: Array) -> Array:
        number, out = self.number, np.empty(len(y))
        known = number is not None and _core.conjugates(number, low, high, y, out)
        return out if known else super().conjugates(low, high, y)


def scaled_range(slopes: Enclosure, shrink: float) -> tuple[Array, Array]:
    """Return the least and the largest of slopes and of the same, scaled down."""
    low, high = slopes.low, slopes.high
    with quiet():
        return np.minimum(low, shrink * low), np.maximum(high, shrink * high)
