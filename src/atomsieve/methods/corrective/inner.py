"""The problem on a working set, in two ways that share one model: in the core, or driven from here.

The core knows the penalty `a s + b s^2 / 2` with the line (a, b). `lines.py` finds the line for every other shape: for
the whole working set where the core solves that, and for each model where models are made here.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from atomsieve.core import Blocks, Iterate, Outcome, Store, along, best, quadratic, restricted
from atomsieve.core.clock import look
from atomsieve.design import ALL
from atomsieve.gauges import Atom
from atomsieve.gauges.proximal import Line
from atomsieve.losses.compiled import caution
from atomsieve.methods.corrective.hessian import foreseen, hessian
from atomsieve.methods.corrective.lines import TIGHT, meet
from atomsieve.methods.corrective.part import Part, limited, sized
from atomsieve.methods.moves import Move, apply
from atomsieve.methods.steps import ridge_along, slope_along, slope_of
from atomsieve.methods.trail import Trail
from atomsieve.numerics.roots import monotone_zero
from atomsieve.numerics.rounding import EPS
from atomsieve.problem import Point, Problem
from atomsieve.problem.state import State
from atomsieve.problem.view import scores_at
from atomsieve.typing import Array, Index, Mask

NEWTON_STEPS = 50
"""Newton steps on one working set."""

LARGE = 8000
"""Entries up to which a Hessian is formed (a matrix of half a gigabyte)."""

ROUGH = 0.05
"""Part of its first gap to which a model is solved: it is no better an approximation."""

STALLED = 5
"""Newton steps that may fail to lower the gap or the objective."""

BESIDE = 20
"""Blocks beside the support that a Newton step may move, at least."""

LEAST_RIDGE = 1e-10
"""Part of the largest possible curvature that stands in for none."""


class Inner(Protocol):
    """A problem on a working set, and the coefficients there."""

    def solve(self, enough: float) -> float:
        """Go on to a gap of the problem on the working set; return the gap that is left."""

    def state(self) -> State:
        """Return the state reached, as one of the working set's problem."""


@dataclass
class Memory:
    """What lasts from one working set to the next: Gram matrices, factors, and how cautious steps have to be.

    `length` is that of proximal steps, for gauges that need them.
    """

    store: Any = field(default_factory=Store)
    caution: float | None = None
    length: float | None = None


def compiled(problem: Problem) -> bool:
    """Return whether the core can solve a problem: it knows the loss and the gauge."""
    return problem.smooth.compiled is not None and problem.lifted.charges is not None


class Compiled:
    """The working set in the core."""

    def __init__(self, part: Part, point: Point, memory: Memory) -> None:
        problem = point.problem
        self.part, self.memory = part, memory
        self.problem, self.point = problem, point
        self.blocks = part.blocks_of(problem)
        state = point.state
        image = np.array(state.image) if state.drift == 0 else np.full(len(state.image), np.nan)
        entries = part.entries
        self.iterate = Iterate(state.x[entries], np.array(state.coordinates), image, point.view.z[entries])
        if memory.caution is None:
            memory.caution = caution(problem.loss)

    def follow(self, problems: Sequence[Problem], lines: Sequence[Line], target: float) -> list[State]:
        """Return states for problems that differ in the penalty and the ridge alone, each from the one before.

        The inner problem ends there.
        """
        part, memory = self.part, self.memory
        loss = self.problem.smooth.compiled
        assert loss is not None  # noqa: S101
        assert memory.caution is not None  # noqa: S101
        blocks = part.blocks_of(problems[0])
        ridges = np.stack([part.ridges_of(problem, blocks) for problem in problems])
        trail, memory.caution = along(
            memory.store, part.packed, part.ids, blocks, loss.number, loss.samples, self.iterate, np.array(lines),
            ridges, target, memory.caution,
        )  # fmt: skip
        rows = zip(problems, trail.xs, trail.coordinates, trail.images, strict=False)
        return [self._state_of(problem, *row) for problem, *row in rows]

    def solve(self, enough: float) -> float:
        return meet(self._on_line, self.point, enough)[0]

    def _on_line(self, line: Line, target: float, respond: bool) -> Outcome:
        look()
        part, memory = self.part, self.memory
        loss = self.problem.smooth.compiled
        assert loss is not None  # noqa: S101
        assert memory.caution is not None  # noqa: S101
        outcome, memory.caution = restricted(
            memory.store, part.packed, part.ids, self.blocks, loss.number, loss.samples, self.iterate, line, target,
            memory.caution, respond,
        )  # fmt: skip
        return outcome

    def state(self) -> State:
        found = self.iterate
        return self._state_of(self.problem, found.x, found.coordinates, found.image)

    def _state_of(self, problem: Problem, x: Array, coordinates: Array, image: Array) -> State:
        entries = self.part.entries
        whole = np.zeros(problem.shape)
        whole[entries] = x
        support = entries[x != 0]
        if entries is not self.part.columns:  # ordered by blocks
            support.sort()
        return problem.inside(whole, image, coordinates, support=support)


