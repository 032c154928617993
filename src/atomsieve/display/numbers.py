"""Numbers as people write them: a few significant digits, no needless zeros, powers of ten only where they help."""

import math
from collections.abc import Iterable

PLAIN = (1e-4, 1e7)
"""From the first to the second, numbers are written without a power of ten."""


def number(value: float, digits: int = 4) -> str:
    """Return a number with so many significant digits, without zeros at its end.

    >>> [number(v) for v in (0.0, 471.04213, -0.0123456, 1234567.8, 3e-9, 1e12, math.inf, 12.0)]
    ['0', '471', '-0.01235', '1234568', '3e-9', '1e12', 'inf', '12']
    """
    mantissa, e, power = written(value, digits).partition("e")
    return trimmed(mantissa) + e + power


def column(values: Iterable[float], digits: int = 4) -> list[str]:
    """Return numbers that stand below each other, each with so many digits, with their decimal points in line.

    >>> for text in column([471.04213, -0.5, 22.25, 0.0]):
    ...     print(text)
    471.0
     -0.5000
     22.25
      0
    """
    parts = [written(value, digits).partition(".") for value in values]
    whole = max((len(before) for before, _, _ in parts), default=0)
    after = max((len(point + rest) for _, point, rest in parts), default=0)
    return [f"{before:>{whole}}{point + rest:<{after}}" for before, point, rest in parts]


def written(value: float, digits: int) -> str:
    """Return a number with exactly so many significant digits; whole numbers beyond that have more."""
    if value == 0 or not math.isfinite(value):
        return {0.0: "0", math.inf: "inf", -math.inf: "-inf"}.get(value, "nan")
    rounded = float(f"{value:.{digits - 1}e}")
    if PLAIN[0] <= abs(rounded) < PLAIN[1]:
        return f"{value:.{max(digits - 1 - exponent(rounded), 0)}f}"
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(power)}"


def around(lower: float, upper: float) -> str:
    """Return how far an interval reaches to both sides of its middle, rounded up.

    >>> around(1.0, 1.5), around(1777.3540440001, 1777.3540440005), around(-math.inf, 2.0), around(0.0, 0.0)
    ('± 0.25', '± 2e-10', 'unknown', 'exactly')
    """
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return "unknown"
    return f"± {above((upper - lower) / 2)}" if upper > lower else "exactly"


def above(value: float) -> str:
    """Return a positive number with two digits (one below 0.001), rounded up so that a bound stays one.

    >>> above(0.251), above(2.04e-10), above(0.0999)
    ('0.26', '3e-10', '0.1')
    """
    unit = 10.0 ** (exponent(value) - (1 if value >= 1e-3 else 0))
    steps = value / unit
    return number(math.ceil(steps - 1e-9) * unit, 2)


def interval(lower: float, upper: float) -> str:
    """Return an interval by its middle, with as many digits as are known, and how far it reaches.

    >>> interval(1777.3540439998, 1777.3540440002), interval(-math.inf, 3.25), interval(0.25, 0.25)
    ('1777.354044 ± 3e-10', 'at most 3.25', '0.25')
    """
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return f"at most {number(upper, 7)}" if math.isfinite(upper) else "unknown"
    if not upper > lower:
        return number(lower, 10)
    middle = lower + (upper - lower) / 2
    known = exponent(middle) - exponent(upper - lower) if middle else 1
    return f"{number(middle, min(max(known, 2), 10))} {around(lower, upper)}"


def count(value: int, noun: str) -> str:
    """Return a number of things, with the plural where it is one.

    >>> count(1, "feature"), count(7129, "feature"), count(0, "class")
    ('1 feature', '7,129 features', '0 classes')
    """
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{value:,} {noun if value == 1 else plural}"


def exponent(value: float) -> int:
    """Return the power of ten of the first digit."""
    return math.floor(math.log10(abs(value)))


def trimmed(text: str) -> str:
    """Return a decimal number without zeros at its end."""
    return text.rstrip("0").rstrip(".") if "." in text else text
