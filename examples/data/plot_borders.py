"""
Borders in a picture: total variation over a graph
==================================================

A picture with noise, 56 by 72 pixels, and one coefficient for each of them. Neighbours are joined by edges, and total
variation charges for the jumps over all of these: so solutions are made of few pieces of one colour. Two pixels in
different pieces differ in the solution; but do they differ in *the* solution, to all digits? The certificate proves
each border, and that there is none inside the pieces. The same gauge takes any graph: roads, rivers, districts.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from scipy.sparse import eye_array
from sklearn.datasets import load_sample_image

from atomsieve import Linear, Problem, TotalVariation, solve, verify

picture = load_sample_image("flower.jpg")[60:340, 180:540].mean(axis=2) / 255
truth = picture.reshape(56, 5, 72, 5).mean(axis=(1, 3))
noisy = truth + 0.12 * np.random.default_rng(0).normal(size=truth.shape)

# %%
# The edges are pairs of pixels, numbered row by row. Without X the picture itself is denoised, in one step.
pixel = np.arange(truth.size).reshape(truth.shape)
across = np.stack([pixel[:, :-1].ravel(), pixel[:, 1:].ravel()], axis=1)
down = np.stack([pixel[:-1].ravel(), pixel[1:].ravel()], axis=1)
edges = np.concatenate([across, down])

problem = Problem(None, noisy.ravel(), gauge=TotalVariation(edges=edges), penalty=Linear(0.2 / noisy.size))
result = solve(problem, tol=1e-12)
certificate = result.certificate()
print(f"{len(edges)} edges, {len(np.unique(result.x))} pieces, in {result.n_iter} step")
print(str(certificate).splitlines()[0])
print(verify(certificate, eye_array(noisy.size), noisy.ravel()))

# %%
# Every pixel has a proven interval for its level. There is a border where the intervals of two neighbours do not meet.
levels = certificate.feature_frame()
lower, upper = levels["lower"].to_numpy(), levels["upper"].to_numpy()
one, other = edges.T
proven = (upper[one] < lower[other]) | (upper[other] < lower[one])
open_ = (result.x[one] != result.x[other]) & ~proven
print(f"{proven.sum()} borders between neighbours are proven, {open_.sum()} are not decided")


def borders(chosen):
    """Return the lines between the two pixels of some edges."""
    row, column = np.divmod(edges[chosen], truth.shape[1])
    middle = np.stack([column.mean(axis=1), row.mean(axis=1)], axis=1)
    along = np.where((column[:, 0] == column[:, 1])[:, None], [[0.5, 0.0]], [[0.0, 0.5]])
    return np.stack([middle - along, middle + along], axis=1)


fig, axes = plt.subplots(1, 2, figsize=(10, 4.3), layout="constrained")
shades = {"cmap": "gray", "vmin": 0.0, "vmax": 1.0, "interpolation": "nearest"}
axes[0].imshow(noisy, **shades)
axes[0].set_title("the picture with noise")
axes[1].imshow(result.x.reshape(truth.shape), **shades)
kinds = {"proven border": (proven, "tab:red", 0.9), "not decided": (open_, "tab:orange", 2.0)}
for label, (chosen, colour, width) in kinds.items():
    if chosen.any():
        lines = LineCollection(borders(chosen), colors=colour, linewidths=width, label=f"{label}: {chosen.sum()}")
        axes[1].add_collection(lines)
axes[1].set_title("its pieces: inside there is no jump, and borders are proven")
axes[1].legend(loc="lower left", fontsize="small")
for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()
