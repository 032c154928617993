"""Working sets of an ordered gauge, whose faces are cones of falling sizes: the prox finds one, the core solves on it.

On the cone `s_1 >= s_2 >= ... >= 0` of the sizes of clusters the gauge is `w . s`. With `L_j = w_1 + ... + w_j` and
`c_j = (s_j - s_(j+1)) L_j` that is the sum of all c, none of which is negative: a problem of non-negative coefficients
on one column for each cluster, which the compiled core solves for any loss that it knows. Clusters merge where c is 0.
They split, and change places, by a proximal step: whatever its length, it splits every cluster that the gradient wants
to split. No Hessian of the working set is formed: the largest matrix has a row and a column for each cluster.
"""

from typing import Any, NamedTuple, Self

import numpy as np

from atomsieve.core import Blocks, Iterate, Outcome, Packed, Store, restricted
from atomsieve.core.clock import look
from atomsieve.design import ALL
from atomsieve.gauges.proximal import Face, Line
from atomsieve.losses.compiled import caution
from atomsieve.methods.corrective.inner import Memory
from atomsieve.methods.corrective.joining import step_length
from atomsieve.methods.corrective.lines import first_line, meet
from atomsieve.methods.corrective.part import Part
from atomsieve.numerics.programs import falling
from atomsieve.problem import Point
from atomsieve.problem.state import State
from atomsieve.typing import Array

ROUNDS = 200
"""Cones on one working set."""

SHARE = 0.01
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

    def nearest(self, x: Array) -> Array:
        """Return the coefficients c of the point in the cone that is nearest to x."""
        counts = np.diff(self.face.directions.indptr)
        means = self.face.directions @ x / counts
        sizes = np.maximum(falling(means, counts), 0.0)
        return -np.diff(sizes, append=0.0) * self.totals

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
        if memory.caution is None:
            memory.caution = caution(point.problem.loss)

    def state(self) -> State:
        found = self.point.state
        return self.problem.inside(self.part.widen(found).x, found.image, found.coordinates)

    def solve(self, enough: float) -> float:
        point, length = self.point, self.memory.length or step_length(self.point)
        problem, line, failed = point.problem, first_line(point, enough), 0
        for _ in range(ROUNDS):
            look()
            if point.gap <= max(enough, point.rounding) or failed == FAILURES:
                break
            chain = cone(point, line, length)
            within = SHARE * 0.1**failed * point.gap  # what is left on a cone may be far less
            state, line = self._within(chain, point, line, within)
            there = problem.at(state, self.alive)
            risen = there.objective - point.objective
            if risen < 0 or (risen <= point.rounding and there.gap < point.gap):
                length, failed, point = secant(point, there, length), 0, there
            else:
                length, failed = length / 4, failed + 1
            self.point, self.memory.length = point, length
        return point.gap

    def _within(self, chain: Chain | None, point: Point, line: Line, enough: float) -> tuple[State, Line]:
        """Return the best state in a cone, to a gap, and the line of slopes there."""
        problem, state = point.problem, point.state
        if chain is None:
            return problem.state(None, state.coordinates), line
        cone = Cone(chain, point, self.memory)
        _, line = meet(cone.solve, point, enough)
        found = cone.iterate
        return problem.inside(chain.entries(found.x), found.image, found.coordinates), line


class Cone:
    """The problem on a cone, in the core."""

    def __init__(self, chain: Chain, point: Point, memory: Memory) -> None:
        problem, state = point.problem, point.state
        images = images_of(problem.design, chain)
        steps = chain.nearest(state.x)
        unknown = np.full(images.shape[1], np.nan), np.full(len(steps), np.nan)
        self.iterate = Iterate(steps, np.array(state.coordinates), *unknown)
        self.loss, self.memory, self.store = problem.smooth.compiled, memory, Store()
        self.packed, self.blocks = Packed.of(images.T), blocks_of(images, problem.weights)

    def solve(self, line: Line, target: float, respond: bool) -> Outcome:
        look()
        loss, memory = self.loss, self.memory
        assert loss is not None  # noqa: S101
        assert memory.caution is not None  # noqa: S101
        ids = np.arange(len(self.iterate.x))
        outcome, memory.caution = restricted(
            self.store, self.packed, ids, self.blocks, loss.number, loss.samples, self.iterate, line, target,
            memory.caution, respond,
        )  # fmt: skip
        return outcome


def cone(point: Point, line: Line, length: float) -> Chain | None:
    """Return the cone that a proximal step leads to; None for the origin."""
    gauge: Any = point.problem.core
    moved = gauge.prox(point.state.x + length * point.pulls, (length * line[0], length * line[1]))
    return Chain.of(gauge.face(moved)) if moved.any() else None


def secant(before: Point, after: Point, length: float) -> float:
    """Return the length of a proximal step that the curvature between two points allows.

    Of the two lengths that fit a change of x and one of the pulls this is the geometric mean.
    """
    change, bent = after.state.x - before.state.x, before.pulls - after.pulls
    moved, turned = float(np.linalg.norm(change)), float(np.linalg.norm(bent))
    return moved / turned if turned > 0 and moved > 0 else 2 * length


def images_of(design: Any, chain: Chain) -> Array:
    """Return the images of the coefficients c of a cone, as rows; columns that are mostly zero are never made dense."""
    directions = chain.face.directions
    images = directions @ design.columns(ALL).T if design.density == 1 else design.matvec(directions.toarray().T).T
    return np.asarray(np.cumsum(images, axis=0) / chain.totals[:, None])


def blocks_of(images: Array, weights: Array) -> Blocks:
    """Return the steps as the core reads them: each has a unit of its own, a power of two near its norm."""
    count = len(images)
    largest = float(np.abs(images).max(initial=0.0)) or 1.0
    scaled = images / largest  # squares of huge or tiny entries would overflow or underflow
    lengths = largest * np.sqrt((scaled * scaled) @ weights)
    units = np.ldexp(1.0, -np.frexp(lengths)[1])
    ends = np.arange(1, count + 1)
    none, signs = np.zeros(count), np.zeros(count, dtype=np.uint8)
    return Blocks(ends, units, none, units, (lengths * units) ** 2, none, signs)
