"""Draw the pictures of README and of the documents: `python docs/pictures.py`.

The hero: left, the Lasso path of scikit-learn's diabetes data with a certificate at every strength; right, what becomes
of 400 features as the gap of one run falls. Families: left, the whole path of scikit-learn's breast cancer data in few
certificates; right, what is left of one certificate as more and more digits of the data are unknown.
"""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from sklearn.datasets import load_breast_cancer, load_diabetes

from atomsieve import CertifiedLassoCV, Linear, Pairwise, Problem, Square, path, solve

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


def cancer() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return scikit-learn's breast cancer data, standardised."""
    data = load_breast_cancer()
    X = data.data / data.data.std(axis=0)
    return X, np.where(data.target == 0, 1.0, -1.0), list(data.feature_names)


def draw_cover(ax: Axes, look: Look) -> None:
    X, y, names = cancer()
    found = path(Problem(X, y, intercept=True), n=10, ratio=0.05).certificates()
    entered = np.array([c.nonzero for c in found.certificates])
    order = [j for j in np.argsort(entered.argmax(axis=0), kind="stable") if entered[:, j].any()]
    for row, j in enumerate(order):
        for (low, high), there in zip(found.ranges, entered[:, j], strict=True):
            if there:
                ax.barh(row, high - low, left=low, height=0.72, color=NONZERO, linewidth=0)
    ax.set_yticks(range(len(order)), [names[j] for j in order], fontsize=8.5)
    ax.set(xscale="log", xlim=(found.strengths[1] * 1.02, found.strengths[0]), ylim=(len(order) - 0.4, -0.6))
    ax.xaxis.set_major_formatter(mpl.ticker.FormatStrFormatter("%g"))
    ax.xaxis.set_minor_formatter(mpl.ticker.NullFormatter())
    ax.set_xlabel("strength of the penalty (falls to the right)")
    title = f"A whole path in {len(found.certificates)} certificates: proven in the model"
    ax.set_title(title, loc="left")
    ax.tick_params(axis="y", length=0, labelcolor=look.ink)


def draw_errors(ax: Axes, look: Look) -> None:
    X, y, _ = cancer()
    problem = Problem(X, y, intercept=True)
    result = solve(problem.at_penalty(Linear(0.1 * problem.origin.sigma)), tol=1e-14)
    errors = np.geomspace(1e-7, 1e-2, 60)
    certificates = [result.certificate(x_error=error, relative=True) for error in errors]
    kinds = [np.array([getattr(c, kind).sum() for c in certificates]) for kind in ("nonzero", "undecided", "zero")]
    ax.stackplot(errors, *kinds, colors=[NONZERO, UNDECIDED, look.zero], step="post")
    decided = max(e for e, c in zip(errors, certificates, strict=True) if not c.undecided.any())
    ax.axvline(decided, color=look.ink, linestyle="--", linewidth=1)
    ax.set(xscale="log", xlim=(errors[0], errors[-1]), ylim=(0, X.shape[1]))
    ax.set_xlabel("error of every entry of X, relative")
    ax.set_ylabel("features")
    ax.set_title(f"All verdicts hold up to errors of {decided:.0e}", loc="left")
    first = certificates[0]
    ax.annotate(f"{first.zero.sum()} proven zero", (2e-7, 23), color=look.ink)
    ax.annotate(f"{first.nonzero.sum()} proven non-zero", (2e-7, 3), color="#ffffff")
    ax.annotate("undecided", (2.2e-3, 15), color="#24292f", ha="center")


def settings_of(look: Look) -> dict[str, Any]:
    """Return the settings of matplotlib for the colours of a picture."""
    return {
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


def draw(look: Look) -> None:
    with mpl.rc_context(settings_of(look)):
        for name, parts in {"hero": (draw_path, draw_sieve), "families": (draw_cover, draw_errors)}.items():
            fig, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", gridspec_kw={"wspace": 0.08})
            for part, ax in zip(parts, axes, strict=True):
                part(ax, look)
            fig.savefig(FOLDER / f"{name}-{look.name}.png", dpi=150)
            plt.close(fig)


if __name__ == "__main__":
    mpl.use("agg")
    for look in LOOKS:
        draw(look)
