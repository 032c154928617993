"""Safe rules: which blocks of atoms can be in no optimal decomposition, judged from one point.

All rest on one fact: the optimal dual point lies within `radius` of the current one (Point.radius), so an atom whose
score is too far below the best cannot be among the best at the optimum.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from atomsieve.problem import Point, Problem
from atomsieve.state import State
from atomsieve.typing import Index, Mask


class Rule(Protocol):
    """Judges the blocks at a point."""

    def keep(self, point: Point) -> Mask:
        """Return which blocks may still carry weight at the optimum."""


class PaperRule:
    """The paper's rule: out when `sigma(z) - p . z > 2 sqrt(L gap)`."""

    def keep(self, point: Point) -> Mask:
        kept: Mask = ~(point.scores + 2 * point.problem.widest * (point.radius + point.doubt) < point.sigma)
        return kept


@dataclass
class PairwiseRule:
    """Data-space rule: out when `(q - p) . z > norm(A (q - p))_w r` for q, the best atom.

    With the distance bounded by the sum of the norms the rule is free; the true distances cost one more product with
    A', which is spent only once the gap has fallen to a quarter of what it was when last spent.
    """

    _spent_at: float = field(default=np.inf)

    def keep(self, point: Point) -> Mask:
        problem, radius, doubt = point.problem, point.radius, point.doubt
        spread = problem.spread
        norm = float(spread[point.best]) if point.sigma > 0 else 0.0
        room = doubt * (spread + norm)
        kept: Mask = ~(point.scores + radius * (spread + norm) + room < point.sigma)
        if point.gap <= self._spent_at / 4 and kept.any():
            self._spent_at = point.gap
            atom = point.atom
            cross = problem.measure.cross(problem.measure.direction(atom.image(problem.design)))
            bound = problem.core.rivals(point.z, cross, spread, (atom, norm), radius)
            kept &= ~(bound + room < point.sigma)  # a NaN rules nothing out
        return kept


class KeepAll:
    """No screening."""

    def keep(self, point: Point) -> Mask:
        return np.ones(len(point.scores), dtype=bool)


RULES: dict[str, type[Rule]] = {"auto": PairwiseRule, "paper": PaperRule, "off": KeepAll}


class Sieve:
    """The atoms still alive, over a whole run.

    Removed blocks leave the support function at once and carry no weight. Their columns leave the products once at
    least half of the columns are dead and the work wasted on dead ones adds up to a product with all of them.
    """

    def __init__(self, problem: Problem, rule: Rule) -> None:
        self.rule = rule
        self.full = problem
        self.problem = problem
        self.rows: Index = np.arange(problem.shape[0])
        self.emptied = False
        self._blocks: Index = np.arange(len(problem.eligible))
        self._alive: Mask = problem.eligible.copy()
        self._dead = self._dead_share()
        self._wasted = 0.0

    @property
    def count(self) -> int:
        """How many blocks are alive."""
        return int(np.count_nonzero(self._alive))

    @property
    def alive(self) -> Mask:
        """Which blocks of the full problem are alive."""
        mask = np.zeros(len(self.full.eligible), dtype=bool)
        mask[self._blocks] = self._alive
        return mask

    def look(self, state: State) -> Point:
        """Return the point at a state of the current problem, after removing what it proves superfluous.

        Afterwards `emptied` tells whether weight sat on removed atoms, so that the point is another than was asked.
        """
        point = self.problem.at(state, self._alive)
        self.emptied = False
        removed = self._alive & ~self.rule.keep(point) if point.is_finite else np.zeros(1, dtype=bool)
        if removed.any():
            self._alive &= ~removed
            self._dead = self._dead_share()
            x = self.problem.core.keep(state.x, self._alive)
            self.emptied = not np.array_equal(x, state.x)
            if self.emptied:
                point = self.problem.at(self.problem.state(x, point.state.free), self._alive)
        self._wasted += self._dead
        return self._compacted(point) if self._dead >= 0.5 and self._wasted >= 1 else point

    def _held_rows(self) -> Mask:
        held = self._alive[self.problem.core.labels(self.problem.shape)]
        return np.asarray(held if held.ndim == 1 else held.any(axis=1))

    def _dead_share(self) -> float:
        return 1 - float(np.count_nonzero(self._held_rows())) / self.problem.shape[0]

    def _compacted(self, point: Point) -> Point:
        """Return the point in the problem of the columns that are alive."""
        rows = np.flatnonzero(self._held_rows())
        kept = np.unique(self.problem.core.labels(self.problem.shape)[rows])
        self.problem = self.problem.restrict(rows)
        self.rows, self._blocks, self._alive = self.rows[rows], self._blocks[kept], self._alive[kept]
        self._dead = self._wasted = 0.0
        return point.restrict(self.problem, rows, kept)
