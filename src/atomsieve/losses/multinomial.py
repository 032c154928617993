"""Multinomial logistic loss: `logsumexp(U_i) - U_i[y_i]` over K classes."""

from dataclasses import dataclass

import numpy as np

from atomsieve.intake.arguments import is_whole, shown
from atomsieve.losses.base import Loss, infinite_where_not, x_log_x
from atomsieve.losses.bounds import LossBounds
from atomsieve.numerics import balls
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.numerics.namespace import array_namespace
from atomsieve.numerics.rounding import EPS
from atomsieve.typing import Array, Samples


@dataclass(frozen=True, eq=False, repr=False)
class Multinomial(Loss):
    """Multinomial loss, `loss(U_i, y_i) = logsumexp(U_i) - U_i[y_i]`, for labels 0, ..., K - 1.

    Predictions are n x K matrices and the coefficients d x K. `classes` is K; None means the largest label plus 1.

    >>> import numpy as np
    >>> float(Multinomial().value(np.zeros((1, 2)), np.array([1]))[0])
    0.6931471805599453
    """

    classes: int | None = None
    smoothness = 0.5
    attained = False
    probabilistic = True
    mean_is = "log-loss"
    targets = "classes"
    inverse_link = "softmax"

    @property
    def entry_smoothness(self) -> float:
        return 0.25

    def __post_init__(self) -> None:
        classes = self.classes
        if classes is None:
            return
        if not (is_whole(classes) and classes >= 2):
            raise ValueError(f"Multinomial: classes must be a whole number, 2 or more, or None, got {shown(classes)}.")
        object.__setattr__(self, "classes", int(classes))

    def outputs(self, y: Samples) -> int:
        if self.classes is not None:
            return self.classes
        return int(array_namespace(y).max(y)) + 1

    def value(self, u: Samples, y: Samples) -> Samples:
        # log(sum exp(v)) with v = u - u[label]; if the label has the largest u, the other terms are small beside its 1
        xp = array_namespace(u)
        label = self._labels(u, y)
        v = u - xp.sum(label * u, axis=1, keepdims=True)
        top = xp.max(v, axis=1, keepdims=True)
        far = xp.sum(xp.exp(v - top), axis=1)
        others = xp.sum(xp.exp(v - top) * (1 - label), axis=1)
        return xp.where(top[:, 0] > 0, top[:, 0] + xp.log(far), xp.log1p(others))

    def gradient(self, u: Samples, y: Samples) -> Samples:
        # q - 1 at the label, without cancellation: minus the probability of all other classes
        q, label = self._probabilities(u), self._labels(u, y)
        others = q * (1 - label)
        return others - label * array_namespace(u).sum(others, axis=1, keepdims=True)

    def curvature(self, u: Samples, y: Samples) -> Samples:
        """Return the diagonal of the K x K Hessian of each sample; `hessian` uses the full matrix."""
        q = self._probabilities(u)
        return q * (1 - q)

    def curvature_at_slope(self, t: Samples, y: Samples) -> Samples:
        """Return the diagonal of the K x K Hessian of each sample."""
        q = t + self._labels(t, y)
        return q * (1 - q)

    def conjugate(self, t: Samples, y: Samples) -> Samples:
        xp = array_namespace(t)
        q = t + self._labels(t, y)
        classes = q.shape[1]
        # a gradient sums to zero over the classes only up to rounding
        inside = xp.all(q >= 0, axis=1) & (xp.abs(xp.sum(q, axis=1) - 1) <= 8 * classes * EPS)
        return infinite_where_not(inside, xp.sum(x_log_x(q), axis=1))

    @property
    def bounds(self) -> LossBounds:
        return MultinomialBounds(self)

    def bend(self, u: Samples, y: Samples, v: Samples) -> Samples:
        xp = array_namespace(u)
        q = self._probabilities(u)
        return q * (v - xp.sum(q * v, axis=1, keepdims=True))

    def hessian(self, columns: Samples, u: Samples, y: Samples, weights: Samples) -> Samples:
        xp = array_namespace(u)
        q = self._probabilities(u)
        count, classes = columns.shape[1], q.shape[1]
        # sum_i w_i (b_i b_i') kron (diag(q_i) - q_i q_i'): the second part is a Gram matrix of products
        products = xp.reshape(columns[:, :, None] * q[:, None, :], (q.shape[0], count * classes))
        hessian = -(products.T @ (weights[:, None] * products))
        for k in range(classes):
            block = columns.T @ ((weights * q[:, k])[:, None] * columns)
            hessian[k::classes, k::classes] += block
        return hessian

    def mean(self, u: Samples) -> Samples:
        return self._probabilities(u)

    def check_targets(self, y: Samples) -> None:
        labels = np.asarray(y)
        if self.classes is None and labels.max() > 1000 + len(labels):
            raise ValueError(
                f"Multinomial: labels y go up to {labels.max():g}, far beyond the number of samples. Encode classes as "
                "0, 1, ..., K - 1 (for example with sklearn.preprocessing.LabelEncoder)."
            )
        classes = self.outputs(y)
        if classes < 2:
            raise ValueError(
                "Multinomial: labels y name a single class: no intercept and no coefficients follow from one. "
                "Give at least two classes, or pass classes=K."
            )
        whole = np.issubdtype(labels.dtype, np.integer) or bool(np.all(labels == np.floor(labels)))
        if not (whole and labels.min() >= 0 and labels.max() < classes):
            raise ValueError(
                f"Multinomial: labels y must be whole numbers from 0 to {classes - 1}, found values from "
                f"{labels.min():g} to {labels.max():g}. Encode classes as 0, 1, ..., K - 1."
            )

    def check_intercept(self, y: Samples) -> None:
        missing = np.setdiff1d(np.arange(self.outputs(y)), np.asarray(y))
        if missing.size:
            raise ValueError(
                f"Multinomial: no sample with a positive weight has class {missing[0]}, so the best intercept "
                "is infinite. Leave out the class or the intercept."
            )

    @staticmethod
    def _probabilities(u: Samples) -> Samples:
        xp = array_namespace(u)
        scaled = xp.exp(u - xp.max(u, axis=1, keepdims=True))
        return scaled / xp.sum(scaled, axis=1, keepdims=True)

    @staticmethod
    def _labels(u: Samples, y: Samples) -> Samples:
        xp = array_namespace(u)
        return xp.where(xp.arange(u.shape[1])[None, :] == y[:, None], xp.ones_like(u), xp.zeros_like(u))


