"""Gauges with a prox and faces: what a working set of columns is solved by, whatever the atoms look like.

A prox finds the face of P that x lies on, and on that face the gauge is smooth: x = U s with free coordinates s. Newton
steps are taken in these coordinates (methods/corrective/proximal.py).
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from atomsieve.gauges.base import BlockGauge
from atomsieve.numerics.roots import monotone_zero
from atomsieve.typing import Array, Index

Line = tuple[float, float]
"""A penalty `a s + b s^2 / 2` by its line of slopes (a, b)."""


@dataclass(frozen=True, eq=False)
class Face:
    """The points around x at which a gauge is smooth: `x = U s`, with the gradient and Hessian of the gauge in s."""

    directions: csr_array
    """The transpose of U: one row for each coordinate s."""
    coordinates: Array
    gradient: Array
    hessian: Array | None = None
    """None where the gauge is linear on the face."""

    @classmethod
    def of_signs(
        cls, signs: Array, labels: Index, sizes: Array, gradient: Array, hessian: Array | None = None
    ) -> "Face":
        """Return the face on which entries with the same label have the same size; those with the label -1 are zero."""
        order = np.argsort(labels, kind="stable")
        ends = np.searchsorted(labels[order], np.arange(len(sizes) + 1))
        inside = order[ends[0] :]
        rows = (signs[inside], inside, ends - ends[0])  # faster than from rows and columns
        return cls(csr_array(rows, shape=(len(sizes), len(signs))), sizes, gradient, hessian)

    def among(self, matrix: Array) -> Array:
        """Return `U' M U` for a symmetric matrix M; where every coordinate is one entry, by its places alone."""
        rows = self.directions
        if rows.nnz == rows.shape[0] and (np.diff(rows.indptr) == 1).all():
            return np.asarray(matrix[np.ix_(rows.indices, rows.indices)] * np.outer(rows.data, rows.data))
        return np.asarray(rows @ (rows @ matrix).T)

    def times(self, factor: float) -> "Face":
        """Return the same face of the gauge times a number."""
        hessian = None if self.hessian is None else factor * self.hessian
        return replace(self, gradient=factor * self.gradient, hessian=hessian)


class ProximalGauge(BlockGauge):
    """A gauge with a prox and faces."""

    proximal = True

    @abstractmethod
    def prox(self, v: Array, line: Line) -> Array:
        """Return the x that minimises `|x - v|^2 / 2 + a kappa(x) + b kappa(x)^2 / 2`."""

    @abstractmethod
    def face(self, x: Array) -> Face:
        """Return the face that x lies on; entries that a prox makes equal are equal to the last bit."""

    def nonnegative(self, rows: int) -> BlockGauge | None:
        from atomsieve.gauges.orthant import Orthant  # noqa: PLC0415 -- which is one of these

        return Orthant(self)

    def growth(self, x: Array, there: Array) -> float:
        """Return how much larger the gauge is at another point, to all digits where faces are linear and agree."""
        if x.any() and there.any():
            before, after = self.face(x), self.face(there)
            if _same(before.directions, after.directions):
                return float((before.gradient + after.gradient) @ (after.coordinates - before.coordinates)) / 2
        return self.value(there) - self.value(x)


def _same(one: csr_array, other: csr_array) -> bool:
    """Return whether two sparse matrices have the same entries."""
    return one.shape == other.shape and abs(one - other).nnz == 0


def on_line(shrunk: Callable[[float], Array], value: Callable[[Array], float], line: Line, steepest: float) -> Array:
    """Return `shrunk(t)` at the slope `t = a + b value(shrunk(t))`; its value falls with t, to 0 at `steepest`."""
    a, b = line
    if b == 0 or a >= steepest:
        return shrunk(a)
    slope = a + monotone_zero(lambda more: more - b * value(shrunk(a + more)), steepest - a, 1e-15)
    return shrunk(slope)
