"""The result of one pass over the data: predictions, dual point, scores, gap and radius, computed together."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from atomsieve.design.seminorm import inner
from atomsieve.gauges import Atom
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.namespace import array_namespace
from atomsieve.numerics.rounding import EPS, noise_level
from atomsieve.problem.dual import Dual
from atomsieve.problem.limits import CoefficientLimits
from atomsieve.problem.shrinkage import ProximalShrinkage, Shrinkage
from atomsieve.problem.smooth import Measured
from atomsieve.problem.state import State
from atomsieve.problem.view import View, across, pulls_of, scores_at, scores_of
from atomsieve.typing import Array, Index, Mask, Samples

if TYPE_CHECKING:
    from atomsieve.problem.problem import Problem

NEGLIGIBLE = 1e-3
"""Part of the gap that its uncertainty may be without a closer look at it."""


@dataclass(frozen=True, eq=False, repr=False)
class Point:
    """One state with its dual point; gap, dual point and radius are computed together and stay together.

    `theta` is dual feasible and `z = -A' theta`. It is the gradient at u. A penalty such as `Linear` may need it scaled
    by `dual_scale`; then the point is not paired, and every radius grows by sqrt(2). With a ridge, z is minus the
    gradient of loss and ridge, `-A' theta - ridge x`: what atoms are scored by. What is seen at the state comes
    unscaled in the view, and scaled arrays are made when they are asked for. `gap >= objective - optimum`.
    `rounding` estimates how far rounding may have moved the gap for given scores. `doubt` estimates how far rounding
    may have moved `p . z`, per unit of the norm of A p. These are estimates for floating-point runs, not bounds.
    """

    problem: "Problem"
    view: View
    unscaled_scores: Array
    """The scores of the gradient, before it is scaled; -inf for blocks that are ruled out. With limits the score of a
    coefficient that is at its limit, and that the gradient presses there, is 0: it cannot grow."""
    best: int
    sigma: float
    gap: float
    dual_scale: float
    rounding: float
    doubt: float
    measured: Measured

    @classmethod
    @np.errstate(over="ignore", invalid="ignore")
    def of(cls, problem: "Problem", view: View, alive: Mask | None = None) -> Self:
        """Pair a state with the gradient there; scale the gradient into the domain of phi* if necessary."""
        state = view.state
        u = view.u
        scores = scores_at(problem, view, alive)
        pull, length = across(problem, view)
        best = int(scores.argmax())
        sigma = max(float(scores[best]), 0.0)
        if problem.limits is not None:
            dual = Dual.limited(problem, problem.limits, view, scores, pull)
            sigma *= dual.scale
        elif problem.shrinkage is None:
            dual = Dual.of(problem, view, sigma)
            sigma = sigma if dual.scale == 1 else problem.penalty.slope(0.0)
        elif isinstance(problem.shrinkage, ProximalShrinkage):
            dual = Dual.beside(problem, problem.shrinkage, view, sigma)
        else:
            dual = Dual.eliminated(problem, problem.shrinkage, view, scores_of(problem, view.z, alive), pull)
            sigma *= dual.scale
        dual_scale, charge, answer, measured = dual
        gap = charge + answer + dual_scale * pull
        noise = noise_level(u.shape[0])
        alone = problem.span is None and problem.smooth.fixed is None  # the image is all of u
        reach = state.length if alone else state.length + measured.size
        # rounding of u moves theta by at most M times as much
        blur = noise * reach + state.drift
        doubt = noise * measured.steep + problem.loss.smoothness_near(u) * blur
        rounding = noise * (charge + abs(answer)) + doubt * length()
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

    @cached_property
    def pulls(self) -> Array:
        """Minus the gradient of loss and ridge in x, before it is scaled."""
        return pulls_of(self.problem, self.view)

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
        """`-A' theta - ridge x`, scaled like theta."""
        return self.pulls if self.paired else self.dual_scale * self.pulls

    @cached_property
    def loose_scores(self) -> Array:
        """The scores of `-A' theta` itself, without the ridge; -inf for blocks that are ruled out."""
        if self.problem.shrinkage is None:
            return self.scores
        loose = scores_of(self.problem, self.view.z, self.unscaled_scores > -np.inf)
        return loose if self.paired else self.dual_scale * loose

    @cached_property
    def scores(self) -> Array:
        """The score of every block: the largest `p . z` over its atoms; -inf for blocks that are ruled out."""
        return self.unscaled_scores if self.paired else self.dual_scale * self.unscaled_scores

    @property
    def pull(self) -> float:
        """`x . z`."""
        places = self.problem.lifted.seen_places
        if places is not None and self.state.factors is not None and self.problem.shrinkage is None:
            return -self.dual_scale * inner(self.state.image, self.view.theta)
        support = self.state.support
        return self.dual_scale * float(self.state.x.ravel()[support] @ self.pulls.ravel()[support])

    @property
    def descent(self) -> float:
        """How fast the objective falls towards the best atom at its best size: the gap, if there is no ridge."""
        problem = self.problem
        if problem.shrinkage is None:
            return self.gap
        mass, penalty = self.state.mass, problem.penalty
        return max(penalty.value(mass) + penalty.conjugate(self.sigma) - self.pull, 0.0)

    def __repr__(self) -> str:
        return f"Point(gap {self.gap:.2e}, {'paired' if self.paired else 'unpaired'}, mass {self.state.mass:.6g})"

    @property
    def objective(self) -> float:
        """F(u) + phi(mass) and the ridge, an upper bound of the optimal value."""
        return self.smooth_value + self.problem.penalty.value(self.state.mass)

    @property
    def smooth_value(self) -> float:
        """F(u) and the ridge."""
        shrinkage = self.problem.shrinkage
        held = 0.0 if shrinkage is None else shrinkage.value(self.state.x, self.state.support)
        return self.measured.value + held

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
            return self._unsure(self.doubt, *self.problem.lifted.rough_reaches)

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
            noise = noise_level(self.u.shape[0])
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
        shrinkage = self.problem.shrinkage
        # rounding of the slopes counts only orthogonally to the span of B; rounding of A' theta counts everywhere
        grain = noise_level(self.u.shape[0]) * self.measured.steep
        if shrinkage is not None:
            return self.rounding + self._unsure_beside(shrinkage, blur * widest + grain * longest)
        if self.problem.limits is not None:
            return self.rounding + self._unsure_within(self.problem.limits, blur * widest + grain * longest)
        highest = self.sigma + blur * widest + grain * longest
        if penalty.superlinear:
            return self.rounding + penalty.conjugate(highest) - penalty.conjugate(self.sigma)
        if not highest > penalty.slope(0.0):
            return self.rounding
        scale = penalty.slope(0.0) / highest
        # with the highest possible score, the dual point would need a smaller scale
        apart = self._apart_beyond(scale)
        return self.rounding + max(apart, 0.0) + (1 - scale) * abs(self.pull)

    def _apart_beyond(self, scale: float) -> float:
        """Return how much farther losses are from their conjugates if the dual point is scaled further."""
        measure = self.problem.smooth.measure
        return measure(self.u, self.slopes, scale * self.dual_scale, self.view.told).apart - self.measured.apart

    def _unsure_beside(self, shrinkage: Shrinkage, off: float) -> float:
        """Return how far the gap may move if scores are off: as they are or, for `Linear`, with a scale that fits."""
        problem = self.problem
        if isinstance(shrinkage, ProximalShrinkage):  # the conjugate rises by the mass times what the scores are off by
            return off * self.state.mass
        penalty, raised = problem.penalty, self.loose_scores + off
        whole = off * shrinkage.mass(penalty, raised)  # the slope of a convex function, where it is larger
        if penalty.superlinear or whole <= 2 * off * self.state.mass:  # what attains h* at the optimum is x
            return whole
        here = shrinkage.conjugate(penalty, self.loose_scores).value
        scale = shrinkage.fitting_scale(penalty.slope(0.0), raised, problem.core.sizes(self.state.x))
        if not 0 < scale < 1:
            return whole
        apart = self._apart_beyond(scale)
        held = 2 * shrinkage.value(self.state.x, self.state.support)
        moved = (1 - scale) * (abs(self.pull) + self.dual_scale * held) + max(apart, 0.0)
        return min(whole, max(shrinkage.conjugate(penalty, scale * raised).value - here, 0.0) + moved)

    def _unsure_within(self, limits: CoefficientLimits, off: float) -> float:
        """Return the same for a problem with limits."""
        problem, z = self.problem, self.dual_scale * self.view.z
        penalty, alive = problem.penalty, self.unscaled_scores > -np.inf
        here = limits.conjugate(penalty, z, alive).value
        whole = max(limits.conjugate(penalty, z, alive, off).value - here, 0.0)
        if penalty.superlinear:
            return whole
        highest = self.sigma + off
        if not highest > penalty.slope(0.0):
            return whole
        scale = penalty.slope(0.0) / highest * (1 - 4 * EPS)
        apart = self._apart_beyond(scale)
        closed = np.where(self.scores == 0, off, 0.0)  # the scores of the others are below the slope
        held = limits.conjugate(penalty, scale * z, alive, closed).value - here
        return min(whole, max(apart, 0.0) + (1 - scale) * abs(self.pull) + max(held, 0.0))

    def _curvature(self, gap_bound: float) -> float:
        """Return the largest curvature of the loss between here and the optimum."""
        problem = self.problem
        if problem.curvature < math.inf:
            return problem.curvature
        largest = problem.loss.smoothness_towards(
            self.dual_scale * self.slopes, problem.targets, gap_bound / problem.weights
        )
        return float(array_namespace(largest).max(largest))

    def least_slope(self, spread: Array | float, lengths: Array | float) -> float:
        """Return a lower bound of the slope of the penalty at the optimum; no A p of a block is longer than its spread.

        At the optimum no score of z exceeds the slope, and z moves with the dual point and with the ridge times x, for
        which `gap >= |theta - theta*|^2 / M + ridge |x - x*|^2 / 2` at a paired point.
        """
        penalty, shrinkage = self.problem.penalty, self.problem.shrinkage
        least = penalty.slope(0.0)
        if not penalty.superlinear:
            return least
        moved = self.radius * spread
        if shrinkage is not None:
            moved = np.sqrt(moved * moved + 2 * shrinkage.atoms * (self.gap + self.uncertainty))
        return max(least, float(np.max(self.scores - moved - self.doubt * lengths)))

    @cached_property
    def atom(self) -> Atom:
        """The best atom q, with `q . z = sigma`; 0 if no atom has a positive score."""
        # an oracle was asked at the unscaled z already, and its answer is the same
        core = self.problem.core
        atom = core.atom(self.pulls if core.listed else self.z, self.best)
        return atom if self.sigma > 0 else atom.scaled(0.0)

    @property
    def is_finite(self) -> bool:
        """Whether the gap is finite; after an overflow it is not."""
        return math.isfinite(self.gap)

    def under(self, problem: "Problem", alive: Mask | None = None) -> "Point":
        """Return the point at the same state for a problem with another penalty; no product with A is needed."""
        alive = problem.eligible if alive is None else alive
        if not problem.penalty.admits(self.state.mass):
            return problem.at(problem.admitted(self.state), alive)
        return Point.of(problem, self.view, alive)

    def without(self, removed: Mask) -> "Point":
        """Return the point at the same state with some blocks ruled out, on which x is zero: no product is needed."""
        scores = np.where(removed, -np.inf, self.unscaled_scores)
        if removed[self.best]:
            return Point.of(self.problem, self.view, scores > -np.inf)
        return replace(self, unscaled_scores=scores)

    def restrict(self, problem: "Problem", columns: Index, blocks: Index) -> "Point":
        """Return the same point for the problem on the given columns; x must be zero on all others."""
        state = replace(self.state, held=self.state.x[columns], known_support=None)
        view = replace(self.view, state=state, pulled=self.view.z[columns])
        best = int(np.searchsorted(blocks, self.best))
        return replace(self, problem=problem, view=view, unscaled_scores=self.unscaled_scores[blocks], best=best)
