"""
A path through a grid: what is proven of every edge
====================================================

A pipe runs under a field, from the left upper corner to the right lower one, and somewhere on the way it splits and
joins again. Three hundred sensors each hear a random part of the ground, with noise. The gauge of all paths through the
grid asks for few paths. Its certificate says more than where the solution runs: which edges carry nothing in any
solution, which carry a part of the flow, and through which of them all of it must pass.
"""

from itertools import pairwise, product

import matplotlib.pyplot as plt
import numpy as np

from atomsieve import Linear, PathsInDAG, Problem, solve, verify

SIDE = 12
NODES = list(product(range(SIDE), repeat=2))
EDGES = [((i, j), (i, j + 1)) for i, j in NODES if j + 1 < SIDE]
EDGES += [((i, j), (i + 1, j)) for i, j in NODES if i + 1 < SIDE]
gauge = PathsInDAG(EDGES, source=(0, 0), target=(SIDE - 1, SIDE - 1))


# %%
# The pipe, as corners to walk through, and what the sensors hear.
def walk(*corners):
    """Return the edges of the path through corners."""
    nodes = [corners[0]]
    for i, j in corners[1:]:
        while nodes[-1] != (i, j):
            a, b = nodes[-1]
            nodes.append((a, b + 1) if b < j else (a + 1, b))
    return [EDGES.index(edge) for edge in pairwise(nodes)]


truth = np.zeros(len(EDGES))
truth[walk((0, 0), (0, 3), (3, 3), (3, 8), (8, 8), (8, 11), (11, 11))] += 0.6
truth[walk((0, 0), (0, 3), (3, 3), (8, 3), (8, 8), (8, 11), (11, 11))] += 0.4
rng = np.random.default_rng(0)
X = rng.standard_normal((300, len(EDGES)))
y = X @ truth + 0.5 * rng.standard_normal(300)

problem = Problem(X, y, gauge=gauge)
result = solve(problem.at_penalty(Linear(0.05 * problem.critical)), tol=1e-10)
certificate = result.certificate()
print(certificate)
print(verify(certificate, X, y))

# %%
# Edges are as wide as the flow through them. What is proven of them has a colour.
unused, through = certificate.zero, certificate.facts.saturated
kinds = {
    "proven: carries nothing": (unused, "0.88"),
    "undecided": (~unused & ~certificate.nonzero, "tab:orange"),
    "proven: carries a part of it": (certificate.nonzero & ~through, "tab:blue"),
    "proven: all of it passes here": (through, "tab:red"),
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4.9), layout="constrained")
for ax, x, title in zip(axes, (truth, result.x), ("the pipe", "what the sensors prove"), strict=True):
    for k, ((i, j), (a, b)) in enumerate(EDGES):
        proven = next(color for chosen, color in kinds.values() if chosen[k])
        color = proven if ax is axes[1] else "black" if truth[k] else "0.88"
        ax.plot([j, b], [i, a], color=color, linewidth=1.0 + 6.0 * x[k], solid_capstyle="round", zorder=1 + (x[k] > 0))
    ax.plot([0, SIDE - 1], [0, SIDE - 1], "o", color="black", zorder=3)
    ax.text(0, -0.5, "in", ha="center")
    ax.text(SIDE - 1, SIDE - 0.2, "out", ha="center")
    ax.set_title(title, loc="left", pad=16)
    ax.invert_yaxis()
    ax.set_aspect("equal")
    ax.axis("off")
told = {name: part for name, part in kinds.items() if part[0].any()}
handles = [plt.Line2D([], [], color=color, linewidth=4) for _, color in told.values()]
counted = [f"{name} ({chosen.sum()} edges)" for name, (chosen, _) in told.items()]
figure.legend(handles, counted, loc="outside lower center", ncols=2, frameon=False)
plt.show()
