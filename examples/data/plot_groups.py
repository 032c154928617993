"""
Curves that enter as a whole
============================

A feature may act along a curve rather than a line. Each feature becomes a handful of spline columns, and these
columns belong together: either the whole curve is in the model or none of it. That is the group Lasso, and its
verdicts are about groups.

The data are scikit-learn's diabetes study: 442 patients, ten measurements, the progress of the disease after a year.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import SplineTransformer

from atomsieve import GaugeRegressorCV, Group

data = load_diabetes(as_frame=True, scaled=False)
measured = data.data.drop(columns="sex")
splines = SplineTransformer(n_knots=5, degree=3, include_bias=False, knots="quantile")
X = splines.fit_transform(measured)
X = (X - X.mean(axis=0)) / X.std(axis=0)
curve_of = np.array([name.split("_sp_")[0] for name in splines.get_feature_names_out()])
y = data.target.to_numpy(dtype=float)
print(X.shape[1], "columns in", len(set(curve_of)), "curves")

# %%
# One label per column says which group it belongs to. The strength comes from cross-validation.
model = GaugeRegressorCV(gauge=Group(curve_of), strengths=50, cv=10, selection="1se").fit(X, y)
certificate = model.certificate_
print(certificate)
for label, zero, nonzero in zip(sorted(set(curve_of)), certificate.zero, certificate.nonzero, strict=True):
    print(f"{label:4s}", "zero" if zero else "non-zero" if nonzero else "undecided")

# %%
# What each curve adds to the prediction. Curves that are proven zero are flat: the whole group has left.
fig, axes = plt.subplots(3, 3, figsize=(9, 7), layout="constrained", sharey=True)
for ax, label in zip(axes.ravel(), measured.columns, strict=True):
    columns = np.flatnonzero(curve_of == label)
    order = np.argsort(measured[label].to_numpy())
    alive = not certificate.zero[sorted(set(curve_of)).index(label)]
    effect = X[:, columns] @ model.coef_[columns]
    ax.plot(measured[label].to_numpy()[order], effect[order], color="tab:blue" if alive else "0.6")
    ax.set_title(label if alive else f"{label}: proven zero", color="black" if alive else "0.5", fontsize="medium")
fig.supylabel("part of the prediction")
plt.show()
