"""
Interactions that bring their features along
============================================

A product of two features is hard to read without the two features themselves. So let each product come in a group with
both of its features, and let each feature also have a group of its own. These groups overlap, and the features that are
used form a union of groups: a product never comes alone. That is the latent group Lasso.

The data are scikit-learn's diabetes study: 442 patients, ten measurements, the progress of the disease after a year.
"""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from atomsieve import GaugeRegressor, LatentGroup, Linear

data = load_diabetes(as_frame=True)
names = list(data.data.columns)
single = (data.data - data.data.mean()) / data.data.std()
products = {f"{a} x {b}": single[a] * single[b] for a, b in combinations(names, 2)}
X = pd.concat([single, pd.DataFrame(products)], axis=1)
X = (X - X.mean()) / X.std()
groups = {name: [name] for name in names} | {f"{a} x {b}": [a, b, f"{a} x {b}"] for a, b in combinations(names, 2)}
print(X.shape[1], "columns in", len(groups), "groups that overlap")

# %%
# Groups are given by the names of their columns. No column is copied, although most of them are in ten groups.
gauge = LatentGroup(groups)
model = GaugeRegressor(gauge=gauge, penalty=Linear(2.5), tol=1e-10).fit(X, data.target)
report = model.support_report().set_index("feature")
print(report[report.verdict != "zero"][["coefficient", "lower", "upper", "verdict"]])

# %%
# The certificate is about groups. A coefficient is zero if all of its groups are, and this is proven for every product
# that is missing. Where two groups share a feature, the data do not tell their parts of it apart; they do tell their
# sum, which is the coefficient.
print(model.group_report().query("verdict != 'zero'"))

# %%
# Features on the diagonal, products beside it. Grey is proven zero. Every product that is used comes with its features.
grid, proven = np.full((10, 10), np.nan), np.zeros((10, 10), dtype=bool)
for i, a in enumerate(names):
    for j, b in enumerate(names[: i + 1]):
        row = report.loc[a if i == j else f"{b} x {a}"]
        grid[i, j], proven[i, j] = row.coefficient, row.verdict == "zero"

fig, ax = plt.subplots(figsize=(6.5, 5.5), layout="constrained")
largest = np.nanmax(np.abs(grid))
shown = ax.imshow(np.where(proven, np.nan, grid), cmap="RdBu_r", vmin=-largest, vmax=largest)
ax.imshow(np.where(proven, 0.0, np.nan), cmap="Greys", vmin=-1, vmax=6)
ax.set_xticks(range(10), names)
ax.set_yticks(range(10), names)
ax.set_title("Coefficients of features (diagonal) and products; grey: proven zero", fontsize="medium")
fig.colorbar(shown, label="coefficient", shrink=0.8)
plt.show()
