"""Gauges of coefficients that must not be negative."""

from collections.abc import Sequence
from dataclasses import dataclass

from atomsieve.gauges.base import Gauge
from atomsieve.gauges.calculus.made import Made
from atomsieve.intake.arguments import require_piece


@dataclass(frozen=True, eq=False, repr=False)
class Positive(Made):
    """Gauge of the points of P without negative entries: kappa(x) for `x >= 0`, otherwise +inf.

    The gauge must not depend on signs: `L1`, `L2`, `LInf`, `Group`, `SparseGroup`, `OWL`, `OSCAR`, `SLOPE`, `KSupport`,
    `KSparse`, and `Scaled` of these. Then `sigma(z) = sigma_P(z_+)`, with 0 in place of what is negative in z. With
    `L1` it is `NonNegative`.

    >>> import numpy as np
    >>> from atomsieve import L2
    >>> Positive(L2()).support(np.array([3.0, -4.0])), Positive(L2()).value(np.array([3.0, -4.0]))
    (3.0, inf)
    """

    gauge: Gauge

    def __post_init__(self) -> None:
        require_piece("Positive: gauge", self.gauge, Gauge)
        if self.gauge.nonnegative(1) is None:
            raise ValueError(
                f"Positive: gauge must not depend on the signs of coefficients, and {self.gauge!r} does, or maps them. "
                "Use L1, L2, LInf, Group, SparseGroup, OWL, OSCAR, SLOPE, KSupport or KSparse."
            )

    def made(self, count: int) -> Gauge:
        made = self.gauge.nonnegative(count)
        assert made is not None  # noqa: S101
        return made

    def features(self, rows: int) -> int:
        return rows

    def named(self, names: Sequence[str] | None, count: int) -> Gauge:
        return Positive(self.gauge.named(names, count))

    def names(self) -> tuple[str, ...] | None:
        return self.gauge.names()
