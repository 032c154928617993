"""Draw the picture of README and of the landing page: `python docs/pictures.py`.

Left, the Lasso path of scikit-learn's diabetes data with a certificate at every strength; right, what becomes of 400
features as the gap of one run falls.
"""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from sklearn.datasets import load_diabetes

from atomsieve import CertifiedLassoCV, Pairwise, Problem, Square, path, solve

FOLDER = Path(__file__).parent / "_static"


@dataclass(frozen=True)
class Look:
    """Colours of one picture."""

    name: str
    ink: str
    faint: str
    paper: str
    zero: str


LOOKS = (
    Look("light", ink="#24292f", faint="#8c959f", paper="#ffffff", zero="#d8dee4"),
    Look("dark", ink="#e6edf3", faint="#8b949e", paper="#14181e", zero="#3d444d"),
)
LINES = ("#4e79d6", "#e8833a", "#3aa676", "#c75b9b", "#8a6fd1", "#c9a227", "#4fb3bf", "#d1605e", "#7a9a3a", "#a0785a")
OFFSET = {"textcoords": "offset points"}
NONZERO, UNDECIDED = "#4e79d6", "#e8a33a"


def draw_path(ax: Axes, look: Look) -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X = X / X.std()
    found = path(Problem(X, y, intercept=True), n=100, tol=1e-10)
    chosen = CertifiedLassoCV(cv=10, selection="1se").fit(X, y).alpha_
    certificates = [result.certificate() for result in found.results]
    settled = sum(int(c.zero.sum() + c.nonzero.sum()) for c in certificates)
    end = found.coefs[-1]
    places = spread_out(end, gap=0.05 * np.ptp(end))
    ax.axhline(0, color=look.zero, linewidth=2, zorder=0)
    for j, color in enumerate(LINES):
        proven = [value if c.nonzero[j] else np.nan for value, c in zip(found.coefs[:, j], certificates, strict=True)]
        ax.plot(found.slopes, proven, color=color, linewidth=1.6)
        ax.annotate(X.columns[j], (found.slopes[-1], places[j]), (5, 0), **OFFSET, color=color, va="center")
    ax.axvline(chosen, color=look.faint, linestyle="--", linewidth=1)
    foot = 0.97 * ax.get_ylim()[0]
    ax.annotate("one standard\nerror rule", (chosen, foot), (-6, 0), **OFFSET, ha="right", color=look.faint, fontsize=9)
    ax.set(xscale="log", xlim=(found.slopes[0] * 1.1, found.slopes[-1]))
    ax.set_xlabel("strength of the penalty (falls to the right)")
    ax.set_ylabel("coefficient")
    ax.set_title(f"A Lasso path: {settled} of {X.shape[1] * len(found.slopes)} verdicts proven", loc="left")
    top = ax.secondary_xaxis("top")
    marks = np.arange(0, 100, 14)
    top.set_xticks(found.slopes[marks], [str(certificates[k].nonzero.sum()) for k in marks])
    top.set_xlabel("features proven non-zero", fontsize=9, color=look.faint)
    top.minorticks_off()
    top.tick_params(length=0, labelcolor=look.faint, labelsize=9)


def spread_out(values: np.ndarray, gap: float) -> np.ndarray:
    """Return places near the values that are at least `gap` apart."""
    order = np.argsort(values)
    places = values.astype(float).copy()
    for _ in range(200):
        for low, high in pairwise(order):
            short = gap - (places[high] - places[low])
            if short > 0:
                places[low] -= short / 2
                places[high] += short / 2
    return places


def draw_sieve(ax: Axes, look: Look) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 400))
    y = X[:, :8] @ np.array([3.0, -2.0, 2.0, 1.5, -1.5, 1.0, -1.0, 0.5]) + rng.standard_normal(100)
    problem = Problem(X, y, penalty=Square(0.05), intercept=True)
    gaps = np.geomspace(1, 1e-7, 60)
    certificates = [solve(problem, Pairwise(), tol=gap).certificate() for gap in gaps]
    kinds = [np.array([getattr(c, kind).sum() for c in certificates]) for kind in ("nonzero", "undecided", "zero")]
    ax.stackplot(gaps, *kinds, colors=[NONZERO, UNDECIDED, look.zero])
    ax.set(xscale="log", xlim=(gaps[0], gaps[-1]), ylim=(0, 400))
    ax.set_xlabel("duality gap, relative (falls to the right)")
    ax.set_ylabel("features")
    ax.set_title("One run: every feature decided", loc="left")
    last = certificates[-1]
    ax.annotate("undecided", (10**-0.75, 180), color="#24292f", ha="center")
    ax.annotate(f"{last.zero.sum()} proven zero", (10**-4.6, 210), color=look.ink, ha="center")
    ax.annotate(f"{last.nonzero.sum()} proven non-zero", (10**-4.6, 22), color=NONZERO, ha="center")


def draw(look: Look) -> None:
    settings = {
        "text.color": look.ink,
        "axes.labelcolor": look.ink,
        "axes.edgecolor": look.faint,
        "xtick.color": look.faint,
        "ytick.color": look.faint,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "figure.facecolor": look.paper,
        "axes.facecolor": look.paper,
        "font.size": 10.5,
    }
    with mpl.rc_context(settings):
        fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", gridspec_kw={"wspace": 0.08})
        draw_path(left, look)
        draw_sieve(right, look)
        fig.savefig(FOLDER / f"hero-{look.name}.png", dpi=150)
        plt.close(fig)


if __name__ == "__main__":
    mpl.use("agg")
    for look in LOOKS:
        draw(look)
