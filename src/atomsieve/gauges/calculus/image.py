"""Atoms multiplied by a matrix: the gauge of `Q P`. By the invariance in the paper, solvers work on the preimage."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from atomsieve.design import ALL, CumulatedDesign, Design, Jumps, ProductDesign, SelectedDesign, as_design
from atomsieve.design.selected import places_of
from atomsieve.gauges.base import Atom, BlockGauge, Gauge
from atomsieve.intake.arguments import require_piece
from atomsieve.numerics.cached import cached_property
from atomsieve.typing import Array, Index, Mask


class Mapped(Gauge):
    """What all images share: `kappa(x) = min { gauge(c) : matrix c = x }`."""

    gauge: Gauge
    matrix: Any
    mapped = True

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
        return Atom(ALL, self._map.matvec(inner.values, inner.columns), block)

    def lift(self, design: Design) -> tuple[Design, BlockGauge]:
        if isinstance(self.matrix, Jumps):
            return self.gauge.lift(CumulatedDesign(design, self.matrix))
        places = places_of(self.matrix)
        return self.gauge.lift(ProductDesign(design, self._map) if places is None else SelectedDesign(design, places))

    def lower(self, c: Array) -> Array:
        lowered: Array = self._map.matvec(self.gauge.lower(c))
        return lowered

    def copies(self, rows: int) -> Index | None:
        return None if self.gauge.mapped else places_of(self.matrix)

    def spelled_out(self, form: tuple[int, ...]) -> Gauge:
        return Image(self.gauge.spelled_out(form), self.matrix)

    def names(self) -> tuple[str, ...] | None:
        return self.gauge.names()

    def owners(self, shape: tuple[int, ...]) -> Index:
        if isinstance(self.matrix, Jumps):  # a level is a sum of many jumps
            return super().owners(shape)
        inner = self.gauge.owners((self._map.shape[1], *shape[1:]))
        given: Any = self.matrix if issparse(self.matrix) else np.asarray(self.matrix)
        matrix = csr_array(given, copy=True)
        matrix.eliminate_zeros()
        starts, single = matrix.indptr[:-1], np.diff(matrix.indptr) == 1
        return np.where(single, inner[matrix.indices[np.where(single, starts, 0)]] if matrix.nnz else -1, -1)

    def touched(self, chosen: Mask) -> Mask:
        inner = self.gauge.touched(chosen)
        if isinstance(self.matrix, Jumps):
            return self.matrix.touched(inner)
        used = np.flatnonzero(inner if inner.ndim == 1 else inner.any(axis=1))
        if not len(used):
            return np.zeros((self._map.shape[0], *inner.shape[1:]), dtype=bool)
        reached: Mask = (np.abs(self._map.columns(used)) > 0).astype(float) @ inner[used].astype(float) > 0
        return reached

    def value(self, x: Array) -> float:
        return self.gauge.value_under(self._map, x)

    def value_under(self, design: Design, x: Array) -> float:
        return self.gauge.value_under(ProductDesign(design, self._map), x)


@dataclass(frozen=True, eq=False, repr=False)
class Image(Mapped):
    """Gauge of `Q P`: `kappa(x) = min { gauge(c) : Q c = x }` and `sigma(z) = sigma_P(Q' z)`.

    Overlapping groups, analysis penalties and dictionaries are images. Solvers work on the preimage c. The value at
    a given x is found by linear programming for coordinate gauges, and directly if Q is injective.

    >>> import numpy as np
    >>> from atomsieve import L1
    >>> Image(L1(), np.array([[1.0, 1.0], [0.0, 1.0]])).value(np.array([2.0, 1.0]))
    2.0
    """

    gauge: Gauge
    matrix: Any

    def __post_init__(self) -> None:
        require_piece("Image: gauge", self.gauge, Gauge)

    def spelled_out(self, form: tuple[int, ...]) -> Gauge:
        inner = self.gauge.spelled_out(form)
        return self if inner is self.gauge else replace(self, gauge=inner)

    def named(self, names: Sequence[str] | None, count: int) -> Gauge:
        inner = self.gauge.named(None, self._map.shape[1])  # the features of the preimage have no names
        return self if inner is self.gauge else replace(self, gauge=inner)
