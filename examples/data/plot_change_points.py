"""
Change points by total variation
================================

A level that jumps now and then: where are the jumps? Total variation charges for the sum of all jumps, so its
solutions are piecewise constant. It is the ℓ₁ norm seen through a matrix: a signal is a constant plus a sum of steps,
and ``Image(L1(), steps)`` charges for the weights of the steps.

A verdict is then about a *place*: there is no jump here, in any solution.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomsieve import L1, Image, Linear, Problem, path, solve

rng = np.random.default_rng(0)
truth = np.repeat([1.0, 3.0, 2.0, 2.6, 0.5], [70, 50, 80, 60, 40])
signal = truth + 0.4 * rng.standard_normal(len(truth))
places = len(signal)

# %%
# Column j of ``steps`` is 0 up to place j and 1 after it. The constant is the intercept, and costs nothing.
steps = np.tri(places, places - 1, k=-1)
problem = Problem(np.eye(places), signal, gauge=Image(L1(), steps), penalty=Linear(0.03), intercept=True)
result = solve(problem, until="decided")
certificate = result.certificate()
print(certificate)
jumps = np.flatnonzero(certificate.nonzero)
print("proven jumps after places", jumps + 1)

# %%
# All strengths at once: which places hold a jump, from strong (top) to weak (bottom).
found = path(problem, n=60, ratio=0.005)
levels = np.array([step.x + step.intercept for step in found.results])

fig, (top, bottom) = plt.subplots(2, 1, figsize=(9, 6), layout="constrained", sharex=True)
top.plot(signal, ".", color="0.7", label="measured")
top.plot(truth, color="tab:orange", linewidth=1, label="truth")
top.plot(result.x + result.intercept, color="tab:blue", label="fit")
for place in jumps:
    top.axvline(place + 0.5, color="tab:blue", alpha=0.25, linewidth=1)
top.set_title(f"{certificate.zero.sum()} of {places - 1} places proven to hold no jump, {len(jumps)} proven jumps")
top.legend(fontsize="small")
extent = (0, places, np.log10(found.slopes[-1]), np.log10(found.slopes[0]))
picture = bottom.imshow(levels, aspect="auto", extent=extent, cmap="viridis", origin="upper")
bottom.axhline(np.log10(0.03), color="white", linewidth=1, linestyle="--")
bottom.set(xlabel="place", ylabel="log10 of the strength")
fig.colorbar(picture, ax=bottom, label="level")
plt.show()
