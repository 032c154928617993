"""
The smallest peak: LInf and its saturated coefficients
======================================================

Sixty loudspeakers in a row shall make given sounds at twelve places in the room. Many settings do that, and an
amplifier must bear the largest of its coefficients, not their sum. The l-infinity norm charges that peak alone. So a
solution drives nearly every loudspeaker as hard as the hardest, and only as many as the data need stay below: it is the
opposite of sparse. Such coefficients are *saturated*, and the certificate proves which ones are.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomsieve import L2, Linear, LInf, Problem, solve

rng = np.random.default_rng(1)
speakers = np.column_stack([np.linspace(-3.0, 3.0, 60), np.zeros(60)])
places = np.column_stack([rng.uniform(-2.5, 2.5, 12), rng.uniform(1.5, 4.0, 12)])
distance = np.linalg.norm(places[:, None] - speakers[None], axis=2)
X = np.cos(6.0 * distance) / distance
y = X @ np.sin(np.linspace(0.0, 9.0, 60) ** 1.3)

# %%
# The same sounds, to the same precision, with the smallest energy and with the smallest peak.
fitted = {}
for name, gauge in {"smallest energy: L2": L2(), "smallest peak: LInf": LInf()}.items():
    problem = Problem(X, y, gauge=gauge)
    fitted[name] = solve(problem.at_penalty(Linear(0.01 * problem.critical)), tol=1e-11)
certificate = fitted["smallest peak: LInf"].certificate()
saturated = certificate.facts.saturated

for name, result in fitted.items():
    left = np.linalg.norm(y - X @ result.x) / np.linalg.norm(y)
    print(f"{name:20} peak {np.abs(result.x).max():.4f}, {left:.1%} of the sound missing")
print(
    f"{saturated.sum()} of 60 loudspeakers are proven to be saturated: their coefficients are plus or minus the peak."
)

# %%
# Blue bars are proven to be at the peak, in every solution. The others have proven intervals, too narrow to be seen
# here.
figure, axes = plt.subplots(2, 1, figsize=(9, 5.5), sharex=True, sharey=True, layout="constrained")
for ax, (name, result) in zip(axes, fitted.items(), strict=True):
    peak = np.abs(result.x).max()
    proven = saturated if "LInf" in name else np.zeros(60, dtype=bool)
    ax.bar(np.flatnonzero(~proven), result.x[~proven], color="0.6", label="below the peak")
    if proven.any():
        ax.bar(np.flatnonzero(proven), result.x[proven], color="tab:blue", label="proven to be at the peak")
        ax.legend(loc="upper right", ncols=2)
    for side in (-peak, peak):
        ax.axhline(side, color="black", linestyle="--", linewidth=0.8)
    ax.set_title(f"{name}, peak {peak:.3f}", loc="left")
axes[0].margins(y=0.25)
axes[-1].set_xlabel("loudspeaker")
figure.supylabel("coefficient")
plt.show()
