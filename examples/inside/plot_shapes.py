"""
One path, many penalties
========================

``Linear(a)`` is the Lasso's penalty, ``Ball(C)`` a budget, ``Square(a)`` the square of the norm. All of them have
their solutions on *one* path: if x solves the Lasso, it solves the ball of its own size, and a square of some
strength. What differs is what stays fixed when the data change.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from atomsieve import Ball, Linear, Problem, Square, path

X, y = load_diabetes(return_X_y=True)
X = X / X.std(axis=0)
problem = Problem(X, y, intercept=True)
found = path(problem)

# %%
# Three penalties that meet the path at the same point.
lasso = found.at(Linear(5.0), tol=1e-12)
size = np.abs(lasso.x).sum()
for penalty in (Linear(5.0), Ball(size), Square(5.0 / size)):
    print(f"{penalty!s:24s}", found.at(penalty, tol=1e-12).x.round(3))

# %%
# Now the data change: y in other units, ten times larger. The same ``Linear`` is now ten times weaker, relative to
# the data, and the same ``Ball`` ten times tighter. The same ``Square`` has the same solution, ten times larger: its
# strength has no unit of y.
print(f"{'':16s}{'as it was':>12s}{'y times 10':>12s}")
larger = path(Problem(X, 10 * y, intercept=True))
counts = {}
for penalty in (Linear(5.0), Ball(size), Square(5.0 / size)):
    counts[type(penalty).__name__] = [int((which.at(penalty, tol=1e-12).x != 0).sum()) for which in (found, larger)]
    print(f"{type(penalty).__name__:16s}" + "".join(f"{count:12d}" for count in counts[type(penalty).__name__]))

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(found.sizes, found.coefs, linewidth=1)
left.axvline(size, color="0.4", linestyle="--", linewidth=1)
left.set(xlabel="size of x: the sum of absolute coefficients", ylabel="coefficient", title="one path for all of them")
place = np.arange(3)
right.bar(place - 0.2, [counts[name][0] for name in counts], 0.4, color="tab:blue", label="y")
right.bar(place + 0.2, [counts[name][1] for name in counts], 0.4, color="tab:orange", label="10 y")
right.set_xticks(place, counts)
right.set(ylabel="features in the model", title="the same strength, y in another unit")
right.legend()
plt.show()
