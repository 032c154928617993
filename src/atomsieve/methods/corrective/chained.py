"""Working sets of an ordered gauge, whose faces are cones of falling sizes: the prox finds the cone, the core solves on it.

On the cone `s_1 >= s_2 >= ... >= 0` of the sizes of clusters the gauge is `w . s`. With the steps `c_j = (s_j - s_(j+1))
L_j`, where `L_j = w_1 + ... + w_j`, that is the sum of all c, and every c is non-negative: a problem of non-negative
coefficients on one column for each cluster, which the compiled core solves for any loss that it knows. Clusters merge
where c is 0. They split, and change places, by a proximal step: whatever its length, it splits every cluster that the
gradient wants to split.
"""

import math
from typing import Any, NamedTuple, Self

import numpy as np

from atomsieve.core import Blocks, Iterate, Outcome, Packed, Store, restricted
from atomsieve.gauges.proximal import Face
from atomsieve.losses.compiled import caution
from atomsieve.methods.corrective.inner import Line, Memory, penalty_of
from atomsieve.methods.corrective.working_set import Part
from atomsieve.numerics.clock import look
from atomsieve.problem import Point
from atomsieve.problem.state import State
from atomsieve.typing import Array

ROUNDS = 200
"""Cones on one working set."""

SHARE = 0.1
"""Part of the gap on the working set to which the problem on one cone is solved."""

FAILURES = 12
"""Proximal steps in a row, each a quarter of the one before, that may lead to no better cone."""


class Chain(NamedTuple):
    """A cone of falling sizes: the face in its interior, and the weights that the first 1, 2, ... clusters have."""

    face: Face
    totals: Array

    @classmethod
    def of(cls, face: Face) -> Self:
        """Return the cone around a face."""
        return cls(face, np.cumsum(face.gradient))

    @property
    def steps(self) -> Array:
        """The coefficients c of the point in the interior that the face was made for."""
        return -np.diff(self.face.coordinates, append=0.0) * self.totals

    def sum_up(self, rows: Array) -> Array:
        """Return what belongs to the coefficients c, from one row for each entry of x."""
        summed = np.cumsum(self.face.directions @ rows, axis=0)
        return np.asarray((summed.T / self.totals).T)

    def entries(self, steps: Array) -> Array:
        """Return the entries of x; clusters whose step is 0 have the size of the next one, to the last bit."""
        sizes = np.cumsum((steps / self.totals)[::-1])[::-1]
        return np.asarray(self.face.directions.T @ sizes)


class Chained:
    """The working set for an ordered gauge: its columns, one cone after another."""

    def __init__(self, part: Part, point: Point, memory: Memory) -> None:
        self.problem = point.problem
        self.part, self.memory = part, memory
        self.point = part.restrict(point)
        self.alive = self.point.scores > -np.inf
        widest = float(self.point.problem.seminorm.plain.column_norms().max(initial=0.0))
        steepest = point.problem.loss.smoothness_near(point.u) * widest * widest
        self.length = 1 / steepest if 0 < steepest < math.inf else 1.0
        if memory.caution is None:
            memory.caution = caution(point.problem.loss)

    def state(self) -> State:
        found = self.point.state
        return self.problem.inside(self.part.widen(found).x, found.image, found.coordinates)

    def solve(self, line: Line, target: float, respond: bool) -> Outcome:
        point = self.point.under(self.point.problem.at_penalty(penalty_of(line)), self.alive)
        response, failed = 0.0, 0
        for rounds in range(ROUNDS):
            look()
            if point.gap <= max(target, point.rounding) and rounds >= respond:
                break
            chain = self._cone(point, line)
            state, outcome = self._within(chain, point, line, max(SHARE * point.gap, target / 4))
            there = point.problem.at(state, self.alive)
            if there.objective < point.objective or there.gap < point.gap:
                point, response, failed = there, outcome.response, 0
                self.length *= 2
            elif failed == FAILURES:
                break
            else:
                self.length, failed = self.length / 4, failed + 1
            self.point = point
        self.point = point
        return Outcome(point.gap, point.state.mass, response)

    def _cone(self, point: Point, line: Line) -> Chain | None:
        """Return the cone that a proximal step leads to; None for the origin."""
        a, b = line
        core, length = point.problem.core, self.length
        moved = core.prox(point.state.x + length * point.pulls, (length * a, length * b))  # type: ignore[attr-defined]
        return Chain.of(core.face(moved)) if moved.any() else None  # type: ignore[attr-defined]

    def _within(self, chain: Chain | None, point: Point, line: Line, target: float) -> tuple[State, Outcome]:
        """Return the best state in a cone, to a gap, and how the core came there."""
        problem, state, memory = point.problem, point.state, self.memory
        if chain is None:
            return problem.state(None, state.coordinates), Outcome(0.0, 0.0, 0.0)
        loss = problem.smooth.compiled
        assert loss is not None  # noqa: S101
        assert memory.caution is not None  # noqa: S101
        images = chain.sum_up(rows_of(problem.design, chain))
        steps = chain.steps
        iterate = Iterate(steps, np.array(state.coordinates), np.full(images.shape[1], np.nan), np.full(len(steps), np.nan))
        outcome, memory.caution = restricted(
            Store(), Packed.of(images.T), np.arange(len(steps)), blocks_of(images, problem.weights), loss.number,
            loss.samples, iterate, line, target, memory.caution, True,
        )  # fmt: skip
        return problem.inside(chain.entries(iterate.x), iterate.image, iterate.coordinates), outcome


def rows_of(design: Any, chain: Chain) -> Array:
    """Return the columns of a design, as rows."""
    return np.asarray(design.columns(slice(None)).T)


def blocks_of(images: Array, weights: Array) -> Blocks:
    """Return the steps as the core reads them: each has a unit of its own, a power of two near its norm."""
    count = len(images)
    lengths = np.sqrt((images * images) @ weights)
    units = np.ldexp(1.0, -np.frexp(lengths)[1])
    ends = np.arange(1, count + 1)
    return Blocks(ends, units, units, (lengths * units) ** 2, np.zeros(count), np.zeros(count, dtype=np.uint8))
