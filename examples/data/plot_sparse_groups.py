"""
Few groups, and few features within them
========================================

Genes come in pathways. In a disease few pathways matter, and in each of these only some genes do. The Lasso knows
genes alone and scatters them over many pathways; the group Lasso knows pathways alone and takes all of their genes.
The sparse group norm knows both.

The data are drawn: 120 patients, 30 pathways of eight genes, three of which matter, with three genes each.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

from atomsieve import L1, GaugeRegressorCV, Group, SparseGroup

rng = np.random.default_rng(4)
pathways, genes = 30, 8
pathway = np.repeat(np.arange(pathways), genes)
common = rng.normal(size=(120, pathways))  # genes of a pathway rise and fall together
X = 0.6 * common[:, pathway] + 0.8 * rng.normal(size=(120, pathways * genes))
truth = np.zeros((pathways, genes))
truth[[4, 13, 22], :3] = [[1.0, -1.0, 1.0], [1.0, 1.0, -1.0], [-1.0, 1.0, 1.0]]
y = X @ truth.ravel() + 1.5 * rng.normal(size=120)

# %%
# The same cross-validation for all three; only the gauge differs.
gauges = {"Lasso": L1(), "sparse group": SparseGroup(pathway, 0.5), "group Lasso": Group(pathway)}
models = {
    name: GaugeRegressorCV(gauge=gauge, strengths=40, cv=5, random_state=0).fit(X, y) for name, gauge in gauges.items()
}

# %%
# A row is a gene of its pathway, a column a pathway. All three find the genes that matter. The Lasso adds the fewest
# other genes, and they lie scattered; the group Lasso takes every gene of its pathways. The sparse group norm lies in
# between, and has the fewest pathways: it answers the question which pathways matter, not which genes alone.
shown = {"truth": truth} | {name: model.coef_.reshape(pathways, genes) for name, model in models.items()}
fig, axes = plt.subplots(4, 1, figsize=(8, 7), layout="constrained", sharex=True)
for ax, (name, coef) in zip(axes, shown.items(), strict=True):
    right = (coef != 0) & (truth != 0)
    kind = np.where(right, 2, np.where(coef != 0, 1, 0)).T
    ax.imshow(kind, cmap=ListedColormap(["0.93", "tab:orange", "tab:blue"]), vmin=0, vmax=2, aspect="auto")
    used = np.count_nonzero((coef != 0).any(axis=1))
    wrong = np.count_nonzero((coef != 0) & ~right)
    told = f"{right.sum()} of 9 genes found, {wrong} others, in {used} pathways"
    ax.set_title("truth: 9 genes in 3 pathways" if name == "truth" else f"{name}: {told}", loc="left", fontsize=10)
    ax.set_yticks([])
    ax.set_ylabel("genes")
axes[-1].set_xlabel("pathways (blue: genes that matter, orange: genes that do not)")
plt.show()

# %%
# The model with its proof: which pathways are zero, and which genes within the others.
model = models["sparse group"]
print(model.certificate_)
print(model.group_report().head())
