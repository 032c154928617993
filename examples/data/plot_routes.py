"""
Routes through a city: atoms of your own
========================================

Three streams of traffic cross a city of nine times nine corners, from the north-west to the south-east. Forty counters
each see a part of the streets, with noise. On which streets is the traffic? There are 144 streets and forty numbers, so
that the question needs a notion of sparsity: not few streets, but few *routes*. There are 12870 of them, which nobody
wants to list; the best route for given scores of the streets is found corner by corner, and that is all a gauge needs.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomsieve import Linear, NonNegative, Oracle, Problem, solve
from atomsieve.testing import check_oracle

SIDE = 9
EAST = np.arange(SIDE * (SIDE - 1)).reshape(SIDE, SIDE - 1)  # the street from corner (i, j) to (i, j + 1)
SOUTH = EAST.size + np.arange((SIDE - 1) * SIDE).reshape(SIDE - 1, SIDE)  # from (i, j) to (i + 1, j)
STREETS = EAST.size + SOUTH.size


def corner_by_corner(z):
    """Return the best score of a way to each corner, and whether it comes from the west; sums are rounded up."""
    score, from_west = np.zeros((SIDE, SIDE)), np.zeros((SIDE, SIDE), dtype=bool)
    for i, j in np.ndindex(SIDE, SIDE):
        west = score[i, j - 1] + z[EAST[i, j - 1]] if j else -np.inf
        north = score[i - 1, j] + z[SOUTH[i - 1, j]] if i else -np.inf
        from_west[i, j] = west >= north
        score[i, j] = np.nextafter(max(west, north), np.inf) if i or j else 0.0
    return score, from_west


def best_route(z):
    """Return the streets of the best route: an atom with few entries."""
    from_west = corner_by_corner(z)[1]
    i = j = SIDE - 1
    route = []
    while i or j:
        if from_west[i, j]:
            j -= 1
            route.append(EAST[i, j])
        else:
            i -= 1
            route.append(SOUTH[i, j])
    return route, np.ones(len(route))


def bound(z, err):
    """Return an upper bound of the score of every route, for all z within err."""
    return corner_by_corner(np.nextafter(z + err, np.inf))[0][-1, -1]


gauge = Oracle(best_route, bound)
check_oracle(gauge, (STREETS,))

# %%
# The streams, and what the counters see of them.
rng = np.random.default_rng(1)
truth = np.zeros(STREETS)
for weight in (3.0, 2.0, 1.0):
    places, ones = best_route(rng.normal(size=STREETS))
    truth[places] += weight * ones
X = (rng.uniform(size=(40, STREETS)) < 0.2).astype(float)
y = X @ truth + 0.5 * rng.standard_normal(40)

# %%
# The same data with two gauges: few streets, and few routes. The routes are the atoms of the solution.
fitted = {}
for name, kind in {"few streets": NonNegative(), "few routes": gauge}.items():
    problem = Problem(X, y, gauge=kind)
    fitted[name] = solve(problem.at_penalty(Linear(0.02 * problem.critical)), tol=1e-9)
    error = np.linalg.norm(fitted[name].x - truth) / np.linalg.norm(truth)
    print(f"{name}: relative error {error:.2f}, {fitted[name].passes:.0f} passes over the data")

routes = fitted["few routes"]
print("weights of routes:", np.sort(routes.active.weights)[::-1].round(2))

# %%
# The optimal value is proven, because there is a bound. So is, of any route that somebody asks about, that it carries
# no traffic in any solution.
certificate = routes.certificate()
print(f"optimal value between {certificate.dual:.9f} and {certificate.primal:.9f}")
along_the_edge = np.concatenate([EAST[0], SOUTH[:, -1]]), np.ones(2 * SIDE - 2)
print("east, then south: excluded", certificate.excludes(along_the_edge))

# %%
# Streets are as wide as the traffic on them.
figure, axes = plt.subplots(1, 3, figsize=(10, 3.8), layout="constrained")
ends = [((i, i), (j, j + 1)) for i, j in np.ndindex(EAST.shape)]
ends += [((i, i + 1), (j, j)) for i, j in np.ndindex(SOUTH.shape)]
traffic = {"the truth": truth} | {name: result.x for name, result in fitted.items()}
for ax, (name, x) in zip(axes, traffic.items(), strict=True):
    for (rows, columns), size in zip(ends, x, strict=True):
        ax.plot(columns, rows, color="0.85", linewidth=0.8, zorder=1)
        ax.plot(columns, rows, color="tab:blue", linewidth=1.6 * max(size, 0.0), zorder=2, solid_capstyle="round")
    ax.invert_yaxis()
    ax.set_aspect("equal")
    ax.set_title(name, loc="left")
    ax.axis("off")
plt.show()
