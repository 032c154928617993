"""Gauges of sorted absolute values: OWL, KSupport and KSparse. All coefficients are one block of price 1."""

from itertools import accumulate
from typing import Any

import numpy as np
from flint import arb

from ..balls import root
from ..doubles import DOWN, gamma, known, sums_above
from ..verdict import Refused
from .gauge import Gauge
from .rules import Largest, Rules, Sums


class Ordered(Gauge):
    """A gauge by its formulas for absolute values in falling order; the dual norm grows with each of them."""

    euclidean = False
    has_facts = True

    def of_falling(self, values: list[arb]) -> arb:
        """Return the gauge of exact absolute values in falling order."""
        raise NotImplementedError

    def dual_of_falling(self, values: list[arb]) -> arb:
        """Return the dual norm of absolute values in falling order."""
        raise NotImplementedError

    def norm(self, values: list[arb], block: int = 0) -> arb:  # noqa: ARG002
        return self.of_falling(sorted((abs(v) for v in values), reverse=True)) if values else arb(0)

    def dual_norm(self, values: list[arb]) -> arb:
        # the k-th largest of balls lies between the k-th largest of their lower and of their upper ends
        lows = sorted((arb(abs(v).lower()).max(arb(0)) for v in values), reverse=True)
        highs = sorted((arb(abs(v).upper()) for v in values), reverse=True)
        return self.dual_of_falling(lows).union(self.dual_of_falling(highs))


class OWL(Ordered):
    """`sum_i weights_i abs(x)_(i)`; the dual norm is the largest sum of absolute values over the sum of weights."""

    def _weights(self, stated: Any, blocks: int, rows: int, per: int) -> np.ndarray:  # noqa: ARG002
        weights = np.array(stated, dtype=float)
        if len(weights) != rows * per:
            raise Refused(f"there are {len(weights)} weights for {rows * per} coefficients")
        if (weights < 0).any() or (np.diff(weights) > 0).any() or not 0 < weights[0] < np.inf:
            raise Refused("the weights of OWL must not rise, and the first one must be positive")
        self.falling = weights
        self._totals = list(accumulate(map(arb, weights.tolist())))
        return np.ones(1)

    def of_falling(self, values: list[arb]) -> arb:
        return sum((arb(w) * v for w, v in zip(self.falling.tolist(), values)), arb(0))

    def dual_of_falling(self, values: list[arb]) -> arb:
        best = arb(0)
        for total, weight in zip(accumulate(values), self._totals):
            best = best.max(total / weight)
        return best

    def rules(self, least: np.ndarray, most: np.ndarray, slope: arb, steepest: arb) -> Rules:  # noqa: ARG002
        return Sums(least, most, [slope * total for total in self._totals])

    def within(self, mass: arb, j: int) -> arb:
        return super().within(mass, j) / arb(float(self.falling[0]))

    def dual_norms_above(self, sizes: np.ndarray) -> np.ndarray:
        weights = np.cumsum(self.falling) * max(1 - 2 * gamma(len(sizes) + 8), 0.0)
        with np.errstate(all="ignore"):
            return known([np.max(sums_above(np.cumsum(falling(sizes)), len(sizes)) / weights) * (2 - DOWN)])

    def dual_norms_below(self, sizes: np.ndarray) -> np.ndarray:
        weights = np.cumsum(self.falling) * (1 + 2 * gamma(len(sizes) + 8))
        return np.array([np.max(np.cumsum(falling(sizes)) / weights) * max(1 - 2 * gamma(len(sizes) + 8), 0.0) * DOWN])


class Counted(Ordered):
    """A gauge with a number k of entries in each atom."""

    def __init__(self, piece: dict[str, Any], *given: Any) -> None:
        self.k: int = piece["k"]
        if self.k < 1:
            raise Refused("k must be a positive number")
        super().__init__(piece, *given)


class KSparse(Counted):
    """`max(max_j abs(x_j), sum_j abs(x_j) / k)`; the dual norm is the sum of the k largest absolute values."""

    def of_falling(self, values: list[arb]) -> arb:
        return values[0].max(sum(values, arb(0)) / self.k)

    def dual_of_falling(self, values: list[arb]) -> arb:
        return sum(values[: self.k], arb(0))

    def rules(self, least: np.ndarray, most: np.ndarray, slope: arb, steepest: arb) -> Rules:  # noqa: ARG002
        return Largest(least, most, self.k, flat=True)

    def dual_norms_above(self, sizes: np.ndarray) -> np.ndarray:
        return sums_above([falling(sizes)[: self.k].sum()], len(sizes))

    def dual_norms_below(self, sizes: np.ndarray) -> np.ndarray:
        return np.array([falling(sizes)[: self.k].sum() * max(1 - 2 * gamma(len(sizes) + 8), 0.0)])


class KSupport(Counted):
    """The least `sum of abs(v_s)` over parts v_s of x with k entries; the dual norm is the l2 norm of the k largest."""

    def of_falling(self, values: list[arb]) -> arb:
        # kappa^2 = min { sum x_i^2 / t_i : 0 <= t <= 1, sum t <= k }, and kappa = max { x . g : dual norm of g is 1 }:
        # any t and any g give bounds, and these are good ones
        k = min(self.k, len(values))
        sizes = np.array([float(v) for v in values])
        tails = np.cumsum(sizes[::-1])[::-1][:k]
        levels = tails / (k - np.arange(k))
        heads = int(np.argmax(levels >= sizes[:k])) if (levels >= sizes[:k]).any() else k - 1
        tail = sum(values[heads:], arb(0))
        level = tail / (k - heads)
        above = sum((v * v for v in values[:heads]), arb(0))
        parts = [v * v / (v / level).min(arb(1)) if v > 0 else arb(0) for v in values[heads:]]
        upper = root(above + sum(parts, arb(0)))
        pulls = [*values[:heads], *(level for _ in values[heads:])]
        length = self.dual_norm(pulls)
        lower = sum((v * g for v, g in zip(values, pulls)), arb(0)) / length if length > 0 else arb(0)
        return lower.union(upper)

    def dual_of_falling(self, values: list[arb]) -> arb:
        return root(sum((v * v for v in values[: self.k]), arb(0)))

    def rules(self, least: np.ndarray, most: np.ndarray, slope: arb, steepest: arb) -> Rules:  # noqa: ARG002
        return Largest(least, most, self.k, flat=False)

    def dual_norms_above(self, sizes: np.ndarray) -> np.ndarray:
        return super().dual_norms_above(self._leading(sizes))

    def dual_norms_below(self, sizes: np.ndarray) -> np.ndarray:
        return super().dual_norms_below(self._leading(sizes))

    def _leading(self, sizes: np.ndarray) -> np.ndarray:
        """Return the k largest sizes at the first places, and zeros behind them."""
        leading = np.zeros(len(sizes))
        leading[: self.k] = falling(sizes)[: self.k]
        return leading


def falling(sizes: np.ndarray) -> np.ndarray:
    """Return numbers in falling order."""
    return np.sort(sizes)[::-1]
