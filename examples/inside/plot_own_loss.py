"""
A loss of your own
==================

Least squares estimates means. *Expectiles* are means with a tilt: deviations above count ``tau``, those below ``1 -
tau``. The loss is not in the package, and need not be. It is written in one class, its laws are checked, and then it
is solved, cross-validated and certified like any other.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

from atomsieve import CriticalFraction, GaugeRegressor
from atomsieve.losses.base import Loss
from atomsieve.numerics.namespace import array_namespace
from atomsieve.testing import check_loss


@dataclass(frozen=True, eq=False, repr=False)
class Expectile(Loss):
    """Asymmetric squares, `loss(u, y) = w (y - u)^2` with `w = tau` where y > u and `1 - tau` elsewhere."""

    tau: float = 0.5
    translates = True

    @property
    def smoothness(self):
        return 2 * array_namespace(self.tau).maximum(self.tau, 1 - self.tau)

    def weight(self, above):
        xp = array_namespace(above)
        return xp.where(above > 0, xp.full_like(above, self.tau), xp.full_like(above, 1 - self.tau))

    def value(self, u, y):
        return self.weight(y - u) * (y - u) ** 2

    def gradient(self, u, y):
        return 2 * self.weight(y - u) * (u - y)

    def curvature(self, u, y):
        return 2 * self.weight(y - u)

    def curvature_at_slope(self, t, y):
        return 2 * self.weight(-t)

    def conjugate(self, t, y):
        return t * y + t * t / (4 * self.weight(-t))


# %%
# The laws that safety rests on: convexity, the conjugate, the smoothness constant. Silence means that they hold.
check_loss(Expectile(0.9))

# %%
# Data whose spread depends on another feature than their mean: feature 0 moves the mean, feature 1 the spread.
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(500, 30))
y = 2 * X[:, 0] + (1 + 0.9 * X[:, 1]) * rng.standard_normal(500)

models = {}
for tau in (0.1, 0.5, 0.9):
    models[tau] = GaugeRegressor(loss=Expectile(tau), penalty=CriticalFraction(0.2)).fit(X, y)
    certificate = models[tau].certificate_
    print(f"tau {tau}: {certificate.zero.sum()} proven zero, proven non-zero: {np.flatnonzero(certificate.nonzero)}")

# %%
# The mean needs feature 0 alone; low and high expectiles need the feature that moves the spread as well, in opposite
# directions.
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
residuals = np.linspace(-2, 2, 201)
for k, (tau, color) in enumerate(zip(models, ("tab:orange", "0.4", "tab:blue"), strict=True)):
    left.plot(residuals, Expectile(tau).value(np.zeros_like(residuals), residuals), color=color, label=f"tau = {tau}")
    right.bar(np.arange(8) + 0.25 * (k - 1), models[tau].coef_[:8], 0.22, color=color, label=f"tau = {tau}")
left.set(xlabel="y - u", ylabel="loss")
left.legend()
right.set(xlabel="feature", ylabel="coefficient", title="the first eight coefficients; the other 22 are zero")
right.axhline(0, color="0.7", linewidth=0.8, zorder=0)
right.legend()
plt.show()
