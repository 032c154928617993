"""
The paper's method, watched
===========================

The generalized conditional gradient method takes one atom per iteration: the one that fits the gradient best, with a
step of 2 / (t + 1). *Safe Screening for the Generalized Conditional Gradient Method* (Sun and Bach, 2020) shows how
its duality gap rules out atoms on the way, and that it finds the support after finitely many iterations.

With ``trace=True`` every iteration is kept, so this can be watched.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomsieve import GCG, L1, Corrective, Logistic, OpenLoop, Pairwise, Problem, Square, solve

rng = np.random.default_rng(0)
X = rng.standard_normal((100, 50))
y = np.where(X[:, :3].sum(axis=1) + 0.3 * rng.standard_normal(100) > 0, 1.0, -1.0)
problem = Problem(X, y, loss=Logistic(), gauge=L1(), penalty=Square(0.1))

# %%
# Three runs: the paper's method with the paper's rule, the same with the stronger rule in data space, and the
# pairwise variant, which also takes weight away from atoms.
runs = {
    "GCG, the paper's rule": solve(problem, GCG(OpenLoop(2, 1)), screening="paper", max_iter=3000, tol=0, trace=True),
    "GCG, data-space rule": solve(problem, GCG(OpenLoop(2, 1)), screening="auto", max_iter=3000, tol=0, trace=True),
    "Pairwise, data-space rule": solve(problem, Pairwise(), max_iter=3000, tol=1e-12, trace=True),
}
for name, run in runs.items():
    print(f"{name:26s} {run.n_iter:5d} iterations, gap {run.gap:.1e}, {run.alive.sum()} of 50 not ruled out")

# %%
# The gap of the open-loop method falls like 1/t; that of the pairwise one by a constant factor per iteration. The
# rule decides what the same gap is worth.
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for (name, run), color in zip(runs.items(), ("tab:orange", "tab:green", "tab:blue"), strict=True):
    times = np.array(run.trace.iteration) + 1
    style = "--" if "paper" in name else "-"
    left.loglog(times, run.trace.gap, style, color=color, label=name)
    right.semilogx(times, run.trace.alive, style, color=color, label=name)
left.set(xlabel="iteration", ylabel="duality gap", ylim=(1e-13, None))
left.legend(fontsize="small")
support = solve(problem, until="decided").certificate().nonzero.sum()
right.axhline(support, color="0.6", linewidth=1)
right.annotate(f"the support: {support}", (1.1, support + 0.8), color="0.4", fontsize="small")
right.set(xlabel="iteration", ylabel="features not ruled out", ylim=(0, 52))
plt.show()

# %%
# The default method solves the problem on a working set between two looks at all features. ``passes`` counts the
# products with the whole of X; products with the columns that screening has left count in proportion.
best = solve(problem, Corrective(), tol=1e-12)
print(best)
for name, run in {**runs, "Corrective": best}.items():
    print(f"{name:26s} {run.passes:6.0f} passes over the data")
