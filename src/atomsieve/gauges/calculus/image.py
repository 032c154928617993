"""Atoms moved by a matrix: the gauge of `Q P`. The paper's invariance makes it the problem in the preimage."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import optimize

from atomsieve.checks import require_piece
from atomsieve.design import ALL, Design, ProductDesign, as_design
from atomsieve.gauges.base import Atom, BlockGauge, Gauge
from atomsieve.gauges.coordinates import Coordinates
from atomsieve.typing import Array


@dataclass(frozen=True, eq=False)
class Image(Gauge):
    """Gauge of `Q P`: `kappa(x) = min { gauge(c) : Q c = x }` and `sigma(z) = sigma_P(Q' z)`.

    Overlapping groups, analysis penalties and dictionaries are images. Solvers work on c, the preimage; the value at
    a given x is found by linear programming for coordinate gauges and directly where Q is injective.

    >>> import numpy as np
    >>> from atomsieve import L1
    >>> Image(L1(), np.array([[1.0, 1.0], [0.0, 1.0]])).value(np.array([2.0, 1.0]))
    2.0
    """

    gauge: Gauge
    matrix: Any

    def __post_init__(self) -> None:
        require_piece("Image: gauge", self.gauge, Gauge)

    @cached_property
    def _map(self) -> Design:
        return as_design(self.matrix, f"{type(self).__name__}: matrix")

    def check(self, shape: tuple[int, ...]) -> None:
        if self._map.shape[0] != shape[0]:
            raise ValueError(
                f"{type(self).__name__}: matrix must have one row per feature, {shape[0]} in all, "
                f"got shape {self._map.shape}."
            )
        self.gauge.check((self._map.shape[1], *shape[1:]))

    def scores(self, z: Array) -> Array:
        return self.gauge.scores(self._map.rmatvec(z))

    def atom(self, z: Array, block: int) -> Atom:
        inner = self.gauge.atom(self._map.rmatvec(z), block)
        return Atom(ALL, self._map.matvec(inner.values, inner.rows), block)

    def lift(self, design: Design) -> tuple[Design, BlockGauge]:
        return self.gauge.lift(ProductDesign(design, self._map))

    def lower(self, c: Array) -> Array:
        lowered: Array = self._map.matvec(self.gauge.lower(c))
        return lowered

    def value(self, x: Array) -> float:
        if isinstance(self.gauge, Coordinates):
            return self._value_by_linear_programming(self.gauge, x)
        matrix = self._map.columns(ALL)
        c, _, rank, _ = np.linalg.lstsq(matrix, x, rcond=None)
        if rank < matrix.shape[1]:
            raise ValueError(
                f"Image: the value of {type(self.gauge).__name__} under a matrix that is not injective is a "
                "convex program of its own; solve() does not need it."
            )
        exact = np.allclose(matrix @ c, x, rtol=1e-9, atol=1e-12 * float(np.abs(x).max(initial=0.0)))
        return self.gauge.value(np.asarray(c, dtype=np.float64)) if exact else float("inf")

    def _value_by_linear_programming(self, gauge: Coordinates, x: Array) -> float:
        """Return `min weights . c over Q c = x`, c split into its two signs where the gauge has both (HiGHS)."""
        count = self._map.shape[1]
        outputs = x.reshape(len(x), -1)
        weights = np.ones((count, outputs.shape[1]))
        if gauge.weights is not None:
            weights *= np.asarray(gauge.weights, dtype=float).reshape(count, -1)
        total = 0.0
        for target, cost in zip(outputs.T, weights.T, strict=True):
            usable = np.flatnonzero(np.isfinite(cost))
            matrix, price = self._map.columns(usable), cost[usable]
            if gauge.signed:
                matrix, price = np.hstack([matrix, -matrix]), np.tile(price, 2)
            answer = optimize.linprog(price, A_eq=matrix, b_eq=target, method="highs")
            total += float("inf") if answer.fun is None else float(answer.fun)
        return total
