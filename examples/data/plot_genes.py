"""
Genes: five thousand features, a few samples
============================================

Gene expression has few samples and very many features. The Lasso picks some of them, and a solver's list of non-zeros
depends on its tolerance. Here the list is proven: every gene is either zero in every solution, or not zero in the
solution.

The data are generated: 120 samples of 5000 genes that come in correlated families of 25, and a trait that depends on
ten genes.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomsieve import CertifiedLassoCV

rng = np.random.default_rng(0)
samples, families, members = 120, 200, 25
shared = rng.standard_normal((samples, families, 1))
own = rng.standard_normal((samples, families, members))
X = (0.7 * shared + 0.7 * own).reshape(samples, -1)
causes = rng.choice(X.shape[1], 10, replace=False)
y = X[:, causes] @ rng.choice([-1.0, 1.0], 10) + 0.5 * rng.standard_normal(samples)

# %%
# One fit chooses the strength by cross-validation. ``selection="1se"`` takes the strongest penalty whose score is
# within one standard error of the best.
model = CertifiedLassoCV(cv=5, selection="1se").fit(X, y)
certificate = model.certificate_
print(certificate)
print("checked by the independent program:", model.verify(X, y))

# %%
# What is proven is what the *optimum* of this problem is. Whether its genes are the right ones is another question;
# here the truth is known, so it can be asked.
found = np.flatnonzero(certificate.nonzero)
print(f"{len(found)} genes proven non-zero, among them {len(set(found) & set(causes))} of the 10 causes")

# %%
# Left: the curve of cross-validation. Right: all 5000 genes, each in the middle of the interval that is proven for
# its coefficients.
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
model.plot(left)
right.scatter(
    np.flatnonzero(certificate.zero), np.zeros(certificate.zero.sum()), s=4, color="0.75", label="proven zero"
)
middle = (certificate.lower[found] + certificate.upper[found]) / 2
right.vlines(found, 0, middle, color="tab:blue", linewidth=1)
right.scatter(found, middle, s=22, color="tab:blue", label="proven non-zero", zorder=3)
right.scatter(causes, np.zeros(10), s=60, facecolors="none", edgecolors="tab:red", label="a cause, in truth", zorder=4)
right.set(xlabel="gene", ylabel="coefficient", title="Every gene decided")
right.legend(fontsize="small")
plt.show()
