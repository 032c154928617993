"""The largest absolute value: the sign vectors are the atoms."""

from dataclasses import dataclass

import numpy as np

from atomsieve.design import ALL
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.base import Atom, BlockGauge
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.typing import Array, Index


@dataclass(frozen=True, eq=False, repr=False)
class LInf(BlockGauge):
    """Largest absolute value, `kappa(x) = max_j |x_j|`, with `sigma(z) = sum_j |z_j|`: one block, nothing to screen.

    >>> import numpy as np
    >>> LInf().value(np.array([3.0, -4.0])), LInf().support(np.array([3.0, -4.0]))
    (4.0, 7.0)
    """

    def check(self, shape: tuple[int, ...]) -> None:
        pass

    def flat(self, shape: tuple[int, ...]) -> BlockGauge:
        return self

    def restrict(self, columns: Index) -> "LInf":
        return self

    def labels(self, shape: tuple[int, ...]) -> Index:
        return np.zeros(shape, dtype=np.intp)

    def scores(self, z: Array) -> Array:
        return np.array([np.abs(z).sum()])

    def sizes(self, x: Array) -> Array:
        return np.array([np.abs(x).max()])

    def enclose_sizes(self, x: Array) -> Enclosure:
        return Enclosure.exact(self.sizes(x))

    def enclose_scores(self, z: Enclosure) -> Enclosure:
        total = abs(z).sum()
        return Enclosure(np.array([total.mid]), np.array([total.rad]))

    def spread_bounds(self, norms: Array) -> Array:
        return self.enclose_scores(Enclosure.exact(norms)).high

    def atom(self, z: Array, block: int) -> Atom:
        return Atom(ALL, np.where(z < 0, -1.0, 1.0), block)

    def spread(self, seminorm: Seminorm, outputs: int) -> Array:
        # the paper's bound; the exact maximum over sign vectors is NP-hard
        return np.array([np.sqrt(outputs) * seminorm.column_norms().sum()])
