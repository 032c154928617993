"""The fully corrective method: few passes over the data, and in between an exact solve on a working set."""

import math
from dataclasses import dataclass, replace

import numpy as np

from atomsieve.design import ALL, Design
from atomsieve.gauges import Atom
from atomsieve.methods.base import Target
from atomsieve.methods.corrective.blocks import Blocks
from atomsieve.methods.corrective.curvature import LARGE, Curvature, Products
from atomsieve.methods.corrective.glide import Metric, Spot, glide
from atomsieve.methods.corrective.margin import marginal_slope, on_edge
from atomsieve.methods.corrective.quadratic import Model
from atomsieve.methods.corrective.working_set import AtomSet, RowSet, WorkingSet, best
from atomsieve.methods.moves import Move, apply
from atomsieve.methods.steps import slope_along
from atomsieve.numerics.clock import TimeUp
from atomsieve.numerics.roots import monotone_zero
from atomsieve.piece import Piece
from atomsieve.problem import Point, Problem
from atomsieve.problem.state import State
from atomsieve.typing import Array, Mask, Samples

FRACTION = 0.1
"""Gap on the working set, as a part of the gap before, at which the next pass over the data pays."""

FINE = 0.001
"""Gap on the working set, as a part of the gap before, to aim at once the set has turned out to be complete."""

SAFE = 0.25
"""Part of the gap asked for that is always small enough on the working set."""

CLOSE = 0.9
"""Part of the gap asked for that is small enough where no block outside the working set is expected to add to it."""

NEWTON_ROUNDS = 50
"""Newton steps on one working set."""

STALLED_ROUNDS = 5
"""Newton steps that may fail to halve the gap before the next pass over the data."""

NEAR_TIMES = 20
"""Blocks beside the support that a Newton step may move, at least."""

CHEAP = 5e6
"""Multiplications for a Gram matrix that count for nothing."""

CURVED = 500
"""Entries up to which the Hessian is formed where blocks are curved, and every face needs a factor of its own."""

SPARSE = 500
"""Entries up to which the Hessian is formed where A is so sparse that products with it cost next to nothing."""

THIN = 0.02
"""Part of the entries of A that are not zero, below which A counts as so sparse."""

PROXIMAL_STEPS = 200
"""Proximal steps on all columns: what they have not found by then is left to Newton's method."""

ROUGH = 0.05
"""Part of its first gap to which a second-order model is solved: no more accurately than it approximates the loss."""

STALE_CURVATURE = 0.1
"""Part of the gap that a Newton step may leave before the curvature is computed again."""

LEAST_DAMPING = 1e-10
"""Part of the largest possible curvature that stands in for none (clipped residuals)."""


@dataclass(frozen=True, eq=False, repr=False)
class Corrective(Piece):
    """Fully corrective steps: each solves the problem on a working set of blocks, by Newton's method on its faces.

    The default method, for every loss, penalty and gauge. A step costs one pass over the data, for the gap, the sieve
    and the choice of the blocks that score best; all other work is on the working set, a small part of the data.
    """

    max_iter = 1000

    def check(self, problem: Problem) -> None:
        pass

    def begin(self, problem: Problem, target: Target) -> "Corrections":
        working_set = AtomSet() if problem.core.prices(problem.shape) is None else RowSet()
        return Corrections(working_set, Curvature(power_of_two(problem.widest)), target)


@dataclass(frozen=True, eq=False)
class Frame:
    """What all models on one working set share: its blocks, and the largest curvature that entries can have."""

    design: Design
    steepest: float
    blocks: Blocks
    stiffness: Array
    response: Array
    """`-dx/dalpha` for the slope alpha of the penalty, as the last models found it."""

    @classmethod
    def of(cls, point: Point, unit: float, last: "Frame | None") -> "Frame":
        """Return the frame of a small problem, the last one where that is the same."""
        problem, steepest = point.problem, point.problem.loss.smoothness_near(point.u)
        if last is not None and problem.design is last.design and steepest == last.steepest:
            return last
        labels, prices = problem.core.labels(problem.shape).ravel(), problem.core.prices(problem.shape)
        assert prices is not None  # noqa: S101
        stiffness = steepest * (problem.spread * (prices / unit)) ** 2
        blocks = Blocks(labels, prices / unit, problem.core.signs(problem.shape))
        return cls(problem.design, steepest, blocks, stiffness[labels], np.zeros(len(labels)))


class Columns:
    """The loss over all columns alive as proximal steps see it: the image of x is what it predicts."""

    def __init__(self, point: Point, unit: float) -> None:
        self.problem = point.problem
        self.unit = unit
        alive = point.scores > -np.inf
        self.alive = alive[point.problem.core.labels(point.problem.shape)]
        self.state, self.coordinates = point.state, point.state.coordinates

    def pull(self, spot: Spot) -> Array:
        view = self.problem.lifted.view(replace(self.state, image=spot.image, coordinates=self.coordinates))
        self.coordinates = view.state.coordinates
        return np.where(self.alive, view.z / self.unit, 0.0)

    def reach(self, x: Array, spot: Spot) -> Spot:
        return Spot(x, self.problem.design.matvec(x / self.unit))

    def curvature(self, spot: Spot, other: Spot) -> float:
        return self.problem.loss.smoothness * self.problem.seminorm.norm(spot.image - other.image) ** 2


