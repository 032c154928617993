"""The result of one pass over the data: predictions, dual point, scores, gap and radius, computed together."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from atomsieve.design.seminorm import inner
from atomsieve.gauges import Atom
from atomsieve.numerics.namespace import array_namespace
from atomsieve.numerics.rounding import noise_level
from atomsieve.problem.smooth import Measured
from atomsieve.problem.state import State
from atomsieve.typing import Array, Index, Mask, Samples

if TYPE_CHECKING:
    from atomsieve.problem.problem import Problem

NEGLIGIBLE = 1e-3
"""Part of the gap that its uncertainty may be without a closer look at it."""


@dataclass(frozen=True, eq=False)
class View:
    """What the data show at a state, for any penalty: predictions, loss'(u), theta and `z = -A' theta`.

    A part of loss'(u) is removed to make `B' theta = 0`, and `stray` is its norm. It is the slope of the loss along B,
    and it measures how far the free coefficients are from the best ones.
    """

    state: State
    u: Samples
    slopes: Samples
    theta: Samples
    z: Array
    stray: float


@dataclass(frozen=True, eq=False, repr=False)
class Point:
    """One state with its dual point; gap, dual point and radius are computed together and stay together.

    `theta` is dual feasible and `z = -A' theta`. It is the gradient at u. A penalty such as `Linear` may need it scaled
    by `dual_scale`; then the point is not paired, and every radius grows by sqrt(2). What is seen at the state comes
    unscaled in the view, and scaled arrays are made when they are asked for. `gap >= objective - optimum`.
    `rounding` estimates how far rounding may have moved the gap for given scores. `doubt` estimates how far rounding
    may have moved `p . z`, per unit of the norm of A p. These are estimates for floating-point runs, not bounds.
    """

    problem: "Problem"
    view: View
    unscaled_scores: Array
    """The scores of the gradient, before it is scaled; -inf for blocks that are ruled out."""
    best: int
    sigma: float
    gap: float
    dual_scale: float
    rounding: float
    doubt: float
    measured: Measured

    @classmethod
    def of(cls, problem: "Problem", view: View, alive: Mask | None = None) -> Self:
        """Pair a state with the gradient there; scale the gradient into the domain of phi* if necessary."""
        with np.errstate(over="ignore", invalid="ignore"):
            return cls._of(problem, view, alive)

    @classmethod
    def _of(cls, problem: "Problem", view: View, alive: Mask | None) -> Self:
        state = view.state
        u = view.u
        scores = problem.core.scores(view.z)
        if alive is not None and not alive.all():
            np.copyto(scores, -np.inf, where=~alive)
        penalty = problem.penalty
        # the part of the image in the span of B is orthogonal to theta; without it less cancels
        centred = problem.seminorm.project(state.image)
        best = int(scores.argmax())
        sigma = max(float(scores[best]), 0.0)
        charge = penalty.value(state.mass)
        dual_scale, answer = 1.0, penalty.conjugate(sigma)
        scaled = not (penalty.superlinear or answer < math.inf)
        if scaled:
            dual_scale = penalty.slope(0.0) / sigma
            sigma = penalty.slope(0.0)
        measured = problem.smooth.measure(u, view.slopes, dual_scale)
        answer = measured.apart if scaled else answer
        gap = charge + answer + dual_scale * inner(centred, view.theta)
        noise = noise_level(len(u))
        norm = problem.seminorm.plain_norm
        alone = problem.span is None and problem.smooth.fixed is None  # the image is all of u
        reach = state.length if alone else state.length + measured.size
        # rounding of u moves theta by at most M times as much
        blur = noise * reach + state.drift
        doubt = noise * measured.steep + problem.loss.smoothness_near(u) * blur
        rounding = noise * (charge + abs(answer)) + doubt * (state.length if centred is state.image else norm(centred))
        if view.stray > 0:
            rounding += problem.smooth.shortfall(u, view.stray, rounding, measured.size)
        if dual_scale < 1:
            # the loss itself enters the gap, and rounding of u moves it by the difference of its slope and theta
            rounding += noise * measured.value + (1 - dual_scale) * measured.steep * blur
        if gap < -rounding:  # the exact gap is not negative, so rounding is at least this large
            gap = rounding = -gap
        if not math.isnan(gap):
            gap = max(gap, 0.0)
        return cls(problem, view, scores, best, sigma, gap, dual_scale, rounding, doubt, measured)

    @property
    def state(self) -> State:
        """The state."""
        return self.view.state

    @property
    def u(self) -> Samples:
        """The predictions."""
        return self.view.u

    @property
    def slopes(self) -> Samples:
        """loss'(u), sample by sample."""
        return self.view.slopes

    @cached_property
    def theta(self) -> Samples:
        """The dual point."""
        return self.view.theta if self.paired else self.dual_scale * self.view.theta

    @cached_property
    def z(self) -> Array:
        """`-A' theta`."""
        return self.view.z if self.paired else self.dual_scale * self.view.z

    @cached_property
    def scores(self) -> Array:
        """The score of every block: the largest `p . z` over its atoms; -inf for blocks that are ruled out."""
        return self.unscaled_scores if self.paired else self.dual_scale * self.unscaled_scores

    @property
    def pull(self) -> float:
        """`x . z`."""
        support = self.state.support
        return self.dual_scale * float(self.state.x.ravel()[support] @ self.view.z.ravel()[support])

    def __repr__(self) -> str:
        return f"Point(gap {self.gap:.2e}, {'paired' if self.paired else 'unpaired'}, mass {self.state.mass:.6g})"

    @property
    def objective(self) -> float:
        """F(u) + phi(mass), an upper bound of the optimal value."""
        return self.measured.value + self.problem.penalty.value(self.state.mass)

    @property
    def paired(self) -> bool:
        """Whether theta is the gradient at u itself."""
        return self.dual_scale == 1.0

    @property
    def dual(self) -> float:
        """The dual value at theta, a lower bound of the optimal value."""
        return self.objective - self.gap

    @property
    def radius(self) -> float:
        """The r with `|v . (theta - theta*)| <= norm(v)_w r` for images v of single atoms, enlarged for rounding."""
        gap_bound = (1 if self.paired else 2) * (self.gap + self.uncertainty)
        return math.sqrt(self._curvature(gap_bound) * gap_bound)

    @property
    def least_radius(self) -> float:
        """The radius without the allowance for rounding; it costs nothing, and 0 stands for one that costs more."""
        curvature = self.problem.curvature
        return math.sqrt(curvature * self.gap) if curvature < math.inf else 0.0

    @cached_property
    def _rough_uncertainty(self) -> float:
        """An upper bound of the uncertainty that costs less."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._unsure(self.doubt, self.problem.lifted.widest_reach, self.problem.lifted.longest)

    def is_certain(self, margin: float) -> bool:
        """Return whether rounding moved the gap by no more than a margin, as far as estimates tell."""
        return self._rough_uncertainty <= margin or self.uncertainty <= margin

    @cached_property
    def uncertainty(self) -> float:
        """An estimate of how far rounding may have moved the gap, including the rounding of the best score."""
        rough = self._rough_uncertainty
        if rough <= NEGLIGIBLE * self.gap:
            return rough
        with np.errstate(over="ignore", invalid="ignore"):
            problem = self.problem
            # rounding of u counts only as far as each loss is curved
            noise = noise_level(len(self.u))
            norm = problem.seminorm.plain_norm
            xp = array_namespace(self.u)
            bend = problem.loss.curvature(self.u, problem.targets) * (xp.abs(self.state.image) + xp.abs(self.u))
            spread = noise * (norm(self.slopes) + norm(bend))
            blur = spread + problem.loss.smoothness_near(self.u) * self.state.drift
            return self._unsure(min(blur, self.doubt), problem.widest, float(problem.lengths.max()))

    def _unsure(self, blur: float, widest: float, longest: float) -> float:
        """Return the uncertainty for slopes that are off by `blur` in norm.

        The norms of the images of atoms are at most `widest`, and `longest` with their part in the span of B.
        """
        penalty = self.problem.penalty
        # rounding of the slopes counts only orthogonally to the span of B; rounding of A' theta counts everywhere
        grain = noise_level(len(self.u)) * self.measured.steep
        highest = self.sigma + blur * widest + grain * longest
        if penalty.superlinear:
            return self.rounding + penalty.conjugate(highest) - penalty.conjugate(self.sigma)
        if not highest > penalty.slope(0.0):
            return self.rounding
        scale = penalty.slope(0.0) / highest
        # with the highest possible score, the dual point would need a smaller scale
        apart = self.problem.smooth.measure(self.u, self.slopes, scale * self.dual_scale).apart - self.measured.apart
        return self.rounding + max(apart, 0.0) + (1 - scale) * abs(self.pull)

    def _curvature(self, gap_bound: float) -> float:
        """Return the largest curvature of the loss between here and the optimum."""
        problem = self.problem
        if problem.curvature < math.inf:
            return problem.curvature
        largest = problem.loss.smoothness_towards(
            self.dual_scale * self.slopes, problem.targets, gap_bound / problem.weights
        )
        return float(array_namespace(largest).max(largest))

    @cached_property
    def atom(self) -> Atom:
        """The best atom q, with `q . z = sigma`; 0 if no atom has a positive score."""
        atom = self.problem.core.atom(self.z, self.best)
        return atom if self.sigma > 0 else atom.scaled(0.0)

    @property
    def is_finite(self) -> bool:
        """Whether the gap is finite; after an overflow it is not."""
        return math.isfinite(self.gap)

    def under(self, problem: "Problem", alive: Mask | None = None) -> "Point":
        """Return the point at the same state for a problem with another penalty; no product with A is needed."""
        alive = problem.eligible if alive is None else alive
        if not problem.penalty.admits(self.state.mass):
            state = problem.inside(self.state.x, self.state.image, self.state.coordinates, self.state.drift)
            return problem.at(state, alive)
        return Point.of(problem, self.view, alive)

    def without(self, removed: Mask) -> "Point":
        """Return the point at the same state with some blocks ruled out, on which x is zero: no product is needed."""
        scores = np.where(removed, -np.inf, self.unscaled_scores)
        if removed[self.best]:
            return Point.of(self.problem, self.view, scores > -np.inf)
        return replace(self, unscaled_scores=scores)

    def restrict(self, problem: "Problem", columns: Index, blocks: Index) -> "Point":
        """Return the same point for the problem on the given columns; x must be zero on all others."""
        state = replace(self.state, x=self.state.x[columns], known_support=None)
        view = replace(self.view, state=state, z=self.view.z[columns])
        best = int(np.searchsorted(blocks, self.best))
        return replace(self, problem=problem, view=view, unscaled_scores=self.unscaled_scores[blocks], best=best)
