"""Numbers as people write them: `1.8 × 10⁻⁴`, `7.70 ± 0.12`, a minus that is one, exponents that are raised."""

import math

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

LEAST, LARGEST = -3, 5
"""The powers of ten of numbers that are written out."""

EXACT = 1e-9
"""An error below this part of its number is one of rounding, and is written as 0."""


def plain(value: float, digits: int = 2) -> str:
    """Return a number with so many significant digits, as a power of ten where it has many zeros.

    >>> plain(0.000179), plain(-2.345, 3), plain(123456, 3), plain(7.8e9), plain(math.inf), plain(0.0)
    ('1.8 × 10⁻⁴', '−2.35', '123,000', '7.8 × 10⁹', '∞', '0')
    """
    if value == 0 or not math.isfinite(value):
        return short(value)
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    place = int(exponent)
    if not LEAST <= place <= LARGEST:
        return with_power(mantissa, place)
    decimals = digits - 1 - place
    return minus(f"{round(value, decimals):,.{max(decimals, 0)}f}")


def short(value: float) -> str:
    """Return a number that was chosen, such as a hyper-parameter, with the digits that it has.

    >>> short(0.5), short(1e-05), short(4.642e-05), short(math.inf)
    ('0.5', '10⁻⁵', '4.642 × 10⁻⁵', '∞')
    """
    mantissa, _, exponent = f"{value:g}".replace("inf", "∞").partition("e")
    return with_power(mantissa, int(exponent)) if exponent else minus(mantissa)


def with_power(mantissa: str, exponent: int) -> str:
    """Return a mantissa times a power of ten, without a mantissa of 1."""
    ten = f"10{str(exponent).translate(RAISED)}"
    return ten if float(mantissa) == 1 else f"{minus(mantissa)} × {ten}"


def with_error(value: float, error: float, sign: str = "") -> str:
    """Return a number and its standard error, both to the second digit of the error; `sign="+"` shows a plus.

    >>> with_error(7.7, 1.1e-15), with_error(11.4678, 1.234), with_error(0.00012, 0.00003), with_error(0.31, 0.1, "+")
    ('7.70 ± 0', '11.5 ± 1.2', '(1.20 ± 0.30) × 10⁻⁴', '+0.31 ± 0.10')
    """
    if not error > EXACT * abs(value):
        return f"{'+' if sign and value > 0 else ''}{plain(value, 3)} ± 0"
    scale = math.floor(math.log10(max(abs(value), error)))
    shift = 0 if LEAST <= scale <= LARGEST else scale
    value, error = value / 10.0**shift, error / 10.0**shift
    decimals = max(1 - math.floor(math.log10(error)), 0)
    text = minus(f"{value:{sign}.{decimals}f} ± {error:.{decimals}f}")
    return f"({text}) × 10{str(shift).translate(RAISED)}" if shift else text


def signed(value: float, decimals: int = 2) -> str:
    """Return a number with so many decimals and a proper minus.

    >>> signed(-0.844), signed(-0.001)
    ('−0.84', '0.00')
    """
    return minus(f"{round(value, decimals) + 0.0:.{decimals}f}")


def power(base: str, exponent: float, decimals: int = 2) -> str:
    """Return a power, for markdown; the page sets the exponent raised.

    >>> power("t", -0.844)
    't<sup>−0.84</sup>'
    """
    return f"{base}<sup>{signed(exponent, decimals)}</sup>"


def minus(text: str) -> str:
    """Return a number with the sign that printers use."""
    return text.replace("-", "−")
