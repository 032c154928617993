"""The exact problem that a certificate is about.

Its data are the given floats, with the sample weights divided by their exact sum S. Here the objective is multiplied
by S. The weights are then the given floats: `sum_i s_i loss(u_i) + S phi(kappa(x)) + S (ridge / 2) |x|^2`,
within the limits of the coefficients, if there are any.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from atomsieve.certificate.family import Family
from atomsieve.certificate.frame import Frame, beside
from atomsieve.certificate.gram import Plain, Remote, Sparse
from atomsieve.certificate.identity import fingerprint_of
from atomsieve.certificate.inverse import Dependency, dependencies
from atomsieve.design.base import Columns, Enclosed, bounded, surveyed
from atomsieve.design.centred import CentredDesign
from atomsieve.design.dense import DenseDesign
from atomsieve.design.device import DeviceDesign
from atomsieve.design.filed import FiledDesign
from atomsieve.design.operator import UNPROVABLE, OperatorDesign
from atomsieve.design.sparse import SparseDesign
from atomsieve.gauges import Scaled
from atomsieve.gauges.coordinates import Coordinates
from atomsieve.gauges.found import Combination
from atomsieve.losses.bounds import LossBounds
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import LEAST, Enclosure, Uncertain, gamma, quiet, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.penalties.bounds import PenaltyBounds
from atomsieve.problem import Problem
from atomsieve.problem.limits import CoefficientLimits
from atomsieve.typing import Array, Index, Mask, Signs


@dataclass(frozen=True, eq=False)
class Statement:
    """The exact problem, with bounds for its pieces."""

    problem: Problem
    loss: LossBounds
    penalty: PenaltyBounds
    frame: Frame
    family: Family | None = None
    """How far the data may be from what is stated; None if they are exact."""
    parts: Combination | None = None
    """The atoms that the point is made of, where the gauge of x is not known (`BlockGauge.listed`)."""

    @classmethod
    def of(cls, problem: Problem) -> "Statement":
        """Return the statement of a problem; raise Uncertain if there is no proof for one of its pieces."""
        if isinstance(problem.data.design, OperatorDesign):
            raise Uncertain(UNPROVABLE)
        if problem.data.lost_weight:
            raise Uncertain("some sample weights are so small beside others that the samples were left out")
        statement = cls(problem, problem.loss.bounds, problem.penalty.bounds, Frame.of(problem))
        if not statement.priced:  # then its own bounds are needed
            problem.core.enclose_sizes(np.zeros(problem.shape))
            problem.core.enclose_scores(Enclosure.exact(np.zeros(problem.shape)))
        return statement

    def over(self, family: Family) -> "Statement":
        """Return the statement of all problems of a family; norms of columns and slopes of the penalty cover them."""
        return replace(self, penalty=PenaltyBounds(self.problem.penalty, family.strengths), family=family)

    def made_of(self, parts: Combination) -> "Statement":
        """Return the statement with the atoms that a point is made of, shrunk into the domain of the penalty."""
        for _ in range(100):
            mass = Enclosure.exact(parts.weights).sum()
            if math.isfinite(float(self.penalty.value(mass).high)):
                break
            parts = parts.scaled(min(self.problem.penalty.limit / float(mass.high), 1.0) * (1 - 4 * EPS))
        return replace(self, parts=parts)

    def blur(self, x: Array) -> Array | None:
        """Return how far x may be from the sum of the atoms that it is made of; None if it is x itself that counts.

        An entry of an atom is rounded up to twice (a shift, a factor), its product with the weight once, and their sum.
        """
        if self.parts is None or not x.any():
            return None
        sizes = Combination.of((atom.moduli(), weight) for atom, weight in self.parts.pairs).sum(x.shape)
        return np.asarray(up(sizes * gamma(len(self.parts.atoms) + 8)))

    @property
    def design(self) -> Enclosed:
        """The columns of A, modulo the constant if there is one."""
        return self.frame.design

    @property
    def y(self) -> Array:
        """The targets in the frame."""
        return self.frame.y

    @property
    def counts(self) -> Array:
        """The weights s_i."""
        return self.problem.smooth.stated_weights

    def weights_of(self, axes: int) -> Enclosure:
        """Return the weights for numbers of all samples, or of all samples and outputs."""
        return Enclosure.exact(self.counts if axes == 1 else self.counts[:, None])

    @cached_property
    def lengths(self) -> Array:
        """Upper bounds of the lengths of the columns of A."""
        return self.design.norm_bounds(np.ones(len(self.counts)))

    def pulled(self, theta: Enclosure) -> Enclosure:
        """Return `-A' theta`, in new arrays; the pass over A shows more, which is kept as if it had been asked for."""
        product, lengths, seen = surveyed(self.design, -theta)
        vars(self).setdefault("lengths", lengths)
        if seen is not None and isinstance(self.design, DenseDesign | CentredDesign | DeviceDesign | FiledDesign):
            vars(self).setdefault("fingerprint", seen)
        stored = isinstance(self.design, DenseDesign | CentredDesign | SparseDesign)
        return product if stored and theta.ndim == 1 else Enclosure(product.mid.copy(), product.rad.copy())

    @cached_property
    def fingerprint(self) -> bytes:
        """The fingerprint of X at the time of the proof."""
        return fingerprint_of(self.problem.data)

    def spreads(self, metric: Array, index: Index | None = None) -> Array:
        """Return upper bounds of the lengths of the columns of A in a metric, or of those with an index."""
        if self.family is not None:
            lengths = up(self.design.norm_bounds(metric) + self.family.lengths(metric))
            return np.asarray(lengths if index is None else lengths[index])
        if metric.min() == metric.max():
            return self.widest(metric, index)
        return self.design.norm_bounds(metric, index)

    def widest(self, metric: Array, index: Index | None = None) -> Array:
        """Return upper bounds of the same, from the lengths and the largest number of the metric alone."""
        lengths = self.lengths if index is None else self.lengths[index]
        return np.asarray(up(lengths * math.sqrt(float(metric.max())) * (1 + 4 * EPS)))

    @cached_property
    def all_eligible(self) -> bool:
        """Whether every block has atoms."""
        return bool(self.problem.eligible.all())

    def highest(self, scores: Array) -> float:
        """Return the highest score of all blocks that have atoms; at least 0."""
        return float(np.max(scores, where=True if self.all_eligible else self.problem.eligible, initial=0.0))

    def for_entries(self, blocks: Mask) -> Mask:
        """Return what is true of each block, for each entry of x, flattened."""
        return blocks if self.plain else np.asarray(blocks[self.labels])

    def by_entry(self, verdicts: Mask) -> Mask:
        """Return what is said of each unit, for each entry of x."""
        return verdicts if self.decides else self.for_entries(verdicts)

    @cached_property
    def constant_curvatures(self) -> tuple[Array, Array]:
        """Bounds of loss'' of all samples, where it is the same at every prediction."""
        with quiet():
            return self.loss.curvatures(0 * self.y, 0 * self.y, self.y)

    @cached_property
    def total(self) -> Enclosure:
        """The sum S of the weights of the rows of X."""
        return Enclosure.exact(self.problem.data.stated_weights).sum()

    @cached_property
    def ridges(self) -> Enclosure | None:
        """The ridge of each block, times S; None without a ridge."""
        shrinkage = self.problem.shrinkage
        if shrinkage is None:
            return None
        ridges = self.total * Enclosure.exact(shrinkage.ridges)
        if not ((ridges.mid > 1e-290) & (ridges.high < 1e290)).all():
            raise Uncertain("the ridge is so large or small that it leaves the range of doubles")
        return ridges

    @cached_property
    def labels(self) -> Index:
        """The block of each entry of x, flattened."""
        return self.problem.core.labels(self.problem.shape).ravel()

    @cached_property
    def decides(self) -> bool:
        """Whether verdicts are about single entries although blocks are larger: the gauge derives facts about them."""
        return about_entries(self.problem, self.family)

    @cached_property
    def units(self) -> Index:
        """What verdicts are about: the number of each entry of x, flattened, or that of its block."""
        return np.arange(len(self.labels)) if self.decides else self.labels

    @cached_property
    def eligible(self) -> Mask:
        """Which units have atoms at all."""
        return self.problem.eligible[self.labels] if self.decides else self.problem.eligible

    @cached_property
    def signs(self) -> Signs:
        """Whether entries of x may be negative: one truth value for all, or one for each entry, flattened."""
        return self.problem.core.signs(self.problem.shape)

    @cached_property
    def priced(self) -> bool:
        """Whether the gauge is a sum of prices times l2 norms of blocks; others have bounds of their own."""
        with quiet():
            return self.problem.core.prices(self.problem.shape) is not None

    @property
    def stated_prices(self) -> tuple[Array, list[float]]:
        """The prices of the blocks without scaling, which are floats, and the radii by which they are divided."""
        core: Any = self.problem.core
        radii = []
        while isinstance(core, Scaled):
            radii.append(core.radius)
            core = core.gauge
        return core.prices(self.problem.shape), radii

    @cached_property
    def prices(self) -> Enclosure:
        """The factor of each block's norm in the gauge; a quotient of floats if the gauge is scaled."""
        exact, radii = self.stated_prices
        eligible = self.problem.eligible
        if not radii and exact.strides == (0,) and exact[0] == 1:  # one number, seen many times
            return Enclosure(exact, np.broadcast_to(0.0, exact.shape))
        prices = Enclosure.exact(np.where(eligible, exact, 1.0))
        for radius in reversed(radii):
            prices = prices / Enclosure.exact(radius)
        if not ((prices.mid > 1e-290) & (prices.high < 1e290)).all():
            raise Uncertain("prices are so large or small that they leave the range of doubles")
        return Enclosure(np.where(eligible, prices.mid, exact), np.where(eligible, prices.rad, 0.0))

    @property
    def limits(self) -> CoefficientLimits | None:
        """The limits of the coefficients; None without limits."""
        return self.problem.limits

    @cached_property
    def prices_of_all(self) -> Enclosure:
        """The prices of single coefficients, 1 for those without atoms."""
        eligible = self.problem.eligible
        return Enclosure(np.where(eligible, self.prices.mid, 1.0), np.where(eligible, self.prices.rad, 0.0))

    @cached_property
    def free_of_prices(self) -> bool:
        """Whether every price is 1."""
        exact, radii = self.stated_prices if self.priced else (np.zeros(0), [])
        if self.priced and not radii and exact.strides == (0,):
            return bool(exact[0] == 1)
        return self.priced and not self.prices.rad.any() and bool((self.prices.mid == 1).all())

    @cached_property
    def plain(self) -> bool:
        """Whether every block j is just entry j of x."""
        if getattr(type(self.problem.core), "labels", None) is Coordinates.labels:
            return True
        return bool(np.array_equal(self.labels, np.arange(len(self.labels))))

    @cached_property
    def single(self) -> bool:
        """Whether every block is one entry of a vector x, and has a price; and the problem is no family."""
        entries = self.priced and self.problem.core.entrywise and self.plain
        return entries and len(self.problem.shape) == 1 and self.family is None

    @cached_property
    def free_scale(self) -> Array:
        """For each column of B, a power of two near 1 / (its largest entry)."""
        if self.unpenalised.shape[1] == self.frame.constants:
            return np.ones(self.frame.constants)
        largest = np.abs(self.unpenalised.mid).max(axis=0)
        return np.asarray(2.0 ** -np.round(np.log2(np.where(largest > 0, largest, 1.0))))

    @cached_property
    def unpenalised(self) -> Enclosure:
        """The columns B: the constant, the columns passed as `free`, and the columns of A with price 0."""
        return self.frame.free

    def columns(self, free: Index, index: Index) -> Enclosure:
        """Return columns of B and of A, modulo the constant if there is one."""
        return beside(self.unpenalised[:, free], self.design.enclose_columns(index))

    def rows(self, free: Index, index: Index, weights: Array) -> Plain | Sparse | Remote:
        """Return the same columns with weights; sparse ones stay sparse, and those on a device stay there."""
        if isinstance(self.design, DeviceDesign | FiledDesign):
            return Remote(self.unpenalised[:, free], self.design, index, weights)
        if isinstance(self.design, SparseDesign):
            return Sparse(self.unpenalised[:, free], self.design.matrix[:, index].tocsc(), weights)
        return Plain(self.design.enclose_columns(index), weights, self.unpenalised[:, free])

    def exact_columns(self, free: Columns, index: Index) -> Enclosure:
        """Return columns of B and of A as they are, not modulo the constant."""
        problem = self.problem
        own, columns = problem.core.unpenalised(), problem.smooth.unpenalised
        design = bounded(problem.design)
        given = Enclosure.exact(columns[:, : columns.shape[1] - len(own)])
        return beside(beside(given, design.enclose_columns(own))[:, free], design.enclose_columns(index))

    @cached_property
    def sums(self) -> list[Dependency]:
        """Free columns that are exact combinations of other free columns; their coefficients are set to 0.

        Columns of an image have rounding errors: they are taken for independent, which the enclosure of b then proves.
        """
        if self.unpenalised.shape[1] < 2:
            return []
        columns = self.exact_columns(slice(None), np.zeros(0, dtype=np.intp))
        exact = np.flatnonzero(~columns.rad.any(axis=0))
        if len(exact) < 2:
            return []
        found = dependencies(columns[:, exact], self.frame.constants)
        if found is None:
            raise Uncertain("free columns are nearly linearly dependent")
        return [Dependency(int(exact[d.column]), exact[d.of], d.times) for d in found]

    @cached_property
    def used(self) -> Index:
        """The free columns without those in `sums`."""
        every = np.arange(self.unpenalised.shape[1])
        return np.setdiff1d(every, [d.column for d in self.sums]) if self.sums else every

    def block_norms(self, sizes: Array) -> Array:
        """Return upper bounds of the l2 norm of each block, from upper bounds of the entries."""
        flat, count = sizes.ravel(), len(self.problem.eligible)
        if self.plain:
            return flat
        with quiet():
            longest = np.bincount(self.labels, minlength=count).max()
            squares = np.bincount(self.labels, flat * flat, count)
            return root(up(squares * (1 + gamma(longest + 4)) + longest * LEAST))

    def least_norms(self, sizes: Array) -> Array:
        """Return lower bounds of the l2 norm of each block, from lower bounds of the entries' absolute values."""
        flat, count = sizes.ravel(), len(self.problem.eligible)
        if self.plain:
            return flat
        with quiet():
            longest = np.bincount(self.labels, minlength=count).max()
            squares = np.bincount(self.labels, flat * flat, count) * (1 - 2 * gamma(longest + 6)) - 4 * longest * LEAST
            return np.where(np.isfinite(squares), np.sqrt(np.maximum(squares, 0.0)) * (1 - 4 * EPS), 0.0)


def about_entries(problem: Problem, family: Family | None) -> bool:
    """Return whether verdicts are about single entries of x although its blocks are larger."""
    return bool(problem.core.decides and not problem.outputs and family is None)


def unprovable(problem: Problem) -> str | None:
    """Return why nothing can be proven about a problem at any point, or None if that depends on the point."""
    try:
        problem = problem.hosted
        statement = Statement.of(problem)
        statement.loss.check(np.zeros((1, *problem.shape[1:])), problem.y[:1])
        statement.penalty.check()
    except Uncertain as reason:
        return str(reason)
    return None
