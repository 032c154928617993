"""A piece (loss, penalty, gauge, method, step) is a value: frozen, printable, comparable, hashable, picklable."""

import math
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse

from atomsieve.numerics import balls
from atomsieve.numerics.enclosures import Enclosure, Uncertain, quiet

FAILURES = (ArithmeticError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError)
"""Errors that a formula may raise when it was not written for enclosures."""

SHORT = 8
"""Arrays of up to so many entries are printed whole."""


class Piece:
    """Compare and hash frozen dataclasses by their content; fields may be arrays."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash((type(self), self._content()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{f.name}={self._show(f.name)}" for f in self._fields() if f.repr)
        return f"{type(self).__name__}({shown})"

    def _show(self, name: str) -> str:
        """Return the text for a parameter."""
        return _short(getattr(self, name))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as parameter searches need them.

        A parameter of a nested piece has a name such as `gauge__weights`.
        """
        params = {f.name: getattr(self, f.name) for f in self._fields() if f.init}
        nested = {name: value for name, value in params.items() if deep and isinstance(value, Piece)}
        inner = {f"{name}__{k}": v for name, piece in nested.items() for k, v in piece.get_params().items()}
        return params | inner

    def with_params(self, **changes: Any) -> Self:
        """Return a copy with other parameters; `gauge__weights` changes a nested piece.

        >>> from atomsieve import L1, Scaled
        >>> Scaled(L1(), 2.0).with_params(radius=3.0, gauge__weights=[1.0, 2.0])
        Scaled(gauge=L1(weights=array([1., 2.]), positive=None), radius=3.0)
        """
        known = self.get_params(deep=False)
        own: dict[str, Any] = {}
        for name, value in changes.items():
            outer, _, inner = name.partition("__")
            piece: Any = own.get(outer, known.get(outer))
            if outer not in known or (inner and not isinstance(piece, Piece)):
                valid = ", ".join(map(repr, known)) or "none"
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {valid}.")
            own[outer] = piece.with_params(**{inner: value}) if inner else value
        return replace(self, **own)  # type: ignore[type-var]

    def stated(self) -> dict[str, Any]:
        """Return the parameters as a certificate states them."""
        return {f.name: getattr(self, f.name) for f in self._fields() if not f.name.startswith("_")}

    def enclosed(self, **ranges: Enclosure) -> Self:
        """Return the piece with enclosures in place of its numbers, so every formula tracks their rounding.

        Parameters may have ranges, in which case formulas enclose their values for all numbers in them.

        Only the parameters are copied, and what is cached is computed anew. Other attributes were computed from rounded
        numbers: TypeError is raised where there are any.
        """
        kind = type(self)
        parameters = [field.name for field in self._fields() if field.init]
        for name, value in vars(self).items():
            own = name in parameters or isinstance(getattr(kind, name, None), cached_property)
            if not own and value is not getattr(kind, name, MISSING):
                raise TypeError(f"{name} is set beforehand, when its rounding goes unseen: make it a property")
        shadow = object.__new__(kind)
        for name in parameters:
            object.__setattr__(shadow, name, ranges.get(name, _exact(getattr(self, name))))
        return shadow

    def __sklearn_clone__(self) -> Self:
        return self  # a frozen object needs no copy

    def _fields(self) -> tuple[Any, ...]:
        if is_dataclass(self):
            return fields(self)
        if vars(self):
            raise TypeError(
                f"{type(self).__name__} has parameters and is no dataclass: write "
                "@dataclass(frozen=True, eq=False, repr=False) above the class."
            )
        return ()

    def _content(self) -> tuple[Any, ...]:
        return tuple(_content(getattr(self, field.name)) for field in self._fields())


@dataclass(frozen=True, eq=False)
class Formulas:
    """The formulas of a piece on enclosures, with ranges for some of its parameters."""

    piece: Piece
    ranges: dict[str, Enclosure]

    @cached_property
    def _shadow(self) -> Piece:
        return self.piece.enclosed(**self.ranges)

    def evaluate(self, name: str, *arguments: Any, shape: tuple[int, ...]) -> Enclosure:
        """Evaluate a formula or constant of the piece; raise Uncertain if it gives no bounds."""
        try:
            with quiet():
                formula = getattr(self._shadow, name)
                found = Enclosure.of(formula(*arguments) if callable(formula) else formula)
            if found.shape == shape:
                return found
            return Enclosure(np.broadcast_to(found.mid, shape), np.broadcast_to(found.rad, shape))
        except FAILURES as error:
            known = f" ({', '.join(balls.__all__)})" if isinstance(error, AttributeError) else ""
            raise Uncertain(
                f"{type(self.piece).__name__}.{name} does not run with error bounds ({type(error).__name__}: {error}); "
                f"write it with operators and the functions of array_namespace of its argument{known}"
            ) from error


def _exact(value: Any) -> Any:
    """Return a parameter with its numbers as enclosures, also those in a tuple or list.

    Truth values, texts and whole numbers beyond doubles stay as they are; what else may hold numbers is refused.
    """
    if isinstance(value, Piece):
        return value.enclosed()
    if isinstance(value, (tuple, list)):
        return type(value)(map(_exact, value))
    if not (value is None or isinstance(value, (str, int, float, np.generic, np.ndarray)) or issparse(value)):
        raise TypeError(f"a parameter is a {type(value).__name__}, whose numbers would be rounded unseen")
    numbers = isinstance(value, (int, float, np.number, np.ndarray)) and np.asarray(value).dtype.kind != "b"
    try:
        return Enclosure.of(value) if numbers else value
    except TypeError:
        return value


def _short(value: Any) -> str:
    """Return the text for a parameter; a long array is shown by its shape."""
    shape = getattr(value, "shape", ())
    return f"<{'x'.join(map(str, shape))} array>" if math.prod(shape) > SHORT or issparse(value) else repr(value)


def _content(value: Any) -> Any:
    """Return a hashable substitute; two substitutes are equal exactly when the values are equal."""
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
    if isinstance(value, dict):
        return tuple((key, _content(item)) for key, item in value.items())
    return value
