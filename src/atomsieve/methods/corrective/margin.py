"""What the penalty charges at the margin, also on the edge of its domain, where the slope is open to choice."""

from atomsieve.problem import Point

EDGE = 1e-12
"""Relative distance from the limit of a penalty that counts as none."""


def marginal_slope(point: Point) -> float:
    """Return the slope of the penalty at a point; on the edge of its domain, where that is open, what x . z bears."""
    penalty, mass = point.problem.penalty, point.state.mass
    on_edge = mass >= penalty.limit * (1 - EDGE)
    return max(penalty.slope(mass), point.pull / mass) if on_edge else penalty.slope(mass)
