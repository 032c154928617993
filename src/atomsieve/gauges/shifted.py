"""Atoms seen from one of their points: with `Ball(1)`, x lies in their convex hull, which need not contain 0."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csc_array, issparse

from atomsieve.gauges.atoms import Atoms
from atomsieve.gauges.base import Gauge
from atomsieve.gauges.calculus.image import Image
from atomsieve.gauges.calculus.made import Made
from atomsieve.gauges.combinatorial import Combinatorial
from atomsieve.gauges.listed import Listed
from atomsieve.gauges.nonnegative import NonNegative
from atomsieve.gauges.oracle import Oracle
from atomsieve.intake.arguments import as_floats, is_whole, keep_copy
from atomsieve.typing import Array


@dataclass(frozen=True, eq=False, repr=False)
class Shifted(Made):
    """Gauge of `P - by`, for atoms P in the columns of a matrix or of an oracle: points of their convex hull itself.

    A gauge does not tell P from its convex hull with 0, so `Ball(1)` with `Atoms(P)` lets x shrink to 0. For x in the
    convex hull of P itself, measure `x - by` for a point `by` of P, and give the predictions of `by` as an offset:

        gauge = Shifted(matrix)
        result = solve(Problem(X, y, gauge=gauge, penalty=Ball(1.0), offset=gauge.offset(X)))
        x = gauge.point(result.x)

    A model takes the offset in `fit` and in `predict`. The coefficients of the preimage are the weights of the atoms,
    and what is left of 1 is the weight of `by`. `atoms` is a matrix, an `Atoms`, an `Oracle` or a gauge over
    combinatorial atoms such as `Birkhoff`; `by` is the position of an atom (by default 0) or a vector, and beside an
    oracle an array in the shape of x. With a vector outside of the
    hull of P, `Ball(1)` means the hull of both. Differences are rounded to double precision once, and certificates
    state them. A coefficient that is proven zero is proven to be that of `by`.

    >>> import numpy as np
    >>> simplex = Shifted(np.eye(3), by=2)
    >>> simplex.support(np.array([1.0, 2.0, -1.0])), simplex.point(np.array([0.25, 0.25, -0.5]))
    (3.0, array([0.25, 0.25, 0.5 ]))
    """

    atoms: Any
    by: Any = 0

    def __post_init__(self) -> None:
        if isinstance(self.atoms, Oracle | Combinatorial):
            self._check_point()
            return
        if isinstance(self.atoms, Atoms):
            object.__setattr__(self, "atoms", self.atoms.matrix)
        if np.ndim(self.atoms) != 2 and not issparse(self.atoms):
            raise ValueError(
                "Shifted: atoms must be the columns of a matrix, Atoms(matrix), Oracle(lmo), or Birkhoff(m) and such."
            )
        rows, count = self._columns.shape
        if is_whole(self.by):
            if not -count <= int(self.by) < count:
                raise ValueError(f"Shifted: by must be the position of one of the {count} atoms, got {self.by!r}.")
            return
        keep_copy(self, "by", as_floats(self.by, "Shifted: by"))
        if self.by.shape != (rows,) or not np.isfinite(self.by).all():
            raise ValueError(
                f"Shifted: by must be the position of an atom, or a vector of {rows} finite numbers, got an array of "
                f"shape {self.by.shape}."
            )

    def _check_point(self) -> None:
        """Refuse a `by` beside an oracle that is no point."""
        if np.ndim(self.by) == 0:
            raise ValueError(
                "Shifted: by must be a point of P where atoms are found by an algorithm: an array in the shape of x."
            )
        keep_copy(self, "by", as_floats(self.by, "Shifted: by"))
        if not np.isfinite(self.by).all():
            raise ValueError("Shifted: by must hold finite numbers.")

    def check(self, shape: tuple[int, ...]) -> None:
        if len(shape) > 1 and self.mapped:
            raise ValueError("Shifted measures vectors: it has no meaning for several outputs.")
        if not self.mapped and self.by.shape != shape:
            raise ValueError(f"Shifted: by must have the shape {shape} of the coefficients, got {self.by.shape}.")
        super().check(shape)

    @property
    def mapped(self) -> bool:  # type: ignore[override]
        return not isinstance(self.atoms, Oracle | Combinatorial)

    def made(self, count: int) -> Gauge:
        return self._made

    @cached_property
    def _made(self) -> Gauge:
        if self.mapped:
            return Image(NonNegative(), self.matrix)
        return Listed(self.atoms.oracle if isinstance(self.atoms, Combinatorial) else self.atoms, self.by)

    def features(self, rows: int) -> int:
        return int(self.matrix.shape[0]) if self.mapped else rows

    def spelled_out(self, form: tuple[int, ...]) -> Gauge:
        return super().spelled_out(form) if self.mapped else self

    def point(self, x: Array) -> Array:
        """Return the point of the hull that belongs to the coefficients x of a result."""
        return self._from + x

    def offset(self, X: Any) -> Array:
        """Return the predictions of `by`: the offset of the problem."""
        return np.asarray(X @ self._from.ravel(), dtype=np.float64)

    @cached_property
    def _columns(self) -> Any:
        """The atoms, as floats."""
        sparse = bool(issparse(self.atoms))
        return csc_array(self.atoms) if sparse else np.asarray(self.atoms, dtype=np.float64)

    @cached_property
    def _from(self) -> Array:
        """The vector `by`."""
        if not is_whole(self.by):
            vector: Array = self.by
            return vector
        whole, sparse = self._columns, bool(issparse(self.atoms))
        column = whole[:, [int(self.by)]]
        return np.asarray(column.toarray() if sparse else column, dtype=np.float64).ravel()

    @cached_property
    def matrix(self) -> Any:
        """The atoms less `by`, without those that are equal to it."""
        columns, sparse = self._columns, bool(issparse(self.atoms))
        if sparse:
            moved = columns - csc_array(self._from[:, None]) @ csc_array(np.ones((1, columns.shape[1])))
            moved.eliminate_zeros()
            different = np.diff(moved.indptr) > 0
        else:
            moved = columns - self._from[:, None]
            different = moved.any(axis=0)
        if not different.any():
            raise ValueError("Shifted: all atoms are equal to `by`, and nothing is left to choose.")
        return moved[:, np.flatnonzero(different)]
