"""A gauge measures x by atoms: `kappa(x) = min { sum c_j : x = sum c_j p_j, c >= 0 }`.

The atoms form blocks, the units of screening: a coordinate with its two signs for L1, a group for Group, the whole
ball for L2. Every gauge has an oracle. Solvers work on gauges that split x into blocks (`BlockGauge`); every other
gauge is the image of such a gauge (`lift`).
"""

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from atomsieve.design import ALL, Columns, Design, as_slice
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.facts import Evidence, Facts
from atomsieve.gauges.leading import Leading
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Enclosure, Uncertain
from atomsieve.piece import Piece
from atomsieve.typing import Array, Index, Mask, Samples, Signs


@dataclass(frozen=True, eq=False)
class Atom:
    """One atom p: `values` are its entries for some `columns` of A; all other entries are zero."""

    columns: Columns
    values: Array
    block: int

    @cached_property
    def key(self) -> bytes:
        """A digest of the entries: equal atoms have the same."""
        columns = self.columns
        told = repr(columns).encode() if isinstance(columns, slice) else columns.tobytes()
        return hashlib.blake2b(told + self.values.tobytes(), digest_size=16).digest()

    def dot(self, z: Array) -> float:
        """Return `p . z`."""
        return float(np.vdot(self.values, z[self.columns]))

    def image(self, design: Design) -> Samples:
        """Return `A p`."""
        return design.matvec(self.values, self.columns)

    def add_to(self, x: Array, weight: float) -> None:
        """Add `weight * p` to x in place."""
        x[self.columns] += weight * self.values

    def scaled(self, factor: float) -> "Atom":
        """Return the atom times a number."""
        return replace(self, values=factor * self.values)

    def moduli(self) -> "Atom":
        """Return the atom with the absolute values of its entries."""
        return Atom(self.columns, np.abs(self.values), self.block)

    def toarray(self, shape: tuple[int, ...]) -> Array:
        """Return p as a dense array."""
        x = np.zeros(shape)
        self.add_to(x, 1.0)
        return x


class Gauge(Piece, ABC):
    """What a problem can be stated with: an oracle over atoms, block by block."""

    mapped: bool = False
    """Whether x is the image of other coefficients, the preimage. Solvers and certificates work on the preimage."""

    of_signals: bool = False
    """Whether x is a signal, its entries in a row: X may then be left out, and y is the signal with noise."""

    @abstractmethod
    def check(self, shape: tuple[int, ...]) -> None:
        """Refuse an x of this shape, with a clear message, if the gauge is not defined for it."""

    @abstractmethod
    def scores(self, z: Array) -> Array:
        """Return `max of p . z` over the atoms of each block, as a new array."""

    @abstractmethod
    def atom(self, z: Array, block: int) -> Atom:
        """Return an atom of the block that attains its score."""

    @abstractmethod
    def value(self, x: Array) -> float:
        """Return kappa(x); +inf if no combination of atoms gives x."""

    @abstractmethod
    def lift(self, design: Design) -> "tuple[Design, BlockGauge]":
        """Return the design and the block gauge of the same problem in lifted coordinates c."""

    @abstractmethod
    def lower(self, c: Array) -> Array:
        """Return the x that belongs to lifted coordinates c."""

    @abstractmethod
    def touched(self, chosen: Mask) -> Mask:
        """Return which entries of x can be non-zero when only the chosen entries of c are non-zero."""

    def spelled_out(self, form: tuple[int, ...]) -> "Gauge":
        """Return the same gauge as files state it, in terms of others; `form` is the shape of what it is lifted to."""
        return self

    def copies(self, rows: int) -> Index | None:
        """Return the row of x that each of the rows of c is a part of, if they add up to x; None otherwise."""
        return None

    def nonnegative(self, rows: int) -> "BlockGauge | None":
        """Return the gauge of the points of P without negative entries, of so many rows; None where signs matter."""
        return None

    def named(self, names: Sequence[str] | None, count: int) -> "Gauge":
        """Return the same gauge with positions in place of feature names; `count` features have these names."""
        return self

    def names(self) -> tuple[str, ...] | None:
        """Return the names of the blocks, None if they have no names of their own."""
        return None

    def owners(self, shape: tuple[int, ...]) -> Index:
        """Return the block that each row of x belongs to; -1 where it belongs to none, or to several."""
        return np.full(shape[0], -1, dtype=np.intp)

    def value_under(self, design: Design, x: Array) -> float:
        """Return the gauge of x under the image by a matrix: `min { kappa(c) : Q c = x }`."""
        matrix = np.asarray(design.columns(ALL))
        c, _, rank, _ = np.linalg.lstsq(matrix, x, rcond=None)
        if rank < matrix.shape[1]:
            raise ValueError(
                f"The value of {type(self).__name__} under a matrix that is not injective is a convex program of its "
                "own; solve() does not need it."
            )
        exact = np.allclose(matrix @ c, x, rtol=1e-9, atol=1e-12 * float(np.abs(x).max(initial=0.0)))
        return self.value(np.asarray(c, dtype=np.float64)) if exact else float("inf")

    def support(self, z: Array) -> float:
        """Return the support function `sigma_P(z)`: the largest score, at least 0 because 0 counts as a point of P."""
        return max(float(self.scores(z).max()), 0.0)

    def lmo(self, z: Array) -> Atom:
        """Return an atom that attains `sigma_P(z)`, from the first such block; 0 if no atom has a positive score."""
        scores = self.scores(z)
        best = int(scores.argmax())
        atom = self.atom(z, best)
        return atom if scores[best] > 0 else atom.scaled(0.0)


