"""A gauge for each of several sets of features, added up."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csc_array, eye_array

from atomsieve.design import Jumps
from atomsieve.gauges.base import BlockGauge, Gauge
from atomsieve.gauges.calculus.image import Image, Mapped
from atomsieve.gauges.calculus.made import Made
from atomsieve.gauges.calculus.parts import Part, Parts
from atomsieve.gauges.calculus.scaled import Scaled
from atomsieve.gauges.grouping import checked_weights, in_order
from atomsieve.intake.arguments import keep_copy, require_piece
from atomsieve.intake.names import listed, position
from atomsieve.typing import Array, Index

Given = dict[Hashable, tuple[tuple[Any, ...], Gauge]]
"""The columns and the gauge of each part, by its name."""


@dataclass(frozen=True, eq=False, repr=False)
class Product(Made):
    """Sum of gauges of separate features, `kappa(x) = sum_b weights_b gauge_b(x_b)`.

    Its support function is `sigma(z) = max_b sigma_b(z_b) / weights_b`. `parts` is a list of pairs (features, gauge),
    or a dict of such pairs by name; features are given by name or position, and each is in exactly one part. `weights`
    are positive numbers, a list or a dict by name, by default all 1; they multiply the prices of a part, and
    certificates state the products in double precision. What is proven is proven block by block, as for the parts.

    >>> import numpy as np
    >>> from atomsieve import L1, L2
    >>> both = Product({"curve": ([0, 1], L2()), "rest": ([2, 3], L1())}, weights={"curve": 2.0, "rest": 1.0})
    >>> both.value(np.array([3.0, 4.0, -1.0, 1.0])), both.support(np.array([3.0, 4.0, -1.0, 1.0]))
    (12.0, 2.5)
    """

    parts: Any
    weights: Any = None

    def __post_init__(self) -> None:
        given = _given(self.parts)
        object.__setattr__(self, "parts", given)
        if self.weights is not None:
            weights = self.weights
            if not isinstance(weights, Mapping):
                weights = dict(zip(given, checked_weights(weights, "Product").tolist(), strict=False))
            keep_copy(self, "weights", in_order(weights, list(given), "Product"))

    def named(self, names: Sequence[str] | None, count: int) -> "Product":
        places = None if names is None else {name: j for j, name in enumerate(names)}
        parts: Given = {}
        for part, (features, gauge) in self.parts.items():
            rows = tuple(position(feature, count, places, "Product: parts") for feature in features)
            parts[part] = rows, gauge.named(None if names is None else [names[j] for j in rows], len(rows))
        _require_each_once([j for rows, _ in parts.values() for j in rows], count, names)
        return Product(parts, self.weights)

    @property
    def mapped(self) -> bool:  # type: ignore[override]
        return any(gauge.mapped for _, gauge in self.parts.values())

    def names(self) -> tuple[str, ...] | None:
        return None

    def features(self, rows: int) -> int:
        return sum(len(rows) for rows, _ in self.parts.values())

    def made(self, count: int) -> Gauge:
        return self._made

    @cached_property
    def _made(self) -> Gauge:
        if any(isinstance(feature, str) for features, _ in self.parts.values() for feature in features):
            raise TypeError(
                "Product: parts are given by the names of features, which only a problem knows: pass this gauge to "
                "Problem or an estimator, or give positions."
            )
        rows = [np.array(features, dtype=np.intp) for features, _ in self.parts.values()]
        _require_each_once(np.concatenate(rows).tolist(), self.features(0), None)
        return beside(rows, [gauge for _, gauge in self.parts.values()], self.weights)


def beside(rows: Sequence[Index], gauges: Sequence[Gauge], weights: Array | None = None, count: int = 0) -> Gauge:
    """Return the sum of gauges of some rows of x each, as an image if one of them is an image; rows may be shared."""
    factors = [1.0] * len(gauges) if weights is None else weights.tolist()
    count = count or sum(len(own) for own in rows)
    shared = sum(len(own) for own in rows) > count
    if not shared and not any(gauge.mapped for gauge in gauges):
        parts = [Part(own, _blocks(gauge), w) for own, gauge, w in zip(rows, gauges, factors, strict=True)]
        return Parts(tuple(parts))
    pairs = [_unwrapped(gauge, len(own)) for own, gauge in zip(rows, gauges, strict=True)]
    ends = np.cumsum([0] + [matrix.shape[1] for matrix, _ in pairs])
    inner = [np.arange(first, last) for first, last in pairwise(ends)]
    return Image(beside(inner, [gauge for _, gauge in pairs], weights), _placed(rows, [m for m, _ in pairs], count))


def _placed(rows: Sequence[Index], matrices: Sequence[Any], count: int) -> csc_array:
    """Return matrices side by side, the rows of each in their places."""
    entries = [matrix.tocoo() for matrix in matrices]
    widths = np.cumsum([0] + [matrix.shape[1] for matrix in matrices])
    row = np.concatenate([own[matrix.row] for own, matrix in zip(rows, entries, strict=True)])
    column = np.concatenate([matrix.col + start for start, matrix in zip(widths[:-1], entries, strict=True)])
    values = np.concatenate([matrix.data for matrix in entries])
    return csc_array((values, (row, column)), shape=(count, widths[-1]))


def _unwrapped(gauge: Gauge, count: int) -> tuple[Any, Gauge]:
    """Return the outer matrix of an image and the gauge that it is the image of; for others the identity."""
    while isinstance(gauge, Made):
        gauge = gauge.made(count)
    if gauge.of_signals:  # an image of an image, by steps
        gauge = gauge.spelled_out((count,))
    if isinstance(gauge, Mapped):
        matrix = gauge.matrix
        return csc_array(matrix.matvec(np.eye(count)) if isinstance(matrix, Jumps) else matrix), gauge.gauge
    if isinstance(gauge, Scaled) and gauge.mapped:
        matrix, inner = _unwrapped(gauge.gauge, count)
        return matrix, Scaled(inner, gauge.radius)
    return eye_array(count, format="csc"), gauge


def _blocks(gauge: Gauge) -> BlockGauge:
    """Return a gauge of blocks; one that is made of others is asked for it."""
    if isinstance(gauge, Made):
        gauge = gauge.made(gauge.features(0))
    if not isinstance(gauge, BlockGauge):
        raise TypeError(f"{type(gauge).__name__} does not split x into blocks, and is no image of a gauge that does.")
    if gauge.listed:
        raise TypeError(
            "Oracle cannot stand beside other gauges in a Product or a Union: write one oracle of the whole set, which "
            "returns the best atom of all of them."
        )
    return gauge


def _given(parts: Any) -> Given:
    """Return the features and the gauge of each part, by its name or number."""
    pairs = parts if isinstance(parts, Mapping) else dict(enumerate(parts)) if isinstance(parts, Iterable) else {}
    for name, pair in pairs.items():
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and hasattr(pair[0], "__len__")):
            raise ValueError(
                f"Product: parts must be pairs (features, gauge), such as ([0, 1], L2()); {name!r} is none."
            )
        require_piece(f"Product: the gauge of {name!r}", pair[1], Gauge)
    if not pairs or any(not len(features) or isinstance(features, str) for features, _ in pairs.values()):
        raise ValueError("Product: parts must be pairs (features, gauge) with a list of features each.")
    return {name: (tuple(features), gauge) for name, (features, gauge) in pairs.items()}


def _require_each_once(rows: Sequence[int], count: int, names: Sequence[str] | None) -> None:
    """Refuse parts that share features, or leave some out."""
    found = np.bincount(np.array(rows, dtype=np.intp), minlength=count)
    called = [repr(j if names is None else names[j]) for j in range(len(found))]
    if (found > 1).any():
        twice = listed(name for name, times in zip(called, found, strict=True) if times > 1)
        raise ValueError(f"Product: parts share {twice}. Each feature has one part; Union has gauges of the same ones.")
    if (found[:count] == 0).any() or len(found) > count:
        missing = listed(name for name, times in zip(called, found, strict=True) if times == 0)
        raise ValueError(f"Product: parts leave out {missing}. Give each feature a part, such as ([0], L1()).")
