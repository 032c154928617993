"""Change points of signals: denoised levels, and at which places they are proven to change, or not to."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from atomsieve.certificate import Certificate
from atomsieve.design.steps import starts_of
from atomsieve.gauges import TotalVariation
from atomsieve.intake.arguments import is_number, is_whole, shown
from atomsieve.intake.names import pandas_for
from atomsieve.penalties import Linear
from atomsieve.problem import Problem
from atomsieve.run.result import Result
from atomsieve.run.solve import solve
from atomsieve.typing import Array, Index, Mask

if TYPE_CHECKING:
    import pandas as pd

AT_ONCE = 256
"""Segments whose intervals are found at a time."""


@dataclass(frozen=True, eq=False)
class Segments:
    """The segments of one signal: within each of them the optimal level is proven to be the same."""

    starts: Index
    """The first place of each segment."""

    levels: Array
    """The level of each segment."""

    lower: Array
    """Lower bounds of the optimal levels."""

    upper: Array
    """Upper bounds of the optimal levels."""

    proven: Mask
    """Whether the level is proven to change at the start of the segment; there is nothing before the first."""

    @classmethod
    def of(cls, certificate: Certificate, levels: Array) -> "Segments":
        """Return what is proven of a signal."""
        root = int(certificate.statement["unpenalised"][0])
        alive = np.flatnonzero(~certificate.zero)
        alive = alive[alive != root]
        starts = starts_of(alive, root)
        lower, upper = np.full((2, len(starts)), np.inf) * np.array([[-1.0], [1.0]])
        if certificate.valid:
            for first in range(0, len(starts), AT_ONCE):
                some = slice(first, first + AT_ONCE)
                there = starts[some]
                rows = csr_array((np.ones(len(there)), there, np.arange(len(there) + 1)), (len(there), len(levels)))
                lower[some], upper[some] = certificate.predict(rows)
        return cls(starts, levels[starts], lower, upper, np.append(False, certificate.nonzero[alive]))

    @property
    def change_points(self) -> Index:
        """The places at which the level is proven to change: the first ones of new levels."""
        return self.starts[self.proven]

    @property
    def undecided(self) -> Index:
        """The places at which nothing is proven: elsewhere the level is proven not to change."""
        return self.starts[1:][~self.proven[1:]]

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row per segment: start, level, its bounds, whether its start is proven."""
        table: dict[str, Any] = {"start": self.starts, "level": self.levels, "lower": self.lower, "upper": self.upper}
        table["proven"] = self.proven
        frame: pd.DataFrame = pandas_for("Segments.to_frame()").DataFrame(table)
        return frame


class ChangePoints(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Levels of noisy signals, and where they change, by total variation.

    Every row of X is a signal, its places in order: one series is `series.reshape(1, -1)`. Its levels x minimise
    `sum_i (x_i - X_i)^2 / 2 + strength * sum_i |x_{i+1} - x_i|`, exactly, in time proportional to its length.

    What is proven is about that optimum, in spite of rounding: the places where its level changes, the places where it
    does not, and intervals of the levels. Whether a change is real is a question for the strength: a step of the noise
    is a change point too if it is worth its price.

    Parameters
    ----------
    strength : float, optional
        The price of a jump of 1. By default it is chosen for each signal by `fraction`.
    fraction : float
        The price as a part of that from which on a signal has no jump at all.
    tol : float
        Relative tolerance of the optimal value; `solve` reaches rounding in one step.

    Attributes
    ----------
    levels_ : array of the shape of X
        The levels of the signals that were fitted.
    segments_ : list of Segments
        For each of them what is proven: `change_points`, `undecided`, and by segment `starts`, `levels`, `lower`,
        `upper`; `to_frame()` is a table.
    certificates_ : list of Certificate
        Their certificates, which `verify` checks: `verify(certificate, scipy.sparse.eye_array(length), signal)`.

    Examples
    --------
    >>> import numpy as np
    >>> from atomsieve import ChangePoints
    >>> series = np.repeat([1.0, 3.0, 2.0], [4, 3, 5]) + 0.1 * np.cos(np.arange(12.0))
    >>> model = ChangePoints(strength=0.5).fit(series.reshape(1, -1))
    >>> model.segments_[0].change_points
    array([4, 7])
    """

    def __init__(self, strength: float | None = None, *, fraction: float = 0.1, tol: float = 1e-9) -> None:
        self.strength = strength
        self.fraction = fraction
        self.tol = tol

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 -- scikit-learn's signature
        """Denoise signals, one in each row, and prove where their levels change."""
        self._check_parameters()
        X = validate_data(self, X, dtype=np.float64, ensure_min_features=2)
        results = [self._solved(signal) for signal in X]
        self.levels_ = np.array([result.x for result in results])
        self.certificates_ = [result.certificate() for result in results]
        pairs = zip(self.certificates_, self.levels_, strict=True)
        self.segments_ = [Segments.of(certificate, levels) for certificate, levels in pairs]
        self.certificates_ = [certificate.without_data() for certificate in self.certificates_]
        return self

    def transform(self, X: Any) -> Array:
        """Return the levels of signals of the same length, one in each row."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.array([self._solved(signal).x for signal in X])

    def _solved(self, signal: Array) -> Result:
        """Return the solution for one signal."""
        problem = Problem(None, signal, gauge=TotalVariation(), penalty=Linear(1.0))
        slope = self.fraction * (problem.critical or 1.0) if self.strength is None else self.strength / len(signal)
        return solve(problem.at_penalty(Linear(slope)), tol=self.tol)

    def _check_parameters(self) -> None:
        given = {"fraction": self.fraction, "tol": self.tol}
        given |= {} if self.strength is None else {"strength": self.strength}
        for name, value in given.items():
            if not ((is_number(value) or is_whole(value)) and 0 < value < np.inf):
                raise ValueError(f"ChangePoints: {name} must be a positive number, got {shown(value)}.")
