"""Some entries of a matrix as samples: what matrix completion observes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from atomsieve.numerics.cached import cached_property
from atomsieve.typing import Array, Index


@dataclass(frozen=True, eq=False, repr=False)
class Completion:
    """The entries of a matrix x of some shape that are observed: sample i is the entry `x[rows[i], columns[i]]`.

    It takes the place of X in a problem, `Problem(Completion(rows, columns, shape), y, gauge=Nuclear())`, and y holds
    the values. An entry may be observed several times. `tocsr()` is the same as a sparse matrix with one entry in each
    row, and `entries(x)` are the predictions of a matrix.

    >>> import numpy as np
    >>> observed = Completion([0, 1], [2, 0], (2, 3))
    >>> observed.entries(np.arange(6).reshape(2, 3)).tolist(), observed.tocsr().toarray()[1].tolist()
    ([2, 3], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    """

    rows: Any
    columns: Any
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        for name, side in (("rows", 0), ("columns", 1)):
            object.__setattr__(self, name, _places(getattr(self, name), name, self.shape[side]))
        if len(self.rows) != len(self.columns):
            raise ValueError(
                f"Completion: rows and columns must name one entry for each sample, got {len(self.rows)} rows and "
                f"{len(self.columns)} columns."
            )

    def __repr__(self) -> str:
        return f"Completion({len(self.rows):,} of {self.shape[0]:,} x {self.shape[1]:,} entries)"

    @classmethod
    def of(cls, table: Array) -> "Completion":
        """Return the entries of a table that are not NaN.

        >>> Completion.of(np.array([[1.0, np.nan], [2.0, 3.0]])).columns.tolist()
        [0, 0, 1]
        """
        rows, columns = np.nonzero(~np.isnan(table))
        return cls(rows, columns, (table.shape[0], table.shape[1]))

    @cached_property
    def _matrix(self) -> csr_array:
        places = np.ravel_multi_index((self.rows, self.columns), self.shape)
        count = len(places)
        return csr_array((np.ones(count), places, np.arange(count + 1)), shape=(count, self.shape[0] * self.shape[1]))

    def tocsr(self) -> csr_array:
        """Return the sparse matrix with one column for each entry of x, row by row."""
        return self._matrix

    def entries(self, x: Array) -> Array:
        """Return the observed entries of a matrix."""
        found: Array = np.asarray(x)[self.rows, self.columns]
        return found


def _places(given: Any, name: str, count: int) -> Index:
    """Return whole numbers from 0 on, below a number; refuse anything else."""
    places = np.asarray(given)
    whole = places.ndim == 1 and places.dtype.kind in "iu"
    if not whole or (places.size and not 0 <= places.min() <= places.max() < count):
        raise ValueError(f"Completion: {name} must be whole numbers from 0 to {count - 1}, one for each sample.")
    return places.astype(np.intp)
