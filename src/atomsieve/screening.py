"""Safe rules: which blocks of atoms can be in no optimal decomposition, judged from one point.

All rest on one fact: the optimal dual point lies within `radius` of the current one (Point.radius), so an atom whose
score is too far below the best cannot be among the best at the optimum.
"""

from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from atomsieve.problem import Point, Problem
from atomsieve.state import State
from atomsieve.typing import Index, Mask

THRIFT = 8
"""Looks at the data for each product that the pairwise rule may spend."""


class Rule(Protocol):
    """Judges the blocks at a point."""

    def keep(self, point: Point) -> Mask:
        """Return which blocks may still carry weight at the optimum."""


class PaperRule:
    """The paper's rule: out when `sigma(z) - p . z > 2 sqrt(L gap)`."""

    def keep(self, point: Point) -> Mask:
        problem = point.problem
        room = 2 * (problem.widest * point.radius + float(problem.lengths.max()) * point.doubt)
        with np.errstate(invalid="ignore"):  # without a bound nothing is ruled out
            kept: Mask = ~(point.scores + room < point.sigma)
        return kept


@dataclass
class PairwiseRule:
    """Data-space rule: out when `(q - p) . z > norm(A (q - p))_w r` for q, the best atom.

    With the distance bounded by the sum of the norms the rule is free; the true distances cost one more product with
    A', which is spent at one look in eight at most, and only once the gap has fallen to a quarter of what it was when
    last spent.
    """

    _spent_at: float = field(default=np.inf)
    _looks: int = 0

    def keep(self, point: Point) -> Mask:
        problem, radius = point.problem, point.radius
        spread = problem.spread
        norm = float(spread[point.best]) if point.sigma > 0 else 0.0
        room = point.doubt * (problem.lengths + (problem.lengths[point.best] if point.sigma > 0 else 0.0))
        with np.errstate(invalid="ignore"):
            kept: Mask = ~(point.scores + radius * (spread + norm) + room < point.sigma)
        self._looks += 1
        if self._looks >= THRIFT and point.gap <= self._spent_at / 4 and kept.any():
            self._spent_at, self._looks = point.gap, 0
            direction, length = problem.measure.polar(point.atom.image(problem.design))
            cross = problem.measure.cross(direction)
            bound = problem.core.rivals(point.z, cross, spread, (point.atom, length), radius)
            kept &= ~(bound + room < point.sigma)  # a NaN rules nothing out
        return kept


class KeepAll:
    """No screening."""

    def keep(self, point: Point) -> Mask:
        return np.ones(len(point.scores), dtype=bool)


RULES: dict[str, type[Rule]] = {"auto": PairwiseRule, "paper": PaperRule, "off": KeepAll}


@dataclass(frozen=True, eq=False)
class Held:
    """What is still in the sieve: a problem on some rows of the full one, its blocks, and which of them are alive."""

    problem: Problem
    rows: Index
    blocks: Index
    alive: Mask

    @property
    def dead(self) -> float:
        """The share of columns that belong to no block alive."""
        return 1 - float(np.count_nonzero(self._rows_alive())) / self.problem.shape[0]

    def compact(self) -> tuple["Held", Index, Index]:
        """Return the problem of the columns alive, with the rows and the blocks it keeps."""
        rows = np.flatnonzero(self._rows_alive())
        kept = self.problem.core.blocks(rows, self.problem.shape)
        held = Held(self.problem.restrict(rows), self.rows[rows], self.blocks[kept], self.alive[kept])
        return held, rows, kept

    def _rows_alive(self) -> Mask:
        return self.problem.core.rows(self.alive, self.problem.shape)


class Sieve:
    """The atoms still alive, over a whole run.

    Removed blocks leave the support function at once and carry no weight. Their columns leave the products, by a copy
    of the others, once that copy holds no more than `room` of all columns and the work wasted on dead ones adds up to
    a product with all of them.
    """

    def __init__(self, problem: Problem, rule: Rule, room: float = 0.5) -> None:
        self.rule, self.room = rule, room
        self.full = problem
        blocks = np.arange(len(problem.eligible))
        self.held = Held(problem, np.arange(problem.shape[0]), blocks, problem.eligible)
        # unpenalised coordinates have no atoms and are never ruled out
        self._unpenalised: Mask = np.zeros(len(blocks), dtype=bool)
        self._unpenalised[problem.core.labels(problem.shape)[problem.core.free_rows()]] = True
        self._dead = self.held.dead
        self._wasted = 0.0

    @property
    def problem(self) -> Problem:
        """The problem on the columns that are held."""
        return self.held.problem

    @property
    def count(self) -> int:
        """How many blocks are not ruled out."""
        return int(np.count_nonzero(self.held.alive) + np.count_nonzero(self._unpenalised))

    @property
    def alive(self) -> Mask:
        """Which blocks of the full problem are not ruled out."""
        mask = self._unpenalised.copy()
        mask[self.held.blocks] |= self.held.alive
        return mask

    def at(self, state: State) -> Point:
        """Return the point at a state of the current problem."""
        return self.held.problem.at(state, self.held.alive)

    def look(self, point: Point) -> Point:
        """Remove what a point of the current problem proves superfluous, and return the point without it."""
        held, state = self.held, point.state
        removed = held.alive & ~self.rule.keep(point) if point.is_finite else np.zeros(1, dtype=bool)
        if removed.any():
            held = replace(held, alive=held.alive & ~removed)
            x = held.problem.core.keep(state.x, held.alive)
            if not np.array_equal(x, state.x):
                point = held.problem.at(held.problem.state(x, point.state.free), held.alive)
            self.held, self._dead = held, held.dead
        self._wasted += self._dead
        if 1 - self._dead > self.room or self._wasted < 1 or not held.alive.any():
            return point
        self.held, rows, kept = held.compact()
        self._dead = self._wasted = 0.0
        return point.restrict(self.held.problem, rows, kept)
