"""What a point proves about the optimum, in spite of rounding."""

import math
from dataclasses import dataclass, replace

import numpy as np

from atomsieve.certificate import elastic, limited
from atomsieve.certificate.scores import low, pulls, scores_of
from atomsieve.certificate.statement import Statement
from atomsieve.certificate.zeros import beaten, zero_blocks
from atomsieve.gauges.facts import Evidence, Facts
from atomsieve.gauges.leading import Leading, Subspaces
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Enclosure, gamma, quiet, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask

SPARED = 2.0**-20
"""Part of the slope by which singular values must stay below it, so that a checker can confirm rank and subspaces."""


@dataclass(frozen=True, eq=False)
class Proof:
    """What one point proves: gap and objective, scores, and how far away the optimum can be."""

    statement: Statement
    x: Array
    b: Array
    slopes: Enclosure
    z: Enclosure
    shift: float
    sigma: float
    shrink: float
    objective: Enclosure
    gap: float
    scored: tuple[Enclosure, tuple[Array, Array]]
    """A z, and the bounds of its scores: those of this proof, unless it has another z."""

    @property
    def paired(self) -> bool:
        """Whether the dual point is the gradient itself."""
        return self.shrink == 1.0

    @property
    def gap_bound(self) -> float:
        """`c gap` with c = 1 for a paired point and 2 otherwise."""
        return float(up(self.gap * (1.0 if self.paired else 2.0)))

    @cached_property
    def curvatures(self) -> tuple[Array, Array]:
        """Bounds of loss'' between the point and the optimum: for each sample, or for each sample and output.

        With several outputs, the Hessian of a sample is at least `diag(q) - q q' / sum(q)` with the first of them, and
        its diagonal is at most the second.
        """
        statement, t = self.statement, self.slopes
        if statement.problem.loss.quadratic and t.ndim == 1:
            return statement.constant_curvatures
        counts = statement.counts if t.ndim == 1 else statement.counts[:, None]
        return statement.loss.between(t, self.shrink, statement.y, counts, self.gap_bound)

    @cached_property
    def spread(self) -> tuple[Array, Array]:
        """Upper bounds of the norm of A p over each block, and of the column of each entry, in the curvature metric."""
        statement = self.statement
        with quiet():
            core, shape, most = statement.problem.core, statement.problem.shape, self.curvatures[1]
            whole = most if most.ndim == 1 else statement.loss.largest_eigenvalues(most)
            norms = whole = statement.spreads(up(statement.counts * whole))
            if most.ndim > 1:
                norms = np.stack([statement.spreads(up(statement.counts * column)) for column in most.T], axis=1)
            if not statement.priced:
                return core.spread_bounds(norms), norms
            prices = low(statement.prices)
            if core.entrywise:
                return up(norms.ravel() / prices), norms
            # the norm of a block of columns is at most the root of the sum of their squares
            labels = core.labels(shape) if len(shape) == 1 else core.labels(shape)[:, 0]
            squares = np.bincount(labels, whole * whole, len(prices)) * (1 + gamma(len(whole) + 4))
            return up(root(up(squares)) / prices), norms

    @cached_property
    def unscaled_scores(self) -> tuple[Array, Array]:
        """Lower and upper bounds of the scores of all blocks at z itself."""
        if self.scored[0] is self.z:
            return self.scored[1]
        with quiet():
            return scores_of(self.statement, self.z)

    @cached_property
    def scores(self) -> tuple[Array, Array]:
        """Lower and upper bounds of the scores of all blocks at the dual point."""
        below, above = self.unscaled_scores
        with quiet():
            return self.from_below(below), self.from_above(above)

    def from_below(self, scores: Array) -> Array:
        """Return lower bounds of scores at the dual point, from those at z."""
        return scores if self.paired else np.where(scores > 0, self.shrink * scores * (1 - 2 * EPS), scores)

    def from_above(self, scores: Array) -> Array:
        """Return upper bounds of scores at the dual point, from those at z."""
        if self.paired:
            return scores
        return np.where(scores > 0, up(self.shrink * scores), self.shrink * scores * (1 - 2 * EPS))

    def at(self, z: Enclosure) -> "Proof":
        """Return the proof with another z, for its scores."""
        return replace(self, z=z)

    @property
    def pulls(self) -> tuple[Array, Array]:
        """Lower and upper bounds of the norm of z over each block; of z itself where x must not be negative."""
        return pulls(self.statement, self.z)

    @property
    def radius(self) -> float:
        """How far the optimum can be from the dual point, in the curvature metric."""
        return float(up(math.sqrt(self.gap_bound)))

    @property
    def reach(self) -> float:
        """How far the predictions can be from those of the optimum, in the metric of the least curvatures."""
        return self.radius

    @property
    def sway(self) -> tuple[Array, Array] | None:
        """How far x and b move, in either direction, with what a family of problems leaves open; None for one.

        If x is the sum of atoms, its rounding is such a move.
        """
        blur = self.statement.blur(self.x)
        return None if blur is None else (blur, np.zeros(self.b.shape))

    @cached_property
    def least_slope(self) -> float:
        """A lower bound of the slope of the penalty at the optimum, times S: that of the best score."""
        statement = self.statement
        if statement.ridges is not None and not statement.decides:
            return elastic.slopes(self, statement.ridges)[0]
        if statement.limits is not None:
            least = limited.Bracket(statement, statement.limits, *limited.ends(self)).least()
            return float((statement.total * Enclosure.exact(least)).low)
        # phi is at least as steep at the optimum as at 0, and a linear one is never steeper
        least = float((statement.total * statement.penalty.first_slope).low)
        if least > 0 and not statement.problem.penalty.superlinear:
            return least
        with quiet():
            floors = self.optimal_scores[0]
            floor = float(np.max(floors, where=statement.problem.eligible, initial=-np.inf))
        return max(floor, least) if least > 0 else floor

    @cached_property
    def facts(self) -> Facts | None:
        """What holds for the entries of every solution; None where all that is known is about blocks."""
        if not self.statement.decides:
            return None
        with np.errstate(all="ignore"):
            z, away = self._pulled
            flat = Enclosure(z.mid.ravel(), z.rad.ravel())
            slope = self.least_slope, self._steepest(self.optimal_scores[1])
            evidence = Evidence.around(flat, away.ravel(), self.optimal_scores, slope)
            return self.statement.problem.core.decide(evidence)

    @cached_property
    def _pulled(self) -> tuple[Enclosure, Array]:
        """What scores the atoms of a solution, z at the dual point, and how far each entry of it can move.

        With a ridge it is `z - R x`, which moves by at most `sqrt(gap (norm^2 + 2 R))`; such a point is paired.
        """
        ridges, norms = self.statement.ridges, self.spread[1]
        z = self.z if self.paired else self.z * Enclosure.exact(self.shrink)
        if ridges is not None:
            own = ridges[self.statement.labels.reshape(self.x.shape)]
            z, norms = z - own * Enclosure.exact(self.x), root(up(norms * norms + 2 * own.high))
        return z, np.asarray(up(self.radius * norms))

    @cached_property
    def optimal_scores(self) -> tuple[Array, Array]:
        """Lower and upper bounds of the scores of all blocks at the optimum."""
        if self.statement.ridges is None:
            (below, above), moved = self.scores, up(self.radius * self.spread[0])
        else:
            z, away = self._pulled
            (below, above), moved = self.at(z).scores, self.statement.problem.core.spread_bounds(away)
        return below - moved - 2 * EPS * np.abs(below), above + moved + 2 * EPS * np.abs(above)

    @cached_property
    def leading(self) -> Leading | None:
        """Subspaces of z beyond which no solution lies; None where x is no matrix, and where they are everything.

        Solutions live where the singular values of z* are equal to the slope, and none of them moves by more than the
        radius times the spread.
        """
        statement, core = self.statement, self.statement.problem.core
        alone = statement.ridges is None and statement.family is None and not statement.problem.outputs
        if not (core.ranked and alone):
            return None
        with quiet():
            least = (self.least_slope - float(up(self.radius * self.spread[0][0]))) * (1 - SPARED)
            if not least > 0:
                return None
            return core.leading_above(self.z if self.paired else self.z * Enclosure.exact(self.shrink), least)

    @property
    def rank(self) -> int | None:
        """A bound of the rank of every solution; None where none is known that says anything."""
        return None if self.leading is None else self.leading.rank

    @property
    def subspaces(self) -> Subspaces | None:
        """How near the columns and rows of every solution lie to known subspaces; None where nothing is known."""
        leading, slope = self.leading, self.least_slope
        if leading is None or not leading.rank:
            return None
        with quiet():
            moved = up(up(self.radius * self.spread[0][0]) * (1 + SPARED) + SPARED * SPARED * slope)
            sine = leading.sine(slope * (1 - SPARED), float(moved))
        return Subspaces(leading.left, leading.right, sine) if sine < 1 else None

    def _steepest(self, above: Array) -> float:
        """Return an upper bound of the slope of the penalty, times S, at a solution that is not 0: the best score."""
        statement = self.statement
        if not statement.problem.penalty.superlinear:
            return float((statement.total * statement.penalty.first_slope).high)
        return float(np.max(above, where=statement.problem.eligible, initial=0.0))

    def zero(self) -> Mask:
        """Return the blocks that are zero in every solution, or the entries where verdicts are about them."""
        if self.facts is None:
            return zero_blocks(self)
        return np.asarray((self.facts.zero | zero_blocks(self)[self.statement.labels]) & self.statement.eligible)

    @cached_property
    def values(self) -> limited.Values | None:
        """Which coefficients are proven to be 0 or at a limit; None without limits."""
        limits = self.statement.limits
        return None if limits is None else limited.values(self, limits)

    @property
    def z_flat(self) -> Enclosure:
        """z, row by row."""
        return Enclosure(self.z.mid.ravel(), self.z.rad.ravel())

    def beaten(self, index: Index) -> Mask:
        """Return which coordinates the best atom rules out by the pairwise rule."""
        return beaten(self, index)

    @property
    def held(self) -> Array | None:
        """What the ridge adds to the curvature of each entry, rounded down: half of it if the point is paired.

        For then the gap bounds half of the ridge times the square of the distance beside the curvature of the losses,
        and twice the gap all of it otherwise.
        """
        ridges = self.statement.ridges
        if ridges is None:
            return None
        return np.asarray(ridges.low[self.statement.labels] * (0.5 if self.paired else 1.0))

    @cached_property
    def box(self) -> elastic.Box | None:
        """Bounds of the optimal coefficients from the dual point alone; None without a ridge, or without prices."""
        ridges = self.statement.ridges
        return None if ridges is None or not self.statement.priced else elastic.box(self, ridges)

    @cached_property
    def stated(self) -> Enclosure:
        """The free coefficients as the problem states them; they are rounded."""
        return self.statement.frame.outside(self.x, self.b)

    @property
    def free(self) -> Array:
        """The free coefficients as the problem states them."""
        return np.asarray(self.stated.mid)

    @property
    def unit(self) -> Array:
        return self.statement.free_scale
