"""What a certificate needs of a loss: values, slopes and curvatures of all samples, as enclosures.

The formulas of the loss are evaluated on enclosures; its parameters and the targets are enclosures too. If a number
occurs more than once in a formula, its radius counts each time. Therefore values and slopes are computed at the
midpoint, where the radius is 0, and the mean value theorem gives the radius.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Enclosure, quiet
from atomsieve.piece import Formulas
from atomsieve.typing import Array

if TYPE_CHECKING:
    from atomsieve.losses.base import Loss


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
