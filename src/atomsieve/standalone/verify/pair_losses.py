"""Losses of all samples in pairs of doubles: the formulas of `losses.py` for each of them."""

import numpy as np

from .losses import Loss
from .pairs import Pairs


def slopes_of(loss: Loss, u: Pairs, y: np.ndarray) -> Pairs:
    """Return the slopes."""
    if loss.kind == "Logistic":
        return Pairs.exactly(-y) / ((u * y).exp() + 1)
    if loss.kind == "Poisson":
        return u.exp() - y
    if loss.kind == "SquaredHinge":
        return (1 - u * y).max(np.zeros(1)) * -y
    residuals = u - y
    return residuals if loss.kind == "Squared" else residuals.max(-np.full(1, loss.kink)).min(np.full(1, loss.kink))


def largest_bend(loss: Loss) -> float | None:
    """Return a bound of loss'', by which a slope moves at most for each unit of u; None if there is none."""
    return {"Poisson": None, "Logistic": 0.25}.get(loss.kind, 1.0)


def values_of(loss: Loss, u: Pairs, y: np.ndarray, slopes: Pairs) -> Pairs:
    """Return the values, from the slopes there.

    For Logistic, p is the probability of the other label, and `log(1 + exp(-m)) = -log(1 - p) = -m - log(p)` for the
    margin `m = y u`, which is not negative where p <= 1/2.
    """
    if loss.kind == "Logistic":
        p = slopes * -y
        return (u * -y).max(np.zeros(1)) - p.max(1 - p).log()
    if loss.kind == "Poisson":
        return slopes + y - u * y + _offsets(y)
    if loss.kind == "Huber":
        return slopes * (u - y - slopes * 0.5)
    return slopes * slopes * 0.5


def conjugates_of(loss: Loss, t: Pairs, y: np.ndarray) -> Pairs:
    """Return the conjugates of slopes within the domain."""
    if loss.kind == "Logistic":
        p = t * -y
        return p * p.log() + (1 - p) * (1 - p).log()
    if loss.kind == "Poisson":
        rates = t + y
        return rates * rates.log() - rates - _offsets(y)
    return t * t * 0.5 + t * y


def _offsets(y: np.ndarray) -> Pairs:
    """Return `y log(y) - y`, which is 0 for y = 0."""
    return Pairs.exactly(np.where(y > 0, y, 1.0)).log() * y - y