class Corrections:
    """The method at work: a working set at a time, with the curvature and the damping that were good before."""

    def __init__(self, working_set: WorkingSet, curvature: Curvature, target: Target) -> None:
        self.working_set = working_set
        self.curvature = curvature
        self.target = target
        self.patience = working_set.patience
        self.damping = 0.0
        self.room = 0.0
        self._left = 0.0
        self._frame: Frame | None = None
        self._trail: list[tuple[float, Samples]] = []

    def advance(self, point: Point, t: int) -> tuple[State, float]:
        if glides(point.problem) and self.working_set.filled(point):
            self._left = 0.0  # of the next working set nothing is known
            return self._glide(point), 1.0
        inner = self.working_set.enter(point)
        # where the working set leaves nothing out, the rest is a matter of Newton steps alone
        fraction = FINE if self.working_set.complete or point.gap <= 2 * self._left else FRACTION
        target = (CLOSE if self.working_set.complete else SAFE) * self.target.gap
        enough = max(fraction * min(point.gap, point.objective), target)
        length, self._frame = 1.0, Frame.of(inner, self.curvature.unit, self._frame)
        # a copy of the columns alive may take as much memory as the working set does
        self.room = inner.problem.shape[0] / point.problem.meter.columns
        quadratic, alive = point.problem.loss.quadratic, inner.scores > -np.inf
        idle, least = 0, inner
        ahead = self._halfway(point) if t == 1 else None
        for _ in range(NEWTON_ROUNDS):
            if not quadratic and self.curvature.cost <= CHEAP:
                self.curvature.forget(ahead)
            before, ahead = inner.gap, None
            try:
                state, length = self._newton(inner, self._frame, enough)
                inner = inner.problem.at(state, alive)
            except TimeUp:  # what was found so far is not lost
                break
            if inner.gap <= max(enough, inner.rounding) or length == 0:
                break
            if not quadratic and inner.gap > STALE_CURVATURE * before:
                self.curvature.forget()
            idle = 0 if inner.gap < least.gap / 2 else idle + 1
            least = inner if inner.gap < least.gap else least
            if idle == STALLED_ROUNDS:
                break
        self._left = inner.gap
        return self.working_set.leave(inner.state), length

    def _halfway(self, point: Point) -> Samples:
        """Return predictions halfway to where this run should lead, judging by the last one; None where none is known.

        Curvature from there makes a Newton step right to second order. Runs follow a path of slopes, and what they
        change is about in proportion to the change of the logarithm.
        """
        self._trail = [*self._trail[-2:], (point.problem.penalty.slope(point.state.mass), point.u)]
        if len(self._trail) < 3:
            return None
        (first, _), (second, before), (third, here) = self._trail
        if not first > second > third > 0:
            return None
        return here + math.log(second / third) / math.log(first / second) / 2 * (here - before)

    def _glide(self, point: Point) -> State:
        """Return the state after proximal steps on all columns."""
        problem = point.problem
        state = point.state
        unit = self.curvature.unit
        slope = marginal_slope(problem.penalty, state.mass, float(state.x @ point.z))
        prices, alive = problem.core.prices(problem.shape), point.scores > -np.inf
        assert prices is not None  # noqa: S101
        prices = np.where(alive, prices, 1.0) / unit
        stiffness = problem.loss.smoothness * (problem.spread * prices) ** 2
        diagonal = np.where(alive & (stiffness > 0), stiffness, 1.0)
        blocks = Blocks(problem.core.labels(problem.shape), prices, problem.core.signs(problem.shape))
        ground, metric = Columns(point, unit), Metric(diagonal, blocks, problem.penalty, slope)
        end = glide(ground, metric, Spot(state.x * unit, state.image), PROXIMAL_STEPS)
        return problem.inside(end.x / unit, end.image, ground.coordinates)

    def _newton(self, point: Point, frame: "Frame", enough: float) -> tuple[State, float]:
        """Return the state after one Newton step on the blocks that matter, and its length."""
        problem = point.problem
        x = point.state.x
        unit = self.curvature.unit
        slope = marginal_slope(problem.penalty, point.state.mass, float(np.vdot(x, point.z)))
        near = self._near(point, slope)
        if problem.loss.quadratic and frame.blocks.single:
            near |= self.curvature.factored(problem) & (point.scores > -np.inf)
        entries = np.flatnonzero(frame.blocks.over(near))
        if not len(entries):
            return point.state, 0.0
        entries, hessian = self.curvature.hessian(point, entries, largest_matrix(problem, frame.blocks.single))
        blocks, stiffness = frame.blocks.restrict(entries), frame.stiffness[entries]
        gradient = -point.z.ravel()[entries] / (point.dual_scale * unit)
        factor = None
        if not problem.loss.quadratic:
            hessian = self._damp(hessian, stiffness)
        elif isinstance(hessian, np.ndarray):
            factor = self.curvature.factor(stiffness)
        # on curved faces a small fall does not tell a small gap
        rough = ROUGH if frame.blocks.single and not problem.loss.quadratic else 0.0
        response = frame.response[entries]
        steepness = reach(point, slope)
        model = Model(hessian, gradient, blocks, problem.penalty, stiffness, steepness, response, factor, rough)
        here = x.ravel()[entries] * unit
        target, _ = model.minimise(here, slope, enough / 4)
        frame.response[entries] = response
        change = np.zeros(x.shape)
        change.ravel()[entries] = (target - here) / unit
        return self._go(point, change, blocks.growth(here, target))

    def _damp(self, hessian: Array | Products, stiffness: Array) -> Array | Products:
        """Add curvature where steps were too long, and a trace of it where there is none."""
        if isinstance(hessian, Products):
            return replace(hessian, ridge=max(self.damping, LEAST_DAMPING) * stiffness)
        damped, least = hessian.copy(), LEAST_DAMPING * stiffness
        diagonal = damped.ravel()[:: len(damped) + 1]
        diagonal += np.maximum(np.where(diagonal < least, least, 0.0), self.damping * stiffness)
        return damped

    @staticmethod
    def _near(point: Point, slope: float) -> Mask:
        """Return the support and the blocks that would join it, a limited number of them."""
        sizes, scores = point.problem.core.sizes(point.state.x), point.scores / point.dual_scale
        support = int(np.count_nonzero(sizes))
        # within a ball weight costs nothing: a column along the unpenalised columns would take it all for nothing
        noise = point.doubt * point.problem.lengths if point.problem.penalty.limit < np.inf else 0.0
        wanted = np.where(sizes > 0, np.inf, np.where(scores > np.maximum(slope, noise), scores, -np.inf))
        width = point.state.x.size // len(sizes)
        room = math.isqrt(int(CHEAP / len(point.u))) // width if point.problem.loss.quadratic else 0
        return best(wanted, support + max(NEAR_TIMES, support, room))

    def _go(self, point: Point, change: Array, growth: float) -> tuple[State, float]:
        """Go along a change of x, as far as the objective falls; derivatives tell, values lose their digits."""
        problem, state = point.problem, point.state
        move = Move(0.0, ((Atom(ALL, change, -1), 1.0),), growth, 0.0, 1.0, problem.design.matvec(change))
        if problem.loss.quadratic:
            return apply(point, move, 1.0), 1.0
        across = problem.seminorm.project(move.image)

        # what rounding takes from the mass on the edge of a ball is worth its marginal slope
        toll = 0.0
        if on_edge(problem.penalty, state.mass) and on_edge(problem.penalty, state.mass + growth):
            pull = float(np.vdot(state.x, point.z))
            toll = growth * (marginal_slope(problem.penalty, state.mass, pull) - problem.penalty.slope(state.mass))

        def slope(s: float) -> float:
            return slope_along(point, move, across, s) + toll

        start = float(np.vdot(-point.z, change)) / point.dual_scale + growth * problem.penalty.slope(state.mass) + toll
        end = slope(1.0)
        if not start < 0:
            return state, 0.0
        length = 1.0 if abs(end) <= -start / 2 else monotone_zero(slope, 1.0, 0.1)
        if length < 0.1:
            self.damping = min(max(10 * self.damping, 1e-3), 1.0)
        elif length == 1.0:
            self.damping /= 10
        return apply(point, move, length), length


def glides(problem: Problem) -> bool:
    """Return whether proximal steps on all columns are cheap next to faces, and the gauge is one that they know."""
    known = problem.core.prices(problem.shape) is not None and not problem.shape[1:]
    cheap = problem.design.density < THIN or not problem.core.entrywise
    return known and cheap and problem.loss.smoothness < np.inf


def largest_matrix(problem: Problem, single: bool) -> int:
    """Return up to how many entries the Hessian is formed; beyond, products with A take its place."""
    straight = SPARSE if problem.design.density < THIN else LARGE
    return straight if single else min(straight, CURVED)


def power_of_two(x: float) -> float:
    """Return a power of two near x, by which numbers are scaled without rounding."""
    return 2.0 ** round(math.log2(x)) if x > 0 else 1.0


def reach(point: Point, slope: float) -> float:
    """Return how fast the gap grows with a score beyond the slope of the penalty."""
    penalty = point.problem.penalty
    return max(point.state.mass, penalty.argmax(point.sigma)) if penalty.superlinear else 2 * point.objective / slope
