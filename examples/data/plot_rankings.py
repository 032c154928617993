"""
Learned rankings: which teams are certainly in front
====================================================

Twelve teams have played some matches. A ranking gives the points 1 to 12, and the permutahedron is everything between
rankings: where the matches do not tell two teams apart, they share their points. With the points moved to the mean 0,
`Ball(1)` is the permutahedron itself. The certificate proves the order part by part: the teams in front of a line have
together as many points as the first places are worth, in every solution.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomsieve import Ball, Logistic, Permutahedron, Problem, solve, verify

TEAMS = np.array(["Ash", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Maple", "Oak", "Pine", "Rowan", "Yew"])
POINTS = np.arange(12.0) - 5.5
POINT = 0.25  # what a point adds to the log odds of a match
rng = np.random.default_rng(3)
strength = 2 * POINT * rng.permutation(POINTS)


# %%
# A match is the difference of two teams, and its result the sign: a logistic regression.
def season(matches):
    """Return who played whom, and who won."""
    pairs = np.array([rng.choice(12, 2, replace=False) for _ in range(matches)])
    X = np.zeros((matches, 12))
    X[np.arange(matches), pairs[:, 0]], X[np.arange(matches), pairs[:, 1]] = 1.0, -1.0
    return X, np.where(rng.random(matches) < 1 / (1 + np.exp(-X @ strength)), 1.0, -1.0)


# %%
# Between two lines, teams share the points of their places: a longer season tells other teams apart than a short one.
figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained", sharey=True)
for ax, matches in zip(axes, (60, 1500), strict=True):
    X, y = season(matches)
    problem = Problem(X, y, loss=Logistic(), gauge=Permutahedron(POINT * POINTS), penalty=Ball(1.0))
    result = solve(problem, tol=1e-12)
    certificate = result.certificate()
    tight = certificate.facts.tight
    print(f"{matches} matches: {len(tight)} proven sums; {verify(certificate, X, y).valid}")
    order = np.argsort(-result.x, kind="stable")
    places = np.arange(1, 13)
    front = np.cumsum([len(part) for part in tight])
    ax.bar(places, result.x[order] / POINT + 6.5, color="tab:blue", width=0.8, label="points at the optimum")
    for end in front:
        line = ax.axvline(end + 0.5, color="tab:red", linewidth=1.2)
    line.set_label("proven: all before it rank above all behind it")
    ax.set_xticks(places, TEAMS[order], rotation=60, ha="right")
    ax.set_title(f"{matches} matches: {len(tight)} of 11 lines proven", loc="left")
    ax.set_xlabel("teams, the best first")
axes[0].set_ylabel("points (12 for the first place, 1 for the last)")
figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
plt.show()
