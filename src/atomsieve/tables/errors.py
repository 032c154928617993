"""What is wrong with a file, in one sentence with the remedy."""

from collections.abc import Iterable
from shlex import quote

from atomsieve.intake.names import SHOWN, closest, listed

__all__ = ["TableError", "closest", "listed"]


class TableError(ValueError):
    """A file cannot be read as it stands; the message says where, and what to do."""


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
