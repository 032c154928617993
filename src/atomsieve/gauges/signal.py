"""Signals: total variation charges for jumps, trend filtering for bends. Both are an l1 norm seen through steps."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from atomsieve.design import Design, Steps
from atomsieve.gauges.base import Atom, BlockGauge, Gauge
from atomsieve.gauges.calculus.image import Image
from atomsieve.gauges.edges import above_roots, as_edge_weights, as_edges, grounded, is_forest, over_tree
from atomsieve.gauges.l1 import L1
from atomsieve.intake.arguments import as_floats, keep_copy, require_count
from atomsieve.numerics.cached import cached_property
from atomsieve.typing import Array, Index, Mask


class Signal(Gauge):
    """What they share: `kappa(x) = sum_e weights_e |(D x)_e|` with differences D of some order.

    Polynomials of a lower degree cost nothing: they are free. With differences as coefficients this is a weighted l1
    norm of the preimage, and the coefficients of the free directions, one of each degree, have weight 0.
    """

    weights: Any
    mapped = True
    of_signals = True

    @property
    def differences(self) -> int:
        """The order of the differences that are charged for."""
        raise NotImplementedError

    def _check_weights(self) -> None:
        """Keep a copy of the weights."""
        if self.weights is None:
            return
        name = type(self).__name__
        weights = as_floats(self.weights, f"{name}: weights")
        if weights.ndim != 1 or not (weights > 0).all():
            raise ValueError(f"{name}: weights must be positive numbers in one row (inf forbids a change there).")
        keep_copy(self, "weights", weights)

    def check(self, shape: tuple[int, ...]) -> None:
        name, order, rows = type(self).__name__, self.differences, shape[0]
        if rows <= order:
            raise ValueError(f"{name}: x must have more than {order} entries in a row, got shape {shape}.")
        if self.weights is not None and len(self.weights) != rows - order:
            raise ValueError(
                f"{name}: weights must have one number for each difference, {rows - order} in all, "
                f"got {len(self.weights)}."
            )

    def over(self, rows: int) -> Image:
        """Return the same gauge of so many rows as an image of an l1 norm."""
        return _image(self, rows)

    def _changes(self, x: Array) -> Array:
        """Return what is charged for."""
        return np.abs(np.diff(x, self.differences, axis=0))

    def scores(self, z: Array) -> Array:
        return self.over(len(z)).scores(z)

    def atom(self, z: Array, block: int) -> Atom:
        return self.over(len(z)).atom(z, block)

    def value(self, x: Array) -> float:
        changes = self._changes(x)
        if self.weights is None:
            return float(changes.sum())
        prices = self.weights.reshape(-1, *[1] * (changes.ndim - 1))
        with np.errstate(invalid="ignore"):
            return float(np.where(changes == 0, 0.0, prices * changes).sum())

    def lift(self, design: Design) -> tuple[Design, BlockGauge]:
        return self.over(design.shape[1]).lift(design)

    def lower(self, c: Array) -> Array:
        return self.over(len(c)).lower(c)

    def touched(self, chosen: Mask) -> Mask:
        return self.over(len(chosen)).touched(chosen)

    def spelled_out(self, form: tuple[int, ...]) -> Gauge:
        return self.over(form[0])

    def value_under(self, design: Design, x: Array) -> float:
        return self.over(design.shape[1]).value_under(design, x)


@lru_cache(maxsize=8)
def _tree_image(gauge: "TotalVariation", rows: int) -> Image:
    edges, weights = gauge.priced
    if gauge.is_forest:
        steps, prices = over_tree(edges, weights, rows)
        return Image(L1(prices), steps)
    steps = above_roots(edges, rows)
    return Image(grounded(edges, weights, steps), steps)


@lru_cache(maxsize=8)
def _image(gauge: Signal, rows: int) -> Image:
    maps: list[Steps] = []
    moving: Index = np.arange(rows)
    for _ in range(gauge.differences):
        maps.append(Steps(rows, int(moving[len(moving) // 2]), tuple(steps.root for steps in maps)))
        moving = np.delete(moving, len(moving) // 2)
    prices = np.zeros(rows)
    prices[moving] = 1.0 if gauge.weights is None else gauge.weights
    inner: Any = L1(prices)
    for steps in reversed(maps):
        inner = Image(inner, steps)
    image: Image = inner
    return image


@dataclass(frozen=True, eq=False, repr=False)
class TotalVariation(Signal):
    """Total variation, `kappa(x) = sum_e weights_e |x_i - x_j|` over edges: solutions are piecewise constant.

    Without `edges` x is a signal, and the edges join neighbours in a row. `edges` has a pair of features in each row,
    numbered from 0: a tree, several trees, or any graph (rivers, a hierarchy, the pixels of an image). What hangs
    together has one free level. `weights` has one positive number for each edge (None: all 1). With `edges` a weight
    may be 0, as if the edge were not there; on trees inf forbids a jump.

    The support function is `sigma(z) = max_S z(S) / (weight of the edges out of S)` over sets S of features, for z
    whose entries add up to 0 on all that hangs together; it is +inf for others, for constants cost nothing. On a tree
    it is `max_e |sum of z beyond e| / weights_e`, and in general the least congestion of a flow that leaves z.

    Certificates are about jumps: between which neighbours there is none in any solution, and where there is one. With
    cycles they are about the edges of a spanning tree, which is chosen so that each region of one level hangs together
    in it. The level of a place in the middle is free: it takes the part of an intercept, which is harmless beside it.

    Problem(None, y, gauge=TotalVariation(), ...) denoises a signal y itself.

    >>> import numpy as np
    >>> TotalVariation().value(np.array([1.0, 1.0, 4.0, 2.0]))
    5.0
    >>> TotalVariation().support(np.array([-1.0, -1.0, 1.0, 1.0]))
    2.0
    >>> star = TotalVariation(edges=[[0, 1], [0, 2], [0, 3]])
    >>> star.value(np.array([1.0, 1.0, 4.0, 2.0])), star.support(np.array([-4.0, 1.0, 2.0, 1.0]))
    (4.0, 2.0)
    >>> ring = TotalVariation(edges=[[0, 1], [1, 2], [2, 0]])
    >>> ring.value(np.array([0.0, 1.0, 3.0])), ring.support(np.array([-1.0, -1.0, 2.0]))
    (6.0, 1.0)
    """

    weights: Any = None
    edges: Any = None

    def __post_init__(self) -> None:
        if self.edges is None:
            self._check_weights()
            return
        edges = as_edges(self.edges, "TotalVariation")
        keep_copy(self, "edges", edges)
        if self.weights is not None:
            keep_copy(self, "weights", as_edge_weights(self.weights, "TotalVariation", len(edges)))
        if np.isinf(self.priced[1]).any() and not self.is_forest:
            raise ValueError(
                "TotalVariation: weights must be finite where edges form a cycle; make the two one feature."
            )

    @property
    def differences(self) -> int:
        return 1

    @property
    def priced(self) -> tuple[Index, Array]:
        """The edges that have a price, and their weights."""
        weights = np.ones(len(self.edges)) if self.weights is None else self.weights
        return self.edges[weights > 0], weights[weights > 0]

    @cached_property
    def is_forest(self) -> bool:
        """Whether the edges that have a price form no cycle."""
        return is_forest(self.priced[0], int(self.edges.max()) + 1)

    def check(self, shape: tuple[int, ...]) -> None:
        if self.edges is None:
            super().check(shape)
        elif self.edges.max() >= shape[0]:
            raise ValueError(
                f"TotalVariation: edges must join the {shape[0]} features, numbered from 0, got {self.edges.max()}."
            )
        elif len(shape) > 1 and not self.is_forest:
            raise ValueError(
                "TotalVariation: edges with cycles are for one output; x would have shape "
                f"{shape}. Fit the outputs one by one, or use edges that form a tree."
            )

    def over(self, rows: int) -> Image:
        return _image(self, rows) if self.edges is None else _tree_image(self, rows)

    def _changes(self, x: Array) -> Array:
        if self.edges is None:
            return super()._changes(x)
        return np.asarray(np.abs(x[self.edges[:, 1]] - x[self.edges[:, 0]]))


@dataclass(frozen=True, eq=False, repr=False)
class TrendFilter(Signal):
    """Trend filter, `kappa(x) = sum_e weights_e |(D x)_e|` with differences D of order `order + 1`.

    Solutions are piecewise polynomials: lines for an `order` of 1 (the default), parabolas for 2; `TotalVariation` is
    the order 0. Polynomials of degree `order` cost nothing. `weights` has one positive number for each difference.

    Certificates are about knots: where there is none in any solution, and where there is one.

    Kim, Koh, Boyd and Gorinevsky, l1 trend filtering, SIAM Review 2009.

    >>> import numpy as np
    >>> TrendFilter().value(np.array([0.0, 1.0, 2.0, 1.0]))
    2.0
    """

    order: int = 1
    weights: Any = None

    def __post_init__(self) -> None:
        require_count(self, order=self.order)
        self._check_weights()

    @property
    def differences(self) -> int:
        return self.order + 1
