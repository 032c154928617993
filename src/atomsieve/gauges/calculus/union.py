"""The atoms of several gauges together: x is a sum of parts, each measured by the gauge that likes it best."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import eye_array

from atomsieve.design import as_design
from atomsieve.gauges.base import Gauge
from atomsieve.gauges.calculus.image import Mapped
from atomsieve.gauges.calculus.made import Made
from atomsieve.gauges.calculus.product import beside
from atomsieve.gauges.calculus.scaled import Scaled
from atomsieve.intake.arguments import require_piece
from atomsieve.typing import Array


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Union(Made):
    """Gauge of the atoms of several gauges, `kappa(x) = min { sum_i gauge_i(x_i) : sum_i x_i = x }`.

    Its unit ball is the convex hull of the union of the balls, and `sigma(z) = max_i sigma_i(z)`. So
    `Union(L1(), Group(groups))` explains each coefficient by itself or by its group, whatever is cheaper; to make one
    of the gauges cheaper, scale it: `Scaled(L1(), 2.0)`. Prices are rounded to double precision once, and certificates
    state them.

    Solvers work on all the x_i, without copies of the columns. Certificates are about them; what they say of x is in
    `Certificate.feature_frame()`. `parts` returns the x_i of a solution.

    >>> import numpy as np
    >>> from atomsieve import L1, L2
    >>> either = Union(L1(), Scaled(L2(), 0.5))
    >>> z = np.array([3.0, 4.0])
    >>> either.support(z), L1().support(z), Scaled(L2(), 0.5).support(z)
    (4.0, 4.0, 2.5)
    """

    gauges: tuple[Gauge, ...]
    mapped = True

    def __init__(self, *gauges: Gauge) -> None:
        if len(gauges) < 2:
            raise ValueError("Union needs two gauges at least, such as Union(L1(), Group(groups)).")
        for gauge in gauges:
            require_piece("Union: a gauge", gauge, Gauge)
        within = [gauge.gauges if isinstance(gauge, Union) else (gauge,) for gauge in gauges]
        object.__setattr__(self, "gauges", tuple(gauge for some in within for gauge in some))
        for gauge in self.gauges:
            if isinstance(_inside(gauge), Union):
                raise TypeError("Union: scale the gauges of a Union within another one by one, not the Union.")

    def named(self, names: Sequence[str] | None, count: int) -> "Union":
        return Union(*(gauge.named(names, count) for gauge in self.gauges))

    def names(self) -> tuple[str, ...] | None:
        return None

    def check(self, shape: tuple[int, ...]) -> None:
        for gauge in self.gauges:
            gauge.check(shape)
        super().check(shape)

    def made(self, count: int) -> Gauge:
        return beside([np.arange(count)] * len(self.gauges), self.gauges, count=count)

    def features(self, rows: int) -> int:
        for gauge in map(_inside, self.gauges):
            if isinstance(gauge, Mapped):
                return int(gauge.matrix.shape[0])
            if isinstance(gauge, Made) and gauge.mapped:
                return gauge.features(rows)
        return rows // len(self.gauges)

    def parts(self, lifted: Array) -> list[Array]:
        """Return the part x_i of each gauge, `gauge.parts(result.lifted)`; they add up to x.

        For several outputs, lifted coefficients have a row for each entry of a single output.
        """
        plain = as_design(eye_array(self.features(len(lifted)), format="csc"))
        ends = np.cumsum([gauge.lift(plain)[0].shape[1] for gauge in self.gauges])
        each = zip(self.gauges, np.split(np.asarray(lifted), ends[:-1]), strict=True)
        return [gauge.lower(c) for gauge, c in each]

    def with_params(self, **changes: Any) -> "Union":
        gauges = changes.pop("gauges", self.gauges)
        return super().with_params(**changes) if changes else Union(*gauges)

    def __repr__(self) -> str:
        return f"Union({', '.join(map(repr, self.gauges))})"


def _inside(gauge: Gauge) -> Gauge:
    """Return the gauge that was scaled."""
    return _inside(gauge.gauge) if isinstance(gauge, Scaled) else gauge
