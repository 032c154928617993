"""Gauges of blocks: Group, L2 and LInf."""

from functools import reduce
from typing import Any

import numpy as np
from flint import arb

from ..doubles import gamma, sums_above
from ..verdict import Refused
from .gauge import Gauge
from .rules import Largest, Rules


class Group(Gauge):
    """`sum_g price_g norm2(x_g)`, for rows of x that are numbered by their groups."""

    def _labels(self, piece: dict[str, Any], rows: int, per: int) -> np.ndarray:
        groups = list(range(rows)) if piece["groups"] is None else piece["groups"]
        if len(groups) != rows:
            raise Refused(f"the groups have {len(groups)} labels for {rows} coefficients")
        if set(groups) != set(range(len(set(groups)))):
            raise Refused("the groups are not numbered 0, 1, 2 and so on")
        return np.repeat(np.array(groups), per)


class L2(Gauge):
    """The l2 norm of all coefficients."""


class LInf(Gauge):
    """The largest absolute value; the scores are sums of absolute values."""

    euclidean = False
    has_facts = True

    def rules(self, least: np.ndarray, most: np.ndarray, slope: arb, steepest: arb) -> Rules:  # noqa: ARG002
        return Largest(least, most, len(least), flat=True)

    def norm(self, values: list[arb], block: int = 0) -> arb:  # noqa: ARG002
        return reduce(arb.max, (abs(v) for v in values), arb(0))

    def dual_norm(self, values: list[arb]) -> arb:
        return sum((abs(v) for v in values), arb(0))

    def dual_norms_above(self, sizes: np.ndarray) -> np.ndarray:
        return sums_above(np.bincount(self.labels, sizes, len(self.priced)), len(sizes))

    def dual_norms_below(self, sizes: np.ndarray) -> np.ndarray:
        return np.asarray(np.bincount(self.labels, sizes, len(self.priced)) * max(1 - 2 * gamma(len(sizes)), 0.0))
