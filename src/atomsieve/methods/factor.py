"""A Cholesky factor that follows a changing set of entries: bordered as they come, patient with some that go."""

import numpy as np
from scipy.linalg import lapack

from atomsieve.typing import Array, Index, Mask

INDEPENDENT = 1e-10
"""Square of a pivot, as a part of its diagonal entry, below which columns count as dependent."""

PROXIMAL = 1e-8
"""Weight of the proximal term that stands in for the curvature that dependent columns lack, to begin with."""

SMALL = 150
"""Side up to which a factor is made afresh for every change; beyond it, when an eighth of its entries has gone."""


class Factor:
    """`H` on some entries as `L L'`. A proximal term joins H for good once columns turn out to be dependent."""

    def __init__(self, hessian: Array, stiffness: Array) -> None:
        self.hessian, self.stiffness = hessian, stiffness
        self.proximal = 0.0
        self._restart()

    def _restart(self) -> None:
        self._order: Index = np.empty(0, dtype=np.intp)
        self._covered: Mask = np.zeros(len(self.hessian), dtype=bool)
        self._lower: Array = np.empty((0, 0), order="F")

    def solve(self, entries: Index, sides: Array) -> Array:
        """Return the solutions v of `H v = side` on the entries, zero elsewhere, one column for each side."""
        gone = self._follow(entries)
        if np.array_equal(entries, self._order):
            return np.asarray(lapack.dpotrs(self._lower, sides, lower=1)[0])
        right = np.zeros((len(self.hessian), sides.shape[1]))
        right[entries] = sides
        white, _ = lapack.dtrtrs(self._lower, right[self._order], lower=1)
        if len(gone):
            units = np.zeros((len(self._order), len(gone)), order="F")
            units[gone, np.arange(len(gone))] = 1.0
            reached, _ = lapack.dtrtrs(self._lower, units, lower=1)
            inner, _ = lapack.dpotrf(reached.T @ reached, lower=1)
            white -= reached @ lapack.dpotrs(inner, reached.T @ white, lower=1)[0]
        right[self._order], _ = lapack.dtrtrs(self._lower, white, lower=1, trans=1)
        return np.asarray(right[entries])

    def _follow(self, entries: Index) -> Index:
        """Cover the entries, and return which places of the factor hold others."""
        if np.array_equal(entries, self._order):
            return entries[:0]
        if len(entries) >= SMALL and len(self._order):
            active = np.zeros(len(self.hessian), dtype=bool)
            active[entries] = True
            gone = np.flatnonzero(~active[self._order])
            if len(gone) <= len(self._order) // 8:
                entering = np.flatnonzero(active & ~self._covered)
                if len(entering):
                    self._extend(entering)
                return gone
        self._restart()
        self._extend(entries)
        return entries[:0]

    def _extend(self, entering: Index) -> None:
        """Border the factor; with a (larger) proximal term from the start where that fails."""
        old = len(self._order)
        corner = self.hessian[entering[:, None], entering]
        diagonal = corner.diagonal().copy()
        if self.proximal:
            corner.ravel()[:: len(corner) + 1] += self.proximal * self.stiffness[entering]
        if old:
            border, _ = lapack.dtrtrs(self._lower, self.hessian[self._order[:, None], entering], lower=1)
            corner -= border.T @ border
        block, failed = lapack.dpotrf(corner.T, lower=1, clean=0)
        pivots = block.diagonal()
        if failed or (not self.proximal and (pivots * pivots <= INDEPENDENT * diagonal).any()):
            covered = np.concatenate([self._order, entering]) if old else entering
            self.proximal = PROXIMAL if not self.proximal else 100 * self.proximal
            self._restart()
            self._extend(covered)
            return
        self._covered[entering] = True
        if not old:
            self._lower, self._order = block, entering
            return
        lower = np.empty((old + len(entering), old + len(entering)), order="F")
        lower[:old, :old] = self._lower
        lower[old:, :old] = border.T
        lower[old:, old:] = block
        self._lower, self._order = lower, np.concatenate([self._order, entering])
