"""
Features that move together: OSCAR, SLOPE and k-support
=======================================================

Twelve sensors measure three things, four sensors each, and thirty more measure nothing of interest. The lasso picks one
sensor of each four, by accident of the noise. Gauges of *sorted* coefficients know better: OSCAR and SLOPE draw sensors
that say the same to one common coefficient, a cluster, and the k-support norm shares the weight among them.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomsieve import L1, OSCAR, SLOPE, KSupport, Linear, Problem, solve

rng = np.random.default_rng(3)
causes = rng.normal(size=(80, 3))
sensors = np.repeat(causes, 4, axis=1) + 0.2 * rng.normal(size=(80, 12))
X = np.hstack([sensors, rng.normal(size=(80, 30))])
y = causes @ [2.0, -1.5, 1.0] + 0.5 * rng.normal(size=80)

# %%
# One problem, four gauges. The strength is a tenth of the critical slope of each: from that slope on, all
# coefficients are zero.
gauges = {"l1": L1(), "OSCAR(1, 0.3)": OSCAR(1.0, 0.3), "SLOPE(0.1)": SLOPE(0.1), "KSupport(12)": KSupport(12)}
fitted = {}
for name, gauge in gauges.items():
    problem = Problem(X, y, gauge=gauge, intercept=True)
    fitted[name] = solve(problem.at_penalty(Linear(0.1 * problem.critical)), tol=1e-10)

for name, result in fitted.items():
    sizes = np.abs(result.x[result.x != 0])
    interval = result.certificate()
    print(
        f"{name:14} {len(sizes):2} non-zeros of {len(np.unique(sizes)):2} sizes, "
        f"optimal value proven between {interval.dual:.9f} and {interval.primal:.9f}"
    )

# %%
# Each row is a gauge, each bar a feature, as high as its coefficient without the sign. Coefficients of exactly the same
# size are joined by a line: these are the clusters.
figure, axes = plt.subplots(len(fitted), 1, figsize=(9, 7), sharex=True, sharey=True, layout="constrained")
colours = np.array(["tab:blue"] * 4 + ["tab:red"] * 4 + ["tab:green"] * 4 + ["grey"] * 30)
for ax, (name, result) in zip(axes, fitted.items(), strict=True):
    sizes = np.abs(result.x)
    ax.bar(np.arange(42), sizes, color=colours, alpha=0.7)
    for size in np.unique(sizes[sizes > 0]):
        members = np.flatnonzero(sizes == size)
        if len(members) > 1:
            ax.plot(members, sizes[members], color="black", marker="o", markersize=5, linewidth=1.5)
    ax.axvline(11.5, color="black", linestyle=":")
    ax.set_title(name, loc="left")
figure.supylabel("size of the coefficient")
axes[-1].set_xlabel("feature: three things with four sensors each, then thirty of no interest")
plt.show()
