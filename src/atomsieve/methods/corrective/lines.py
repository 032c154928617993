"""Any penalty by lines: the slope at which its curve of slopes meets the mass that x has at each slope.

What is solved at a line may be the problem on a working set, on one face of it, or a model: the search is the same. It
is made where a slope costs least, within the model if there is one, because there no slope costs a look at the data.
"""

import math
from collections.abc import Callable

from atomsieve.core import Outcome
from atomsieve.gauges.proximal import Line
from atomsieve.penalties import Penalty
from atomsieve.problem import Point

TIGHT = 0.01
"""Part of the gap after a change of the slope to which a problem is solved at least, so that the mass follows."""

SLOPES = 60
"""Slopes that are tried for one problem, if those of its penalty are not a line."""

MISSES = 5
"""Slopes at which a problem may miss its target, before no other slope is tried: it can be solved no further."""

Solve = Callable[[Line, float, bool], Outcome]
"""Goes on to a gap of a problem with a line of slopes; with True it also says how the mass responds to the slope."""


def meet(solve: Solve, point: Point, enough: float) -> tuple[float, Line]:
    """Solve to a gap, for any penalty; return the gap that is left, and the last line.

    Wherever the slope of the penalty is a line in the mass, this is a matter of the core. For other shapes a line is
    put through a point of their curve of slopes: where the curve should meet the mass that x has at each slope. On a
    face that mass falls in proportion to the slope, and `Penalty.rise` says where the two meet (Newton's method). No
    line is level: where the solutions for one slope have many masses, it still picks one.
    """
    penalty, line = point.problem.penalty, first_line(point, enough)
    if penalty.line is not None:
        return solve(line, enough, False).gap, line
    if line == (0.0, 0.0):
        return 0.0, line
    low, high, least = 0.0, math.inf, least_slope(penalty, enough)
    target, beyond, misses = enough / 2, math.inf, 0
    for _ in range(SLOPES):
        found = solve(line, target, True)
        misses += found.gap > target
        slope = line[0] + line[1] * found.mass
        missed = mismatch(penalty, found, slope)
        before, beyond = beyond, found.mass - penalty.limit
        if (
            missed <= enough / 2
            and found.gap <= enough / 2
            and (bearable(point, beyond, enough) or beyond > before / 2)
        ):
            break
        short, blur = penalty.argmax(slope) - found.mass, math.sqrt(2 * max(found.response * found.gap, 0.0))
        if abs(short) >= blur:  # at a slope this mass is known no better
            low, high = (low, slope) if short > 0 else (slope, high)
        following = slope + penalty.rise(slope, found.mass, math.sqrt(max(found.response, 0.0)))
        if (following == slope and found.response > 0) or misses == MISSES:
            break
        if not low < following < high:
            following = between(low, high)
        following = max(following, least)
        # the gap on the next line is that of a mass which has not moved yet
        change = following - slope
        target = min(enough / 2, max(TIGHT * found.response * change * change, point.rounding))
        line = line_at(penalty, following)
    return found.gap + missed, line


def first_line(point: Point, enough: float) -> Line:
    """Return the line of slopes of the penalty, or one at the slope that x bears."""
    penalty, mass = point.problem.penalty, point.state.mass
    if penalty.line is not None:
        return penalty.line
    borne = point.pull / mass if mass > 0 else 0.0
    slope = max(borne if borne > 0 else point.sigma / 2, penalty.slope(0.0), least_slope(penalty, enough))
    return line_at(penalty, slope)


def line_at(penalty: Penalty, slope: float) -> Line:
    """Return a line through the point of the curve of slopes at which it has this slope, from zero if possible."""
    mass = penalty.argmax(slope)
    steepness = slope / mass if mass > 0 else 0.0
    if steepness == math.inf:  # in units so small that no line rises fast enough
        steepness = 0.0
    return max(slope - steepness * mass, 0.0), steepness


def least_slope(penalty: Penalty, enough: float) -> float:
    """Return a slope so small that what is left below the limit is worth nothing."""
    return enough / (4 * penalty.limit)


def bearable(point: Point, beyond: float, enough: float) -> bool:
    """Return whether x may be shrunk by a mass beyond the limit of the penalty: that moves the scores of all atoms."""
    problem = point.problem
    steepest = problem.steepest(problem.lifted.widest_reach)
    return beyond <= 0 or beyond * problem.penalty.limit * steepest <= enough / 2


def mismatch(penalty: Penalty, found: Outcome, slope: float) -> float:
    """Return what is lost because the penalty does not have this slope at this mass: `phi(s) + phi*(t) - s t`.

    A mass beyond the limit has to be shrunk, and that moves the slope that x bears.
    """
    inside = found.mass
    if not penalty.admits(inside):
        inside = penalty.limit if penalty.admits(penalty.limit) else math.nextafter(penalty.limit, 0.0)
    lost = max(penalty.value(inside) + penalty.conjugate(slope) - slope * inside, 0.0)
    beyond = found.mass - inside
    if beyond == 0:
        return lost
    return lost + beyond * (slope + (found.mass / found.response if found.response > 0 else math.inf))


def between(low: float, high: float) -> float:
    """Return a slope between two others, of which one may be 0 or infinite."""
    if high == math.inf:
        return 10 * low
    return math.sqrt(low) * math.sqrt(high) if low > 0 else high / 10
