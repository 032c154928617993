"""Coefficients with what is proven about them: what summaries and pictures of certificates show."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomsieve.typing import Array, Index, Mask

ZERO, NONZERO, IN_GROUP, UNDECIDED, UNPENALISED = "zero", "non-zero", "in a non-zero group", "undecided", "unpenalised"
"""The verdicts about a coefficient."""

AT_LOWER, AT_UPPER, FIXED = "at its lower limit", "at its upper limit", "fixed by its limits"
"""The verdicts about a coefficient that is at a limit other than 0."""

DECIDED = (NONZERO, AT_LOWER, AT_UPPER, FIXED)
"""The verdicts about single coefficients that are proven not to be zero."""


def verdict_words(
    zero: Mask,
    nonzero: Mask,
    lower: Array | None = None,
    upper: Array | None = None,
    unpenalised: Any = False,
    limits: tuple[Any, Any] = (False, False),
) -> NDArray[Any]:
    """Return a word for each coefficient from what is proven; for each group, where no bounds are given.

    A coefficient of a group that is not zero as a whole is itself non-zero only if its interval does not hold 0.
    `limits` says which are at their lower and which at their upper limit.
    """
    apart = np.True_ if lower is None or upper is None else (lower > 0) | (upper < 0)
    at_lower, at_upper = map(np.asarray, limits)
    cases = [np.asarray(unpenalised), zero, at_lower & at_upper, at_lower, at_upper, nonzero & apart, nonzero]
    words = [UNPENALISED, ZERO, FIXED, AT_LOWER, AT_UPPER, NONZERO, IN_GROUP]
    return np.select(cases, words, default=UNDECIDED)


BY_WEIGHT = "|coefficient| × standard deviation of the feature"
"""What the weight of a feature is, in words."""


NO_SCALES = (
    'per="sd" needs the standard deviations of the features, and the data of the fit are gone: fit with keep_data=True.'
)


def weights_of(values: Array | float, scales: Array | float | None) -> Array:
    """Return the weights of features, by which every table, picture and file ranks them.

    That is |coefficient| × standard deviation of the feature in the data of the fit: what the feature contributes,
    whatever its unit. Where the standard deviations are not known (the data are gone, or there is only a certificate)
    it is |coefficient|.
    """
    return np.asarray(np.abs(values) * (1.0 if scales is None else scales))


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
    """What is proven about each: "zero", "non-zero", "in a non-zero group", "undecided" or "unpenalised"; with limits
    "at its lower limit", "at its upper limit" or "fixed by its limits" as well."""

    scales: Array | None = None
    """The standard deviations of the features; None where they are not known."""

    groups: Sequence[str] | None = None
    """The name of the group of each feature; None where there are no groups."""

    output: str | None = None
    """The output or class that the coefficients belong to; None where there is just one."""

    @property
    def weights(self) -> Array:
        """How much each feature contributes: see `weights_of`."""
        return weights_of(self.values, self.scales)

    @cached_property
    def ranked(self) -> Index:
        """All features, largest weight first; equal ones in the order of the columns."""
        return np.argsort(-self.weights, kind="stable")

    @cached_property
    def shown(self) -> Index:
        """The features that are worth a row, largest weight first: in the model, or proven to belong there."""
        told = np.isin(self.verdicts, (*DECIDED, IN_GROUP, UNPENALISED)) | (self.values != 0)
        told &= self.verdicts != ZERO
        return np.asarray(self.ranked[told[self.ranked]])

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
            raise ValueError(NO_SCALES)
        with np.errstate(invalid="ignore"):  # an unknown bound of a constant feature
            parts = {name: getattr(self, name) * self.scales for name in ("values", "lower", "upper")}
        return replace(self, scales=None, **parts)
