"""
Counts with an exposure
=======================

A clinic with twice the patients sees twice the falls. Counts are compared per unit of *exposure*: time, area, or
people. The logarithm of the exposure is an ``offset`` of the Poisson model: it is added to the linear predictions and
has no coefficient.

The data are generated: 300 wards, 40 things known about each, and falls whose rate depends on three of them.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomsieve import GaugeRegressorCV, Poisson

rng = np.random.default_rng(1)
X = rng.standard_normal((300, 40))
bed_days = rng.lognormal(6.0, 1.0, size=300)
rate = 0.004 * np.exp(0.5 * X[:, 0] - 0.4 * X[:, 1] + 0.3 * X[:, 2])
falls = rng.poisson(bed_days * rate)

# %%
# The offset goes to ``fit``, and cross-validation gives each fold its part of it.
model = GaugeRegressorCV(loss=Poisson(), strengths=50, cv=5, selection="1se").fit(X, falls, offset=np.log(bed_days))
print(model.certificate_)
print(model.verify(X, falls, offset=np.log(bed_days)))

# %%
# Without the offset the size of a ward passes for a cause. The same model then keeps what happens to go with size,
# and predicts worse.
blind = GaugeRegressorCV(loss=Poisson(), strengths=50, cv=5, selection="1se").fit(X, falls)
print("features with the offset:", np.flatnonzero(model.coef_))
print("features without it:     ", np.flatnonzero(blind.coef_))

# %%
# Predictions without an offset are rates, those with it are counts.
expected = model.predict(X, offset=np.log(bed_days))
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.loglog(expected + 0.5, falls + 0.5, ".", alpha=0.6)
left.axline((1, 1), (10, 10), color="0.5", linewidth=1)
left.set(xlabel="expected falls + 1/2", ylabel="falls seen + 1/2", title="Counts: with the offset")
right.loglog(1000 * rate, 1000 * model.predict(X), ".", alpha=0.6)
right.axline((1, 1), (10, 10), color="0.5", linewidth=1)
right.set(xlabel="true falls per 1000 bed days", ylabel="predicted", title="Rates: without it")
plt.show()
