"""Limits of the coefficients beside the penalty, `lower <= x <= upper`, for gauges of single coefficients.

A box does not grow with the penalty, so it is part of no gauge. With `h(x) = phi(sum_j price_j |x_j|)` within the
limits and infinite outside, the dual of the problem has the conjugate of h in place of that of phi. Let p be the point
within the limits that is nearest to 0, `above = upper - p` and `below = p - lower`. Then
`|x_j| = |p_j| + |x_j - p_j|`, and

    h*(z) = min over t >= 0 of   phi*(t) + sum_j h_j(z_j; t)
    h_j(z; t) = p z - t price |p| + above (z - t price)_+ + below (-z - t price)_+

The sum falls with t, linearly between the scores of the coefficients, so that the best t is found without a search for
a root: it is the slope of the penalty at the size of the point that attains h*.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from atomsieve.intake.arguments import as_floats, is_number
from atomsieve.intake.names import closest
from atomsieve.numerics.cached import cached_property
from atomsieve.penalties import Penalty
from atomsieve.problem.shrinkage import Conjugate
from atomsieve.typing import Array, Mask

if TYPE_CHECKING:
    from atomsieve.gauges import Gauge
    from atomsieve.problem.data import Data
    from atomsieve.problem.lifted import Lifted

Pair = tuple[Array, Array]
"""Lower and upper limits, one for each entry of x, row by row."""


@dataclass(frozen=True, eq=False)
class CoefficientLimits:
    """The limits of every coefficient, row by row, and what they cost; 0 need not lie within them.

    Coefficients without atoms (unpenalised ones, which are no part of x here, and excluded ones) have the limits 0.
    """

    lower: Array
    upper: Array
    prices: Array
    """The price of each coefficient; 1 where it has no atoms."""

    @classmethod
    def of(cls, pair: Pair, lifted: "Lifted") -> Self:
        """Return the limits of the coefficients of a problem, from those of the full lifted design."""
        assert lifted.prices is not None  # noqa: S101
        lower, upper = pair
        if lifted.places is not None:
            rows = (-1, math.prod(lifted.shape[1:]))
            lower, upper = (side.reshape(rows)[lifted.places].ravel() for side in pair)
        eligible = lifted.eligible
        prices = np.where(eligible, lifted.prices, 1.0)
        return cls(np.where(eligible, lower, 0.0), np.where(eligible, upper, 0.0), prices)

    @cached_property
    def nearest(self) -> Array:
        """The point p within the limits that is nearest to 0."""
        return np.asarray(np.clip(0.0, self.lower, self.upper))

    @cached_property
    def above(self) -> Array:
        """How far coefficients may rise above p."""
        return np.asarray(self.upper - self.nearest)

    @cached_property
    def below(self) -> Array:
        """How far coefficients may fall below p."""
        return np.asarray(self.nearest - self.lower)

    @cached_property
    def least_mass(self) -> float:
        """The gauge of p."""
        return float(self.prices @ np.abs(self.nearest))

    def clip(self, x: Array) -> Array:
        """Return the point within the limits that is nearest to x."""
        return np.clip(x.ravel(), self.lower, self.upper).reshape(x.shape)

    def shrunk(self, x: Array, part: float) -> Array:
        """Return the point that lies a part of the way from p to x."""
        nearest = self.nearest.reshape(x.shape)
        return np.asarray(nearest + part * (x - nearest))

    def scores(self, z: Array) -> Array:
        """Return the score of each coefficient: the largest of `z / price` and `-z / price`, where it may go there.

        A coefficient that may go nowhere has the score 0.
        """
        scaled = z.ravel() / self.prices
        return np.maximum(np.where(self.above > 0, scaled, 0.0), np.where(self.below > 0, -scaled, 0.0))

    def open_scores(self, z: Array, x: Array) -> Array:
        """Return the same for ways away from 0 that are open at x: 0 where a coefficient is at the limit there."""
        flat, pulls = x.ravel(), z.ravel()
        closed = np.where(pulls > 0, flat >= self.upper, flat <= self.lower)
        return np.where(closed, 0.0, np.abs(pulls) / self.prices)

    def slope(self, penalty: Penalty, scores: Array, rooms: Array) -> float:
        """Return the slope t that attains h*, from the scores of coefficients and the sizes that they may grow to.

        If t lies between two scores, all coefficients with higher ones are at their limits, the others are those of p,
        and t is the slope of the penalty at the size of that point. It rises with every score.
        """
        order = np.argsort(-scores, kind="stable")
        falling = scores[order]
        masses = self.least_mass + np.append(0.0, np.cumsum(rooms[order]))
        low, high = 0, len(falling)
        while low < high:  # the largest number of coefficients beyond, at which the slope is below their scores
            middle = (low + high + 1) // 2
            steep = slope_at(penalty, float(masses[middle])) < falling[middle - 1]
            low, high = (middle, high) if steep else (low, middle - 1)
        return max(slope_at(penalty, float(masses[low])), float(falling[low]) if low < len(falling) else 0.0)

    def conjugate(self, penalty: Penalty, z: Array, alive: Mask, off: Array | float = 0.0) -> Conjugate:
        """Return h* at z; coefficients that are not alive are 0. Scores may be higher by `off`."""
        flat = np.where(alive, z.ravel(), 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = flat / self.prices
            scores, rooms = np.concatenate([scaled + off, off - scaled]), self._rooms
            beyond = np.flatnonzero((scores > penalty.slope(0.0)) & (rooms > 0) & np.concatenate([alive, alive]))
            scores, rooms = scores[beyond], rooms[beyond]
            t = self.slope(penalty, scores, rooms)
            held = scores > t
            fixed = float(self.nearest @ flat) + float(np.sum(np.abs(self.nearest) * self.prices * off))
            excess = float(rooms[held] @ (scores[held] - t))
            return Conjugate(penalty.conjugate(t) - t * self.least_mass + fixed + excess, t)

    @cached_property
    def _rooms(self) -> Array:
        """The sizes that coefficients may grow to beyond that of p, upwards and then downwards."""
        return np.concatenate([self.above * self.prices, self.below * self.prices])


def slope_at(penalty: Penalty, mass: float) -> float:
    """Return the slope of a penalty, infinite beyond its domain."""
    if not penalty.superlinear:
        return penalty.slope(0.0)
    return penalty.slope(mass) if penalty.admits(mass) else math.inf


def check_limits(limits: Any, gauge: "Gauge", lifted: "Lifted", data: "Data") -> Pair | None:
    """Return the limits of the entries of x, row by row, with the signs of the gauge; None if there are none.

    Refuse what is no pair of limits, and gauges of other than single coefficients.
    """
    if limits is None:
        return None
    form = (data.design.shape[1], *data.outputs)
    lower, upper = by_name(limits, form, data.names) if isinstance(limits, Mapping) else pair_of(limits, form)
    if (lower == -np.inf).all() and (upper == np.inf).all():
        return None
    if gauge.mapped or not lifted.core.one_by_one or lifted.prices is None:
        raise ValueError(
            f"limits need a gauge that charges each coefficient for itself, and {gauge!r} is none: its atoms move "
            "several coefficients at once. Use L1() or NonNegative(), or leave out the limits."
        )
    return within_signs(lower, upper, lifted)


def within_signs(lower: Array, upper: Array, lifted: "Lifted") -> Pair:
    """Return limits that respect the signs of the gauge; refuse those that leave no coefficient, or have no price."""
    signs = lifted.core.signs(lifted.shape)
    lower = np.where(signs, lower, np.maximum(lower, 0.0))
    if not (lower <= upper).all():
        entry = int(np.argmin(lower <= upper))
        positive = " The gauge allows no negative coefficients." if not np.all(signs) else ""
        raise ValueError(
            f"limits must have lower <= upper: for coefficient {entry} they are {lower[entry]:g} and "
            f"{upper[entry]:g}.{positive}"
        )
    bounded = (lower > -np.inf) | (upper < np.inf)
    if (bounded & (lifted.prices == 0)).any():
        raise ValueError(
            "limits must be infinite for coefficients of weight 0, which are unpenalised columns. Give them a small "
            "weight, or leave out their limits."
        )
    if ((lifted.prices == np.inf) & ((lower > 0) | (upper < 0))).any():
        raise ValueError("limits must contain 0 for coefficients that an infinite weight excludes.")
    return lower, upper


def pair_of(limits: Any, form: tuple[int, ...]) -> Pair:
    """Return the two sides of `limits=(lower, upper)`."""
    if isinstance(limits, str) or not isinstance(limits, (tuple, list)) or len(limits) != 2:
        raise ValueError(
            "limits must be a pair (lower, upper), of numbers or arrays with one number for each feature, or a dict "
            "{name: (lower, upper)}; None means no limit."
        )
    sides = zip(("lower", "upper"), limits, (-np.inf, np.inf), strict=True)
    lower, upper = (_side(side, value, none, form) for side, value, none in sides)
    return lower, upper


def _side(side: str, value: Any, none: float, form: tuple[int, ...]) -> Array:
    """Return one side, a number for each entry."""
    if isinstance(value, Mapping):
        raise ValueError("limits by name are one dict, such as {'age': (0, None)}, not a pair of dicts.")  # noqa: TRY004
    if value is None or is_number(value):
        found = np.full(form, none if value is None else float(value))
    else:
        given = as_floats(value, f"limits: {side}")
        if given.shape not in (form, form[:1]):
            raise ValueError(
                f"limits: {side} must be a number, or one for each of the {form[0]} features, got shape {given.shape}."
            )
        found = np.broadcast_to(given if given.shape == form else given[:, None], form)
    if np.isnan(found).any() or (found == -none).any():
        raise ValueError(f"limits: {side} must hold numbers, or {none:g} for no limit, without NaN or {-none:g}.")
    return np.array(found, dtype=np.float64).ravel()


def by_name(limits: Mapping[Any, Any], form: tuple[int, ...], names: Sequence[str] | None) -> Pair:
    """Return the two sides of `limits={name: (lower, upper)}`; all other coefficients have none."""
    if names is None:
        raise ValueError("limits by name need names of the features: pass names=[...] or a data frame.")
    places = {name: j for j, name in enumerate(names)}
    lower, upper = np.full(form, -np.inf), np.full(form, np.inf)
    for name, pair in limits.items():
        if name not in places:
            raise ValueError(f"limits: there is no feature {name!r}. {closest(str(name), names)}")
        sides = pair_of(pair, form[1:] or (1,))
        lower[places[name]], upper[places[name]] = (side.reshape(form[1:]) for side in sides)
    return lower.ravel(), upper.ravel()
