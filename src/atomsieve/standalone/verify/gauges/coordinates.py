"""Gauges of single coefficients: L1, NonNegative and Simplex."""

from typing import Any

import numpy as np
from flint import arb

from ..doubles import DOWN
from .gauge import Gauge


class Coordinates(Gauge):
    """Every coefficient is a block."""

    coordinates = True

    def _labels(self, piece: dict[str, Any], rows: int, per: int) -> np.ndarray:  # noqa: ARG002
        return np.arange(rows * per)

    def score(self, block: int, z: Any) -> arb:
        pull: arb = abs(z[block]) if self.signed[block] else z[block]
        return pull / self.prices[block]

    def dual_norms_above(self, sizes: np.ndarray) -> np.ndarray:
        return sizes

    def dual_norms_below(self, sizes: np.ndarray) -> np.ndarray:
        return sizes

    def scores(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        below, above = super().scores(low, high)
        if self.signed.all():
            return below, above
        with np.errstate(all="ignore"):
            least = np.where(low > 0, low / self.prices.high * DOWN, -np.inf)
        return np.where(self.signed, below, least), np.where(
            self.signed, above, self.over_prices(np.maximum(high, 0.0))
        )


class L1(Coordinates):
    """`sum_j price_j abs(x_j)`; coefficients with a price of 0 are free, those marked `positive` are not negative."""

    free_allowed = True

    def _signs(self, piece: dict[str, Any], rows: int, per: int) -> np.ndarray:
        return self._stated_signs(piece["positive"], rows, per)


class NonNegative(Coordinates):
    """The same for coefficients that must not be negative."""

    def _signs(self, piece: dict[str, Any], rows: int, per: int) -> np.ndarray:  # noqa: ARG002
        return np.zeros(rows * per, dtype=bool)


class Simplex(NonNegative):
    """NonNegative without weights."""
