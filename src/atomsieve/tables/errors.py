"""What is wrong with a file, in one sentence with the remedy."""

from atomsieve.intake.names import closest, listed

__all__ = ["TableError", "closest", "listed"]


class TableError(ValueError):
    """A file cannot be read as it stands; the message says where, and what to do."""
