"""
Two kinds of doubt
==================

A certificate removes doubt about the *computation*: this is the solution for these data. Doubt about the *data*
remains: other patients, another solution. ``StabilitySelector`` measures it by refitting on random halves of the
samples, and its report sets both side by side.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from atomsieve import CertifiedLasso, CriticalFraction, StabilitySelector

X, y = load_diabetes(return_X_y=True, as_frame=True)
rng = np.random.default_rng(0)
for j in range(10):
    X[f"noise {j}"] = 0.05 * rng.standard_normal(len(y))
model = CertifiedLasso(CriticalFraction(0.05))
selector = StabilitySelector(model, n_subsamples=50, random_state=0).fit(X, y)
report = selector.support_report()
print(report.to_string(index=False))

# %%
# Blue bars are in this model, by proof. Long bars are in nearly every model that half of the samples lead to. Some
# columns of noise are blue, and short: they are *proven non-zero* here, and other samples would drop them. A proof
# about the optimum is no proof that a feature matters.
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
selector.plot(left)
colors = {"zero": "0.6", "non-zero": "tab:blue", "undecided": "tab:orange"}
ranked = report.sort_values("probability")
right.barh(ranked["feature"], ranked["probability"], color=[colors[verdict] for verdict in ranked["verdict"]])
right.axvline(selector.threshold, color="0.3", linewidth=1, linestyle="--")
right.set(xlabel="probability of selection", title="blue: proven non-zero, grey: proven zero")
right.tick_params(axis="y", labelsize=7)
plt.show()
