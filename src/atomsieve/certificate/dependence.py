"""Which columns depend on each other: sets of them, and a sentence."""

from collections.abc import Callable, Iterable, Sequence

from atomsieve.certificate.inverse import Dependency
from atomsieve.certificate.ranges import Sum
from atomsieve.display.numbers import interval
from atomsieve.display.sums import written_sum
from atomsieve.intake.names import listed

MOST_SETS = 5
"""Sets of dependent columns that are listed in a sentence."""

MOST_COLUMNS = 10
"""Columns of one set that are listed in a sentence."""


def linked_columns(dependencies: Iterable[Dependency]) -> list[list[int]]:
    """Return the sets of columns that are linked by dependencies, in order; free columns are -1, -2, and so on.

    >>> import numpy as np
    >>> pairs = [Dependency(4, np.array([2]), np.ones(1)), Dependency(5, np.array([1]), np.ones(1))]
    >>> linked_columns([*pairs, Dependency(3, np.array([4]), np.ones(1))])
    [[1, 5], [2, 3, 4]]
    """
    sets: list[set[int]] = []
    for dependency in dependencies:
        linked = {dependency.column, *(int(j) for j in dependency.of)}
        for other in [known for known in sets if known & linked]:
            sets.remove(other)
            linked |= other
        sets.append(linked)
    return sorted(sorted(linked) for linked in sets)


def dependence(sets: Sequence[Sequence[int]], called: Callable[[int], str], sums: Sequence[Sum] = ()) -> str:
    """Return a sentence about sets of dependent columns, and what is known of one set; `called` gives names.

    >>> names = ["'bmi'", "'age'", "'bmi2'"]
    >>> dependence([[0, 2]], names.__getitem__)
    "Columns 'bmi', 'bmi2' are linearly dependent, or nearly: the data do not tell their coefficients apart."
    """
    shown = [_listed(linked, called) for linked in sets[:MOST_SETS]]
    if len(sets) == 1:
        text = f"Columns {shown[0]} are linearly dependent, or nearly: the data do not tell their coefficients apart"
        known = [_known(total, called) for total in sums[:MOST_SETS] if set(total.index.tolist()) <= set(sets[0])]
        return text + (f", but determine sums of them: {'; '.join(known)}." if known else ".")
    if len(sets) > MOST_SETS:
        shown.append(f"and {len(sets) - MOST_SETS} more (`Certificate.dependent_sets` has all)")
    more = " `Certificate.sums_frame()` has the sums of them that are determined." if sums else ""
    return (
        f"{len(sets)} sets of columns are linearly dependent, or nearly, and the data do not tell apart the "
        f"coefficients of a set: {'; '.join(shown)}.{more}"
    )


def _known(total: Sum, called: Callable[[int], str]) -> str:
    """Return a sum of coefficients with its interval."""
    terms = [(float(t), called(int(j))) for j, t in zip(total.index, total.times, strict=True)]
    needed = ", so that every solution needs one of them" if total.needed else ""
    return f"{written_sum(terms)} is {interval(total.lower, total.upper)}{needed}"


def in_all_classes(names: Sequence[str]) -> str:
    """Return a sentence about features that are left in all classes.

    >>> in_all_classes(["'bmi'"])
    "Feature 'bmi' may have weight in all classes: losses see only how classes differ, so its coefficients stay open."
    """
    more = f" and {len(names) - MOST_COLUMNS} more" if len(names) > MOST_COLUMNS else ""
    who = ", ".join(names[:MOST_COLUMNS]) + more
    subject, whose = ("Feature", "its") if len(names) == 1 else ("Features", "their")
    return (
        f"{subject} {who} may have weight in all classes: losses see only how classes differ, so {whose} coefficients "
        "stay open."
    )


def _listed(linked: Sequence[int], called: Callable[[int], str]) -> str:
    """Return the names of some columns, features first."""
    order = [j for j in linked if j >= 0] + [j for j in linked if j < 0]
    return listed(map(called, order), MOST_COLUMNS)
