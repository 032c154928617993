"""Gauges of separate rows of x, added up: what solvers see of a `Product` or a `Union`."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from atomsieve.design import Design, SelectedDesign, as_slice
from atomsieve.design.seminorm import Seminorm
from atomsieve.gauges.base import Atom, BlockGauge, Gauge
from atomsieve.gauges.group import Group
from atomsieve.gauges.l1 import L1
from atomsieve.numerics.enclosures import Enclosure, Uncertain, up
from atomsieve.typing import Array, Index, Mask, Signs


class Part(NamedTuple):
    """Some rows of x, their gauge, and the factor by which it counts."""

    rows: Index
    gauge: BlockGauge
    weight: float


class Numbers(NamedTuple):
    """How blocks are numbered: by their first entries, so that single entries are in order."""

    labels: Index
    order: Index
    """For each block, its place among the blocks of all parts, one part after the other."""

    starts: list[int]
    """The place of the first block of each part, and the number of all blocks."""


@dataclass(frozen=True, eq=False, repr=False)
class Parts(BlockGauge):
    """`kappa(x) = sum_b weight_b gauge_b(x_b)` over parts with separate rows that are all of x; `Product` makes it."""

    parts: tuple[Part, ...]

    @cached_property
    def _known(self) -> dict[tuple[int, ...], Numbers]:
        """The numbers of blocks for shapes of x that were asked for."""
        return {}

    def _numbers(self, shape: tuple[int, ...]) -> Numbers:
        if shape not in self._known:
            self._known[shape] = self._counted(shape)
        return self._known[shape]

    def _counted(self, shape: tuple[int, ...]) -> Numbers:
        raw, starts = np.empty(shape, dtype=np.intp), [0]
        for part in self.parts:
            own = part.gauge.labels((len(part.rows), *shape[1:]))
            raw[part.rows] = own + starts[-1]
            starts.append(starts[-1] + int(own.max()) + 1)
        order = np.argsort(np.unique(raw, return_index=True)[1])
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return Numbers(rank[raw], order, starts)

    def _each(self, shape: tuple[int, ...], found: Callable[[Part], Any]) -> Any:
        """Return what is found for the blocks of every part, in the order of the blocks."""
        return np.concatenate([found(part) for part in self.parts])[self._numbers(shape).order]

    def _shape(self, part: Part, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (len(part.rows), *shape[1:])

    def check(self, shape: tuple[int, ...]) -> None:
        for part in self.parts:
            part.gauge.check(self._shape(part, shape))
        labels = self.labels(shape)
        if len(shape) > 1 and not (self.one_by_one or (labels == labels[:, :1]).all()):
            raise ValueError(
                "For several outputs all gauges of a Product or Union must be of single entries, like L1, or all of "
                "whole rows, like Group."
            )
        if not self.one_by_one and not all(_finite(part.gauge.prices(self._shape(part, shape))) for part in self.parts):
            raise ValueError(
                "Beside groups, weights must be positive and finite. Leave features out of X to exclude them, and pass "
                "them as `free` to leave them unpenalised."
            )

    def labels(self, shape: tuple[int, ...]) -> Index:
        return self._numbers(shape).labels

    def scores(self, z: Array) -> Array:
        return np.asarray(self._each(z.shape, lambda part: part.gauge.scores(z[part.rows]) / part.weight))

    def sizes(self, x: Array) -> Array:
        return np.asarray(self._each(x.shape, lambda part: part.gauge.sizes(x[part.rows]) * part.weight))

    def prices(self, shape: tuple[int, ...]) -> Array | None:
        found: list[Any] = [part.gauge.prices(self._shape(part, shape)) for part in self.parts]
        if any(prices is None for prices in found):
            return None
        priced = [prices * part.weight for prices, part in zip(found, self.parts, strict=True)]
        return np.asarray(np.concatenate(priced)[self._numbers(shape).order])

    def enclose_sizes(self, x: Array) -> Enclosure:
        self._require_bounds(x.shape)
        return self._joined(x.shape, [part.gauge.enclose_sizes(x[part.rows]) * part.weight for part in self.parts])

    def enclose_scores(self, z: Enclosure) -> Enclosure:
        self._require_bounds(z.shape)
        return self._joined(z.shape, [part.gauge.enclose_scores(z[part.rows]) / part.weight for part in self.parts])

    def spread_bounds(self, norms: Array) -> Array:
        found = self._each(norms.shape, lambda part: part.gauge.spread_bounds(norms[part.rows]) / part.weight)
        return np.asarray(up(found))

    def _require_bounds(self, shape: tuple[int, ...]) -> None:
        """Refuse parts with prices: they have no bounds of their own."""
        if any(part.gauge.prices(self._shape(part, shape)) is not None for part in self.parts):
            raise Uncertain("a gauge without prices, such as LInf, beside gauges with prices has no proof")

    def _joined(self, shape: tuple[int, ...], found: list[Enclosure]) -> Enclosure:
        order = self._numbers(shape).order
        return Enclosure(*(np.concatenate(side)[order] for side in ([e.mid for e in found], [e.rad for e in found])))

    @cached_property
    def signed(self) -> Signs:  # type: ignore[override]
        """Whether rows may be negative: one truth value if it is the same for all, otherwise one for each."""
        signed = np.empty(sum(len(part.rows) for part in self.parts), dtype=bool)
        for part in self.parts:
            signed[part.rows] = part.gauge.signed
        return bool(signed[0]) if (signed == signed[0]).all() else signed

    @property
    def entrywise(self) -> bool:  # type: ignore[override]
        return all(part.gauge.entrywise for part in self.parts)

    @property
    def one_by_one(self) -> bool:  # type: ignore[override]
        return all(part.gauge.one_by_one for part in self.parts)

    def atom(self, z: Array, block: int) -> Atom:
        numbers = self._numbers(z.shape)
        place = int(numbers.order[block])
        which = int(np.searchsorted(numbers.starts, place, side="right")) - 1
        rows, gauge, weight = self.parts[which]
        inner = gauge.atom(z[rows], place - numbers.starts[which])
        own: Index = rows[inner.columns]
        in_order = bool(np.all(np.diff(own) == 1))
        return replace(inner.scaled(1 / weight), columns=as_slice(own) if in_order else own, block=block)

    def spread(self, seminorm: Seminorm, outputs: int) -> Array:
        shape = (seminorm.design.shape[1],) if outputs == 1 else (seminorm.design.shape[1], outputs)

        def found(part: Part) -> Array:
            own = replace(seminorm, design=SelectedDesign(seminorm.design, part.rows))
            return part.gauge.spread(own, outputs) / part.weight

        return np.asarray(self._each(shape, found))

    def restrict(self, columns: Index) -> "Parts":
        kept, order = [], np.argsort(columns)
        for rows, gauge, weight in self.parts:
            own = np.flatnonzero(np.isin(rows, columns))
            if len(own):
                places = order[np.searchsorted(columns, rows[own], sorter=order)]
                kept.append(Part(places, gauge if len(own) == len(rows) else gauge.restrict(own), weight))
        return Parts(tuple(kept))

    def flat(self, shape: tuple[int, ...]) -> "Parts":
        if len(shape) == 1:
            return self
        entries = np.arange(math.prod(shape)).reshape(shape)
        flat = [Part(entries[p.rows].ravel(), p.gauge.flat(self._shape(p, shape)), p.weight) for p in self.parts]
        return Parts(tuple(flat))

    def eligible(self, shape: tuple[int, ...]) -> Mask:
        return np.asarray(self._each(shape, lambda part: part.gauge.eligible(self._shape(part, shape))))

    def unpenalised(self) -> Index:
        return np.sort(np.concatenate([part.rows[part.gauge.unpenalised()] for part in self.parts]))

    def value_under(self, design: Design, x: Array) -> float:
        same = self.spelled_out((design.shape[1], *x.shape[1:]))
        return super().value_under(design, x) if same is self else same.value_under(design, x)

    def spelled_out(self, form: tuple[int, ...]) -> Gauge:
        """Return the L1 or Group that this is, unless it has groups and coefficients that must not be negative."""
        prices, labels = self.prices(form), self.labels(form)
        if prices is not None and self.one_by_one:
            return L1(prices.reshape(form), positive=np.logical_not(np.broadcast_to(self.signed, form[:1])))
        as_it_is = prices is None or self.signed is not True
        return self if as_it_is else Group(labels if len(form) == 1 else labels[:, 0], prices)

    def stated(self) -> dict[str, Any]:
        """Return groups, prices (None if there are none) and signs, which is all that there is to solvers."""
        shape = (sum(len(part.rows) for part in self.parts),)
        positive = None if self.signed is True else np.logical_not(np.broadcast_to(self.signed, shape))
        return {"groups": self.labels(shape), "weights": self.prices(shape), "positive": positive}


def _finite(prices: Array | None) -> bool:
    return prices is None or bool(((prices > 0) & np.isfinite(prices)).all())
