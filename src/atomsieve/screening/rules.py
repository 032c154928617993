"""Safe rules: find, from one point, blocks of atoms that are in no optimal decomposition.

All rules use one fact: the optimal dual point lies within `radius` of the current one (Point.radius). An atom whose
score is too far below the best score now cannot have the best score at the optimum.

With a ridge, a block is zero at the optimum if and only if its score by `-A' theta*`, the loss alone, is at most the
slope of the penalty there. So the rules compare that score with a lower bound of the slope (`below_slope`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from atomsieve import core
from atomsieve.problem import Point
from atomsieve.typing import Array, Mask

THRIFT = 8
"""The pairwise rule takes one product with A' in so many looks, at most."""


class Rule(Protocol):
    """Judges the blocks at a point."""

    def keep(self, point: Point) -> Mask:
        """Return which blocks may still carry weight at the optimum."""


def below_slope(point: Point, spread: Array | float, lengths: Array | float) -> Mask:
    """Return which blocks are certainly zero at the optimum of a problem with a ridge."""
    with np.errstate(over="ignore", invalid="ignore"):  # a NaN is no bound: it rules nothing out
        highest = point.loose_scores + point.radius * spread + point.doubt * lengths
        return np.asarray(highest < point.least_slope(spread, lengths))


def zero_within(point: Point, spread: Array | float, lengths: Array | float) -> Mask:
    """Return which coefficients are certainly zero at the optimum of a problem with limits.

    That is so if 0 is within the limits, and no way from there pays at the slope of the penalty.
    """
    limits = point.problem.limits
    assert limits is not None  # noqa: S101
    off = point.radius * spread + point.doubt * lengths
    with np.errstate(over="ignore", invalid="ignore"):
        scores = np.where(point.scores > -np.inf, limits.scores(point.z), -np.inf)
        rooms = np.where(point.z.ravel() > 0, limits.above, limits.below) * limits.prices
        least = limits.slope(point.problem.penalty, np.maximum(scores - off, 0.0), rooms)
        return np.asarray((scores + off < least) & (limits.nearest == 0))


class PaperRule:
    """The paper's rule: out when `sigma(z) - p . z > 2 sqrt(L gap)`."""

    def keep(self, point: Point) -> Mask:
        problem = point.problem
        if problem.limits is not None:
            return ~zero_within(point, problem.widest, float(problem.lengths.max()))
        if problem.shrinkage is not None:
            return ~below_slope(point, problem.widest, float(problem.lengths.max()))
        room = 2 * (problem.widest * point.radius + float(problem.lengths.max()) * point.doubt)
        with np.errstate(invalid="ignore"):  # a NaN is no bound: it rules nothing out
            kept: Mask = ~(point.scores + room < point.sigma)
        return kept


@dataclass
class PairwiseRule:
    """Data-space rule: p is out when `(q - p) . z > norm(A (q - p))_w r` for the best atom q.

    The rule costs nothing if the sum of the norms bounds the distance. The true distances cost one more product with
    A'. The rule takes this product at one look in eight at most, and only when the gap has fallen to a quarter of its
    value at the last such product.
    """

    _spent_at: float = field(default=np.inf)
    _looks: int = 0

    def keep(self, point: Point) -> Mask:
        problem = point.problem
        spread = problem.spread
        if problem.limits is not None:
            return ~zero_within(point, spread, problem.lengths)
        if problem.shrinkage is not None:
            return ~below_slope(point, spread, problem.lengths)
        least_reach = point.least_radius * problem.lifted.spreads.narrowest if problem.core.signed is True else 0.0
        if least_reach > max(point.sigma, problem.penalty.slope(0.0)):  # and no score is negative
            return np.ones(len(point.scores), dtype=bool)
        radius = point.radius
        with np.errstate(over="ignore", invalid="ignore"):  # a NaN rules nothing out
            # at the optimum the best score is the slope of the penalty, which is at least that at 0
            floor = problem.penalty.slope(0.0)
            kept = core.kept(point.scores, spread, problem.lengths, radius, point.doubt, floor)
        self._looks += 1
        if self._looks >= THRIFT and point.gap <= self._spent_at / 4 and kept.any():
            self._spent_at, self._looks = point.gap, 0
            direction, length = problem.seminorm.polar(point.atom.image(problem.design))
            cross = problem.seminorm.cross(direction)
            room = point.doubt * (problem.lengths + (problem.lengths[point.best] if point.sigma > 0 else 0.0))
            with np.errstate(over="ignore", invalid="ignore"):
                bound = problem.core.rivals(point.z, cross, spread, (point.atom, length), radius)
                kept &= ~(bound + room < point.sigma)
        return kept


class KeepAll:
    """No screening."""

    def keep(self, point: Point) -> Mask:
        return np.ones(len(point.scores), dtype=bool)


RULES: dict[str, type[Rule]] = {"auto": PairwiseRule, "paper": PaperRule, "off": KeepAll}


def built_in(rule: Rule) -> bool:
    """Return whether a rule is one of the package's own, which need not see every point of a run."""
    return type(rule) in RULES.values()


def rules_for(screening: str | Rule) -> Callable[[], Rule]:
    """Return a function that makes the rule for a run: a new one if it has a name, otherwise the user's own object."""
    if isinstance(screening, str) and screening in RULES:
        return RULES[screening]
    if callable(getattr(screening, "keep", None)) and not isinstance(screening, (str, type)):
        return lambda: screening
    names = ", ".join(map(repr, RULES))
    raise ValueError(f"screening must be one of {names}, or a rule with keep(point), got {screening!r}.")
