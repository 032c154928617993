"""A piece (loss, penalty, gauge, method, step) is a value: frozen, printable, comparable, hashable, picklable."""

import math
from dataclasses import fields
from typing import Any

import numpy as np
from scipy.sparse import issparse


class Piece:
    """Equality and hash by content for frozen dataclasses that may hold arrays."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash((type(self), self._content()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{f.name}={_short(getattr(self, f.name))}" for f in self._fields() if f.repr)
        return f"{type(self).__name__}({shown})"

    def _fields(self) -> tuple[Any, ...]:
        return fields(self)  # type: ignore[arg-type]

    def _content(self) -> tuple[Any, ...]:
        return tuple(_content(getattr(self, field.name)) for field in self._fields())


def _short(value: Any) -> str:
    """Return how a parameter is shown: long arrays by their shape."""
    shape = getattr(value, "shape", ())
    return f"<{'x'.join(map(str, shape))} array>" if math.prod(shape) > 8 or issparse(value) else repr(value)


def _content(value: Any) -> Any:
    """Return a hashable stand-in that is equal exactly when the values are."""
    if issparse(value):
        entries: Any = value
        entries = entries.tocsr(copy=True)
        entries.sum_duplicates()
        entries = entries.tocoo()
        return entries.shape, _content(entries.row), _content(entries.col), _content(entries.data)
    if isinstance(value, np.ndarray) or hasattr(value, "__array__"):
        array = np.asarray(value)
        return array.shape, array.dtype.str, tuple(array.tolist()) if array.dtype == object else array.tobytes()
    if isinstance(value, (list, tuple)):
        return tuple(_content(item) for item in value)
    return value
