"""The ordered weighted l1 norm: sorted absolute values, the largest with the largest weight."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from atomsieve.gauges.facts import Evidence, Facts
from atomsieve.gauges.proximal import Face, Line, on_line
from atomsieve.gauges.symmetric import SymmetricGauge, sums_above
from atomsieve.intake.arguments import as_floats, keep_copy
from atomsieve.numerics.enclosures import Enclosure, gamma, up
from atomsieve.numerics.programs import falling
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask


@dataclass(frozen=True, eq=False, repr=False)
class OWL(SymmetricGauge):
    """Ordered weighted l1 norm, `kappa(x) = sum_i weights_i |x|_(i)`, where `|x|_(1)` is the largest absolute value.

    `weights` must not rise and not be negative, one for each coefficient, the first one positive. Solutions have zeros
    and clusters: coefficients of the same absolute value. `sigma(z)` is the largest of `S_k / L_k`, where `S_k` is the
    sum of the k largest absolute values of z and `L_k` that of the first k weights; the atoms have k entries
    `+-1 / L_k`. Constant weights make it the l1 norm. `OSCAR` and `SLOPE` are two common choices of the weights.

    Bogdan, van den Berg, Sabatti, Su and Candes, SLOPE: adaptive variable selection via convex optimization, Annals of
    Applied Statistics 9 (2015).

    >>> import numpy as np
    >>> gauge = OWL([4.0, 3.0, 2.0, 1.0])
    >>> gauge.value(np.array([1.0, -2.0, 0.0, 0.0])), gauge.support(np.array([8.0, 6.0, 4.0, 2.0]))
    (11.0, 2.0)
    """

    weights: Any

    chained = True

    def __post_init__(self) -> None:
        weights = as_floats(self.weights, "OWL: weights")
        if weights.ndim != 1 or not len(weights) or not np.isfinite(weights).all():
            raise ValueError("OWL: weights must be one list of finite numbers, one for each coefficient.")
        if (weights < 0).any() or (np.diff(weights) > 0).any() or not weights[0] > 0:
            raise ValueError(
                "OWL: weights must not rise and not be negative, with the first one positive; otherwise this is no "
                "convex function. Sort them, the largest first."
            )
        keep_copy(self, "weights", weights)

    def check(self, shape: tuple[int, ...]) -> None:
        if len(self.weights) != np.prod(shape):
            raise ValueError(
                f"OWL: weights must have one number for each coefficient, {int(np.prod(shape))} in all, got "
                f"{len(self.weights)}."
            )

    @cached_property
    def _totals(self) -> Array:
        """The sums of the first 1, 2, ... weights."""
        return np.cumsum(self.weights)

    def largest_score(self, falling: Array) -> tuple[float, int]:
        ratios = np.cumsum(falling) / self._totals[: len(falling)]
        best = int(ratios.argmax())
        return float(ratios[best]), best + 1

    def bound(self, falling: Array) -> float:
        totals = self._totals[: len(falling)] * (1 - 2 * gamma(len(falling)))
        return float(up((sums_above(falling) / totals).max() * (1 + 4 * EPS)))

    def size(self, falling: Array) -> float:
        return float(self.weights[: len(falling)] @ falling)

    def enclose_size(self, falling: Array) -> Enclosure:
        return (Enclosure.exact(self.weights[: len(falling)]) * Enclosure.exact(falling)).sum()

    def weigh(self, chosen: Array) -> Array:
        return np.asarray(np.where(chosen < 0, -1.0, 1.0) / self._totals[len(chosen) - 1])

    def prox(self, v: Array, line: Line) -> Array:
        flat = v.ravel()
        sizes = np.abs(flat)
        order = np.argsort(-sizes, kind="stable")
        sizes, weights = sizes[order], self.weights[: len(flat)]

        def shrunk(slope: float) -> Array:
            return np.maximum(falling(sizes - slope * weights), 0.0)

        found = np.empty(len(flat))
        found[order] = on_line(shrunk, self.size, line, self.largest_score(sizes)[0])
        return np.copysign(found, flat).reshape(v.shape)

    def face(self, x: Array) -> Face:
        flat = x.ravel()
        sizes, labels, counts = np.unique(-np.abs(flat), return_inverse=True, return_counts=True)
        ends = np.cumsum(counts)
        weights = np.diff(self._totals[ends - 1], prepend=0.0)
        inside = np.count_nonzero(sizes)
        labels = np.where(labels < inside, labels, -1)
        return Face.of_signs(np.sign(flat), labels, -sizes[:inside], weights[:inside])

    def settle(self, evidence: Evidence, facts: Facts) -> Facts:
        # Atoms are sets T with signs. One that can have the best score has `sum of |z*| over T = slope L_|T|`, so none
        # can that stays below, with upper bounds of |z*| and a lower bound of the slope. Of all sets of q entries with
        # i and without j the largest sum is that of the largest others; `sums` are those of the q largest in all.
        order = np.argsort(-evidence.most, kind="stable")
        sets = Sets(evidence.most[order], self._totals[: len(order)], evidence.slope[0])
        zero, nonzero, labels = (
            np.zeros(len(order), dtype=bool),
            np.zeros(len(order), dtype=bool),
            facts.clusters.copy(),
        )
        zero[order] = sets.all_without
        nonzero[order] = sets.all_with & (facts.signs[order] != 0)
        known = (facts.signs[order] != 0) & ~zero[order]
        labels[order] = _linked(sets.never_apart & known[:-1] & known[1:])
        return replace(facts, zero=zero, nonzero=nonzero, clusters=labels)


@dataclass(frozen=True, eq=False)
class Sets:
    """Which sets of entries can have the best score, by upper bounds of |z*| in falling order and the least slope.

    A set T stays below if `sum of |z*| over T < slope L_|T|`. Places are counted from 0, sizes q of sets from 1.
    """

    falling: Array
    totals: Array
    slope: float

    @cached_property
    def sums(self) -> Array:
        """Upper bounds of the sums of the q largest."""
        return sums_above(self.falling)

    @cached_property
    def needed(self) -> Array:
        """Lower bounds of what a set of q entries needs."""
        sizes = np.arange(1, len(self.totals) + 1)
        return np.asarray(self.totals * (1 - 2 * gamma(sizes)) * (max(self.slope, 0.0) * (1 - 4 * EPS)))

    @cached_property
    def below(self) -> Mask:
        """Whether all sets of q entries stay below."""
        return self.sums < self.needed

    @cached_property
    def room(self) -> Array:
        """How large one more entry may be beside the q - 1 largest, for all sizes up to q."""
        before = np.append(0.0, self.sums[:-1])
        with np.errstate(invalid="ignore"):
            rooms = self.needed - before - 4 * EPS * (self.needed + before)
        return np.minimum.accumulate(np.fmax(rooms, -np.inf))

    @cached_property
    def excess(self) -> Array:
        """What must be missing from the q + 1 largest, for all sizes from q on that leave an entry out."""
        after = self.sums[1:]
        with np.errstate(invalid="ignore"):
            excesses = after - self.needed[:-1] + 4 * EPS * (after + self.needed[:-1])
        excesses = np.where(np.isnan(excesses), np.inf, excesses)
        return np.append(np.maximum.accumulate(excesses[::-1])[::-1], -np.inf)

    @cached_property
    def all_without(self) -> Mask:
        """Which entries are in no set that can have the best score."""
        behind = np.append(np.logical_and.accumulate(self.below[:0:-1])[::-1], True)
        return np.asarray((self.falling < self.room) & behind)

    @cached_property
    def all_with(self) -> Mask:
        """Which entries are in every such set."""
        before = np.append(True, np.logical_and.accumulate(self.below[:-1]))
        return before & (self.falling > self.excess)

    @cached_property
    def never_apart(self) -> Mask:
        """Which entries are in the same sets as the one behind them."""
        before = np.append(np.inf, self.room[:-2]) if len(self.room) > 1 else self.room[:0]
        return (self.falling[:-1] < before) & self.below[:-1] & (self.falling[1:] > self.excess[1:])


def _linked(links: Mask) -> Index:
    """Return a number for each run of places that are linked to the next one; -1 for a place alone."""
    inside = np.append(links, False) | np.append(False, links)
    starts = inside & ~np.append(False, links)
    return np.where(inside, np.cumsum(starts) - 1, -1)
