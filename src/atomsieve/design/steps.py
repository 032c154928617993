"""Steps: the square matrix that turns one level and all jumps of a signal into its levels; it is never formed.

    x_root = c_root,    x_i = x_{i-1} + c_i to its right,    x_i = x_{i+1} - c_i to its left.

So c holds the jumps from left to right, with the level at the root between them. The column of a jump to the right of
the root is 1 from there on, that of a jump to its left -1 up to there. With the root in the middle no step is longer
than half of the signal, and none is more than 2^0.5 times as long as it is modulo the constant.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from atomsieve.core import Packed
from atomsieve.core.signals import running_sums
from atomsieve.design.base import ALL, Columns
from atomsieve.design.dense import DenseDesign, dense_gram
from atomsieve.design.selected import SelectedDesign
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import LEAST, Enclosure, gamma, quiet, root, up
from atomsieve.numerics.exact import rounded
from atomsieve.typing import Array, Index, Mask, Samples


@dataclass(frozen=True)
class Steps:
    """Steps of a signal of `count` places around a `root`. Coefficients that are `fixed` stay as they are.

    >>> Steps(4, 1).columns(slice(None))
    array([[-1.,  1.,  0.,  0.],
           [ 0.,  1.,  0.,  0.],
           [ 0.,  1.,  1.,  0.],
           [ 0.,  1.,  1.,  1.]])
    """

    count: int
    root: int
    fixed: tuple[int, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        return self.count, self.count

    @property
    def density(self) -> float:
        return 1 / self.count

    @cached_property
    def _moving(self) -> Columns:
        """The places that are not fixed."""
        return ALL if not self.fixed else np.delete(np.arange(self.count), self.fixed)

    @property
    def middle(self) -> int:
        """The number of places before the root that are not fixed."""
        return self.root - sum(place < self.root for place in self.fixed)

    def matvec(self, x: Array, index: Columns = ALL) -> Samples:
        full = self._placed(x, index)
        v, m = full[self._moving], self.middle
        out = np.empty_like(v)
        out[m] = v[m]
        np.cumsum(v[m + 1 :], axis=0, out=out[m + 1 :])
        np.negative(np.cumsum(v[:m][::-1], axis=0)[::-1], out=out[:m])
        out[m + 1 :] += v[m]
        out[:m] += v[m]
        return self._merged(full, out)

    def _placed(self, x: Array, index: Columns) -> Array:
        """Return the coefficients of all columns, given those of some, each of which is there once."""
        if isinstance(index, slice) and index == ALL:
            return np.asarray(x, dtype=np.float64)
        full = np.zeros((self.count, *x.shape[1:]))
        full[index] = x
        return full

    def _merged(self, full: Array, moved: Array) -> Array:
        """Return new values of the places that move beside those that are fixed."""
        if not self.fixed:
            return moved
        merged = full.copy()
        merged[self._moving] = moved
        return merged

    def rmatvec(self, r: Samples) -> Array:
        r = np.asarray(r, dtype=np.float64)
        v, m = r[self._moving], self.middle
        out = np.empty_like(v)
        np.cumsum(v[m:][::-1], axis=0, out=out[m:][::-1])
        np.cumsum(v[:m], axis=0, out=out[:m])
        if m:
            out[m] += out[m - 1]
            np.negative(out[:m], out=out[:m])
        return self._merged(r, out)

    def products(self, vectors: Sequence[Samples]) -> Array:
        return np.ascontiguousarray(self.rmatvec(np.stack(vectors, axis=1)).T)

    def columns(self, index: Columns) -> Samples:
        chosen, places = np.unique(np.arange(self.shape[1])[index], return_inverse=True)  # outputs name a column twice
        return np.ascontiguousarray(self.matvec(np.eye(len(chosen)), chosen)[:, places])

    def select(self, index: Columns) -> SelectedDesign:
        return SelectedDesign(self, np.arange(self.count)[index])

    def gram(
        self, weights: Samples, index: Columns, others: Columns, unit: float, basis: Samples | None = None
    ) -> Array:
        right = self.columns(others)
        return dense_gram(right if index is others else self.columns(index), weights, right, unit, basis)

    def packed(self, index: Index) -> Packed:
        return Packed.of(self.columns(index))

    def samples(self, chosen: Mask) -> DenseDesign:
        return DenseDesign(self.columns(ALL)[chosen])

    def largest(self) -> float:
        return 1.0

    def squared_norms(self, weights: Samples, scale: float = 1.0) -> Array:
        return np.abs(self.rmatvec(weights / scale / scale))

    def enclose(self, x: Enclosure, index: Columns = ALL) -> Enclosure:
        full = Enclosure(self._placed(x.mid, index), self._placed(x.rad, index))
        m = self.middle
        v = full[self._moving]
        level, zero = v[m : m + 1], Enclosure.exact(np.zeros((1, *x.shape[1:])))
        right = enclosed_running(_joined(level, v[m + 1 :]))
        left = enclosed_running(_joined(level, -v[:m][::-1])) if m else zero
        return self._enclosed(full, _joined(left[1:][::-1], right))

    def _enclosed(self, full: Enclosure, moved: Enclosure) -> Enclosure:
        return Enclosure(self._merged(full.mid, moved.mid), self._merged(full.rad, moved.rad))

    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:
        v, m = r[self._moving], self.middle
        right, left = enclosed_running(v[m:][::-1])[::-1], enclosed_running(v[:m])
        whole = right[:1] + left[-1:] if m else right[:1]
        return self._enclosed(r, _joined(_joined(-left, whole), right[1:]))

    def enclose_columns(self, index: Columns) -> Enclosure:
        return Enclosure.exact(self.columns(index))

    def sharp(self, x: Array, index: Index) -> Enclosure:
        return self.enclose(Enclosure.exact(x), index)

    def sharp_adjoint(self, r: Enclosure, index: Index) -> Enclosure:
        return self.enclose_adjoint(r)[index]

    def norm_bounds(self, weights: Array, index: Index | None = None) -> Array:
        bounds = root(up(self.squared_norms(weights) * (1 + gamma(self.count + 4)) + 4 * self.count * LEAST))
        return bounds if index is None else bounds[index]

    def touched(self, chosen: Mask) -> Mask:
        """Return which levels can be non-zero when only the chosen coefficients are."""
        return np.asarray(np.abs(self.matvec(self._outward(chosen.astype(np.float64)))) > 0)

    def _outward(self, sizes: Array) -> Array:
        """Return coefficients of these sizes whose steps all point upward."""
        sizes = sizes.copy()
        sizes[: self.root] *= -1
        sizes[list(self.fixed)] = np.abs(sizes[list(self.fixed)])
        return sizes

    def rows_as_bytes(self) -> Iterator[bytes | memoryview]:
        yield repr(self).encode()

    def parts(self) -> Iterator[Array]:
        yield np.array([self.count, self.root, *self.fixed], dtype=np.float64)

    def stated(self) -> dict[str, object]:
        """Return the matrix as a file states it."""
        return {"steps": self.count, "root": self.root, "fixed": list(self.fixed)}


def enclosed_running(values: Enclosure) -> Enclosure:
    """Return the sums of the first, the first two and so on, in twice the precision; of each column of a matrix."""
    if not values.mid.size:
        return values
    if values.ndim > 1:
        columns = [enclosed_running(values[:, k]) for k in range(values.shape[1])]
        mids, rads = ([getattr(column, part) for column in columns] for part in ("mid", "rad"))
        return Enclosure(np.stack(mids, axis=1), np.stack(rads, axis=1))
    total, small, size, spread = running_sums(values.mid, values.rad)
    terms = len(values)
    with quiet():
        spread = np.where(spread > 0, up(spread * (1 + gamma(terms + 4))), 0.0)
        found = rounded(total, small, size, terms, spread)
        return Enclosure(found.mid, np.where(np.cumsum(values.mid != 0) <= 1, spread, found.rad))  # one alone is exact


def _joined(a: Enclosure, b: Enclosure) -> Enclosure:
    """Return one after the other."""
    return Enclosure(np.concatenate([a.mid, b.mid]), np.concatenate([a.rad, b.rad]))
