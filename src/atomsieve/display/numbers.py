"""Numbers as people write them: a few significant digits, no needless zeros, powers of ten only where they help."""

import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, Decimal

PLAIN = (1e-4, 1e7)
"""From the first to the second, numbers are written without a power of ten."""

ROUNDING = 1e-12
"""Numbers below this part of the largest in a column are taken for rounding."""


def number(value: float, digits: int = 4) -> str:
    """Return a number with so many significant digits, without zeros at its end.

    >>> [number(v) for v in (0.0, 471.04213, -0.0123456, 1234567.8, 3e-9, 1e12, math.inf, 12.0)]
    ['0', '471', '-0.01235', '1234568', '3e-9', '1e12', 'inf', '12']
    """
    mantissa, e, power = written(value, digits).partition("e")
    return trimmed(mantissa) + e + power


def column(values: Iterable[float], digits: int = 4) -> list[str]:
    """Return numbers that stand below each other, each with so many digits, with their decimal points in line.

    What is nothing but rounding beside the largest is written as 0.

    >>> column([471.04213, -0.5, 22.25, 4.9e-14])
    ['471.0   ', ' -0.5000', ' 22.25  ', '  0     ']
    """
    values = list(values)
    rounding = ROUNDING * max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    parts = [written(value if abs(value) > rounding else 0.0, digits).partition(".") for value in values]
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


def around(value: float, lower: float, upper: float) -> str:
    """Return how far from a value the numbers of an interval can be, rounded up.

    >>> around(1.25, 1.0, 1.5), around(2.0, 1.99999999985, 2.0), around(0.0, -math.inf, 2.0), around(0.0, 0.0, 0.0)
    ('± 0.25', '± 2e-10', 'unknown', 'exactly')
    """
    away = max(upper - value, value - lower)
    if not math.isfinite(away):
        return "unknown"
    return f"± {above(away)}" if away > 0 else "exactly"


def above(value: float) -> str:
    """Return a positive number with two digits (one below 0.001), rounded up so that a bound stays one.

    >>> above(0.251), above(2.04e-10), above(0.0999), above(0.25)
    ('0.26', '3e-10', '0.1', '0.25')
    """
    digits = 2 if value >= 1e-3 else 1
    exact = Decimal(repr(float(value)))
    unit = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return number(float(exact.quantize(unit, rounding=ROUND_CEILING)), digits)


def interval(lower: float, upper: float) -> str:
    """Return a number that lies in an interval, with as many digits as are known, and how well it is known.

    >>> interval(1777.3540439998, 1777.3540440002), interval(1.25, 1.75), interval(-math.inf, 3.25), interval(2.0, 2.0)
    ('1777.354044, known to within 3e-10', '1.5, known to within 0.25', 'at most 3.25', '2')
    """
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return f"at most {number(upper, 7)}" if math.isfinite(upper) else "unknown"
    if not upper > lower:
        return number(lower, 10)
    middle = lower + (upper - lower) / 2
    known = exponent(middle) - exponent(upper - lower) if middle else 1
    away = max(upper - middle, middle - lower)
    return f"{number(middle, min(max(known, 2), 10))}, known to within {above(away)}"


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
