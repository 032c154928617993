"""Sums of named things, as people write them."""

from collections.abc import Iterable

from atomsieve.display.numbers import number


def written_sum(terms: Iterable[tuple[float, str]]) -> str:
    """Return a sum of names, each times a number.

    >>> written_sum([(1.0, "a"), (-2.0, "b"), (0.5, "c")]), written_sum([(-1.0, "a")]), written_sum([])
    ('a − 2 × b + 0.5 × c', '−a', '0')
    """
    parts = []
    for k, (times, name) in enumerate(terms):
        sign = ("−" if times < 0 else "") if k == 0 else (" − " if times < 0 else " + ")
        size = number(abs(times))
        parts.append(f"{sign}{'' if size == '1' else f'{size} × '}{name}")
    return "".join(parts) or "0"
