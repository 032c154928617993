"""The atoms still alive over a run, and the problem on their columns."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from atomsieve.intake.arguments import shown
from atomsieve.numerics.cached import cached_property
from atomsieve.problem import Point, Problem, State
from atomsieve.screening.rules import Rule
from atomsieve.typing import Index, Mask


@dataclass(frozen=True, eq=False)
class Held:
    """What is left in the sieve: the problem on some of the columns, its blocks, and which of them are alive."""

    problem: Problem
    alive: Mask
    columns: Index | None = None
    """The columns of the full problem that are held; None for all."""
    blocks: Index | None = None
    """The blocks of the full problem that are held; None for all."""

    @cached_property
    def dead(self) -> float:
        """The fraction of columns that belong to no block alive."""
        return 1 - float(np.count_nonzero(self._columns_alive())) / self.problem.shape[0]

    def compact(self) -> tuple["Held", Index, Index]:
        """Return the problem on the columns alive, and the columns and blocks that it keeps."""
        columns = np.flatnonzero(self._columns_alive())
        kept = self.problem.core.blocks(columns, self.problem.shape)
        there = columns if self.columns is None else self.columns[columns]
        blocks = kept if self.blocks is None else self.blocks[kept]
        return Held(self.problem.restrict(columns), self.alive[kept], there, blocks), columns, kept

    def _columns_alive(self) -> Mask:
        return self.problem.core.columns(self.alive, self.problem.shape)


def unpenalised_blocks(problem: Problem) -> Mask:
    """Return which blocks are unpenalised coordinates: they have no atoms and are never ruled out."""
    found = np.zeros(len(problem.eligible), dtype=bool)
    columns = problem.core.unpenalised()
    if len(columns):
        found[problem.lifted.labels[columns]] = True
    return found


def standing(rule: Rule, point: Point) -> Mask:
    """Return which blocks a rule leaves at a single point; what carries weight there is never ruled out."""
    problem = point.problem
    kept = rule.keep(point) & problem.eligible if point.is_finite else problem.eligible
    return kept | problem.lifted.carrying(point.state) | unpenalised_blocks(problem)


class Sieve:
    """The atoms still alive, over a whole run.

    Removed blocks leave the support function at once and carry no weight. Their columns stay in the products for a
    while. The sieve copies the columns alive when the copy holds at most the fraction `room` of the columns, and when
    the work wasted on dead columns adds up to one product with all columns. A resting sieve removes nothing.
    """

    def __init__(self, problem: Problem, rule: Rule, *, resting: bool = False) -> None:
        self.rule = rule
        self.resting = resting
        self.full = problem
        self._unpenalised = unpenalised_blocks(problem)
        self._wasted = 0.0
        self._hold(Held(problem, problem.eligible))

    def _hold(self, held: Held) -> None:
        """Hold what is left, and count it."""
        alive = np.count_nonzero(held.alive)
        self.held = held
        self.count = int(alive + np.count_nonzero(self._unpenalised))
        self._alive = None if alive == len(held.alive) else held.alive

    @property
    def problem(self) -> Problem:
        """The problem on the columns that are held."""
        return self.held.problem

    @property
    def alive(self) -> Mask:
        """Which blocks of the full problem are not ruled out."""
        mask = self._unpenalised.copy()
        mask[slice(None) if self.held.blocks is None else self.held.blocks] |= self.held.alive
        return mask

    def at(self, state: State) -> Point:
        """Return the point at a state of the current problem."""
        return self.held.problem.at(state, self._alive)

    def _kept(self, point: Point) -> Mask:
        """Return which blocks the rule keeps; nothing is ruled out at a point that overflows."""
        if not point.is_finite:
            return np.ones(len(point.scores), dtype=bool)
        kept: Any = self.rule.keep(point)
        if not (isinstance(kept, np.ndarray) and kept.dtype == bool and kept.shape == point.scores.shape):
            raise TypeError(
                f"{type(self.rule).__name__}.keep must return {len(point.scores)} truth values in an array, one for "
                f"each block of the point, got {shown(kept)}."
            )
        return kept

    def look(self, point: Point, room: float = 0.5) -> Point:
        """Remove the blocks that a point of the current problem rules out, and return the point without them.

        Columns are copied once those alive are at most the part `room` of all.
        """
        if self.resting:
            return point
        held, state = self.held, point.state
        removed = held.alive & ~self._kept(point)
        if removed.any():
            held = replace(held, alive=held.alive & ~removed)
            x = held.problem.core.keep(state.x, held.alive)
            if np.array_equal(x, state.x):
                point = point.without(removed)
            else:
                point = held.problem.at(held.problem.state(x, point.state.coordinates), held.alive)
            self._hold(held)
        self._wasted += held.dead
        if 1 - held.dead > room or self._wasted < 1 or not held.alive.any():
            return point
        held, columns, kept = held.compact()
        self._hold(held)
        self._wasted = 0.0
        return point.restrict(self.held.problem, columns, kept)
