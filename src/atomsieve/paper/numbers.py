"""Numbers as people write them: `1.8 × 10⁻⁴`, `7.70 ± 0.12`, a minus that is one, exponents that are raised."""

import math

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

EXACT = 1e-9
"""An error below this part of its number is one of rounding, and is written as 0."""


def plain(value: float, digits: int = 2) -> str:
    """Return a number with so many significant digits, as a power of ten where it has many zeros.

    >>> plain(0.000179), plain(-2.345, 3), plain(123456), plain(7.8e9), plain(math.inf), plain(0.0)
    ('1.8 × 10⁻⁴', '−2.35', '123,456', '7.8 × 10⁹', '∞', '0')
    """
    if math.isinf(value):
        return minus("-∞" if value < 0 else "∞")
    if value == 0 or math.isnan(value):
        return "0" if value == 0 else "?"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    place = int(exponent)
    if -4 < place < 6:
        return minus(
            f"{float(value) if place >= digits else float(f'{mantissa}e{place}'):,.{max(digits - 1 - place, 0)}f}"
        )
    ten = f"10{exponent.lstrip('+').replace('-0', '-').lstrip('0').translate(RAISED)}"
    return ten if float(mantissa) == 1 else minus(f"{mantissa} × {ten}")


def with_error(value: float, error: float, sign: str = "") -> str:
    """Return a number and its standard error, both to the second digit of the error; `sign="+"` shows a plus.

    >>> with_error(7.7, 1.1e-15), with_error(11.4678, 1.234), with_error(0.00012, 0.00003), with_error(0.31, 0.1, "+")
    ('7.70 ± 0', '11.5 ± 1.2', '(1.20 ± 0.30) × 10⁻⁴', '+0.31 ± 0.10')
    """
    if not error > EXACT * abs(value):
        return f"{'+' if sign and value > 0 else ''}{plain(value, 3)} ± 0"
    scale = math.floor(math.log10(max(abs(value), error)))
    shift = scale if scale < -3 or scale > 5 else 0
    value, error = value / 10.0**shift, error / 10.0**shift
    decimals = max(1 - math.floor(math.log10(error)), 0)
    text = minus(f"{value:{sign}.{decimals}f} ± {error:.{decimals}f}")
    return f"({text}) × 10{str(shift).translate(RAISED)}" if shift else text


def signed(value: float, decimals: int = 2) -> str:
    """Return a number with so many decimals and a proper minus.

    >>> signed(-0.844)
    '−0.84'
    """
    return minus(f"{value:.{decimals}f}")


def power(base: str, exponent: float, decimals: int = 2) -> str:
    """Return a power, for markdown; the page sets the exponent raised.

    >>> power("t", -0.844)
    't<sup>−0.84</sup>'
    """
    return f"{base}<sup>{signed(exponent, decimals)}</sup>"


def minus(text: str) -> str:
    """Return a number with the sign that printers use."""
    return text.replace("-", "−")
