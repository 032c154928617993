"""Coefficients with what is proven about them: what summaries and pictures of certificates show."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.typing import Array, Index

ZERO, NONZERO, IN_GROUP, UNDECIDED, UNPENALISED = "zero", "non-zero", "in a non-zero group", "undecided", "unpenalised"
"""The verdicts about a coefficient."""


@dataclass(frozen=True, eq=False)
class Coefficients:
    """The coefficients of one output: values, proven intervals, verdicts; an entry per feature."""

    names: Sequence[str]
    values: Array
    lower: Array
    """Lower bounds of the optimal coefficients; -inf where none is known."""

    upper: Array
    """Upper bounds of the optimal coefficients; inf where none is known."""

    verdicts: NDArray[Any]
    """What is proven about each: "zero", "non-zero", "in a non-zero group", "undecided" or "unpenalised"."""

    scales: Array | None = None
    """The standard deviations of the features; None where they are not known."""

    groups: Sequence[str] | None = None
    """The name of the group of each feature; None where there are no groups."""

    output: str | None = None
    """The output or class that the coefficients belong to; None where there is just one."""

    @property
    def weights(self) -> Array:
        """How much each feature contributes: its absolute coefficient, per standard deviation where that is known."""
        return np.abs(self.values) * (1.0 if self.scales is None else self.scales)

    @cached_property
    def shown(self) -> Index:
        """The features that are worth a row, largest weight first: in the model, or proven to belong there."""
        told = np.isin(self.verdicts, (NONZERO, IN_GROUP, UNPENALISED)) | (self.values != 0)
        told &= self.verdicts != ZERO
        index = np.flatnonzero(told)
        return index[np.argsort(-self.weights[index], kind="stable")]

    def number(self, verdict: str) -> int:
        """Return how many coefficients have a verdict."""
        return int(np.count_nonzero(self.verdicts == verdict))

    @property
    def undecided(self) -> list[str]:
        """The names of the features about which nothing is proven."""
        return [self.names[int(j)] for j in np.flatnonzero(self.verdicts == UNDECIDED)]

    def per_sd(self) -> "Coefficients":
        """Return the coefficients of features in units of their standard deviations; raise where these are unknown."""
        if self.scales is None:
            raise ValueError('per="sd" needs the standard deviations of the features: pass X, the data of the fit.')
        with np.errstate(invalid="ignore"):  # an unknown bound of a constant feature
            parts = {name: getattr(self, name) * self.scales for name in ("values", "lower", "upper")}
        return replace(self, scales=None, **parts)
