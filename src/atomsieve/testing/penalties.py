"""The laws of a penalty."""

import math
from typing import Any

import numpy as np

from atomsieve.numerics.enclosures import Enclosure, Uncertain
from atomsieve.penalties import Penalty
from atomsieve.testing.laws import close, law
from atomsieve.typing import Array


def check_penalty(penalty: Penalty, *, sizes: Any = None) -> None:
    """Check that phi is convex, non-decreasing and 0 at 0; check its slope, Fenchel-Young with equality, and bounds.

    >>> from atomsieve import Square
    >>> check_penalty(Square(0.1))
    """
    top = min(penalty.limit, 10.0)
    grid = np.linspace(0.0, 0.99 * top, 34) if sizes is None else np.asarray(sizes, dtype=float)
    values = np.array([penalty.value(float(s)) for s in grid])
    slopes = np.array([penalty.slope(float(s)) for s in grid])
    law(penalty.value(0.0) == 0, "phi(0) must be 0")
    law(np.diff(values) >= 0, "phi must not fall")
    law(slopes >= 0, "the slope must not be negative")
    law(np.diff(slopes) >= -1e-12 * np.abs(slopes[1:]), "phi is not convex: its slope falls")
    chords = np.diff(values) / np.diff(grid)
    law((slopes[:-1] <= chords + 1e-12) & (chords <= slopes[1:] + 1e-12), "the slope is not the derivative of phi")
    _check_conjugate(penalty, grid, slopes)
    _check_rise(penalty, top)
    _check_domain(penalty)
    _check_bounds(penalty, grid, slopes)
    _check_through(penalty)
    law(close(getattr(penalty.at(0.5 * top), penalty.main), 0.5 * top), "`at` must set the main parameter")


def _check_rise(penalty: Penalty, top: float) -> None:
    for slope, mass, pull in ((0.0, 0.5 * top, 0.1), (0.3, 2.0 * top, 1.0), (5.0, 0.1 * top, 3.0), (0.1, -1.0, 1.0)):
        rise = penalty.rise(slope, mass, pull)
        alpha, size = slope + rise, mass - rise * pull * pull
        fits = _charges(penalty, alpha, size) if penalty.superlinear else close(alpha, penalty.slope(0.0))
        floor = size <= 0 and close(alpha, penalty.slope(0.0))
        idle = alpha <= 1e-12 and 0 <= size <= penalty.limit * (1 + 1e-9)  # phi is flat there
        law(fits or floor or idle, f"rise({slope:g}, {mass:g}, {pull:g}) is not where phi charges the slope")


def _charges(penalty: Penalty, slope: float, size: float) -> bool:
    """Return whether phi has the slope at the size: argmax there, or one of several by Fenchel-Young equality."""
    if close(penalty.argmax(slope), size, 1e-6, 1e-9):
        return True
    return size >= 0 and bool(close(penalty.value(size) + penalty.conjugate(slope), slope * size, 1e-12, 1e-14))


def _check_through(penalty: Penalty) -> None:
    for size, slope in ((0.5, 2.0), (3.0, 0.01), (1e-3, 40.0)):
        try:
            chosen = penalty.through(size, slope)
        except (NotImplementedError, ValueError):
            continue
        met = _charges(chosen, slope, size) if chosen.superlinear else close(chosen.slope(size), slope)
        law(met, f"through({size:g}, {slope:g}) does not charge that slope at that size")


def _check_conjugate(penalty: Penalty, grid: Array, slopes: Array) -> None:
    for t in [0.0, *np.geomspace(1e-3, 1e3, 13), *slopes.tolist()]:
        conjugate, best = penalty.conjugate(t), penalty.argmax(t)
        for s in grid:
            law(penalty.value(s) + conjugate >= s * t - 1e-11 * (1 + s * t), f"Fenchel-Young fails at s={s:g}, t={t:g}")
        law(math.isfinite(conjugate) or not penalty.superlinear, "a superlinear phi has a finite conjugate")
        if math.isfinite(conjugate):
            attained = t * best - penalty.value(best)
            law(close(attained, conjugate, 1e-9, 1e-11), f"argmax({t:g}) does not attain the conjugate")
    for s, t in zip(grid, slopes, strict=True):
        if math.isfinite(penalty.conjugate(t)):
            tight = penalty.value(s) + penalty.conjugate(t)
            law(close(tight, s * t, 1e-9, 1e-11) | (s == 0), f"Fenchel-Young is not tight at the slope of s={s:g}")


def _check_domain(penalty: Penalty) -> None:
    if penalty.limit < math.inf:
        law(math.isinf(penalty.value(1.01 * penalty.limit)), "phi must be infinite beyond its limit")
        law(not penalty.admits(1.01 * penalty.limit), "admits must be false beyond the limit")
    for t in (0.0, 1.0, 1e30):
        law(penalty.admits(penalty.argmax(t)) or not penalty.superlinear, "argmax must lie in the domain of phi")
    law(type(penalty.at(0.5)) is type(penalty), "at() must return a penalty of the same kind")
    law(penalty.at(0.5) != penalty.at(0.25), "at() must set the main parameter")


def _check_bounds(penalty: Penalty, grid: Array, slopes: Array) -> None:
    """Check that the bounds of phi and its conjugate for an enclosure hold at numbers inside it."""
    bounds = penalty.bounds
    for radius in (0.0, 1e-12, 1e-3):
        for name, numbers in (("value", grid), ("conjugate", slopes)):
            for middle in numbers.tolist():
                try:
                    held = getattr(bounds, name)(Enclosure(middle, radius * (1 + 1e-12)))
                except Uncertain as reason:
                    raise AssertionError(f"nothing can be certified: {reason}") from reason
                for number in (middle, middle + radius, max(middle - radius, 0.0)):
                    found = getattr(penalty, name)(number)
                    room = 1e-11 * (1 + abs(found))
                    known = math.isfinite(held.high)
                    law(not known or held.low - room <= found <= held.high + room, f"the bounds of {name} do not hold")
    law(_close_to(bounds.first_slope, penalty.slope(0.0)), "the bounds of the slope at 0 do not hold")


def _close_to(held: Enclosure, found: float) -> bool:
    return bool(held.low - 1e-11 <= found <= held.high + 1e-11)
