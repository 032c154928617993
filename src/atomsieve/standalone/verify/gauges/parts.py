"""Gauges of parts: groups beside single coefficients, of which some must not be negative."""

from typing import Any

import numpy as np
from flint import arb

from ..doubles import DOWN
from ..verdict import Refused, Unknown
from .blocks import Group


class Parts(Group):
    """The gauge of groups; the score of a block whose only coefficient must not be negative is `z_j / price_j`."""

    def _signs(self, piece: dict[str, Any], rows: int, per: int) -> np.ndarray:
        return self._stated_signs(piece["positive"], rows, per)

    def _upward(self, piece: dict[str, Any]) -> set[int]:
        if piece["weights"] is None:
            raise Unknown("LInf beside other gauges is not known to this checker")
        upward = {int(g) for g in self.labels[~self.signed]}
        if (np.bincount(self.labels)[list(upward)] > 1).any():
            raise Refused("a coefficient that must not be negative is in a group with others")
        return upward

    def score(self, block: int, z: Any) -> arb:
        if block not in self.upward:
            return super().score(block, z)
        pull: arb = z[self.entries(block)[0]] / self.prices[block]
        return pull

    def scores(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        below, above = super().scores(low, high)
        alone = np.flatnonzero(~self.signed)
        blocks = self.labels[alone]
        most = np.zeros(len(self.priced))
        most[blocks] = np.maximum(high[alone], 0.0)
        with np.errstate(all="ignore"):
            below[blocks] = np.where(low[alone] > 0, low[alone] / self.prices.high[blocks] * DOWN, -np.inf)
            above[blocks] = self.over_prices(most)[blocks]
        return below, above
