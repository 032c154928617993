"""The proof's view of an array on a GPU: bounds of products are made there; the host sees what is as long as x or u.

The arithmetic is that of the host: doubles, rounded to nearest, sums in any order. An entry of `A' r` goes through few
additions one after the other (`kernels.Columns.terms`), so that its error is far below that of one long sum.
"""

from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import array_api_compat
import numpy as np

from atomsieve.design.base import ALL, Columns
from atomsieve.design.centred import CentredDesign
from atomsieve.design.chunked import ChunkedDesign, HeldRows
from atomsieve.design.dense import DenseDesign
from atomsieve.numerics import exact
from atomsieve.numerics.enclosures import LEAST, Enclosure, gamma, norm, quiet, root, up
from atomsieve.numerics.namespace import like, on_host, places_in
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Index

HEIGHT = 1 << 27
"""Entries of columns that are widened to doubles at a time, for a Gram matrix: one gigabyte."""


def kernels_for(matrix: Any) -> Any:
    """Return the kernels that can read a matrix, or None: they are for tensors of PyTorch on CUDA devices."""
    return _kernels() if array_api_compat.is_torch_array(matrix) and matrix.device.type == "cuda" else None


@cache
def _kernels() -> Any:
    return import_module("atomsieve.design.kernels") if find_spec("triton") else None


