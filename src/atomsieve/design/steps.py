"""Steps: the square matrix that turns one level and all jumps of a signal into its levels; it is never formed.

    x_root = c_root,    x_i = x_{i-1} + c_i to its right,    x_i = x_{i+1} - c_i to its left.

So c holds the jumps from left to right, with the level at the root between them. The column of a jump to the right of
the root is 1 from there on, that of a jump to its left -1 up to there. With the root in the middle no step is longer
than half of the signal, and none is more than 2^0.5 times as long as it is modulo the constant.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from atomsieve.core.signals import levels, moved, running_sums
from atomsieve.design.base import ALL, Columns
from atomsieve.design.jumps import Jumps, Regions
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.enclosures import Enclosure, gamma, quiet, up
from atomsieve.numerics.exact import rounded
from atomsieve.typing import Array, Index, Mask, Samples


@dataclass(frozen=True)
class Steps(Jumps):
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
    def roots(self) -> Index:
        return np.array([self.root])

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
        if v.ndim == 1:
            return self._merged(full, levels(v, m))
        out = np.empty_like(v)
        out[m] = v[m]
        np.cumsum(v[m + 1 :], axis=0, out=out[m + 1 :])
        np.negative(np.cumsum(v[:m][::-1], axis=0)[::-1], out=out[:m])
        out[m + 1 :] += v[m]
        out[:m] += v[m]
        return self._merged(full, out)

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
        if v.ndim == 1:
            return self._merged(r, moved(v, m))
        out = np.empty_like(v)
        np.cumsum(v[m:][::-1], axis=0, out=out[m:][::-1])
        np.cumsum(v[:m], axis=0, out=out[:m])
        if m:
            out[m] += out[m - 1]
            np.negative(out[:m], out=out[:m])
        return self._merged(r, out)

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

    def hung(self) -> tuple[Index, Array]:
        side = np.sign(np.arange(self.count) - self.root)
        return np.where(side == 0, -1, np.arange(self.count) - side), np.where(side < 0, -1.0, 1.0)

    def jumps(self, levels: Array) -> Array:
        return np.insert(np.diff(levels), self.root, 0.0)

    def regions(self, index: Columns) -> Regions:
        chosen = np.arange(self.count)[index]
        marked = np.zeros(self.count, dtype=bool)
        marked[chosen] = marked[self.root] = True
        cuts = np.flatnonzero(marked)
        starts = np.zeros(self.count, dtype=np.intp)
        starts[starts_of(cuts, self.root)[1:]] = 1
        small = Steps(len(cuts), int(np.searchsorted(cuts, self.root)))
        return Regions(np.cumsum(starts), small, np.searchsorted(cuts, chosen))

    def touched(self, chosen: Mask) -> Mask:
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
        return {"steps": self.count, "root": self.root, "fixed": list(self.fixed)}


def starts_of(cuts: Index, at: int) -> Index:
    """Return where the segments between steps begin: after those to the left of the root, at those to its right."""
    return np.concatenate([[0], cuts[cuts < at] + 1, cuts[cuts > at]])


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
