"""A Cholesky factor that follows a changing set of entries: bordered as they come, patient with some that go."""

import numpy as np
from scipy.linalg import lapack

from atomsieve.numerics.clock import look
from atomsieve.typing import Array, Index, Mask

INDEPENDENT = 1e-10
"""Square of a pivot, as a part of its diagonal entry, below which columns count as dependent."""

PROXIMAL = 1e-8
"""Weight of the proximal term that stands in for the curvature that dependent columns lack, to begin with."""

FACTOR_PIECE = 512
"""Entries that join a factor at a time, so that the clock is looked at in between."""

SMALL_FACTOR = 150
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
        self._gone: Index = self._order
        self._reached: Array = self._lower

    @property
    def order(self) -> Index:
        """The entries that are covered, in the order of the factor."""
        return self._order

    def carry(self, hessian: Array, places: Index) -> None:
        """Go on with another matrix that has entry j of this one at `places[j]`, or nowhere where that is negative."""
        order, self.hessian = places[self._order], hessian
        if self.proximal or (order < 0).any():
            self.proximal = 0.0
            self._restart()
        else:
            self._order, self._covered = order, np.zeros(len(hessian), dtype=bool)
            self._covered[order] = True

    def solve(self, entries: Index, sides: Array) -> Array:
        """Return the solutions v of `H v = side` on the entries, zero elsewhere, one column for each side."""
        gone = self._follow(entries)
        if np.array_equal(entries, self._order):
            return np.asarray(lapack.dpotrs(self._lower, sides, lower=1)[0])
        right = np.zeros((len(self.hessian), sides.shape[1]))
        right[entries] = sides
        white, _ = lapack.dtrtrs(self._lower, right[self._order], lower=1)
        if len(gone):
            reached = self._reach(gone)
            inner, _ = lapack.dpotrf(reached.T @ reached, lower=1)
            white -= reached @ lapack.dpotrs(inner, reached.T @ white, lower=1)[0]
        right[self._order], _ = lapack.dtrtrs(self._lower, white, lower=1, trans=1)
        return np.asarray(right[entries])

    def _reach(self, gone: Index) -> Array:
        """Return `inv(L)` on unit vectors, one column for each place that is gone; most are known from before."""
        asked = np.zeros(len(self._order), dtype=bool)
        asked[gone] = True
        known = asked[self._gone]
        asked[self._gone] = False
        new = np.flatnonzero(asked)
        units = np.zeros((len(self._order), len(new)), order="F")
        units[new, np.arange(len(new))] = 1.0
        found = lapack.dtrtrs(self._lower, units, lower=1)[0] if len(new) else units
        self._reached = np.hstack([self._reached[:, known], found])
        self._gone = np.concatenate([self._gone[known], new])
        return self._reached

    def _follow(self, entries: Index) -> Index:
        """Cover the entries, and return which places of the factor hold others."""
        if np.array_equal(entries, self._order):
            return entries[:0]
        if len(entries) >= SMALL_FACTOR and len(self._order):
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
        if len(entering) > FACTOR_PIECE:
            for start in range(0, len(entering), FACTOR_PIECE):
                look()
                self._extend(entering[start : start + FACTOR_PIECE])
            return
        old = len(self._order)
        corner = square(self.hessian, entering)
        diagonal = corner.diagonal().copy()
        if self.proximal:
            corner.ravel()[:: len(corner) + 1] += self.proximal * self.stiffness[entering]
        if old:
            rows = self.hessian.take(entering, axis=0).take(self._order, axis=1)
            border, _ = lapack.dtrtrs(self._lower, rows.T, lower=1)
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
            self._lower = block
            self._order = entering
            self._reached = block[:, :0]
            return
        lower = np.empty((old + len(entering), old + len(entering)), order="F")
        lower[:old, :old] = self._lower
        lower[old:, :old] = border.T
        lower[old:, old:] = block
        further = -(border.T @ self._reached)
        if len(self._gone):
            further, _ = lapack.dtrtrs(block, further, lower=1)
        self._reached = np.vstack([self._reached, further])
        self._lower, self._order = lower, np.concatenate([self._order, entering])


def square(matrix: Array, places: Index) -> Array:
    """Return the rows and columns at some places; two copies are faster than one that goes entry by entry."""
    return matrix.take(places, axis=0).take(places, axis=1)
