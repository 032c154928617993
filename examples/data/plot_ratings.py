"""
Ratings that nobody gave
========================

Sixty people rate forty films, each of them about a third. Tastes are few: who likes one comedy likes others. So the
table of all ratings has a low rank, and what is missing can be filled in. The nuclear norm asks for a low rank without
saying which, and a certificate proves a bound of it.

The data are drawn: three kinds of people, four kinds of films, and moods.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomsieve import Completion, CriticalFraction, Linear, LowRankImputer, Nuclear, Problem, solve, verify

rng = np.random.default_rng(1)
people, films = np.repeat(np.arange(3), 20), np.repeat(np.arange(4), 10)
taste = np.array([[4.5, 1.5, 3.0, 2.0], [1.5, 4.5, 2.0, 4.0], [3.0, 2.5, 5.0, 1.0]])
truth = taste[people][:, films] + 0.2 * rng.normal(size=(60, 40))
seen = rng.uniform(size=truth.shape) < 0.35
ratings = np.where(seen, truth, np.nan)

# %%
# The imputer keeps what is there and fills in the rest. Nothing tells it who belongs to which kind.
imputer = LowRankImputer(CriticalFraction(0.1))
filled = imputer.fit_transform(ratings)
guess = np.where(seen, ratings, np.nanmean(ratings, axis=0))


def error(table):
    """Return the typical error of the ratings that nobody gave."""
    return np.sqrt(np.mean((table - truth)[~seen] ** 2))


# %%
# On the left what people said, on the right what they would have said, in the middle what is filled in: the patches are
# those of the right picture, although two thirds of the table were white.
shown = {
    f"given: {seen.mean():.0%} of the ratings": ratings,
    f"filled in: rank {imputer.rank_}, off by {error(filled):.2f}\n(means of films: {error(guess):.2f})": filled,
    "truth": truth,
}
fig, axes = plt.subplots(1, 3, figsize=(9, 4.6), layout="constrained", sharey=True)
for ax, (name, table) in zip(axes, shown.items(), strict=True):
    drawn = ax.imshow(table, cmap="viridis", vmin=1, vmax=5, aspect="auto")
    ax.set_title(name, fontsize=10)
    ax.set_xlabel("films")
axes[0].set_ylabel("people")
fig.colorbar(drawn, ax=axes, label="rating", shrink=0.8)
plt.show()

# %%
# The same problem with its proof: no solution has a higher rank. An independent checker derives it again from the data.
entries = Completion.of(ratings)
values = entries.entries(ratings - imputer.mean_)
result = solve(Problem(entries, values, gauge=Nuclear(), penalty=Linear(imputer.alpha_)), tol=1e-9)
certificate = result.certificate()
print(f"The rank of every solution is at most {certificate.rank}.")
print(verify(certificate, entries, values))
