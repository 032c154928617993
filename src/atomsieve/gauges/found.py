"""Atoms that a user's oracle finds, and combinations of them: what x is made of where its gauge is not known."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from atomsieve.design import ALL, Columns, Design
from atomsieve.gauges.base import Atom
from atomsieve.intake.arguments import shown
from atomsieve.typing import Array, Index, Samples

Entries = tuple[Columns, Array]
"""The rows of x that an atom touches, in rising order, and its entries there."""


class Reads(Protocol):
    """What reads the entries of a user's atoms."""

    def entries(self, given: Any, shape: tuple[int, ...]) -> Entries:
        """Return the entries of an atom, for an x of a shape."""


class Found(Atom):
    """An atom of a user's own kind, `given` as it came. Entries that an object tells of itself are not stored."""

    given: Any
    owner: Reads
    shape: tuple[int, ...]
    factor: float
    kept: Entries | None

    def __init__(self, given: Any, owner: Reads, shape: tuple[int, ...], factor: float = 1.0) -> None:
        kept = None if hasattr(given, "entries") else owner.entries(given, shape)
        held = {"given": given, "owner": owner, "shape": shape, "factor": factor, "kept": kept, "block": 0}
        for name, value in held.items():
            object.__setattr__(self, name, value)

    @property
    def _entries(self) -> Entries:
        return self.owner.entries(self.given, self.shape) if self.kept is None else self.kept

    @property
    def columns(self) -> Columns:
        """The rows of x that it touches."""
        return self._entries[0]

    @property
    def values(self) -> Array:
        """Its entries there."""
        values = self._entries[1]
        return values if self.factor == 1 else self.factor * values

    def dot(self, z: Array) -> float:
        columns, values = self._entries
        return float(self.factor * np.vdot(values, z[columns]))

    def image(self, design: Design) -> Samples:
        columns, values = self._entries
        return self.factor * design.matvec(values, columns)

    def add_to(self, x: Array, weight: float) -> None:
        columns, values = self._entries
        x[columns] += weight * self.factor * values

    def scaled(self, factor: float) -> "Found":
        return Found(self.given, self.owner, self.shape, factor * self.factor)


def entries_of(atom: Any, shape: tuple[int, ...]) -> Entries:
    """Return the rows that a user's atom touches and its entries there; refuse what is no atom in a sentence.

    An atom is an array in the shape of x; a pair (places, values) or a sparse vector, with places in x row by row; or
    an object with a method `entries()` that returns one of these.
    """
    if hasattr(atom, "entries"):
        atom = atom.entries()
    if isinstance(atom, tuple) and len(atom) == 2:
        return _by_rows(*atom, shape)
    if issparse(atom):
        held: Any = atom
        if not max(held.shape) == int(np.prod(held.shape)) == int(np.prod(shape)):
            raise _odd(f"a sparse array of shape {held.shape}", shape)
        held = held.tocoo()
        held.sum_duplicates()
        return _by_rows(held.coords[int(np.argmax(held.shape))], held.data, shape)
    try:
        values = np.asarray(atom, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _odd(shown(atom), shape) from error
    if values.shape != shape:
        raise _odd(f"an array of shape {values.shape}", shape)
    return ALL, _finite(values.copy())


def _by_rows(places: Any, values: Any, shape: tuple[int, ...]) -> Entries:
    """Return entries at places of the flattened x, row by row of x."""
    where, told = np.asarray(places), _finite(np.asarray(values, dtype=np.float64))
    count = int(np.prod(shape))
    if where.ndim != 1 or told.shape != where.shape or (where.size and where.dtype.kind not in "iu"):
        raise _odd("places and values of different lengths, or places that are no whole numbers", shape)
    if where.size and not (where.min() >= 0 and where.max() < count):
        raise ValueError(f"An atom has a place outside of 0, ..., {count - 1}.")
    order = np.argsort(where, kind="stable")
    where, told = where[order].astype(np.intp), told[order]
    if (where[1:] == where[:-1]).any():
        raise ValueError("An atom has the same place twice: add up its values.")
    if len(shape) == 1:
        return where, told
    per = int(np.prod(shape[1:]))
    rows, which = np.unique(where // per, return_inverse=True)
    values = np.zeros((len(rows), per))
    values[which, where % per] = told
    return rows, values.reshape(len(rows), *shape[1:])


def _finite(values: Array) -> Array:
    if not np.isfinite(values).all():
        raise ValueError("An atom has entries that are NaN or infinite.")
    return values


def _odd(got: str, shape: tuple[int, ...]) -> ValueError:
    return ValueError(
        f"An atom must be an array of shape {shape}, a pair (places, values), a sparse vector, or an object "
        f"whose method entries() returns one of these; got {got}."
    )


def difference(one: Entries, other: Entries, shape: tuple[int, ...]) -> Entries:
    """Return the entries of the difference of two atoms; if both are sparse, so is it."""
    if isinstance(one[0], slice) or isinstance(other[0], slice):
        values = np.zeros(shape)
        values[one[0]] += one[1]
        values[other[0]] -= other[1]
        return ALL, values
    rows: Index = np.union1d(one[0], other[0])
    values = np.zeros((len(rows), *shape[1:]))
    values[np.searchsorted(rows, one[0])] += one[1]
    values[np.searchsorted(rows, other[0])] -= other[1]
    return rows, values


@dataclass(frozen=True, eq=False)
class Combination:
    """Atoms with positive weights: x is their weighted sum, and the sum of the weights is its mass."""

    atoms: tuple[Atom, ...] = ()
    weights: Array = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, pairs: Iterable[tuple[Atom, float]]) -> "Combination":
        """Return the combination of atoms and weights."""
        listed = list(pairs)
        return cls(tuple(atom for atom, _ in listed), np.array([weight for _, weight in listed]))

    @property
    def pairs(self) -> list[tuple[Atom, float]]:
        """Each atom with its weight."""
        return list(zip(self.atoms, self.weights.tolist(), strict=True))

    @property
    def mass(self) -> float:
        """The sum of the weights, an upper bound of the gauge of x."""
        return float(self.weights.sum())

    def sum(self, shape: tuple[int, ...]) -> Array:
        """Return x."""
        x = np.zeros(shape)
        for atom, weight in self.pairs:
            atom.add_to(x, weight)
        return x

    def scaled(self, factor: float) -> "Combination":
        """Return the combination times a number."""
        return replace(self, weights=factor * self.weights)

    def plus(self, changes: Iterable[tuple[Atom, float]], emptied: Atom | None = None) -> "Combination":
        """Return the combination with weights added; equal atoms are one, and those without weight are dropped."""
        held = merged([*self.pairs, *changes])
        if emptied is not None:
            held.pop(emptied.key, None)
        return Combination.of((atom, weight) for atom, weight in held.values() if weight > 0)

    def less(self, other: "Combination") -> "Combination":
        """Return by how much the weight of each atom of both is larger here; these weights may be negative."""
        return Combination.of(merged([*self.pairs, *other.scaled(-1.0).pairs]).values())


def merged(pairs: Iterable[tuple[Atom, float]]) -> dict[bytes, tuple[Atom, float]]:
    """Return the weights of atoms, added up where atoms are equal."""
    held: dict[bytes, tuple[Atom, float]] = {}
    for atom, weight in pairs:
        known, before = held.get(atom.key, (atom, 0.0))
        held[atom.key] = known, before + weight
    return held
