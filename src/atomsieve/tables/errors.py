"""What is wrong with a file, in one sentence with the remedy."""

from collections.abc import Iterable
from difflib import get_close_matches
from shlex import quote

SHOWN = 8
"""Names listed in a message."""


class TableError(ValueError):
    """A file cannot be read as it stands; the message says where, and what to do."""


def closest(name: str, known: Iterable[str]) -> str:
    """Return a hint at the closest spelling, or at what there is.

    >>> closest("targt", ["age", "target"])
    "Did you mean 'target'?"
    >>> closest("zzz", ["age", "bmi"])
    'There are: age, bmi.'
    """
    names = list(known)
    lowered = {other.lower(): other for other in names}
    found = get_close_matches(name.lower(), lowered, n=1)
    return f"Did you mean {lowered[found[0]]!r}?" if found else f"There are: {listed(names)}."


def listed(names: Iterable[str]) -> str:
    """Return names for a message, the first few if there are many.

    >>> listed(f"x{j}" for j in range(10))
    'x0, x1, x2, x3, x4, x5, x6, x7 and 2 more'
    """
    names = list(names)
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def exclusion(names: Iterable[str]) -> str:
    """Return the option that leaves columns out, for a shell.

    >>> exclusion(["age", "blood type", "size, cm"])
    "--exclude 'age,blood type' --exclude 'size, cm'"
    """
    names = list(names)
    if len(names) > SHOWN:
        return "--exclude NAME,NAME,..."
    together = ",".join(name for name in names if "," not in name)
    return " ".join(f"--exclude {quote(text)}" for text in (together, *(n for n in names if "," in n)) if text)
