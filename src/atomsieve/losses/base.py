"""A loss is pointwise and holds no data: `F(u) = sum_i w_i loss(u_i, y_i)` is made of it by the problem.

Losses see only the data side of the wire and are written against the array namespace of their input. So the same
formulas run on arrays and, for certificates, on enclosures; they are exact but for rounding.
"""

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np

from atomsieve.losses.bounds import LossBounds
from atomsieve.numerics.enclosures import Enclosure, possibly
from atomsieve.numerics.namespace import array_namespace
from atomsieve.piece import Piece
from atomsieve.typing import Samples

LEAST = float(np.finfo(np.float64).tiny)
"""The least number of full precision, in whose place no smaller one need have a logarithm."""


class Loss(Piece, ABC):
    """Convex and differentiable in the prediction u, with a derivative that is Lipschitz, at least near every u.

    Predictions are vectors of length n, or n x K matrices for losses with several outputs; `value` and
    `conjugate` return one number per sample, `gradient` has the shape of the predictions.
    """

    smoothness: float
    """Lipschitz constant M of the derivative (spectral norm of the Hessian where there are several outputs); inf where
    there is none, and then `smoothness_near` and `smoothness_towards` say what holds locally."""

    attained: bool = True
    """Whether every sample's loss has a minimiser; the logistic losses only approach theirs at infinity."""

    quadratic: bool = False
    """Whether the curvature is the same everywhere."""

    translates: bool = False
    """Whether the loss depends on `u - y` alone, so that what both share may be taken out of them."""

    targets: Literal["reals", "signs", "counts", "classes"] = "reals"
    """What y holds: real numbers, labels -1 and 1, numbers that are not negative, or classes 0, ..., K - 1."""

    inverse_link: Literal["identity", "logistic", "exp", "softmax"] | None = "identity"
    """The function that `mean` is, by its name: a saved model holds the name alone. None for any other."""

    probabilistic: bool = False
    """Whether `mean` gives probabilities of classes."""

    @property
    def entry_smoothness(self) -> float:
        """Lipschitz constant for changes of one output alone; smaller than `smoothness` for Multinomial."""
        return self.smoothness

    def smoothness_near(self, u: Samples) -> float:  # noqa: ARG002
        """Return the largest curvature at predictions u: how much the rounding of u counts in the derivative."""
        return self.smoothness

    def smoothness_towards(self, slopes: Samples, y: Samples, gap_bound: Samples) -> Samples:  # noqa: ARG002
        """Return upper bounds of the curvature between the u with the given slopes and the optimum, for each sample.

        `gap_bound` is the gap at a paired point and twice the gap otherwise, divided by the weight of the sample:
        `(u - u*)(loss'(u) - loss'(u*)) <= gap`, or else `loss(u*) - loss(u) - loss'(u) (u* - u) <= gap`.
        """
        return array_namespace(slopes).full_like(slopes, self.entry_smoothness)

    @abstractmethod
    def value(self, u: Samples, y: Samples) -> Samples:
        """Return the loss of each sample."""

    @abstractmethod
    def gradient(self, u: Samples, y: Samples) -> Samples:
        """Return the derivative in u of each sample."""

    @abstractmethod
    def curvature(self, u: Samples, y: Samples) -> Samples:
        """Return the second derivative in u of each sample (its almost-everywhere value)."""

    @abstractmethod
    def conjugate(self, t: Samples, y: Samples) -> Samples:
        """Return `sup over u of t u - loss(u, y)` of each sample, +inf outside its domain."""

    def curvature_at_slope(self, t: Samples, y: Samples) -> Samples:  # noqa: ARG002
        """Return the second derivative where the first one is t; NaN stands for any number up to `entry_smoothness`.

        Certificates know slopes better than predictions, and tell which coefficients are not zero only where this is
        given.
        """
        return array_namespace(t).full_like(t, float("nan"))

    @property
    def bounds(self) -> LossBounds:
        """The formulas above with error bounds; a loss for which they are too wide has sharper ones of its own."""
        return LossBounds(self)

    def fenchel_young(self, u: Samples, t: Samples, y: Samples) -> Samples:
        """Return `loss(u, y) + loss*(t, y) - t u` of each sample, which is never negative and 0 where t is the slope.

        A loss whose three terms may be far larger than their sum writes it in a form that does not cancel.
        """
        product = t * u if u.ndim == 1 else array_namespace(u).sum(t * u, axis=1)
        return self.value(u, y) + self.conjugate(t, y) - product

    def mean(self, u: Samples) -> Samples:
        """Return what a prediction u stands for in terms of targets: u itself, or the mean that a link makes of it.

        For labels -1 and 1 it is the probability of 1, for classes the probability of each; a loss that is not
        `probabilistic` leaves u as it is.
        """
        return u

    def outputs(self, y: Samples) -> int | None:  # noqa: ARG002
        """Return the number K of outputs per sample, None for plain vectors."""
        return None

    def check_targets(self, y: Samples) -> None:
        """Refuse targets that the loss is not defined for, in a sentence."""

    def check_intercept(self, y: Samples) -> None:
        """Refuse targets for which no best intercept exists, in a sentence."""

    def bend(self, u: Samples, y: Samples, v: Samples) -> Samples:
        """Return how fast the gradient changes in the direction v: each sample's Hessian times its row of v."""
        return self.curvature(u, y) * v

    def hessian(self, columns: Samples, u: Samples, y: Samples, weights: Samples) -> Samples:
        """Return the Hessian of `b -> F(u + columns b)`, with b flattened row by row."""
        return columns.T @ ((weights * self.curvature(u, y))[:, None] * columns)


def require_signs(owner: Loss, y: Samples) -> None:
    """Refuse labels other than -1 and 1."""
    xp = array_namespace(y)
    if bool(xp.all((y == -1) | (y == 1))):
        return
    seen = ", ".join(f"{value:g}" for value in np.unique(np.asarray(y))[:5])
    raise ValueError(
        f"{type(owner).__name__}: labels y must be -1 and 1, found {seen}. "
        "For labels 0 and 1 pass 2 * y - 1; for more classes use Multinomial."
    )


def zero_where_not(condition: Samples, values: Samples) -> Samples:
    """Return the values where the condition holds and 0 elsewhere."""
    xp = array_namespace(values)
    return xp.where(condition, values, xp.zeros_like(values))


def infinite_where_not(condition: Samples, values: Samples) -> Samples:
    """Return the values where the condition holds and +inf elsewhere.

    An enclosure may lie on both sides; the values then speak of those of its numbers for which the condition holds.
    That is right for the conjugate of a loss: slopes always lie in its domain.
    """
    xp = array_namespace(values)
    return xp.where(possibly(condition), values, xp.full_like(values, xp.inf))


def x_log_x(x: Samples) -> Samples:
    """Return `x log x` with its limit 0 at 0 (and 0 below)."""
    xp = array_namespace(x)
    if isinstance(x, Enclosure):
        return xp.x_log_x(x)
    return xp.clip(x, 0.0, None) * xp.log(xp.clip(x, LEAST, None))
