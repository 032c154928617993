"""Zeros of monotone functions of one variable."""

import math
from collections.abc import Callable


def monotone_zero(derivative: Callable[[float], float], longest: float, tolerance: float = 1e-9) -> float:
    """Return a zero in [0, longest] of a non-decreasing function; an end of the interval if the sign does not change.

    This is the Illinois variant of the false position method. `tolerance` is relative to the value at 0.
    """
    low, high = 0.0, longest
    at_low, at_high = derivative(low), derivative(high)
    if not at_low < 0:
        return 0.0
    if at_high <= 0:
        return longest
    enough = tolerance * -at_low
    side, width = 0, math.inf
    for _ in range(128):  # at least every other time the interval is halved
        # after an overflow the chord is meaningless, and where the derivative explodes it is useless: bisect there
        chord = math.isfinite(at_high) and high - low <= width / 2
        s = (low * at_high - high * at_low) / (at_high - at_low) if chord else (low + high) / 2
        width = high - low
        if not low < s < high:
            return low if -at_low < at_high else high
        at_s = derivative(s)
        if abs(at_s) <= enough:
            return s
        if at_s < 0:
            low, at_low = s, at_s
            at_high, side = (at_high / 2 if side < 0 else at_high), -1
        else:
            high, at_high = s, at_s
            at_low, side = (at_low / 2 if side > 0 else at_low), 1
        if high - low <= 4e-16 * high:
            break
    return low
