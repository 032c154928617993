"""
Certified selection in a pipeline
=================================

``SelectFromModel`` keeps features whose coefficients exceed a threshold, and the result depends on the threshold and
on the solver's tolerance. ``CertifiedSelector`` has neither: a feature is dropped exactly if its coefficient is
proven to be zero in every solution.

It is a transformer like any other. Here it stands before a model that is not sparse at all.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from atomsieve import CertifiedLogisticRegression, CertifiedSelector

rng = np.random.default_rng(0)
X, y = load_breast_cancer(return_X_y=True)
X = np.hstack([X, rng.standard_normal((len(y), 170))])  # 170 columns of noise
selector = CertifiedSelector(CertifiedLogisticRegression(C=0.05))
pipeline = make_pipeline(StandardScaler(), selector, KNeighborsClassifier())
print(
    "with all 200 columns:",
    cross_val_score(make_pipeline(StandardScaler(), KNeighborsClassifier()), X, y).mean().round(3),
)
print("with those selected: ", cross_val_score(pipeline, X, y).mean().round(3))

# %%
# The strength is a parameter like any other, so a search finds it.
strengths = np.geomspace(0.01, 0.3, 6)
search = GridSearchCV(pipeline, {"certifiedselector__estimator__C": strengths}, cv=5).fit(X, y)
print(search.best_params_)
chosen = search.best_estimator_[1]
print(chosen.certificate_)
print(chosen.get_support()[:30].sum(), "measurements and", chosen.get_support()[30:].sum(), "columns of noise are kept")

# %%
# The same selection by thresholds: what is kept depends on how long the solver ran.
scaled = StandardScaler().fit_transform(X)
C = search.best_params_["certifiedselector__estimator__C"]
tolerances = [1e-1, 1e-2, 1e-3, 1e-4, 1e-6]
kept = []
for tol in tolerances:
    lasso = LogisticRegression(C=C, l1_ratio=1, solver="saga", tol=tol, max_iter=100_000)
    kept.append(SelectFromModel(lasso, threshold=1e-5).fit(scaled, y).get_support().sum())
fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.semilogx(tolerances, kept, "o-", color="tab:orange", label="SelectFromModel(LogisticRegression), threshold 1e-5")
ax.axhline(chosen.get_support().sum(), color="tab:blue", label="CertifiedSelector: proven")
ax.invert_xaxis()
ax.set(xlabel="tolerance of the solver", ylabel="features kept")
ax.legend(fontsize="small")
plt.show()
