"""What L1, NonNegative and Simplex share: atoms on single coordinates, `e_j / weights_j`, with or without signs."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from atomsieve.design import Design
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.base import Atom, BlockGauge
from atomsieve.gauges.signs import forbidden, some, upward
from atomsieve.intake.arguments import as_floats, keep_copy
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.programs import linear_program
from atomsieve.typing import Array, Index, Mask

ONE = np.ones(1)
ONE.flags.writeable = False

BLUR = 1e-12
"""Error of a cosine; columns closer than its square root cannot be distinguished."""


@dataclass(frozen=True, eq=False, repr=False)
class Coordinates(BlockGauge):
    """Weighted sum of coordinates; a `signed` coordinate also has the atom `-e_j / weights_j`."""

    weights: Any = None
    signed = True
    entrywise = True
    one_by_one = True

    def __post_init__(self) -> None:
        if self.weights is None:
            return
        name = type(self).__name__
        weights = as_floats(self.weights, f"{name}: weights")
        if np.isnan(weights).any() or (weights < 0).any():
            raise ValueError(
                f"{name}: weights must be non-negative numbers (0 leaves a coordinate unpenalised, inf excludes it)."
            )
        if self.signed is False and (weights == 0).any():
            raise ValueError(
                f"{name}: weights must be positive (inf excludes a coordinate). A coordinate without a price "
                "that must stay non-negative is not supported; give it a small weight."
            )
        if weights.ndim == 2 and ((weights == 0).any(axis=1) & (weights > 0).any(axis=1)).any():
            raise ValueError(f"{name}: a weight of 0 must hold for every output of its feature.")
        keep_copy(self, "weights", weights)

    def check(self, shape: tuple[int, ...]) -> None:
        if self.weights is not None and self.weights.shape not in (shape, shape[:1]):
            raise ValueError(f"{type(self).__name__}: weights must have shape {shape}, got {self.weights.shape}.")

    def flat(self, shape: tuple[int, ...]) -> "Coordinates":
        if self.weights is None or len(shape) == 1:
            return self
        return replace(self, weights=self.prices(shape))

    def _over(self, values: Array, ndim: int) -> Array:
        """Return one number per coordinate, in a shape that broadcasts with an x of `ndim` dimensions."""
        return values if values.ndim == ndim else values[:, None]

    @cached_property
    def _inverse(self) -> Array:
        """Return `1 / weights`, the size of each atom; 0 if there is no atom (weight 0 or inf)."""
        penalised = (self.weights > 0) & np.isfinite(self.weights)
        return np.where(penalised, 1.0 / np.where(penalised, self.weights, 1.0), 0.0)

    def _atom_sizes(self, ndim: int) -> Array | float:
        return 1.0 if self.weights is None else self._over(self._inverse, ndim)

    def labels(self, shape: tuple[int, ...]) -> Index:
        return np.arange(math.prod(shape), dtype=np.intp).reshape(shape)

    def blocks(self, columns: Index, shape: tuple[int, ...]) -> Index:
        return columns if len(shape) == 1 else super().blocks(columns, shape)

    def eligible(self, shape: tuple[int, ...]) -> Mask:
        if self.weights is None:
            return np.ones(math.prod(shape), dtype=bool)
        return np.broadcast_to(np.asarray(self._atom_sizes(len(shape))) > 0, shape).ravel()

    def unpenalised(self) -> Index:
        if self.weights is None:
            return super().unpenalised()
        return np.flatnonzero(self.weights[:, 0] == 0 if self.weights.ndim == 2 else self.weights == 0)

    def scores(self, z: Array) -> Array:
        scaled = z if self.weights is None else z * self._atom_sizes(z.ndim)
        return upward(scaled.ravel(), self.signs(z.shape))

    def sizes(self, x: Array) -> Array:
        sizes = np.abs(x)
        if self.weights is not None:
            weights = self._over(self.weights, x.ndim)
            sizes = sizes * np.where((sizes == 0) & np.isinf(weights), 0.0, weights)
        if self.signed is True:
            return sizes.ravel()
        return np.where(forbidden(x.ravel(), self.signs(x.shape)), np.inf, sizes.ravel())

    def prices(self, shape: tuple[int, ...]) -> Array:
        if self.weights is None:  # one number, seen many times
            return np.ndarray(math.prod(shape), np.float64, ONE, strides=(0,))
        return np.broadcast_to(self._over(self.weights, len(shape)), shape).ravel()

    def dots(self, x: Array, z: Array) -> Array:
        return (x * z).ravel()

    def columns(self, blocks: Mask, shape: tuple[int, ...]) -> Mask:
        return np.asarray(blocks if len(shape) == 1 else blocks.reshape(shape).any(axis=1))

    def keep(self, x: Array, alive: Mask) -> Array:
        return np.where(alive.reshape(x.shape), x, 0.0)

    def atom(self, z: Array, block: int) -> Atom:
        place = tuple(int(i) for i in np.unravel_index(block, z.shape))
        size = 1.0 if self.weights is None else float(np.broadcast_to(self._atom_sizes(z.ndim), z.shape)[place])
        values = np.zeros((1, *z.shape[1:]))
        values[0, *place[1:]] = -size if z[place] < 0 and some(self.signed, place[0]) else size
        return Atom(slice(place[0], place[0] + 1), values, block)

    def spread(self, seminorm: Seminorm, outputs: int) -> Array:
        norms = seminorm.column_norms()
        grid = norms if outputs == 1 else np.repeat(norms[:, None], outputs, axis=1)
        return (grid if self.weights is None else grid * self._atom_sizes(grid.ndim)).ravel()

    def restrict(self, columns: Index) -> "Coordinates":
        return self if self.weights is None else replace(self, weights=self.weights[columns])

    def rivals(self, z: Array, cross: Array, spread: Array, best: tuple[Atom, float], radius: float) -> Array:
        atom, norm = best
        sizes = self._atom_sizes(z.ndim)
        along = (z * sizes).ravel()
        cosine = (cross * sizes).ravel() / np.where(spread > 0, spread, 1.0)
        bound = along + radius * _distances(spread, norm, cosine)
        if self.signed is not False:
            opposite = -along + radius * _distances(spread, norm, -cosine)
            np.maximum(bound, opposite, out=bound, where=self.signs(z.shape))
        if z.ndim == 2:
            # for atoms of different outputs the curvature bound holds for each atom, but not for their difference
            apart = np.ones(z.shape, dtype=bool)
            apart[:, np.flatnonzero(atom.values)] = False
            bound = np.where(apart.ravel(), super().rivals(z, cross, spread, best, radius), bound)
        return bound

    def value_under(self, design: Design, x: Array) -> float:
        """Return `min weights . c over Q c = x`, solved by HiGHS; signed entries of c are split into two parts."""
        count, outputs = design.shape[1], x.reshape(len(x), -1)
        weights = np.ones((count, outputs.shape[1]))
        if self.weights is not None:
            weights *= self.weights.reshape(count, -1)
        total = 0.0
        for target, cost in zip(outputs.T, weights.T, strict=True):
            usable = np.flatnonzero(np.isfinite(cost))
            matrix, price = np.asarray(design.columns(usable)), cost[usable]
            both = np.broadcast_to(self.signed, count)[usable]
            matrix, price = np.hstack([matrix, -matrix[:, both]]), np.concatenate([price, price[both]])
            answer = linear_program(price, A_eq=matrix, b_eq=target)
            total += float("inf") if answer.fun is None else float(answer.fun)
        return total


def _distances(lengths: Array, length: float, cosines: Array) -> Array:
    """Return the distance between vectors, given their lengths and angles; it is rounded up for nearly equal vectors.

    Its square is `(a - b)^2 + 2 a b (1 - cosine)`. Lengths are scaled so squares neither overflow nor underflow.
    """
    scale = max(float(lengths.max()), length)
    if scale == 0:
        return np.zeros_like(lengths)
    a, b = lengths / scale, length / scale
    apart = np.clip(1.0 - cosines + BLUR, BLUR, 2.0)
    return np.asarray(scale * np.sqrt((a - b) ** 2 + 2 * a * b * apart))
