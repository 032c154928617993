"""The largest absolute value: the sign vectors are the atoms."""

import math
from dataclasses import dataclass, replace

import numpy as np

from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.facts import Evidence, Facts
from atomsieve.gauges.ksparse import face_of, of_saturated, shrink
from atomsieve.gauges.proximal import Face, Line
from atomsieve.gauges.symmetric import SymmetricGauge, sums_above
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.typing import Array


@dataclass(frozen=True, eq=False, repr=False)
class LInf(SymmetricGauge):
    """Largest absolute value, `kappa(x) = max_j |x_j|`, with `sigma(z) = sum_j |z_j|`: one block, nothing to screen.

    It is `KSparse` with a k that is as large as the number of coefficients.

    >>> import numpy as np
    >>> LInf().value(np.array([3.0, -4.0])), LInf().support(np.array([3.0, -4.0]))
    (4.0, 7.0)
    """

    dense = True

    def largest_score(self, falling: Array) -> tuple[float, int]:
        return float(falling.sum()), len(falling)

    def bound(self, falling: Array) -> float:
        return float(sums_above(falling)[-1])

    def size(self, falling: Array) -> float:
        return float(falling[0])

    def enclose_size(self, falling: Array) -> Enclosure:
        return Enclosure.exact(falling[0])

    def weigh(self, chosen: Array) -> Array:
        return np.where(chosen < 0, -1.0, 1.0)

    def settle(self, evidence: Evidence, facts: Facts) -> Facts:
        return replace(facts, **of_saturated(evidence.least > 0))

    def prox(self, v: Array, line: Line) -> Array:
        return np.copysign(shrink(np.abs(v), math.inf, line), v)

    def face(self, x: Array) -> Face:
        return face_of(x.ravel(), math.inf)

    def spread(self, seminorm: Seminorm, outputs: int) -> Array:
        # the paper's bound; the exact maximum over sign vectors is NP-hard
        return np.array([np.sqrt(outputs) * seminorm.column_norms().sum()])