class BlockGauge(Gauge):
    """A gauge that is cheap to evaluate: a sum over blocks of x; each block is one weighted point of P."""

    entrywise: bool = False
    """Whether every atom moves only one output of x (this gives a tighter curvature bound for Multinomial)."""

    one_by_one: bool = False
    """Whether every coefficient is a block of its own, in order."""

    proximal: bool = False
    """Whether there are a prox and faces (gauges/proximal.py), by which working sets of columns are solved."""

    split: bool = False
    """Whether entries of a block are 0 one by one, at slopes that `joining` tells; working sets are columns then."""

    together: bool = False
    """Whether working sets hold all columns, for no coefficient is known to stay 0."""

    chained: bool = False
    """Whether the faces are cones of falling sizes, on which the gauge is linear."""

    dense: bool = False
    """Whether solutions have few zeros, so that no small set of columns holds them."""

    ranked: bool = False
    """Whether x is a matrix that is measured by its singular values or eigenvalues (gauges/matrix.py)."""

    decides: bool = False
    """Whether `decide` says more of single entries than blocks do, so that verdicts are about entries."""

    listed: bool = False
    """Whether the gauge of x is not known: a state then lists the atoms that x is made of, and their mass counts."""

    named_atoms: bool = False
    """Whether a file can state the atoms that x is made of, and a checker knows which atoms there are (`told`)."""

    signed: Signs = True
    """Whether the entries of x may be negative: one answer for all entries, or one for each row of x."""

    @abstractmethod
    def labels(self, shape: tuple[int, ...]) -> Index:
        """Return the block of every entry of x, as an array of the shape of x."""

    def blocks(self, columns: Index, shape: tuple[int, ...]) -> Index:
        """Return the blocks of the coefficients of some columns of A, each block once; `shape` is that of x."""
        return np.unique(self.labels(shape)[columns])

    @abstractmethod
    def sizes(self, x: Array) -> Array:
        """Return the gauge of each block's part of x."""

    @abstractmethod
    def spread(self, seminorm: Seminorm, outputs: int) -> Array:
        """Return for each block an upper bound of the largest norm of A p over its atoms."""

    def typical_spread(self, seminorm: Seminorm, outputs: int) -> Array:
        """Return the same as an estimate for rounding alone, where the largest norm is not known."""
        return self.spread(seminorm, outputs)

    def more(self, z: Array, count: int) -> list[Atom] | None:
        """Return other good atoms beside the best one, up to a number; None if `atom` has to be asked again."""
        return None

    def presented(self, atom: Any, shape: tuple[int, ...]) -> Atom:
        """Return an atom of a user's own kind as one of x in a shape; for gauges that are given by an oracle."""
        raise TypeError(f"{type(self).__name__} has atoms of its own kind: arrays.")

    def agrees(self, atom: Atom, facts: Facts) -> bool:
        """Return whether an atom is as facts say that all atoms of a solution are; for gauges with a list of atoms."""
        return True

    def told(self, atom: Atom) -> list[int]:
        """Return an atom as a file states it, as whole numbers; for gauges with `named_atoms`."""
        raise TypeError(f"{type(self).__name__} has no names for its atoms.")

    def prices(self, shape: tuple[int, ...]) -> Array | None:
        """Return the price of every block if `kappa(x) = sum of price * norm2(x_b)`, None for other gauges."""
        return None

    def charges(self, shape: tuple[int, ...]) -> tuple[Array, Array] | None:
        """Return two numbers of every block if `kappa(x) = sum of price norm2(x_b) + each norm1(x_b)`, or None."""
        prices = self.prices(shape)
        return None if prices is None else (prices, np.zeros(len(prices)))

    def enclose_sizes(self, x: Array) -> Enclosure:
        """Return the gauge of each block's part of x with a bound of all rounding errors; needed without prices.

        With `enclose_scores` a certificate needs nothing else to prove an interval for the optimal value.
        """
        raise self._boundless()

    def enclose_scores(self, z: Enclosure) -> Enclosure:
        """Return the scores of each block with bounds for every z that is enclosed; needed without prices."""
        raise self._boundless()

    def spread_bounds(self, norms: Array) -> Array:
        """Return upper bounds of the largest norm of A p over each block, from those of the columns, shaped like x.

        `sum_j |p_j| norms_j` bounds that of an atom p. Without better knowledge the bound is infinite.
        """
        return np.full(len(self.eligible(norms.shape)), np.inf)

    def decide(self, evidence: Evidence) -> Facts:
        """Return what holds for the entries of every solution, from what is certain of z at the optimum.

        Only what follows from the evidence in spite of rounding. Blocks that are proven zero need not be repeated.
        """
        return Facts.none(len(evidence.most))

    def _boundless(self) -> Uncertain:
        name = type(self).__name__
        return Uncertain(f"{name} has no prices, and no bounds of its own (enclose_sizes and enclose_scores)")

    def settled(self, x: Array) -> Array:
        """Return a point near x whose gauge is certainly finite, where rounding may have left the domain."""
        return x

    def leading_above(self, z: Enclosure, least: float) -> Leading | None:
        """Return subspaces beyond which the values of every enclosed z are below a number, if any; if `ranked`."""
        raise TypeError(f"{type(self).__name__} measures no matrix by its rank.")

    def cored(self, form: tuple[int, int]) -> "BlockGauge":
        """Return the gauge of the cores S of this form, of which x is made by orthonormal bases; if `ranked`."""
        raise TypeError(f"{type(self).__name__} measures no matrix by its rank.")

    def signs(self, shape: tuple[int, ...]) -> Signs:
        """Return whether entries of x may be negative: one answer for all, or a flat array with one for each."""
        if isinstance(self.signed, bool) or len(shape) == 1:
            return self.signed
        return np.repeat(self.signed, math.prod(shape[1:]))

    def restrict(self, columns: Index) -> "BlockGauge":
        """Return the same gauge on the coefficients of chosen columns of A; blocks keep their order."""
        raise TypeError(f"{type(self).__name__} has no restrict: gauges of more than one block need it.")

    def flat(self, shape: tuple[int, ...]) -> "BlockGauge":
        """Return the same gauge for an x of this shape whose entries are given row by row in one vector."""
        if len(shape) == 1:
            return self
        raise TypeError(f"{type(self).__name__} measures vectors, not an x of shape {shape}.")

    def value(self, x: Array) -> float:
        return float(self.sizes(x).sum())

    def lift(self, design: Design) -> "tuple[Design, BlockGauge]":
        return design, self

    def lower(self, c: Array) -> Array:
        return c

    def owners(self, shape: tuple[int, ...]) -> Index:
        labels = self.labels(shape).reshape(shape[0], -1)
        return np.where((labels == labels[:, :1]).all(axis=1), labels[:, 0], -1)

    def touched(self, chosen: Mask) -> Mask:
        return chosen

    def columns(self, blocks: Mask, shape: tuple[int, ...]) -> Mask:
        """Return which columns of A have a coefficient in one of the blocks; `shape` is that of x."""
        inside = blocks[self.labels(shape)]
        return np.asarray(inside if inside.ndim == 1 else inside.any(axis=1))

    def part(self, x: Array, block: int) -> tuple[Atom, float]:
        """Return one block of x as a point of P, and its weight."""
        inside = self.labels(x.shape) == block
        columns = as_slice(np.flatnonzero(inside if inside.ndim == 1 else inside.any(axis=1)))
        size = float(self.sizes(x)[block])
        return Atom(columns, np.where(inside[columns], x[columns], 0.0) / size, block), size

    def eligible(self, shape: tuple[int, ...]) -> Mask:
        """Return which blocks have atoms at all."""
        return np.ones(int(self.labels(shape).max()) + 1, dtype=bool)

    def unpenalised(self) -> Index:
        """Return the columns of A that are not penalised; they become columns of B."""
        return np.empty(0, dtype=np.intp)

    def dots(self, x: Array, z: Array) -> Array:
        """Return the inner product of x and z on each block."""
        return np.bincount(self.labels(x.shape).ravel(), weights=(x * z).ravel()).astype(np.float64)

    def keep(self, x: Array, alive: Mask) -> Array:
        """Return x with zeros outside the alive blocks."""
        return np.where(alive[self.labels(x.shape)], x, 0.0)

    def rivals(self, z: Array, cross: Array, spread: Array, best: tuple[Atom, float], radius: float) -> Array:
        """Return for each block an upper bound of `p . z + radius * norm(A (p - q))` over its atoms p.

        `best` is the atom q with the norm of A q. `cross` holds the inner products of the columns of A with the
        direction of A q. Gauges with few atoms per block compute the distances; this default bounds them by the sum of
        the norms.
        """
        return self.scores(z) + radius * (spread + best[1])
