"""The entries of a matrix x that the samples see, where every sample sees one at most: matrix completion.

What is as long as x is never formed: an x of low rank is held by its factors, and `z = -A' theta` is 0 outside of the
places that are seen.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from atomsieve.core.factors import factored_entries
from atomsieve.design.sparse import SparseDesign
from atomsieve.numerics.cached import cached_property
from atomsieve.typing import Array, Index

CROWDED = 1 / 6
"""Part of all entries from which products of dense matrices cost less than those of the entries that are seen."""


@dataclass(frozen=True, eq=False)
class Places:
    """The places that are seen, each once and row by row, and which of them each sample sees.

    Sample i is `factors[i]` times the entry at the place `which[i]`.

    >>> from scipy.sparse import csr_array
    >>> samples = SparseDesign(csr_array([[0.0, 0.0, 2.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]))
    >>> places = Places.of(samples, (2, 2))
    >>> places.rows.tolist(), places.columns.tolist(), places.which.tolist()
    ([0, 1], [0, 0], [1, 0, 1])
    >>> places.samples(places.entries(np.array([[3.0], [5.0]]), np.array([[1.0], [7.0]]))).tolist()
    [10.0, 3.0, 5.0]
    >>> places.table(places.sums(np.ones(3))).toarray().tolist()
    [[1.0, 0.0], [3.0, 0.0]]
    """

    form: tuple[int, int]
    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    starts: NDArray[np.int32]
    """Where the places of each row begin."""
    which: Index
    factors: Array

    @classmethod
    def of(cls, design: SparseDesign, form: tuple[int, int]) -> "Places | None":
        """Return the places that a design sees of matrices of a form; None if it sees nothing, or two in a sample."""
        if not (design.apart and design.matrix.nnz):
            return None
        matrix = design.matrix.tocsr()
        seen = np.flatnonzero(np.diff(matrix.indptr))
        which, factors = np.zeros(matrix.shape[0], dtype=np.intp), np.zeros(matrix.shape[0])
        places, which[seen] = np.unique(matrix.indices, return_inverse=True)
        factors[seen] = matrix.data
        rows, columns = (part.astype(np.int32) for part in np.divmod(places, form[1]))
        starts = np.searchsorted(rows, np.arange(form[0] + 1)).astype(np.int32)
        return cls(form, rows, columns, starts, which, factors)

    @property
    def crowded(self) -> bool:
        """Whether so many entries are seen that matrices are better formed."""
        return len(self.rows) >= CROWDED * self.form[0] * self.form[1]

    @cached_property
    def _flat(self) -> Index:
        return self.rows.astype(np.intp) * self.form[1] + self.columns

    def entries(self, left: Array, right: Array) -> Array:
        """Return the entries of `left right'` at the places."""
        if self.crowded:
            return np.asarray((left @ right.T).ravel()[self._flat])
        return factored_entries(left, right, self.rows, self.columns)

    def samples(self, entries: Array) -> Array:
        """Return the image of a matrix with these entries."""
        return np.asarray(self.factors * entries[self.which])

    def sums(self, theta: Array) -> Array:
        """Return `A' theta` at the places."""
        return np.asarray(np.bincount(self.which, self.factors * theta, len(self.rows)), dtype=np.float64)

    def squares(self, weights: Array) -> Array:
        """Return the weighted sum of squares of each column of A that is not 0."""
        squares = self.factors * self.factors * weights
        return np.asarray(np.bincount(self.which, squares, len(self.rows)), dtype=np.float64)

    def table(self, entries: Array) -> Any:
        """Return the sparse matrix with these entries."""
        return csr_array((entries, self.columns, self.starts), shape=self.form)

    def matrix(self, entries: Array) -> Any:
        """Return the matrix with these entries, for many products: dense where that costs less."""
        if not self.crowded:
            return self.table(entries)
        found = np.zeros(self.form)
        found.ravel()[self._flat] = entries
        return found
