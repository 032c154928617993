"""The ordered weighted l1 norm: sorted absolute values, the largest with the largest weight."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from atomsieve.gauges.proximal import Face, Line, on_line
from atomsieve.gauges.symmetric import SymmetricGauge, sums_above
from atomsieve.intake.arguments import as_floats, keep_copy
from atomsieve.numerics.enclosures import Enclosure, gamma, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array


@dataclass(frozen=True, eq=False, repr=False)
class OWL(SymmetricGauge):
    """Ordered weighted l1 norm, `kappa(x) = sum_i weights_i |x|_(i)`, where `|x|_(1)` is the largest absolute value.

    `weights` must not rise and not be negative, one for each coefficient, the first one positive. Solutions have zeros
    and clusters: coefficients of the same absolute value. `sigma(z)` is the largest of `S_k / L_k`, where `S_k` is the
    sum of the k largest absolute values of z and `L_k` that of the first k weights; the atoms have k entries
    `+-1 / L_k`. Constant weights make it the l1 norm. `OSCAR` and `SLOPE` are two common choices of the weights.

    Bogdan, van den Berg, Sabatti, Su and Candes, SLOPE: adaptive variable selection via convex optimization, Annals of
    Applied Statistics 9 (2015).

    >>> import numpy as np
    >>> gauge = OWL([4.0, 3.0, 2.0, 1.0])
    >>> gauge.value(np.array([1.0, -2.0, 0.0, 0.0])), gauge.support(np.array([8.0, 6.0, 4.0, 2.0]))
    (11.0, 2.0)
    """

    weights: Any

    chained = True

    def __post_init__(self) -> None:
        weights = as_floats(self.weights, "OWL: weights")
        if weights.ndim != 1 or not len(weights) or not np.isfinite(weights).all():
            raise ValueError("OWL: weights must be one list of finite numbers, one for each coefficient.")
        if (weights < 0).any() or (np.diff(weights) > 0).any() or not weights[0] > 0:
            raise ValueError(
                "OWL: weights must not rise and not be negative, with the first one positive; otherwise this is no "
                "convex function. Sort them, the largest first."
            )
        keep_copy(self, "weights", weights)

    def check(self, shape: tuple[int, ...]) -> None:
        if len(self.weights) != np.prod(shape):
            raise ValueError(
                f"OWL: weights must have one number for each coefficient, {int(np.prod(shape))} in all, got "
                f"{len(self.weights)}."
            )

    @cached_property
    def _totals(self) -> Array:
        """The sums of the first 1, 2, ... weights."""
        return np.cumsum(self.weights)

    def largest_score(self, falling: Array) -> tuple[float, int]:
        ratios = np.cumsum(falling) / self._totals[: len(falling)]
        best = int(ratios.argmax())
        return float(ratios[best]), best + 1

    def bound(self, falling: Array) -> float:
        totals = self._totals[: len(falling)] * (1 - 2 * gamma(len(falling)))
        return float(up((sums_above(falling) / totals).max() * (1 + 4 * EPS)))

    def size(self, falling: Array) -> float:
        return float(self.weights[: len(falling)] @ falling)

    def enclose_size(self, falling: Array) -> Enclosure:
        return (Enclosure.exact(self.weights[: len(falling)]) * Enclosure.exact(falling)).sum()

    def weigh(self, chosen: Array) -> Array:
        return np.asarray(np.where(chosen < 0, -1.0, 1.0) / self._totals[len(chosen) - 1])

    def prox(self, v: Array, line: Line) -> Array:
        flat = v.ravel()
        sizes = np.abs(flat)
        order = np.argsort(-sizes, kind="stable")
        sizes, weights = sizes[order], self.weights[: len(flat)]

        def shrunk(slope: float) -> Array:
            return np.maximum(isotonic_regression(sizes - slope * weights, increasing=False).x, 0.0)

        found = np.empty(len(flat))
        found[order] = on_line(shrunk, self.size, line, self.largest_score(sizes)[0])
        return np.copysign(found, flat).reshape(v.shape)

    def face(self, x: Array) -> Face:
        flat = x.ravel()
        sizes, labels, counts = np.unique(-np.abs(flat), return_inverse=True, return_counts=True)
        ends = np.cumsum(counts)
        weights = np.diff(self._totals[ends - 1], prepend=0.0)
        inside = np.count_nonzero(sizes)
        labels = np.where(labels < inside, labels, -1)
        return Face.of_signs(np.sign(flat), labels, -sizes[:inside], weights[:inside])
