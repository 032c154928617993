"""The k-sparse polytope: both the largest entry and the sum of absolute values are bounded."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from atomsieve.gauges.facts import Evidence, Facts
from atomsieve.gauges.proximal import Face, Line
from atomsieve.gauges.symmetric import SymmetricGauge, leading, sums_above
from atomsieve.intake.arguments import require_count
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.numerics.roots import monotone_zero
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Mask


@dataclass(frozen=True, eq=False, repr=False)
class KSparse(SymmetricGauge):
    """Gauge of the hull of all sign vectors with k entries, `kappa(x) = max(max_j |x_j|, |x|_1 / k)`.

    `sigma(z)` is the sum of the k largest absolute values of z. Solutions have zeros and saturated coefficients, whose
    absolute value is kappa(x).

    >>> import numpy as np
    >>> KSparse(2).value(np.array([1.0, 1.0, 1.0])), KSparse(2).support(np.array([3.0, -2.0, 1.0]))
    (1.5, 5.0)
    """

    k: int = 1

    def __post_init__(self) -> None:
        require_count(self, k=self.k)

    def largest_score(self, falling: Array) -> tuple[float, int]:
        count = min(self.k, len(falling))
        return float(falling[:count].sum()), count

    def bound(self, falling: Array) -> float:
        return float(sums_above(falling[: self.k])[-1])

    def size(self, falling: Array) -> float:
        return max(float(falling[0]), float(falling.sum()) / self.k)

    def enclose_size(self, falling: Array) -> Enclosure:
        mean, top = Enclosure.exact(falling).sum() / float(self.k), falling[0]
        return Enclosure.between(np.maximum(mean.low, top), np.maximum(mean.high, top))

    def weigh(self, chosen: Array) -> Array:
        return np.where(chosen < 0, -1.0, 1.0)

    def settle(self, evidence: Evidence, facts: Facts) -> Facts:
        zero, saturated = leading(evidence, self.k)
        return replace(facts, zero=zero, **of_saturated(saturated))

    def prox(self, v: Array, line: Line) -> Array:
        return np.copysign(shrink(np.abs(v), self.k, line), v)

    def face(self, x: Array) -> Face:
        return face_of(x.ravel(), self.k)


def of_saturated(saturated: Mask) -> dict[str, Any]:
    """Return the facts about saturated entries: they are kappa, or minus kappa, and so not zero unless all are.

    An atom with the best score has an entry 1 or -1 wherever z* is among the k largest, unless z* is 0 there.
    """
    return {"nonzero": saturated, "saturated": saturated, "clusters": np.where(saturated, 0, -1)}


def shrink(sizes: Array, k: float, line: Line) -> Array:
    """Return the prox of absolute values, `clip(sizes - cut, 0, kappa)`; where the cut is 0 their sum is free.

    Entries above the level `kappa + cut` are saturated. What is taken away lies in the slope times the polar ball:
    `sum (v - level)_+ + k cut = a + b kappa`. Where the cut is not 0, `sum clip(v - cut, 0, kappa) = k kappa`.
    """
    a, b = line
    flat = np.sort(sizes, axis=None)[::-1]
    if flat[: int(min(k, len(flat)))].sum() <= a:
        return np.zeros(sizes.shape)

    def over(level: float) -> float:
        return float(np.maximum(flat - level, 0.0).sum())

    def cut_at(level: float) -> float:
        return max(a + b * level - over(level), 0.0) / (k + b)

    def excess(level: float) -> float:
        cut = cut_at(level)
        return k * (level - cut) - (over(cut) - over(level))

    top, sums = float(flat[0]), np.cumsum(flat)
    count = int(np.count_nonzero(a + b * flat > sums - np.arange(1, len(flat) + 1) * flat))  # saturated without a cut
    level = (float(sums[count - 1]) - a) / (count + b) if count else top
    free = excess(level) >= 0
    if not free:
        level += monotone_zero(lambda more: excess(level + more), float(flat.sum()) / k + top, 1e-15)
    cut, kappa = _settled(flat, k, line, level, 0.0 if free else cut_at(level))
    return np.clip(sizes - cut, 0.0, kappa)


def _settled(flat: Array, k: float, line: Line, level: float, cut: float) -> tuple[float, float]:
    """Return cut and kappa to all digits, from the entries that are saturated and those that are inside."""
    (a, b), saturated = line, flat[flat > level]
    count = len(saturated)
    if cut == 0:
        return 0.0, (float(saturated.sum()) - a) / (count + b) if count else level
    inside = flat[(flat > cut) & (flat <= level)]
    apart = (count + b) * len(inside) + (k - count) ** 2
    if apart == 0:  # k saturated entries, and zeros
        return cut, (float(saturated.sum()) - a) / (count + b)
    taken, rest = float(saturated.sum()) - a, float(inside.sum())
    kappa = (taken * len(inside) + (k - count) * rest) / apart
    return ((count + b) * rest - (k - count) * taken) / apart, kappa


def face_of(x: Array, k: float) -> Face:
    """Return the face of the polytope that x lies on: which limits are active, to rounding, and where."""
    sizes, signs = np.abs(x), np.sign(x)
    top, mean = float(sizes.max()), float(sizes.sum()) / k
    blur = 4 * EPS * len(x) * top
    saturated = sizes >= top - 4 * EPS * top
    count = int(saturated.sum())
    if mean > top + blur:  # the sum alone
        inside = np.flatnonzero(sizes)
        labels = np.full(len(x), -1)
        labels[inside] = np.arange(len(inside))
        return Face.of_signs(signs, labels, sizes[inside], np.full(len(inside), 1 / k))
    if mean < top - blur:  # the largest entry alone: all others are free
        inside = np.flatnonzero(~saturated)
        labels = np.zeros(len(x), dtype=np.intp)
        labels[inside] = 1 + np.arange(len(inside))
        gradient = np.zeros(1 + len(inside))
        gradient[0] = 1.0
        return Face.of_signs(np.where(saturated, signs, 1.0), labels, np.append(top, x[inside]), gradient)
    inside = np.flatnonzero(~saturated & (sizes > 0))
    if not len(inside) or count >= k:  # what is beside k saturated entries is rounding
        return Face.of_signs(signs, np.where(saturated, 0, -1), np.array([top]), np.ones(1))
    # kappa = sum of those inside / (k - count), and the saturated ones follow it
    share = 1 / (k - count)
    rows = np.concatenate([np.arange(len(inside)), np.repeat(np.arange(len(inside)), count)])
    columns = np.concatenate([inside, np.tile(np.flatnonzero(saturated), len(inside))])
    values = np.concatenate([signs[inside], np.tile(signs[saturated] * share, len(inside))])
    directions = csr_array((values, (rows, columns)), shape=(len(inside), len(x)))
    return Face(directions, sizes[inside], np.full(len(inside), share))
