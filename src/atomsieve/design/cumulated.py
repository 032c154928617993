"""The product of a design and `Jumps`: columns are sums of many columns of A, and are found by sums over places."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from atomsieve.core import Packed
from atomsieve.core.signals import squares_of_sums
from atomsieve.design.base import ALL, Columns, Design, enclosed
from atomsieve.design.dense import DenseDesign
from atomsieve.design.jumps import Jumps, Regions
from atomsieve.design.product import WIDTH, ProductDesign
from atomsieve.design.selected import SelectedDesign
from atomsieve.design.sparse import SparseDesign
from atomsieve.design.steps import Steps
from atomsieve.design.tree import TreeSteps
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import LEAST, Enclosure, gamma, quiet, root, up
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index, Mask, Samples


@dataclass(frozen=True, eq=False)
class CumulatedDesign(ProductDesign):
    """`left @ jumps`. Some columns of it are jumps between regions, over which the columns of A are summed first."""

    left: Design
    right: Jumps

    @cached_property
    def identity(self) -> bool:
        """Whether the left factor is the identity: the levels are the predictions."""
        return self.is_identity()

    def is_identity(self) -> bool:
        """Return the same of the entries as they are now, for proofs."""
        if not isinstance(self.left, SparseDesign) or self.left.shape[0] != self.left.shape[1] or self.right.fixed:
            return False
        m = self.left.matrix
        return bool(m.nnz == len(m.indptr) - 1 and (m.data == 1).all() and (m.indices == np.arange(m.nnz)).all())

    def is_ramp(self) -> bool:
        """Return whether these are steps of steps of the identity, around roots side by side: columns are ramps."""
        left = self.left
        return (
            isinstance(left, CumulatedDesign)
            and left.is_identity()
            and isinstance(left.right, Steps)
            and isinstance(self.right, Steps)
            and self.right.fixed == (left.right.root,)
            and abs(left.right.root - self.right.root) == 1
        )

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        levels = self.right.matvec(x, index)
        return levels if self.identity else self.left.matvec(levels)

    def rmatvec(self, r: Samples) -> Array:
        return self.right.rmatvec(r if self.identity else self.left.rmatvec(r))

    def samples(self, chosen: Mask) -> "CumulatedDesign":
        return CumulatedDesign(self.left.samples(chosen), self.right)

    def columns(self, index: Columns) -> Samples:
        if self.identity:
            return self.right.columns(index)
        if self.right.fixed:
            return super().columns(index)
        regions = self.right.regions(index)
        together = np.asarray(summed(self.left, regions).columns(ALL))
        return np.ascontiguousarray(regions.jumps.rmatvec(together.T)[regions.places].T)

    def packed(self, index: Index) -> Packed:
        return Packed.of(self.columns(index))

    def select(self, index: Columns) -> Any:
        if self.right.fixed:
            return super().select(index)
        regions = self.right.regions(index)
        return SelectedDesign(CumulatedDesign(summed(self.left, regions), regions.jumps), regions.places)

    def enclose_columns(self, index: Columns) -> Enclosure:
        if self.is_identity():
            return self.right.enclose_columns(index)
        left = self.left
        if self.right.fixed or not isinstance(left, SparseDesign | DenseDesign):
            return super().enclose_columns(index)
        entries: Any = left.matrix
        parts = (entries, abs(entries), (entries != 0) * 1.0)
        designs = (CumulatedDesign(type(left)(part), self.right) for part in parts)
        sums, sizes, terms = (np.asarray(design.columns(index)) for design in designs)
        terms = np.abs(terms)
        with quiet():  # one entry alone is not rounded
            return Enclosure(sums, np.where(terms > 1, up(gamma(terms + 2) * np.abs(sizes)), 0.0))

    def enclose(self, x: Enclosure, index: Columns = ALL) -> Enclosure:
        levels = self.right.enclose(x, index)
        return levels if self.is_identity() else enclosed(self.left).enclose(levels)

    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:
        if self.is_identity():
            return self.right.enclose_adjoint(r)
        left = enclosed(self.left)
        sharp = (isinstance(left, SparseDesign) or isinstance(self.right, TreeSteps)) and r.ndim == 1
        return self.right.enclose_adjoint(left.sharp_adjoint(r, _all(self.left)) if sharp else left.enclose_adjoint(r))

    def sharp(self, x: Array, index: Index) -> Enclosure:
        levels, left = self.right.enclose(Enclosure.exact(x), index), enclosed(self.left)
        if self.is_identity():
            return levels
        blur = left.enclose(Enclosure(np.zeros(levels.shape), levels.rad))
        return left.sharp(levels.mid, _all(self.left)).widened(blur.size)

    def sharp_adjoint(self, r: Enclosure, index: Index) -> Enclosure:
        if self.is_identity():
            return self.right.enclose_adjoint(r)[index]
        return self.right.enclose_adjoint(enclosed(self.left).sharp_adjoint(r, _all(self.left)))[index]

    def largest(self) -> float:
        return float(np.abs(self.left.matvec(np.ones(self.right.count))).max()) if self.identity else super().largest()

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        if self.identity:
            return self.right.squared_norms(weights, scale)
        return self._squares(np.asarray(weights) / scale / scale, proven=False)

    def norm_bounds(self, weights: Array, index: Index | None = None) -> Array:
        if self.is_identity():
            return self.right.norm_bounds(weights, index)
        with quiet():
            floor = 4 * sum(self.shape) * LEAST * max(1.0, float(weights.max()))
            bounds = root(up(self._squares(weights, proven=True) * (1 + gamma(self.shape[0] + 8)) + floor))
        return bounds if index is None else bounds[index]

    def _squares(self, weights: Array, *, proven: bool) -> Array:
        """Return `sum_i w_i (A S)_ij^2` for each column j, or upper bounds up to the rounding of one sum of n terms."""
        steps = self.right
        if not isinstance(steps, Steps):
            return self._squares_by_rows(weights, proven=proven)
        if self.is_ramp():
            return np.asarray(_ramp_squares(weights, steps) * (1 + gamma(4 * self.shape[0] + 16) * proven))
        if isinstance(self.left, SparseDesign) and not steps.fixed:
            return _sparse_squares(self.left.matrix, weights, steps.root, 2 * EPS * proven)
        moving = np.arange(steps.count)[steps._moving]
        m, squares = steps.middle, np.empty(steps.count)
        for place in steps.fixed:
            squares[place] = self._block(np.array([place]), proven)[0].T[0] ** 2 @ weights
        carry = [np.zeros((2, self.shape[0])) for _ in range(2)]
        for side, places in enumerate((moving[:m], moving[m:][::-1])):
            for start in range(0, len(places), WIDTH):
                chosen = places[start : start + WIDTH]
                block = np.cumsum(np.stack(self._block(chosen, proven)), axis=2) + carry[side][:, :, None]
                carry[side] = block[:, :, -1]
                squares[chosen] = _sized(block, steps.count, proven).T ** 2 @ weights
        squares[steps.root] = _sized((carry[0] + carry[1])[:, :, None], steps.count, proven).T[0] ** 2 @ weights
        return squares

    def _squares_by_rows(self, weights: Array, *, proven: bool) -> Array:
        """Return the same for sums over subtrees: rows of A with one entry tell at once, and others row by row."""
        left, steps, squares = self.left, self.right, np.zeros(self.right.count)
        formed = np.arange(self.shape[0])
        if isinstance(left, SparseDesign):
            rows = left.matrix.tocsr()
            lengths = np.diff(rows.indptr)
            alone = rows.indptr[:-1][lengths == 1]
            heavy = np.bincount(rows.indices[alone], weights[lengths == 1] * rows.data[alone] ** 2, steps.count)
            squares, formed = np.abs(steps.rmatvec(heavy)), np.flatnonzero(lengths > 1)
        for start in range(0, len(formed), WIDTH // 4):
            some = np.zeros(self.shape[0], dtype=bool)
            some[formed[start : start + WIDTH // 4]] = True
            part, every = left.samples(some), np.arange(steps.count)
            if proven:
                found = enclosed(part).enclose_columns(every)
                loss = found.rad + 2 * gamma(steps.count + 8) * np.abs(found.mid)
                sums = np.abs(steps.rmatvec(found.mid.T)) + (1 + gamma(steps.count + 8)) * steps.rmatvec(loss.T)
            else:
                sums = steps.rmatvec(np.asarray(part.columns(every)).T)
            squares = squares + sums**2 @ weights[some]
        return np.asarray(squares * (1 + gamma(steps.count + self.shape[0] + 16) * proven))

    def _block(self, places: Index, proven: bool) -> tuple[Array, Array]:
        """Return columns of the left factor, and what they are off by with the rounding of all sums of them."""
        if not proven:
            block = np.asarray(self.left.columns(places))
            return block, np.zeros(block.shape)
        found = enclosed(self.left).enclose_columns(places)
        return found.mid, found.rad + gamma(self.right.count + 8) * np.abs(found.mid)


def summed(design: Design, regions: Regions) -> Any:
    """Return the sums of the columns of a design over regions, as a design of the same kind."""
    labels, count = regions.labels, regions.jumps.count
    if isinstance(design, DenseDesign) and (labels[:-1] <= labels[1:]).all():
        return DenseDesign(np.add.reduceat(design.matrix, np.searchsorted(labels, np.arange(count)), axis=1))
    together = csr_array((np.ones(len(labels)), labels, np.arange(len(labels) + 1)), shape=(len(labels), count)).tocsc()
    if isinstance(design, SparseDesign):
        return SparseDesign((design.matrix @ together).tocsc())
    if isinstance(design, DenseDesign):
        return DenseDesign(np.ascontiguousarray((together.T @ design.matrix.T).T))
    return DenseDesign(np.asarray(design.matvec(np.asarray(together.toarray(), dtype=np.float64))))


def _sparse_squares(matrix: Any, weights: Array, at: int, unit: float) -> Array:
    """Return squares of sums of the columns of a sparse matrix from its entries: those of a row change only there."""
    squares, rows = np.empty(matrix.shape[1]), matrix.tocsr()
    for upward, part in ((True, slice(0, at)), (False, slice(at + 1, None))):
        side = rows[:, part].tocsr()
        side.sort_indices()
        held = side.data, side.indices.astype(np.int32), side.indptr.astype(np.int64)
        change = squares_of_sums(held, weights, side.shape[1], upward=upward, unit=unit)
        sums, sizes = np.cumsum(change if upward else change[:, ::-1], axis=1)
        bound = sums + gamma(side.nnz + side.shape[1] + 16) * sizes if unit else np.maximum(sums, 0.0)
        squares[part] = bound if upward else bound[::-1]
    whole = np.abs(rows @ np.ones(rows.shape[1]))
    whole = whole + gamma(rows.shape[1] + 4) * (abs(rows) @ np.ones(rows.shape[1])) if unit else whole
    squares[at] = whole**2 @ weights
    return squares


def _ramp_squares(weights: Array, steps: Steps) -> Array:
    """Return `sum_i w_i v_i^2` for ramps `v_i = (i - j + 1)_+` to the right of both roots, and mirrored to their left.

    `(m + 1)^2 = m^2 + 2 m + 1`, so these are running sums of running sums. The root is a line through 0 at the level.
    """
    level, away = steps.fixed[0], np.arange(len(weights)) - steps.fixed[0]

    def ramps(w: Array) -> Array:
        once = np.cumsum(w)
        twice = np.cumsum(once)
        return np.cumsum(once + 2 * np.append(0.0, twice[:-1]))

    squares = np.where(away > 0, ramps(weights[::-1])[::-1], ramps(weights))
    squares[level], squares[steps.root] = weights.sum(), weights @ (away * away)
    return squares


def _sized(block: Array, count: int, proven: bool) -> Array:
    """Return absolute values, or upper bounds of them, from sums and what they are off by."""
    return np.asarray(np.abs(block[0]) + (1 + gamma(count + 8)) * block[1] if proven else block[0])


def _all(design: Design) -> Any:
    """Return the places of all columns; a sparse matrix takes a slice without a copy."""
    return ALL if isinstance(design, SparseDesign) else np.arange(design.shape[1])
