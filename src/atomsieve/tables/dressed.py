"""Numbers that are dressed up: with a currency or a unit, or with marks between thousands."""

import re

DRESSED = re.compile(r"(?:[A-Z]{3}\s*)?[^\w.,+-]*([+-]?\d[\d.,'\s]*?)\s*(?:[^\W\d_]+\.?|[^\w.,]+)?")


def undressed(field: str) -> str | None:
    """Return the plain number that a text seems to mean; None where it means none.

    Of two different signs the last one is that of decimals. So is a single comma, unless three digits follow it.

    >>> [undressed(text) for text in ("€ 1.234,50", "USD 1,234", "12,5 %", "7 kg", "class 3", "many")]
    ['1234.50', '1234', '12.5', '7', None, None]
    """
    found = DRESSED.fullmatch(field.strip())
    if found is None:
        return None
    digits = re.sub(r"[\s']", "", found[1])
    decimal = max(".,", key=digits.rfind)
    if digits.count(decimal) > 1 or re.fullmatch(r"[^.,]+,\d{3}", digits):
        return re.sub("[.,]", "", digits)
    whole, _, part = digits.rpartition(decimal)
    return re.sub("[.,]", "", whole) + f".{part}" if whole else digits


def as_plain(field: str) -> str:
    """Say what to write instead of a text where a number is wanted.

    >>> as_plain("€ 355"), as_plain("many")
    ("Write plain numbers: '355' here.", 'Correct it.')
    """
    plain = undressed(field)
    return "Correct it." if plain is None else f"Write plain numbers: {plain!r} here."
