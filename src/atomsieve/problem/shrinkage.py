"""A ridge beside the penalty, `sum over blocks of ridge_b |x_b|^2 / 2`: the elastic net.

It is eliminated, not stacked below the data. With `h(x) = phi(kappa(x)) + sum_b ridge_b |x_b|^2 / 2`, where kappa is a
sum of prices times l2 norms of blocks, the dual of the problem has the conjugate of h in place of that of phi:

    h*(z) = min over t >= 0 of   phi*(t) + sum_b (|z_b| - t price_b)_+^2 / (2 ridge_b)

It is finite for every z. The minimal t is the slope of the penalty at the point that attains h*, and every other t
gives an upper bound. Beside any other gauge, h*(z) is the least of `phi*(t) + |z - w|^2 / (2 ridge)` over all t and w
with sigma(w) <= t; the best w for a t is what the prox of `t kappa` takes from z (`ProximalShrinkage`).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from atomsieve.intake.arguments import as_floats, is_number, shown
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.roots import monotone_zero
from atomsieve.penalties import Penalty
from atomsieve.typing import Array, Index, Mask

if TYPE_CHECKING:
    from atomsieve.problem.lifted import Lifted

EXACT = 1e-14
"""Part of its first derivative to which the minimum over the slope is found."""


class Conjugate(NamedTuple):
    """h* at some z, and the slope t of the penalty that attains it."""

    value: float
    slope: float


@dataclass(frozen=True, eq=False)
class Ridge:
    """A ridge: one number, or one for each lifted column; in units of the slope of the penalty at 0 if coupled."""

    strength: float | Array
    coupled: bool = False

    def at(self, penalty: Penalty) -> float | Array:
        """Return the ridge beside a penalty."""
        return self.strength * penalty.slope(0.0) if self.coupled else self.strength

    @property
    def is_zero(self) -> bool:
        """Whether there is no ridge, whatever the penalty."""
        return self.strength == 0 if isinstance(self.strength, float) else not self.strength.any()


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """The ridge of every block, and what the blocks cost."""

    ridges: Array
    """The ridge of each block."""

    prices: Array
    """The price of each block."""

    eligible: Mask
    """Which blocks have a price, and so a ridge."""

    labels: Index
    """The block of every coefficient, row by row."""

    @classmethod
    def of(cls, ridge: float | Array, lifted: "Lifted") -> "Shrinkage":
        """Return the ridges of the blocks of a problem, from one number for all, or one for each column."""
        if lifted.prices is None:
            count = len(lifted.eligible)
            blocks = np.full(count, ridge), np.ones(count), lifted.eligible, lifted.labels
            return ProximalShrinkage(*blocks, lifted.core, lifted.shape)
        per = int(np.prod(lifted.shape[1:]))
        if isinstance(ridge, float):
            ridges = np.full(len(lifted.prices), ridge)
        else:
            ridges = np.repeat(ridge if lifted.places is None else ridge[lifted.places], per)
        return cls(ridges, lifted.prices, lifted.eligible, lifted.labels)

    def _rates(self, blocks: Index) -> Array:
        """Return how fast the gauge of blocks of the minimiser falls with the slope; 0 for blocks without a price."""
        priced = np.where(self.eligible[blocks], self.prices[blocks], 0.0)
        return np.asarray(priced * (priced / self.ridges[blocks]))

    @cached_property
    def by_entry(self) -> Array:
        """The ridge of every coefficient, row by row."""
        return np.asarray(self.ridges[self.labels])

    def of_entries(self, entries: Index) -> Array:
        """Return the ridge of some coefficients."""
        return np.asarray(self.ridges[self.labels[entries]])

    def drag(self, x: Array, support: Index) -> Array:
        """Return the gradient of the ridge on the support of x."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.of_entries(support) * x.ravel()[support]

    def value(self, x: Array, support: Index) -> float:
        """Return what the ridge charges; x is zero outside of the support."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(self.drag(x, support) @ x.ravel()[support]) / 2

    def conjugate(self, penalty: Penalty, scores: Array) -> Conjugate:
        """Return h* at a z with these scores, `|z_b| / price_b`; blocks of score -inf are left out."""
        least = penalty.slope(0.0)
        top = float(scores.max())
        if not top < np.inf:  # not even a number, perhaps
            return Conjugate(top, least)
        beyond = np.flatnonzero(scores > least)  # few
        steep, rates = scores[beyond], self._rates(beyond)

        def derivative(further: float) -> float:
            return penalty.argmax(least + further) - float(rates @ np.maximum(steep - (least + further), 0.0))

        def at(slope: float) -> Conjugate:
            over = np.maximum(steep - slope, 0.0)
            return Conjugate(penalty.conjugate(slope) + float((rates * over) @ over) / 2, slope)

        with np.errstate(over="ignore", invalid="ignore"):
            if not (penalty.superlinear and len(steep)):
                return at(least)
            found = at(least + monotone_zero(derivative, top - least, EXACT))
            # the best slope of a tiny ridge may be between the best score and the float below it
            return min(found, at(top), key=lambda known: known.value)

    def mass(self, penalty: Penalty, scores: Array) -> float:
        """Return the gauge of what attains h* at a z with these scores: how fast h* rises if all of them rise."""
        slope = self.conjugate(penalty, scores).slope if penalty.superlinear else penalty.slope(0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            beyond = np.flatnonzero(scores > slope)
            return float(self._rates(beyond) @ (scores[beyond] - slope))

    def fitting_scale(self, slope: float, scores: Array, sizes: Array) -> float:
        """Return the largest scale, at most 1, at which no score exceeds what it is at the optimum if x is optimal.

        That is the slope of the penalty, plus the ridge times x in the units of a score. `sizes` are the gauges of the
        blocks of x.
        """
        with np.errstate(all="ignore"):
            beyond = np.flatnonzero(scores > slope)  # few
            steep, own = scores[beyond], sizes[beyond]
            held = slope + np.where(own > 0, own / self._rates(beyond), 0.0)
            return float(np.min(held / steep, where=steep > held, initial=1.0))

    @cached_property
    def atoms(self) -> Array:
        """`ridge |p|^2` for the atoms p of each block: how much the ridge adds to their curvature."""
        prices = np.where(self.eligible, self.prices, 1.0)
        return np.where(self.eligible, self.ridges / prices / prices, 0.0)


@dataclass(frozen=True, eq=False)
class ProximalShrinkage(Shrinkage):
    """One ridge for all coefficients, beside a gauge with a prox; its prices mean nothing."""

    gauge: Any
    shape: tuple[int, ...]
    """The shape in which the gauge sees x."""

    def answer(self, penalty: Penalty, z: Array, sigma: float) -> float:
        """Return an upper bound of h* at z: its value for the slope of a linear penalty, or for sigma of `z - ridge x`.

        At the optimum that is the slope of the penalty.
        """
        slope = sigma if penalty.superlinear else penalty.slope(0.0)
        left = self.gauge.prox(z, (slope, 0.0)).ravel()
        return penalty.conjugate(slope) + float(left @ left) / 2 / float(self.ridges[0])

    @cached_property
    def atoms(self) -> Array:
        """A bound of `ridge |p|^2`: the l2 norm of an atom is at most the sum of its absolute values."""
        longest = float(self.gauge.scores(np.ones(self.shape)).max())
        return np.where(self.eligible, self.ridges * longest * longest, 0.0)


def check_ridge(ridge: object, count: int, entrywise: bool) -> float | Array:
    """Return the ridge as one number, or as one for each of the columns of X; refuse what is neither."""
    if is_number(ridge):
        if not 0 <= float(ridge) < np.inf:  # type: ignore[arg-type]
            raise ValueError(f"ridge must be a finite number that is not negative, got {shown(ridge)}.")
        return float(ridge)  # type: ignore[arg-type]
    given = as_floats(ridge, "ridge")
    if given.shape != (count,):
        raise ValueError(f"ridge must be a number, or one for each of the {count} features, got shape {given.shape}.")
    if not ((given > 0) & (given < np.inf)).all():
        raise ValueError("ridge must hold positive finite numbers, if it has one for each feature.")
    if not entrywise:
        raise ValueError("ridge must be one number for a gauge whose blocks hold several coefficients.")
    return np.array(given)