class Modelled:
    """The working set driven from here, for every other loss and data anywhere: the core solves each model."""

    rough = ROUGH

    def __init__(self, part: Part, point: Point, memory: Memory) -> None:
        self.problem = point.problem
        self.part, self.memory = part, memory
        self.point = part.restrict(point)
        self.alive = self.point.scores > -np.inf
        shrinkage = point.problem.shrinkage
        held = 0.0 if shrinkage is None else math.sqrt(float(shrinkage.atoms.max()))
        widest = math.hypot(point.problem.lifted.widest_reach, held)
        self.unit = 2.0 ** round(math.log2(widest)) if widest > 0 else 1.0

    def state(self) -> State:
        found = self.point.state
        if found.parts is not None:
            return self.problem.combined(found.parts, found.image, found.coordinates, found.drift)
        x = self.part.widen(found).x
        state = self.problem.inside(x, found.image, found.coordinates, found.drift, length=found.length)
        return replace(state, place=found.place)

    def solve(self, enough: float) -> float:
        point, idle, penalty = self.point, 0, self.problem.penalty
        share = 1.0 if penalty.line is not None else TIGHT  # what a search may miss is less than a step gains
        least, lowest = point, math.inf
        for _ in range(NEWTON_STEPS):
            look()
            if point.gap <= max(enough, point.rounding):
                break
            idle = 0 if point.gap < least.gap / 2 or point.objective < lowest - point.gap / 100 else idle + 1
            least, lowest = (point if point.gap < least.gap else least), point.objective
            if idle == STALLED:
                break
            asked = share * min(max(enough / 4, self.rough * point.gap), point.gap / 2)
            state, length = self._newton(point, asked)
            if length > 0:
                point = self.point = self._seen(point.problem, state)
            elif penalty.line is None and asked > EPS * point.rounding:
                share *= TIGHT
            else:
                break
        return point.gap

    def _newton(self, point: Point, enough: float) -> tuple[State, float]:
        """Return the state after a Newton step on the blocks that matter, by a model solved to a gap."""
        problem, state = point.problem, point.state
        chosen = self._chosen(problem, state, point.unscaled_scores)
        if not chosen.any():
            return state, 0.0
        model = self._model(point, chosen)
        there = model.x.copy()
        meet(model.solve, point, enough)
        change = np.zeros(state.x.shape)
        change.ravel()[model.entries] = (model.x - there) / self.unit
        state, length = self._go(point, change, self.along(point, change, model.growth))
        if problem.limits is not None and length == 1.0:  # what has met a limit is there, to the last bit
            x = state.x.copy()
            x.ravel()[model.entries] = model.x / self.unit
            state = replace(state, held=x, known_support=None)
        return state, length

    def _seen(self, problem: Problem, state: State) -> Point:
        """Return the point at a state; where that takes a trip to the workers, the next Hessian may come with it."""
        view = problem.lifted.view(state)
        entries = None if view.told is None else self._next(problem, state, scores_at(problem, view, self.alive))
        return Point.of(problem, view if entries is None else foreseen(problem, view, entries, self.unit), self.alive)

    def _next(self, problem: Problem, state: State, scores: Array) -> Index | None:
        """Return the entries whose Hessian the next step from a state asks for."""
        return self._entries(problem, self._chosen(problem, state, scores))

    def _chosen(self, problem: Problem, state: State, scores: Array) -> Mask:
        """Return the blocks that matter at a state."""
        chosen, line = problem.core.sizes(state.x) > 0, problem.penalty.line
        support = np.flatnonzero(chosen)
        slope = problem.penalty.slope(0.0) if line is None else line[0] + line[1] * state.mass
        joining = np.where(scores > slope, scores, -np.inf)
        chosen[best(joining, max(BESIDE, len(support)), beside=support)] = True
        return chosen

    def _entries(self, problem: Problem, chosen: Mask) -> Index:
        """Return the entries of blocks, block by block."""
        labels = problem.lifted.labels
        entries = np.flatnonzero(chosen[labels])
        return entries[np.argsort(labels[entries], kind="stable")]

    def along(self, point: Point, change: Array, growth: float) -> Move:
        """Return the move along a change of x by which the mass grows."""
        trail = Trail.of(point, change)
        image = point.problem.design.matvec(change) if trail is None else trail.image
        return Move(0.0, ((Atom(ALL, change, -1), 1.0),), growth, 0.0, 1.0, image, trail=trail)

    def _model(self, point: Point, chosen: Mask) -> "Model":
        """Return the second-order model at a point, over the entries of the chosen blocks."""
        problem, unit = point.problem, self.unit
        entries = self._entries(problem, chosen)
        blocks = limited(problem.limits, entries, sized(problem.lifted, entries, None, 1 / unit))
        matrix = np.ascontiguousarray(hessian(point, entries, unit))
        stiffness = np.repeat(blocks.stiffness, np.diff(blocks.ends, prepend=0))
        if problem.shrinkage is not None:
            matrix.ravel()[:: len(matrix) + 1] += problem.shrinkage.by_entry[entries] / unit / unit
        self._steepen(matrix, problem.loss.smoothness_near(point.u) * stiffness)
        pull = point.pulls.ravel()[entries] / unit
        return Model(point, entries, blocks, matrix, pull, point.state.x.ravel()[entries] * unit)

    def _steepen(self, matrix: Array, steepest: Array) -> None:
        """Add to a Hessian, in place, what its diagonal lacks, and what steps that were too long call for."""
        diagonal = matrix.ravel()[:: len(matrix) + 1]
        diagonal += self._lacking(diagonal, steepest)

    def _lacking(self, diagonal: Array, steepest: Array) -> Array:
        """Return what the diagonal of a Hessian lacks, and what steps that were too long call for."""
        lacks = np.where(diagonal < LEAST_RIDGE * steepest, LEAST_RIDGE, 0.0)
        return np.asarray(np.maximum(lacks, self.caution) * steepest)

    @property
    def caution(self) -> float:
        """Part of the largest possible curvature that is added to every entry, where steps were too long."""
        return self.memory.caution or 0.0

    def _go(self, point: Point, change: Array, move: Move) -> tuple[State, float]:
        """Go along a change of x, as far as the objective falls; derivatives tell, values lose their digits."""
        sizes = float(np.abs(point.pulls * change).sum()) + self._blur(point)
        settled, length = self._far(point, move, float(np.vdot(point.pulls, change)), sizes)
        return (settled(apply(point, move, length), length), length) if length > 0 else (point.state, 0.0)

    def _blur(self, point: Point) -> float:
        """Return what rounds beside the products of a change with what pulls: nothing where the growth is exact."""
        return 0.0

    def _far(
        self, point: Point, move: Move, pull: float, sizes: float
    ) -> tuple[Callable[[State, float], State], float]:
        """Return how far to go along a move, and what gives a state there the free coefficients of that length.

        `pull` is the product of the change with what pulls at x, and `sizes` the sum of the sizes of its terms.
        """
        problem, (settled, slope) = point.problem, searched(point, move)
        start = -pull + move.rate * problem.penalty.slope(point.state.mass)
        noise = 1e-15 * sizes
        if not start < noise:
            return settled, 0.0
        # no step lowers the objective by more than all of it: a steeper slope says little about where to stop
        start = min(max(start, -2 * point.objective), -2 * noise)
        length = 1.0
        if not abs(slope(1.0)) <= -start / 2:  # so far away that a loss overflows it may be no number
            first = slope(0.0)
            length = monotone_zero(slope, 1.0, 0.1 * start / first) if first < 0 else 0.0
        if length < 0.1:
            self.memory.caution = min(max(10 * self.caution, 1e-3), 1.0)
        elif length == 1.0:
            self.memory.caution = self.caution / 10
        return settled, length