class MultinomialBounds(LossBounds):
    """Bounds of the conjugate, computed entry by entry, because enclosed slopes need not sum to 0."""

    def conjugates(self, low: Array, high: Array, y: Array) -> Array:
        label = np.arange(low.shape[1])[None, :] == y[:, None]
        q = balls.clip(Enclosure.between(low, high) + label, 0.0, 1.0)
        return balls.sum(x_log_x(q), axis=1).high

    def largest_eigenvalues(self, most: Array) -> Array:
        """Return the trace, or twice the largest entry of the diagonal if that is less.

        The second is Gershgorin's theorem: the entries of row k beside the diagonal add up to -q_k (1 - q_k).
        """
        return np.asarray(np.minimum(super().largest_eigenvalues(most), 2 * np.max(most, axis=1)))

    def shares(self, low: Array, high: Array, y: Array) -> Array:
        """Return lower bounds of the probabilities, from slopes that are these less 1 at the label.

        Along a line of predictions the logarithm of a probability is concave, so it is never below both ends. With
        probabilities of at least q, the variance of any v is at least the least of `sum q (v - c)^2` over c.
        """
        label = np.arange(low.shape[1])[None, :] == y[:, None]
        return np.asarray(np.clip((Enclosure.between(low, high) + label).low, 0.0, 1.0))

    def tops(self, low: Array, high: Array, y: Array) -> Array:
        """Return upper bounds of the probabilities.

        On the straight line from p to p', which these bound, diag(1 / p) is the inverse of the Hessian for differences
        of the sum 0.
        """
        label = np.arange(low.shape[1])[None, :] == y[:, None]
        return np.asarray(np.clip((Enclosure.between(low, high) + label).high, 0.0, 1.0))
