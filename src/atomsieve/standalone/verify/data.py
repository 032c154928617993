"""The data, as doubles, and their digest."""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from .reading import ROOM
from .verdict import Refused


class Data:
    """X, y, weights, free columns and offset as doubles; with K outputs or classes, every row counts as K samples.

    For K classes, y is then 1 in the row of the label and 0 in the other ones.
    """

    def __init__(self, X: Any, y: Any, sample_weight: Any, free: Any, offset: Any, loss: dict[str, Any]) -> None:
        self.sparse = hasattr(X, "tocsc")
        self.X: Any = _without_duplicates(X) if self.sparse else np.asarray(X, dtype=np.float64)
        y = np.asarray(y, dtype=np.float64)
        y = y if y.ndim == 2 and y.shape[1] > 1 else y.ravel()
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64).ravel()
        given = np.zeros((len(y), 0)) if free is None else np.asarray(free, dtype=np.float64)
        shape = self.X.shape
        if len(shape) != 2 or not all(shape) or {shape[0]} != {len(y), len(weights), len(given)}:
            lengths = f"y {len(y)} entries, the weights {len(weights)}, the free columns {len(given)}"
            raise Refused(f"X has shape {shape}, {lengths}: they do not fit together")
        given = given.reshape(len(y), -1)
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise Refused("the sample weights must be finite, not negative, and not all 0")
        counted = weights > 0
        classes = _classes(y[counted], loss["classes"]) if loss["type"] == "Multinomial" else None
        wanted = y.shape if classes is None else (len(y), classes)
        added = np.zeros(wanted) if offset is None else np.asarray(offset, dtype=np.float64)
        if added.shape != wanted:
            raise Refused(f"the offset has shape {added.shape}, and the predictions {wanted}: they do not fit together")
        if not counted.all():  # samples of weight 0 do not count
            y = y[counted]
            weights = weights[counted]
            given = given[counted]
            added = added[counted]
            self.X = self.X[np.flatnonzero(counted)]
        stored = self.X.data if self.sparse else self.X
        if not all(np.isfinite(part).all() for part in (stored, y, given, added)):
            raise Refused("X, y, the free columns or the offset hold numbers that are not finite")
        self.stated = (y, weights, given, added) if added.any() else (y, weights, given)
        self.labels = None if classes is None else y.astype(int).tolist()
        if classes is not None:
            y = (y[:, None] == np.arange(classes)).astype(np.float64)
        self.rows, self.tasks = (len(y), shape[1]), y.shape[1] if y.ndim == 2 else 1
        self.shape = (len(y) * self.tasks, shape[1] * self.tasks)
        self.total = weights
        self.y = y.ravel()
        self.weights = np.repeat(weights, self.tasks)
        self.offset = added.ravel()
        self.given = np.kron(given, np.eye(self.tasks))

    def check_digest(self, stated: str, problem: dict[str, Any]) -> None:
        """Refuse data that are not those of the certificate."""
        if self._digest() == stated:
            return
        given = {"offset": bool(self.offset.any()), "sample_weight": bool((self.weights != 1).any())}
        given["free"] = bool(self.given.shape[1])
        told = {"offset": problem["offset"], "sample_weight": problem["weighted"], "free": problem["free"] > 0}
        lacking = [name for name, there in told.items() if there and not given[name]]
        hint = f" (it was made with {' and '.join(lacking)}, which you did not pass)" if lacking else ""
        raise Refused(f"the data are not those of the certificate: their digest differs{hint}")

    def _digest(self) -> str:
        """Return the SHA-256 of the shape (as text), X, y, weights, free columns, and the offset if there is one.

        Numbers have eight bytes, little-endian. X comes in blocks of `max(1, 2^20 // d)` rows; for each block: the
        number of non-zero entries in each row, their columns, their values.
        """
        digest = hashlib.sha256(f"{self.rows}".encode())
        width = max(1, (1 << 20) // self.rows[1])
        for numbers in self._sparse_parts(width) if self.sparse else self._dense_parts(width):
            digest.update(np.ascontiguousarray(numbers, dtype="<f8" if numbers.dtype.kind == "f" else "<i8").data)
        for part in self.stated:
            digest.update(np.ascontiguousarray(part, dtype="<f8").data)
        return digest.hexdigest()

    def _dense_parts(self, width: int) -> Iterator[np.ndarray]:
        """Yield how many entries of rows are not zero, their columns and their values, by blocks of rows."""
        every = np.arange(self.rows[1])
        for start in range(0, self.rows[0], width):
            block = np.ascontiguousarray(self.X[start : start + width])
            if block.all():
                yield np.full(len(block), len(every))
                yield from (every for _ in block)
                yield block
            else:
                there = block != 0
                yield there.sum(axis=1)
                yield np.broadcast_to(every, block.shape)[there]
                yield block[there]
            del block  # before there is another one

    def _sparse_parts(self, width: int) -> Iterator[np.ndarray]:
        """Yield the same for a sparse X."""
        rows = self.X.tocsr()
        if not rows.data.all():
            rows.eliminate_zeros()
        rows.sort_indices()
        columns = rows.indices.astype("<i8")
        for start in range(0, self.rows[0], width):
            starts = rows.indptr[start : start + width + 1]
            part = slice(starts[0], starts[-1])
            yield np.diff(starts)
            yield columns[part]
            yield rows.data[part]

    def columns(self, index: Any) -> np.ndarray:
        """Return columns of X as a dense array; with several outputs, each in the rows of its output."""
        if self.tasks == 1:
            return self.features(index)
        places = np.arange(self.shape[1])[index]
        return in_outputs(self.features(places // self.tasks), places, self.tasks)

    def features(self, index: Any) -> np.ndarray:
        """Return columns of X as a dense array."""
        return np.asarray(self.X[:, index].toarray() if self.sparse else self.X[:, index])


def _classes(y: np.ndarray, stated: int | None) -> int:
    """Return the number of classes, after checking the labels."""
    if y.ndim != 1 or not np.isfinite(y).all() or (y != np.floor(y)).any() or (y < 0).any():
        raise Refused("the labels of Multinomial must be whole numbers from 0 on, one for each row of X")
    classes = int(y.max()) + 1 if stated is None else stated
    if not max(1, int(y.max())) < classes <= ROOM + len(y):
        raise Refused(f"{len(y)} labels up to {int(y.max())} do not fit {classes} classes")
    return classes


def in_outputs(columns: np.ndarray, index: np.ndarray, tasks: int) -> np.ndarray:
    """Return columns of a Kronecker product with the identity: each column in the rows of its output."""
    n, m = columns.shape
    spread = np.zeros((n, tasks, m))
    spread[:, index % tasks, np.arange(m)] = columns
    return spread.reshape(n * tasks, m)


def _without_duplicates(X: Any) -> Any:
    """Return a sparse matrix of doubles, by columns; duplicate entries are added up in their order."""
    matrix = (X if X.format in ("csr", "csc") else X.tocsc()).astype(np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix.tocsc()