Search = tuple[Callable[[State, float], State], Callable[[float], float]]


def searched(point: Point, move: Move) -> Search:
    """Return what settles the free coefficients of a state along a move, and the slope of the objective there."""
    problem, held, trail = point.problem, ridge_along(point, move), move.trail
    if trail is not None:
        return (
            lambda state, s: trail.settled(state, point.state, s),
            lambda s: slope_of(point, move, trail.slope(point, s) + held[0] + s * held[1], s),
        )
    across = problem.seminorm.project(move.image)
    # free coefficients take back what the move changes along their columns, before exponentials overflow
    along = None if problem.span is None else problem.span.along(move.image)

    def settled(state: State, s: float) -> State:
        return state if along is None else replace(state, coordinates=state.coordinates - s * along)

    def slope(s: float) -> float:
        here = replace(point, view=replace(point.view, state=settled(point.state, s)))
        return slope_along(here, move, across, held, s)

    return settled, slope


@dataclass(eq=False)
class Model:
    """A second-order model at a point: its entries and blocks, the Hessian, the pull and the coefficients, in units.

    Pull and coefficients are those at which it has arrived, and the mass has grown by so much on the way.
    """

    point: Point
    entries: Index
    blocks: Blocks
    hessian: Array
    z: Array
    x: Array
    growth: float = 0.0

    def solve(self, line: Line, target: float, respond: bool) -> Outcome:
        before, point = self.x.copy(), self.point
        # at the line of the penalty the model makes more or less of the gap, and a part of that is enough
        part, enough = (0.0, target) if respond else (target / point.gap, 0.0)
        value = point.smooth_value
        found = quadratic(self.hessian, self.z, self.x, self.blocks, line, value, part, respond, enough)
        self.z = self.z - self.hessian @ (self.x - before)
        self.growth += found.mass
        return Outcome(found.gap, point.state.mass + self.growth, found.response)