@dataclass(frozen=True, eq=False)
class DeviceDesign(ChunkedDesign):
    """All of A on its device; what is not overridden here reads it in chunks."""

    @classmethod
    def over(cls, matrix: Any) -> "DeviceDesign":
        """Return the view of a matrix."""
        return cls(HeldRows(matrix))

    @property
    def matrix(self) -> Any:
        """The tensor."""
        held: Any = self.chunks
        return held.matrix

    @property
    def kernels(self) -> Any:
        """The kernels for this tensor."""
        return kernels_for(self.matrix)

    def there(self, numbers: Any) -> Any:
        """Return numbers of the host on the device; None stays None."""
        return None if numbers is None else like(numbers, self.matrix)

    def columns_there(self, index: Columns) -> Any:
        """Return some columns as they are stored."""
        return self.matrix[:, index] if isinstance(index, slice) else self._taken_from(index)

    def _taken_from(self, index: Index) -> Any:
        return self.matrix.index_select(1, places_in(index, self.matrix))

    def _host(self, index: Columns) -> Any:
        """Return some columns as a design of the host."""
        design = DenseDesign.of(self.columns(index), "X")
        return design if self.taken is None else CentredDesign(design, self.taken[index])

    def _by_columns(self, index: Columns) -> Array:
        return on_host(self.columns_there(index).T.contiguous()).astype(np.float64, copy=False)

    def rmatvec(self, r: Array) -> Array:
        if r.ndim > 1:
            return np.stack([self.rmatvec(column) for column in r.T], axis=1)
        return on_host(self.kernels.of_columns(self.matrix, self.there(r)).products)

    def enclose(self, x: Enclosure, index: Columns = ALL) -> Enclosure:
        """Return `A x`; what is taken from the columns is a product of its own."""
        if x.ndim > 1:
            return super().enclose(x, index)
        columns, d = self.columns_there(index), len(x)
        mid, sizes = map(on_host, self.kernels.image(columns, self.there(x.mid), sizes=True))
        with quiet():
            spread = up(gamma(2 * d + 8) * sizes + d * LEAST)
            if x.rad.any():
                off = on_host(self.kernels.image(columns, self.there(x.rad), sizes=True)[1])
                spread = up(spread + off * (1 + gamma(d + 4)) + d * LEAST)
        image = Enclosure(mid, spread)
        return image if self.taken is None else image - (Enclosure.exact(self.taken[index]) * x).sum()

    def enclose_columns(self, index: Columns) -> Enclosure:
        found: Enclosure = self._host(index).enclose_columns(ALL)
        return found

    @property
    def _centred(self) -> CentredDesign:
        """What makes centred sums in twice the precision from those of the columns as they are."""
        design: Any = replace(self, taken=None)
        return CentredDesign(design, np.asarray(self.taken))

    def sharp(self, x: Array, index: Index, level: tuple[float, float] = (0.0, 0.0)) -> Enclosure:
        """Return `A[:, index] x`, less a level, as if summed in twice the precision."""
        if self.taken is not None:
            return self._centred.sharp(x, index)
        total, small, size = on_host(self.kernels.sharp_image(self.columns_there(index), self.there(x), *level))
        return exact.rounded(total, small, size, len(index) + 2, None)

    def sharp_adjoint(self, r: Enclosure, index: Index, centres: Array | None = None) -> Enclosure:
        """Return some entries of `A' r`; what r is off by counts by lengths, those of columns less their centres."""
        if self.taken is not None:
            return self._centred.sharp_adjoint(r, index)
        columns, n = self.columns_there(index), self.shape[0]
        total, small, size = on_host(self.kernels.sharp_products(columns, self.there(r.mid)))
        spread: Array | None = None
        if r.rad.any():
            found = self.kernels.of_columns(columns, squares=True, taken=self.there(centres))
            spread = up(self._lengths(found, float(n)) * norm(r.rad))
        return exact.rounded(total, small, size, n, spread)

    def norm_bounds(self, weights: Array, index: Index | None = None) -> Array:
        matrix, taken = self.matrix, self.taken
        if index is not None:
            matrix, taken = self.columns_there(index), None if taken is None else taken[index]
        found = self.kernels.of_columns(matrix, squares=True, weights=self.there(weights), taken=self.there(taken))
        return self._lengths(found, float(weights.sum()))

    def squares_about(self, centres: Array, weights: Array) -> Array:
        found = self.kernels.of_columns(
            self.matrix, squares=True, weights=self.there(weights), taken=self.there(centres)
        )
        return on_host(found.squares)

    def _lengths(self, found: Any, total: float) -> Array:
        """Return upper bounds of the lengths of columns; each term goes through five roundings, and may underflow."""
        with quiet():
            squares = on_host(found.squares) * (1 + gamma(found.terms + 8)) + 4 * LEAST * (total + self.shape[0])
            return np.asarray(root(up(squares)))

    def enclose_adjoint(self, r: Enclosure, norms: Array | None = None) -> Enclosure:
        if r.ndim > 1:
            columns = [self.enclose_adjoint(Enclosure(*pair)) for pair in zip(r.mid.T, r.rad.T, strict=True)]
            return Enclosure(*(np.stack([getattr(c, part) for c in columns], axis=1) for part in ("mid", "rad")))
        return self.survey(r).product

    def survey(self, r: Enclosure) -> exact.Survey:
        """Return `A' r`, upper bounds of the lengths of the columns, and the fingerprint, in one pass."""
        keys = self.there_keys()
        found = self.kernels.of_columns(
            self.matrix, self.there(r.mid), squares=True, taken=self.there(self.taken), keys=keys
        )
        lengths = self._lengths(found, float(self.shape[0]))
        with quiet():
            size, off = norm(np.abs(r.mid)), norm(r.rad)
            lost = float(gamma(found.terms + 8)) * size + off  # Cauchy-Schwarz inequality
            spread = up(lengths * float(up(lost)) + 4 * LEAST * self.shape[0])
        product = Enclosure(on_host(found.products), spread)
        return exact.Survey(product, lengths, exact.fingerprint([on_host(found.sums)]))

    def there_keys(self) -> Any:
        """Return the keys of the rows, two for each, on the device."""
        torch, where = self.kernels.torch, self.matrix.device
        generator = torch.Generator(where).manual_seed(int(exact.KEYS[0]))
        return torch.randint(-(2**63), 2**63 - 1, (2 * self.shape[0],), generator=generator, device=where)

    def parts(self) -> Any:
        """Yield the sums of the bits of each column with random keys, which change with any entry."""
        yield on_host(self.kernels.of_columns(self.matrix, keys=self.there_keys()).sums)

    def squares_of(self, free: Enclosure, index: Index, weights: Array) -> tuple[Array, Array]:
        """Return `C' diag(w) C` for free columns and some of A, and for their radii the diagonal alone."""
        torch, (n, first) = self.kernels.torch, free.shape
        count = first + len(index)
        gram = torch.zeros((count, count), dtype=torch.float64, device=self.matrix.device)
        columns, taken = self.columns_there(index), self.there(None if self.taken is None else self.taken[index])
        roots, given = self.there(np.sqrt(weights)), self.there(free.mid)
        height = max(1, HEIGHT // count)
        for start in range(0, n, height):
            rows = slice(start, min(start + height, n))
            own = columns[rows].to(torch.float64)
            half = torch.cat([given[rows], own if taken is None else own - taken], dim=1) * roots[rows, None]
            gram += half.T @ half
        found = on_host(gram)
        blurs = np.zeros(count)
        if free.rad.any():
            blurs[:first] = np.sum((free.rad * np.sqrt(weights)[:, None]) ** 2, axis=0)
        if taken is not None:  # a difference is rounded once
            blurs[first:] = up(EPS * EPS * found.diagonal()[first:] * (1 + float(gamma(n + 8))))
        return found, blurs
