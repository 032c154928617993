"""The (weighted) l1 norm: atoms `+e_j / weights_j` and `-e_j / weights_j`, or only the first if x_j must be >= 0."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from atomsieve.gauges.base import BlockGauge
from atomsieve.gauges.coordinates import Coordinates
from atomsieve.gauges.nonnegative import NonNegative
from atomsieve.intake.arguments import as_mask, keep_copy
from atomsieve.numerics.cached import cached_property
from atomsieve.typing import Index, Signs


@dataclass(frozen=True, eq=False, repr=False)
class L1(Coordinates):
    """Weighted l1 norm, `kappa(x) = sum_j weights_j |x_j|`, with `sigma(z) = max_j |z_j| / weights_j`.

    `weights` has one number per coordinate (None: all 1). A weight of 0 leaves the coordinate unpenalised: its column
    becomes an unpenalised column of the problem. A weight of inf excludes the coordinate. A matrix x is measured entry
    by entry.

    `positive` has one truth value per coordinate, or per row for a matrix x (None: all False). True means that the
    coordinate must not be negative: kappa is +inf if it is negative, and sigma uses `z_j` instead of `|z_j|`.
    Such a coordinate needs a weight that is not 0.

    >>> import numpy as np
    >>> L1().value(np.array([1.0, -2.0])), L1([1.0, 4.0]).support(np.array([1.0, -2.0]))
    (3.0, 1.0)
    >>> half = L1(positive=[False, True])
    >>> half.value(np.array([-1.0, 2.0])), half.value(np.array([1.0, -2.0])), half.support(np.array([1.0, -2.0]))
    (3.0, inf, 1.0)
    """

    positive: Any = None

    def __post_init__(self) -> None:
        if self.positive is not None:
            keep_copy(self, "positive", as_mask(self.positive, f"{type(self).__name__}: positive"))
        super().__post_init__()
        if self.positive is not None and self.weights is not None:
            self._check_prices()

    def _check_prices(self) -> None:
        """Refuse a weight of 0 for a coordinate that must not be negative."""
        name, shapes = type(self).__name__, (self.weights.shape, self.positive.shape)
        if shapes[0][:1] != shapes[1]:
            raise ValueError(
                f"{name}: weights and positive must have one entry per coordinate each, got shapes {shapes[0]} and "
                f"{shapes[1]}."
            )
        if (self.weights[self.positive] == 0).any():
            raise ValueError(
                f"{name}: weights must not be 0 where positive is True. A coordinate without a price that must stay "
                "non-negative is not supported; give it a small weight."
            )

    def nonnegative(self, rows: int) -> BlockGauge | None:
        return NonNegative(self.weights) if self.positive is None else None

    def check(self, shape: tuple[int, ...]) -> None:
        super().check(shape)
        if self.positive is not None and self.positive.shape != shape[:1]:
            raise ValueError(
                f"{type(self).__name__}: positive must have one truth value per coordinate, {shape[0]} in all, "
                f"got shape {self.positive.shape}."
            )

    def flat(self, shape: tuple[int, ...]) -> Coordinates:
        if self.positive is None or len(shape) == 1:
            return super().flat(shape)
        weights = None if self.weights is None else self.prices(shape)
        return replace(self, weights=weights, positive=np.repeat(self.positive, math.prod(shape[1:])))

    @cached_property
    def signed(self) -> Signs:  # type: ignore[override]
        """Whether coordinates may be negative: one truth value if it is the same for all, otherwise one for each."""
        if self.positive is None or not self.positive.any():
            return True
        return False if self.positive.all() else np.logical_not(self.positive)

    def restrict(self, columns: Index) -> Coordinates:
        if self.positive is None:
            return super().restrict(columns)
        weights = None if self.weights is None else self.weights[columns]
        return replace(self, weights=weights, positive=self.positive[columns])
