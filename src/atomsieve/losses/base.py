"""A loss is pointwise and holds no data; the problem forms `F(u) = sum_i w_i loss(u_i, y_i)` from it.

A loss works on the data side of the wire, and uses the array namespace of its input. So the same formulas run on arrays
and, for certificates, on enclosures. The formulas are exact except for rounding.
"""

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np

from atomsieve.losses.bounds import LossBounds
from atomsieve.numerics.enclosures import Enclosure, possibly
from atomsieve.numerics.namespace import array_namespace
from atomsieve.piece import Piece
from atomsieve.typing import Samples

LEAST_NORMAL = float(np.finfo(np.float64).tiny)
"""The smallest positive number of full precision; it replaces smaller numbers in a logarithm."""


class Loss(Piece, ABC):
    """A function that is convex and differentiable in the prediction u; the derivative is at least locally Lipschitz.

    Predictions are vectors of length n, or n x K matrices for losses with several outputs. `value` and `conjugate`
    return one number per sample. `gradient` has the shape of the predictions.
    """

    smoothness: float
    """Lipschitz constant M of the derivative (for several outputs: a bound of the spectral norm of the Hessian).

    It is inf if there is none; then `smoothness_near` and `smoothness_towards` give local constants."""

    attained: bool = True
    """Whether the loss of every sample has a minimiser; the logistic losses reach their infimum only at infinity."""

    quadratic: bool = False
    """Whether the curvature is constant."""

    translates: bool = False
    """Whether the loss depends only on `u - y`; then the same number may be subtracted from u and y."""

    targets: Literal["reals", "signs", "counts", "classes"] = "reals"
    """What y holds: real numbers, labels -1 and 1, non-negative numbers, or classes 0, ..., K - 1."""

    inverse_link: Literal["identity", "logistic", "exp", "softmax"] | None = "identity"
    """The name of the function `mean`; a saved model stores only this name. None for any other function."""

    mean_is: str = ""
    """What the mean of the loss is called elsewhere, or how it differs from that; empty if it has no other name."""

    probabilistic: bool = False
    """Whether `mean` gives probabilities of classes."""

    @property
    def stated_loss(self) -> "Loss":
        """The loss as a problem states it: this one, unless a ridge was joined to it (`Ridged`)."""
        return self

    @property
    def entry_smoothness(self) -> float:
        """Lipschitz constant when only one output changes; it is smaller than `smoothness` for Multinomial."""
        return self.smoothness

    def smoothness_near(self, u: Samples) -> float:
        """Return the largest curvature at predictions u; it multiplies the rounding of u in the derivative."""
        return self.smoothness

    def smoothness_towards(self, slopes: Samples, y: Samples, gap_bound: Samples) -> Samples:
        """Return for each sample an upper bound of the curvature between the u with the given slope and the optimum.

        `gap_bound` is the gap at a paired point and twice the gap otherwise, divided by the weight of the sample. At a
        paired point `(u - u*)(loss'(u) - loss'(u*)) <= gap`; otherwise
        `loss(u*) - loss(u) - loss'(u) (u* - u) <= gap`.
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
        """Return the second derivative in u of each sample; it need exist only almost everywhere."""

    @abstractmethod
    def conjugate(self, t: Samples, y: Samples) -> Samples:
        """Return `sup over u of t u - loss(u, y)` for each sample; +inf outside the domain of the conjugate."""

    def curvature_at_slope(self, t: Samples, y: Samples) -> Samples:
        """Return the second derivative where the first derivative is t; NaN means unknown, up to `entry_smoothness`.

        Certificates know slopes more accurately than predictions. They can prove that coefficients are non-zero only if
        the loss defines this function.
        """
        return array_namespace(t).full_like(t, float("nan"))

    @property
    def bounds(self) -> LossBounds:
        """The formulas above with error bounds; a loss may override them with sharper bounds."""
        return LossBounds(self)

    def fenchel_young(self, u: Samples, t: Samples, y: Samples) -> Samples:
        """Return `loss(u, y) + loss*(t, y) - t u` of each sample; it is never negative, and 0 if t is the slope at u.

        If the three terms may be much larger than their sum, a loss should override this with a form without
        cancellation.
        """
        product = t * u if u.ndim == 1 else array_namespace(u).sum(t * u, axis=1)
        return self.value(u, y) + self.conjugate(t, y) - product

    def mean(self, u: Samples) -> Samples:
        """Return the mean of the target for a prediction u: u itself, or the inverse link function of u.

        If the loss is `probabilistic`, this is the probability of the label 1, or of each class. A loss without a link
        function returns u.
        """
        return u

    def outputs(self, y: Samples) -> int | None:
        """Return the number K of outputs per sample, None if predictions are a vector."""
        return None

    def check_targets(self, y: Samples) -> None:
        """Refuse targets for which the loss is not defined, with a clear message."""

    def check_intercept(self, y: Samples) -> None:
        """Refuse targets for which no best intercept exists, with a clear message."""

    def bend(self, u: Samples, y: Samples, v: Samples) -> Samples:
        """Return the derivative of the gradient in the direction v: for each sample its Hessian times its row of v."""
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
    """Return the values where the condition holds, and 0 elsewhere."""
    xp = array_namespace(values)
    return xp.where(condition, values, xp.zeros_like(values))


def infinite_where_not(condition: Samples, values: Samples) -> Samples:
    """Return the values where the condition holds, and +inf elsewhere.

    The condition may hold for only some of the numbers in an enclosure; the value is then valid for these numbers. This
    is correct for the conjugate of a loss, because slopes always lie in its domain.
    """
    xp = array_namespace(values)
    return xp.where(possibly(condition), values, xp.full_like(values, xp.inf))


def x_log_x(x: Samples) -> Samples:
    """Return `x log x` with its limit 0 at 0 (and 0 below)."""
    xp = array_namespace(x)
    if isinstance(x, Enclosure):
        return xp.x_log_x(x)
    return xp.clip(x, 0.0, None) * xp.log(xp.clip(x, LEAST_NORMAL, None))
