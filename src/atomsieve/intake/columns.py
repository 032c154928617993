"""What is wrong with X, column by column: numbers that are missing or infinite, text, whole numbers beyond doubles."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.intake.names import listed
from atomsieve.intake.whole import require_held

WIDE = ("int64", "uint64")
"""Types of whole numbers that hold more of them than doubles do."""


def counted(test: Callable[[Any], Any], matrix: Any) -> NDArray[np.intp]:
    """Return how many numbers of each column pass a test; in pieces, because a mask of a large matrix is large.

    >>> counted(np.isnan, np.array([[1.0, np.nan], [2.0, 3.0]])).tolist()
    [0, 1]
    """
    rows, columns = matrix.shape
    if not isinstance(matrix, np.ndarray):
        return np.bincount(matrix.tocsr().indices[test(matrix.tocsr().data)], minlength=columns)
    counts = np.zeros(columns, dtype=np.intp)
    step = max(1, (1 << 22) // max(1, columns))
    for start in range(0, rows, step):
        counts += test(matrix[start : start + step]).sum(axis=0)
    return counts


def not_finite(X: Any, name: str = "X", names: Any = None) -> str:
    """Say that an array or a sparse matrix has numbers that are none, in which columns, and how many.

    >>> print(not_finite(np.array([[1.0, np.nan], [2.0, 3.0]]), names=["age", "bmi"]))
    X contains NaN or infinite values in these columns, of 2 rows: bmi (1 NaN). Impute or remove them first (for \
example with sklearn.impute.SimpleImputer).
    """
    told = ""
    if isinstance(X, np.ndarray) or is_sparse(X):
        kinds = {"NaN": counted(np.isnan, X), "infinite": counted(np.isinf, X)}
        known = [f"column {j}" for j in range(X.shape[1])] if names is None else list(map(str, names))
        total = np.sum(list(kinds.values()), axis=0)
        worst = [j for j in np.argsort(-total, kind="stable").tolist() if total[j]]
        columns = (
            f"{known[j]} ({', '.join(f'{counts[j]} {word}' for word, counts in kinds.items() if counts[j])})"
            for j in worst
        )
        told = f" in these columns, of {X.shape[0]} rows: {listed(columns)}"
    return (
        f"{name} contains NaN or infinite values{told}. Impute or remove them first (for example with "
        "sklearn.impute.SimpleImputer)."
    )


def names_of(X: Any) -> list[str] | None:
    """Return the names of the columns of a data frame; None for anything else."""
    return list(map(str, X.columns)) if is_frame(X) else None


def is_sparse(X: Any) -> bool:
    """Return whether X is a sparse matrix; SciPy, which predictions do without, takes long to import."""
    return hasattr(X, "tocsr")


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame in memory, each of whose columns has a type."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and (hasattr(X, "iloc") or hasattr(X, "to_numpy"))


def texts_in(X: Any) -> list[str]:
    """Return the names of the columns of a data frame that hold text."""
    return [name for name, column in _columns(X) if any(isinstance(value, str) for value in column)]


def require_exact(X: Any, name: str) -> None:
    """Refuse whole numbers in an array, a sparse matrix or a data frame that no double holds."""
    if is_frame(X):
        for column, numbers in _columns(X, WIDE):
            require_held(np.asarray(numbers), f"Column {column!r} of {name}")
    elif is_sparse(X):
        require_held(stored_in(X), name)
    elif isinstance(X, np.ndarray):
        require_held(X, name)


def stored_in(X: Any) -> NDArray[Any]:
    """Return the entries that a sparse matrix stores."""
    entries: NDArray[Any] = (X if X.format in ("csr", "csc") else X.tocsc()).data
    return entries


def _columns(X: Any, kinds: tuple[str, ...] = ("object", "str", "string", "category", "categorical")) -> Iterator[Any]:
    """Yield the columns of a data frame that are of one of some types, with their names."""
    for j, (name, kind) in enumerate(zip(X.columns, X.dtypes, strict=True)):
        if str(kind).lower().startswith(kinds):
            yield str(name), X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]
