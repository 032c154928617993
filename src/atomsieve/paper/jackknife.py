"""Standard errors of anything that is computed from resamples, or from pairs of them: leave one out, look again.

A mean over pairs of resamples has far fewer independent parts than pairs. Leaving out a resample drops its row and its
column, so that the jackknife counts resamples, not pairs (it is exact for means, consistent for standard deviations and
means over pairs). The errors are those of the simulation on the data at hand, not of another draw of the data.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from atomsieve.typing import Array

Statistic = Callable[[Array], float]


class Estimate(NamedTuple):
    """A number and its standard error."""

    value: float
    error: float


def jackknife(statistic: Statistic, values: Array) -> tuple[float, Array]:
    """Return a statistic of values, one per resample or per pair of resamples, and that without each resample.

    >>> jackknife(np.mean, np.array([1.0, 2.0, 6.0]))
    (3.0, array([4. , 3.5, 1.5]))
    """
    n = len(values)
    rest = [np.delete(np.arange(n), i) for i in range(n)]
    return float(statistic(values)), np.array([statistic(values[np.ix_(*[kept] * values.ndim)]) for kept in rest])


def estimate(value: float, without: Array) -> Estimate:
    """Return a statistic with its error, from what it is without each resample.

    >>> estimate(*jackknife(np.mean, np.array([1.0, 2.0, 6.0])))
    Estimate(value=3.0, error=1.5275252316519465)
    """
    n = len(without)
    return Estimate(float(value), float(np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2))))


def spread(values: Array) -> float:
    """Return the standard deviation, over the donors on each target where there are pairs."""
    return float(np.std(values, axis=-1, ddof=1).mean())


def off_diagonal(values: Array) -> float:
    """Return the mean over pairs of two different resamples, without those that are missing."""
    return float(np.nanmean(values[~np.eye(len(values), dtype=bool)]))


def relative(values: Array) -> float:
    """Return the mean over pairs in percent of the mean over the diagonal."""
    return 100 * off_diagonal(values) / float(np.mean(np.diag(values)))
