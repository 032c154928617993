"""
Coefficients within limits
==========================

A price must not rise with demand, a dose must not count for more than the literature allows: coefficients have limits
before any data are seen. ``limits=`` states them, by name, and the certificate proves which coefficients the data press
against a limit. Such a verdict is a warning: the data ask for more than the limit allows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from atomsieve import CertifiedLasso, Linear, Problem, path

X, y = load_diabetes(return_X_y=True, as_frame=True)
X = X / X.std()

# %%
# Blood pressure (bp) must not count for more than 10, body mass (bmi) for more than 20, and no serum value for less
# than -5.
limits = {"bp": (None, 10), "bmi": (None, 20)} | {f"s{k}": (-5, None) for k in range(1, 7)}
model = CertifiedLasso(alpha=0.5, limits=limits).fit(X, y)
print(model.summary())

# %%
# Along the path coefficients meet their limits one after the other, and the others take over what they can.
problem = Problem(X, y, limits=limits, intercept=True, penalty=Linear(0.5))
free, held = path(Problem(X, y, intercept=True), n=60, ratio=0.005), path(problem, n=60, ratio=0.005)

fig, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained", sharey=True)
for axis, found, title in zip(axes, (free, held), ("without limits", "within limits"), strict=True):
    for j, name in enumerate(X.columns):
        (line,) = axis.plot(np.log10(found.slopes), found.coefs[:, j], linewidth=1.5)
        axis.annotate(name, (np.log10(found.slopes[-1]), found.coefs[-1, j]), color=line.get_color(), fontsize="small")
    axis.invert_xaxis()
    axis.set(title=title, xlabel="log10 of the strength")
for side in (-5, 10, 20):
    axes[1].axhline(side, color="0.6", linewidth=0.8, linestyle="--")
axes[0].set_ylabel("coefficient per standard deviation")
plt.show()
