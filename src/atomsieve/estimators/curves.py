"""The picture of a cross-validation."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_scores(model: Any, ax: "Axes | None") -> "Axes":
    """Draw scores against the strength: folds as thin lines, their mean with its error, and what was chosen."""
    import matplotlib.pyplot as plt  # noqa: PLC0415 -- optional

    ax = plt.subplots(layout="constrained")[1] if ax is None else ax
    choice = model._choice
    strengths, name = choice.candidates.values, choice.candidates.grid.label
    sign, label = (-1.0, model._score_label) if choice.scoring is None else (1.0, _scorer_name(choice.scoring))
    mean, error = sign * model.cv_mean_, model.cv_standard_error_
    ax.plot(strengths, sign * model.cv_scores_, color="0.8", linewidth=0.8, zorder=1)
    ax.fill_between(strengths, mean - error, mean + error, color="C0", alpha=0.2, linewidth=0, zorder=2)
    ax.plot(strengths, mean, color="C0", label="mean over folds, and its standard error", zorder=3)
    counts = np.rint(np.median(model.feature_counts_, axis=1)).astype(int)
    k, used = model.best_index_, np.count_nonzero(np.atleast_2d(model.coef_).any(axis=0))
    rule = "within one standard error of the best" if choice.rule == "1se" else "best mean"
    chosen = f"chosen: {rule}, {used} features"
    ax.axvline(strengths[k], color="C1", linestyle="--", label=chosen, zorder=2)
    ax.plot(strengths[k], mean[k], "o", color="C1", zorder=4)
    ax.set_xscale("log")
    if strengths[0] > strengths[-1]:
        ax.invert_xaxis()
    ax.set_xlabel(f"{name} (more features to the right)")
    ax.set_ylabel(label)
    ax.set_title(_count_line(counts), fontsize="small")
    ax.legend(fontsize="small")
    return ax


def draw_probabilities(selector: Any, ax: "Axes | None") -> "Axes":
    """Draw how often each feature is selected along the path; those that are kept stand out."""
    import matplotlib.pyplot as plt  # noqa: PLC0415 -- optional

    ax = plt.subplots(layout="constrained")[1] if ax is None else ax
    kept = selector.get_support()
    fractions = selector.slopes_ / selector.slopes_[0]
    ax.plot(fractions, selector.probability_path_[:, ~kept], color="0.75", linewidth=0.8, zorder=1)
    names = getattr(selector, "feature_names_in_", np.array([f"x{j}" for j in range(len(kept))]))
    few = kept.sum() <= 10
    for j in np.flatnonzero(kept):
        ax.plot(fractions, selector.probability_path_[:, j], label=names[j] if few else None, zorder=2)
    ax.axhline(selector.threshold, color="0.3", linestyle=":", label=f"threshold {selector.threshold:g}")
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel("slope over the critical slope (more features to the right)")
    ax.set_ylabel("selection probability")
    ax.set_title(f"{kept.sum()} of {len(kept)} features kept", fontsize="small")
    ax.legend(fontsize="small")
    return ax


def _count_line(counts: Any) -> str:
    return f"features in the model, median over folds: {counts[0]} to {counts[-1]}"


def _scorer_name(scoring: Any) -> str:
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
