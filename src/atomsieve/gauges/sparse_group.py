"""The sparse group norm: few groups, and few features within them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from atomsieve.design import Design
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.base import Atom, BlockGauge, Gauge
from atomsieve.gauges.facts import Evidence, Facts
from atomsieve.gauges.group import Group
from atomsieve.gauges.grouped import Grouped
from atomsieve.gauges.mixed_norms import MixedNorms
from atomsieve.gauges.orthant import Orthant
from atomsieve.gauges.proximal import Line, on_line
from atomsieve.intake.arguments import is_number, shown
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Enclosure, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array


@dataclass(frozen=True, eq=False, repr=False)
class SparseGroup(Grouped):
    """Sparse group norm, `kappa(x) = balance norm1(x) + (1 - balance) sum_g weights_g norm2(x_g)`.

    Solutions have few groups, and few features within them. A `balance` of 0 is `Group`, and 1 is `L1`. `groups` and
    `weights` are those of `Group`: a dict or list of lists of features, or one label per feature, and "sqrt" (the
    default), "equal" or one weight per group. With None every row is a group, which is of use for a matrix x: few
    features, and few outputs for each.

    `sigma(z)` is the largest t_g, where `norm2(soft(z_g, t_g balance)) = t_g (1 - balance) weights_g`. The products
    `(1 - balance) weights_g` are rounded to double precision once, and certificates are about them.

    Simon, Friedman, Hastie and Tibshirani, A sparse-group lasso, Journal of Computational and Graphical Statistics 22
    (2013).

    >>> import numpy as np
    >>> gauge = SparseGroup([0, 0, 1], balance=0.5, weights="equal")
    >>> gauge.value(np.array([3.0, 4.0, -1.0])), round(2 * gauge.support(np.array([3.0, 4.0, 0.0])), 6)
    (7.0, 8.404082)
    """

    groups: Any = None
    balance: float = 0.5
    weights: Any = "sqrt"
    split = True

    def __post_init__(self) -> None:
        if not is_number(self.balance) or not 0 <= self.balance <= 1:
            raise ValueError(
                f"SparseGroup: balance must be a number from 0 (groups alone) to 1 (single features alone), got "
                f"{shown(self.balance)}. The order of arguments is SparseGroup(groups, balance, weights)."
            )
        object.__setattr__(self, "balance", float(self.balance))
        super().__post_init__()

    def stated(self) -> dict[str, Any]:
        return {"groups": self._codes, "balance": self.balance, "weights": self._factors}

    def lift(self, design: Design) -> tuple[Design, BlockGauge]:
        return design, (Group(self.groups, self.weights) if self.balance == 0 else self)

    def spelled_out(self, form: tuple[int, ...]) -> Gauge:
        return Group(self.groups, self.weights) if self.balance == 0 else self

    @cached_property
    def _known(self) -> dict[tuple[int, ...], MixedNorms]:
        """The norms for shapes of x that were asked for."""
        return {}

    def _norms(self, shape: tuple[int, ...]) -> MixedNorms:
        if shape not in self._known:
            labels = np.ascontiguousarray(self.labels(shape)).ravel()
            weights = np.ones(int(labels.max()) + 1) if self._factors is None else self._factors
            self._known[shape] = MixedNorms(labels, self.balance, (1 - self.balance) * weights)
        return self._known[shape]

    def scores(self, z: Array) -> Array:
        return self._norms(z.shape).polar(np.abs(z).ravel())

    def sizes(self, x: Array) -> Array:
        return self._norms(x.shape).values(np.abs(x).ravel())

    def atom(self, z: Array, block: int) -> Atom:
        columns = self._columns(block)
        given = z[columns]
        sizes = np.abs(given).ravel()
        own = replace(self._norms(z.shape), labels=np.zeros(sizes.size, dtype=np.intp))
        own = replace(own, prices=own.prices[[block]])
        left = np.maximum(sizes - own.polar(sizes)[0] * self.balance, 0.0)
        if not left.any():  # the largest entry alone
            left[sizes.argmax()] = sizes.max()
        size = float(own.values(left)[0])
        return Atom(columns, np.copysign(left.reshape(given.shape) / (size if size > 0 else 1.0), given), block)

    def enclose_sizes(self, x: Array) -> Enclosure:
        return self._norms(x.shape).enclose_values(np.abs(x).ravel())

    def enclose_scores(self, z: Enclosure) -> Enclosure:
        norms = self._norms(z.shape)
        least = np.maximum(np.abs(z.mid) - z.rad, 0.0) * (1 - 4 * EPS)
        return Enclosure.between(norms.polar_below(least.ravel()), norms.polar_above(z.size.ravel()))

    def spread_bounds(self, norms: Array) -> Array:
        return self._norms(norms.shape).polar_above(norms.ravel())

    def spread(self, seminorm: Seminorm, outputs: int) -> Array:
        # |A p| is at most sum_j |p_j| |A_j|, and at most |A_g|_2 |p|_2, where (single + price) |p|_2 <= 1
        columns = seminorm.column_norms()
        norms = self._norms((len(columns),) if outputs == 1 else (len(columns), outputs))
        together = columns if self._members is None else seminorm.spectral_norms(self._members)
        alone = norms.polar(np.repeat(columns, outputs))
        return np.minimum(alone, together / (norms.single + norms.prices))

    @property
    def decides(self) -> bool:  # type: ignore[override]
        return self.balance > 0

    def decide(self, evidence: Evidence) -> Facts:
        # of a group that is not 0, z* = slope (balance s + price x / |x|) with the signs s of x, and at most
        # slope * balance where x is 0
        facts, (least, most) = Facts.none(len(evidence.most)), evidence.slope
        with np.errstate(invalid="ignore", over="ignore"):
            zero = evidence.most < self.balance * least * (1 - 4 * EPS)
            nonzero = evidence.least > up(self.balance * most)
        return replace(facts, zero=zero, nonzero=nonzero, signs=evidence.signs)

    def charges(self, shape: tuple[int, ...]) -> tuple[Array, Array]:
        norms = self._norms(shape)
        return norms.prices, np.full(len(norms.prices), norms.single)

    def nonnegative(self, rows: int) -> BlockGauge:
        return Orthant(self)

    def prox(self, v: Array, line: Line) -> Array:
        norms, sizes = self._norms(v.shape), np.abs(v).ravel()

        def shrunk(slope: float) -> Array:
            return norms.shrunk(sizes, slope)

        steepest = float(norms.polar(sizes).max()) if line[1] > 0 else 0.0
        found = on_line(shrunk, lambda x: float(norms.values(x).sum()), line, steepest)
        return np.copysign(found.reshape(v.shape), v)

    def joining(self, z: Array, scores: Array) -> Array:
        """Return the slope at which each entry joins x; `scores` are those of z."""
        # a step at a slope moves the entries of groups that score more, with pulls above the slope times the balance
        sizes, scores = np.abs(z), scores[self.labels(z.shape)]
        if self.balance == 0:
            return np.where(sizes > 0, scores, 0.0)
        return np.minimum(scores, sizes / self.balance)
