"""What the penalty charges at the margin, also on the edge of its domain, where the slope is open to choice."""

import numpy as np

from atomsieve.penalties import Penalty

EDGE = 1e-12
"""Relative distance from the limit of a penalty that counts as none."""


def on_edge(penalty: Penalty, mass: float) -> bool:
    """Return whether a mass is at the limit of the penalty up to rounding, where the slope is open to choice."""
    return mass >= penalty.limit * (1 - EDGE)


def marginal_slope(penalty: Penalty, mass: float, pull: float) -> float:
    """Return what the penalty charges at the margin; on its edge, where that is open, what x . z (`pull`) bears."""
    return max(penalty.slope(mass), pull / mass) if on_edge(penalty, mass) else penalty.slope(mass)


def charge(penalty: Penalty, before: float, after: float, growth: float, slope: float) -> float:
    """Return what the penalty asks for more mass; by slopes where the difference of values would cancel."""
    if not penalty.admits(after):
        return np.inf
    if abs(growth) > 1e-4 * before:
        return penalty.value(after) - penalty.value(before)
    if on_edge(penalty, before) and on_edge(penalty, after):
        return growth * slope
    return growth * (penalty.slope(before) + penalty.slope(after)) / 2
