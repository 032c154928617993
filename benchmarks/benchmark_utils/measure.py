"""The quality of coefficients w, from w alone: the duality gap relative to the objective at w = 0.

    P(w) = F(X w) + lam * kappa(w)      D(theta) = -F*(theta)  where  sigma(X' theta) <= lam

with F the mean of the losses, kappa the l1 norm or the sum of `sqrt(size) norm2(w_g)` over groups of equal size, and
sigma its polar. theta is the gradient of F at X w, scaled down until it is feasible. These formulas are written out
here and share nothing with any solver.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy


def squared(u: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the mean of (u - y)^2 / 2 and its gradient."""
    return float(np.sum((u - y) ** 2)) / (2 * len(y)), (u - y) / len(y)


def squared_conjugate(theta: np.ndarray, y: np.ndarray) -> float:
    """Return F*(theta) for the squared loss."""
    return float(np.sum(len(y) * theta**2 / 2 + theta * y))


def logistic(u: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the mean of log(1 + exp(-y u)) and its gradient, for labels -1 and 1."""
    return float(np.logaddexp(0, -y * u).mean()), -y * np.exp(-np.logaddexp(0, y * u)) / len(y)


def logistic_conjugate(theta: np.ndarray, y: np.ndarray) -> float:
    """Return F*(theta) for the logistic loss."""
    p = -len(y) * y * theta
    return float(np.mean(xlogy(p, p) + xlogy(1 - p, 1 - p)))


LOSSES = {"squared": (squared, squared_conjugate), "logistic": (logistic, logistic_conjugate)}


@dataclass(frozen=True)
class Measure:
    """A problem without its strength: data, loss and the size of the groups (1: the l1 norm)."""

    X: Any
    y: np.ndarray
    loss: str
    group_size: int = 1

    def _norms(self, w: np.ndarray) -> np.ndarray:
        return np.linalg.norm(w.reshape(-1, self.group_size), axis=1)

    def kappa(self, w: np.ndarray) -> float:
        """Return the sum over the groups of `sqrt(size) norm2(w_g)`."""
        return float(np.sqrt(self.group_size) * self._norms(w).sum())

    def sigma(self, z: np.ndarray) -> float:
        """Return the polar of kappa, the largest `norm2(z_g) / sqrt(size)`."""
        return float(self._norms(z).max() / np.sqrt(self.group_size))

    @property
    def lam_max(self) -> float:
        """Return the least strength at which w = 0 is optimal."""
        value_and_gradient, _ = LOSSES[self.loss]
        return self.sigma(self.X.T @ value_and_gradient(np.zeros(len(self.y)), self.y)[1])

    @property
    def baseline(self) -> float:
        """Return the objective at w = 0."""
        return LOSSES[self.loss][0](np.zeros(len(self.y)), self.y)[0]

    def objective(self, w: np.ndarray, lam: float) -> float:
        """Return the primal objective."""
        return LOSSES[self.loss][0](self.X @ w, self.y)[0] + lam * self.kappa(w)

    def relative_gap(self, w: np.ndarray, lam: float) -> float:
        """Return `(P(w) - D(theta)) / P(0)`; infinite where w is not finite."""
        if not np.isfinite(w).all():
            return np.inf
        value_and_gradient, conjugate = LOSSES[self.loss]
        value, theta = value_and_gradient(self.X @ w, self.y)
        score = self.sigma(self.X.T @ theta)
        scale = min(1.0, lam / score) if score > 0 else 1.0
        return (value + lam * self.kappa(w) + conjugate(scale * theta, self.y)) / self.baseline
