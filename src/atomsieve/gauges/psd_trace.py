"""The trace of positive semidefinite matrices: the atoms are v v'."""

from dataclasses import dataclass

import numpy as np

from atomsieve.design import ALL
from atomsieve.gauges.base import Atom
from atomsieve.gauges.leading import Leading, beyond, leak
from atomsieve.gauges.matrix import MatrixGauge
from atomsieve.gauges.nuclear import Nuclear
from atomsieve.gauges.proximal import Face, Line, on_line
from atomsieve.gauges.triplets import Triplets
from atomsieve.numerics.enclosures import Enclosure, norm, up
from atomsieve.numerics.rounding import EPS
from atomsieve.numerics.spectral import largest_eigenvalue
from atomsieve.typing import Array

BLUR = 1e-9
"""Part of its largest entry by which a matrix may miss being symmetric or semidefinite; proofs allow nothing."""


@dataclass(frozen=True, eq=False, repr=False)
class PSDTrace(MatrixGauge):
    """Trace of a symmetric matrix x without negative eigenvalues; infinite for every other x.

    `sigma(z)` is the largest eigenvalue of the symmetric part of z, or 0, and the atoms are `v v'` for unit vectors v:
    covariances, kernels and distances of low rank. x has a square form, by `shape=(m, m)`.

    >>> import numpy as np
    >>> x = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> PSDTrace().value(x), PSDTrace().support(x), PSDTrace().value(-x)
    (4.0, 3.0, inf)
    """

    symmetric = True

    def check(self, shape: tuple[int, ...]) -> None:
        super().check(shape)
        if shape[0] != shape[1]:
            raise ValueError(f"PSDTrace measures square matrices, got an x of shape {shape}.")

    def _eigen(self, z: Array) -> tuple[Array, Array]:
        """Return the eigenvalues of the symmetric part, the largest first, and the vectors."""
        if not np.isfinite(z).all():
            return np.full(1, np.nan), np.zeros((len(z), 1))
        values, vectors = np.linalg.eigh(self.drawn(z))
        return values[::-1], vectors[:, ::-1]

    def scores(self, z: Array) -> Array:
        return self._eigen(z)[0][:1].copy()

    def atom(self, z: Array, block: int) -> Atom:
        vector = self._eigen(z)[1][:, 0]
        return Atom(ALL, np.outer(vector, vector), block)

    def highest(self, corner: Array) -> float:
        return float(self._eigen(corner)[0][0])

    def sizes(self, x: Array) -> Array:
        size = float(np.abs(x).max(initial=0.0))
        if np.abs(x - x.T).max(initial=0.0) > BLUR * size or self._eigen(x)[0][-1] < -BLUR * size:
            return np.array([np.inf])
        return np.array([np.trace(x)])

    def leading(self, z: Array, count: int) -> Triplets:
        values, vectors = self._eigen(z)
        return Triplets(vectors[:, :count], values[:count], vectors[:, :count])

    def shrunk(self, v: Array, line: Line) -> Triplets:
        values, vectors = self._eigen(v)
        top = max(float(values[0]), 0.0)
        kept = on_line(lambda slope: np.maximum(values - slope, 0.0), lambda s: float(s.sum()), line, top)
        rank = int(np.count_nonzero(kept))
        return Triplets(vectors[:, :rank], kept[:rank], vectors[:, :rank])

    def face(self, x: Array) -> Face:
        return Nuclear().face(x)

    def settled(self, x: Array) -> Array:
        """Return a symmetric matrix near x that is certainly semidefinite, by so much more on its diagonal."""
        x = self.drawn(x)
        for _ in range(20 if x.any() else 0):
            lacks = largest_eigenvalue(-x, 0.0)
            if not 0 < lacks < np.inf:
                return x
            x = x + 1.5 * lacks * np.eye(len(x))
        return x

    def enclose_sizes(self, x: Array) -> Enclosure:
        proven = not x.any() or (np.array_equal(x, x.T) and largest_eigenvalue(-x, 0.0) <= 0)
        trace = Enclosure.exact(np.diagonal(x).copy()).sum()
        high = float(trace.high) if proven else np.inf
        return Enclosure.between(np.array([max(float(trace.low), 0.0)]), np.array([high]))

    def enclose_scores(self, z: Enclosure) -> Enclosure:
        vector = self._eigen(z.mid)[1][:, 0]
        outer = np.outer(vector, vector)
        along = (Enclosure(outer, up(2 * EPS * np.abs(outer))) * z).sum()
        length = (Enclosure.exact(vector) * Enclosure.exact(vector)).sum()
        lower = float((along / length).low) if vector.any() else 0.0
        return Enclosure.between(np.array([lower]), np.array([self._highest(z)]))

    def _highest(self, z: Enclosure) -> float:
        """Return an upper bound of the largest eigenvalue of the symmetric part of every enclosed matrix."""
        return largest_eigenvalue(self.drawn(z.mid), norm(up(z.rad + 2 * EPS * np.abs(z.mid)).ravel()))

    def leading_above(self, z: Enclosure, least: float) -> Leading | None:
        values, vectors = self._eigen(z.mid)
        for rank in range(int(np.count_nonzero(values >= least)), len(values)):
            basis = vectors[:, :rank]
            rest = beyond(z, Triplets(basis, values[:rank], basis))
            largest = self._highest(rest)
            if largest < least:
                even = Enclosure(self.drawn(rest.mid), up((rest.rad + rest.rad.T) / 2 + 2 * EPS * np.abs(rest.mid)))
                return Leading(basis, basis, largest, leak(even, basis))
        return None
