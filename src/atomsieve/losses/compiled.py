"""The losses that the compiled core knows, with the samples as it reads them: one call in place of many small ones."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from atomsieve import core
from atomsieve.losses.base import Loss
from atomsieve.losses.huber import Huber
from atomsieve.losses.logistic import Logistic
from atomsieve.losses.poisson import Poisson
from atomsieve.losses.squared import Squared
from atomsieve.losses.squared_hinge import SquaredHinge
from atomsieve.numerics.rounding import noise_level
from atomsieve.typing import Array, Samples

NUMBERS: dict[type[Loss], int] = {Squared: 0, Logistic: 1, Huber: 2, SquaredHinge: 3, Poisson: 4}
"""The numbers of the losses in the core."""

KINKED = {Huber, SquaredHinge}
"""Losses without any curvature in some places."""

HOSTED = {np.ndarray, type(None)}
"""What the core can read, or need not."""


class Seen(NamedTuple):
    """The best coordinates in the basis of the unpenalised columns, predictions, slopes and theta there."""

    coordinates: Array
    u: Array
    slopes: Array
    theta: Array
    stray: float
    settled: bool
    """Whether the gradient along the unpenalised columns is within rounding."""


@dataclass(frozen=True, eq=False)
class CompiledLoss:
    """A loss by its number and parameter, with targets, weights, offset and basis."""

    number: tuple[int, float]
    samples: tuple[Array, Array, Array | None, Array]

    @classmethod
    def of(cls, loss: Loss, y: Samples, weights: Samples, offset: Samples | None, basis: Samples | None) -> Self | None:
        """Return the loss for the core; None if it does not know the loss, or if the data are not on the host."""
        hosted = set(map(type, (y, weights, offset, basis))) <= HOSTED
        if type(loss) not in NUMBERS or not hosted or y.ndim != 1:
            return None
        basis = np.zeros(0) if basis is None else basis.T.ravel()
        y, weights, basis = [np.ascontiguousarray(part, dtype=np.float64) for part in (y, weights, basis)]
        offset = None if offset is None else np.ascontiguousarray(offset, dtype=np.float64)
        number = number_of(loss)
        assert number is not None  # noqa: S101
        return cls(number, (y, weights, offset, basis))

    def view(self, image: Array, coordinates: Array) -> Seen:
        """Return what the samples show where the rest of the predictions is the image."""
        n = len(self.samples[0])
        found = np.array(coordinates, dtype=np.float64)
        u, slopes, theta = np.empty((3, n))
        stray, size, noise = core.view(self.number, self.samples, image, found, u, slopes, theta)
        return Seen(found, u, slopes, theta, stray, size <= noise_level(n) * noise)

    def measure(self, u: Array, slopes: Array, scale: float) -> tuple[float, float, float, float]:
        """Return the loss, `F(u) + F*(scale theta) - scale u . theta`, and the norms of u and of the slopes."""
        return core.measure(self.number, self.samples[0], self.samples[1], u, slopes, scale)


def number_of(loss: Loss) -> tuple[int, float] | None:
    """Return how the core calls a loss, if it knows it."""
    return (NUMBERS[type(loss)], loss.delta if type(loss) is Huber else 0.0) if type(loss) in NUMBERS else None


def slopes_and_bends(loss: Loss, u: Array, y: Array, weights: Array) -> tuple[Array, Array]:
    """Return the slopes of the losses at predictions on the host, and the curvatures there times the weights."""
    number = number_of(loss)
    if number is None:
        return loss.gradient(u, y), weights * loss.curvature(u, y)
    slopes, bends = np.empty_like(u), np.empty_like(u)
    core.sight(number, y, weights, u, slopes, bends)
    return slopes, bends


def measured(
    loss: Loss, u: Array, slopes: Array, y: Array, weights: Array, scale: float
) -> tuple[float, float, float, float]:
    """Return what `CompiledLoss.measure` does, with the squares of the norms, for some samples on the host."""
    number = number_of(loss)
    if number is not None:
        value, apart, size, steep = core.measure(number, y, weights, u, slopes, scale)
        return value, apart, size * size, steep * steep
    apart = float(weights @ loss.fenchel_young(u, scale * slopes, y)) if scale < 1 else 0.0
    value, size, steep = (float(weights @ part) for part in (loss.value(u, y), u * u, slopes * slopes))
    return value, apart, size, steep


def caution(loss: Loss) -> float:
    """Return how cautious the first step should be: with kinks, there may be no curvature at all where it begins."""
    return float(type(loss) in KINKED)
