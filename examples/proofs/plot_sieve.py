"""
How a proof comes about
=======================

A solver's iterate is never the solution. But its *duality gap* says how far it can be away, and from that follows
what the solution cannot be. Watch the verdicts as the gap falls: first nothing is known, then most features are
proven zero, and in the end every one is decided.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomsieve import Pairwise, Problem, Square, solve

rng = np.random.default_rng(0)
X = rng.standard_normal((100, 400))
y = X[:, :8] @ np.array([3.0, -2.0, 2.0, 1.5, -1.5, 1.0, -1.0, 0.5]) + rng.standard_normal(100)
problem = Problem(X, y, penalty=Square(0.05), intercept=True)

# %%
# The same problem, solved to ever smaller gaps. Each certificate is a theorem about the exact solution; a coarse run
# decides less and never decides wrongly.
tolerances = np.geomspace(1.0, 1e-8, 40)
certificates = [solve(problem, Pairwise(), tol=tol).certificate() for tol in tolerances]
for tol, certificate in list(zip(tolerances, certificates, strict=True))[::8]:
    counts = certificate.zero.sum(), certificate.undecided.sum(), certificate.nonzero.sum()
    print(f"tol {tol:.0e}: {counts[0]} proven zero, {counts[1]} undecided, {counts[2]} proven non-zero")

# %%
# Left: the verdicts. Right: for the first ten coefficients, the intervals in which they are proven to lie.
zero, undecided, nonzero = (
    np.array([getattr(c, kind).sum() for c in certificates]) for kind in ("zero", "undecided", "nonzero")
)
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.stackplot(tolerances, nonzero, undecided, zero, colors=["tab:blue", "tab:orange", "0.85"])
left.set(xscale="log", xlabel="gap asked for, relative", ylabel="features", xlim=(1, 1e-8), ylim=(0, 400))
left.set_title("blue: proven non-zero, orange: undecided, grey: proven zero", fontsize="medium")
shown = [c for c in certificates if np.isfinite(c.upper[:10]).all()]
for shade, certificate in zip(np.linspace(0.15, 1, len(shown)), shown, strict=True):
    right.vlines(range(10), certificate.lower[:10], certificate.upper[:10], color="tab:blue", alpha=shade, linewidth=5)
right.axhline(0, color="0.5", linewidth=0.8)
right.set(xlabel="feature", title="proven intervals, nested")
right.set_xticks(range(10))
plt.show()
