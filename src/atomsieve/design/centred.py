"""Columns less a number each: what is left of them for whatever is orthogonal to the constant.

Let theta be orthogonal to the constant. Then `A' theta = (A - 1 c')' theta` for any numbers c. With floats near the
means as c, norms and rounding are those of the spread of a feature, however far from zero it lies.
"""

from dataclasses import dataclass

import numpy as np

from atomsieve.design.base import ALL, Columns
from atomsieve.design.dense import DenseDesign
from atomsieve.numerics import exact
from atomsieve.numerics.enclosures import Enclosure, norms_of, quiet, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask


@dataclass(frozen=True, eq=False)
class CentredDesign:
    """`A - 1 c'` with error bounds; it is never formed as a whole."""

    design: DenseDesign
    centres: Array

    @classmethod
    def of(cls, design: DenseDesign) -> "CentredDesign":
        """Return a dense design with each column less a float near its mean."""
        return cls(design, design.centres)

    @property
    def shape(self) -> tuple[int, int]:
        return self.design.shape

    def samples(self, chosen: Mask) -> "CentredDesign":
        """Return the chosen rows, less the same numbers."""
        return CentredDesign(self.design.samples(chosen), self.centres)

    def enclose_columns(self, index: Columns) -> Enclosure:
        with quiet():
            columns = self.design.columns(index) - self.centres[index]
            return Enclosure(columns, EPS * np.abs(columns))  # a difference is rounded once

    def enclose(self, x: Enclosure, index: Columns = ALL) -> Enclosure:
        return self.design.enclose(x, index) - _product(self.centres[index], x)

    def sharp(self, x: Array, index: Index) -> Enclosure:
        """Return `(A - 1 c')[:, index] x` for floats x, as if summed in twice the precision."""
        high, low, lost = exact.product(self.centres[index], np.ascontiguousarray(x))
        return self.design.sharp(x, index, (high, low)).widened(lost)

    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:
        n = self.shape[0]
        norms = self.norm_bounds(np.ones(n)) if norms is None else norms
        middle = self.design.enclose_adjoint(Enclosure.exact(r.mid), self._whole(norms))
        with quiet():
            moved = np.multiply.outer(norms, norms_of(r.rad))  # Cauchy-Schwarz inequality
        return self._less(middle, r).widened(moved)

    def sharp_adjoint(self, r: Enclosure, index: Index) -> Enclosure:
        """Return some entries of `(A - 1 c')' r`, as if summed in twice the precision."""
        return self._less(self.design.sharp_adjoint(r, index, self.centres[index]), r, index)

    def _less(self, product: Enclosure, r: Enclosure, index: Columns = ALL) -> Enclosure:
        """Return a product `A' r` less `c` times the sum of the middle of r."""
        centres = Enclosure.exact(self.centres[index])
        if r.ndim == 1:
            return product - centres * Enclosure.exact(r.mid).sum()
        sums = [Enclosure.exact(column).sum() for column in r.mid.T]
        total = Enclosure(np.array([s.mid for s in sums]), np.array([s.rad for s in sums]))
        return product - centres[:, None] * total

    def _whole(self, norms: Array) -> Array:
        """Return bounds of the norms of the columns of A, from those of what is left of them."""
        with quiet():
            return np.asarray(up(norms + np.abs(self.centres) * np.sqrt(self.shape[0])))

    def norm_bounds(self, weights: Array, index: Index | None = None) -> Array:
        return self.design.norm_bounds(weights, index, self.centres)

    def survey(self, r: Enclosure, *, told: bool = True) -> exact.Survey:
        """Return `(A - 1 c')' r`, lengths of the columns, and a fingerprint of A if asked, in one pass."""
        return self.design.survey(r, self.centres, told=told)


def _product(centres: Array, x: Enclosure) -> Enclosure:
    """Return `c' x`, for each column of x."""
    terms = (Enclosure.exact(centres) if x.ndim == 1 else Enclosure.exact(centres)[:, None]) * x
    if x.ndim == 1:
        return terms.sum()
    sums = [terms[:, k].sum() for k in range(terms.shape[1])]
    return Enclosure(np.array([s.mid for s in sums]), np.array([s.rad for s in sums]))
