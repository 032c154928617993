"""What the resamples showed, as a picture, as words computed from the tables, and as verdicts."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from atomsieve.paper.carrying import CANDIDATES, RATIO, SHAPES, TOL
from atomsieve.paper.comparisons import JUDGED, LEVEL, judge, pool
from atomsieve.paper.experiment import Finding, Tables
from atomsieve.paper.numbers import plain, short, with_error
from atomsieve.paper.report import figure, table

COLORS = dict(zip(SHAPES, ("0.45", "C0", "C3", "C1"), strict=True))

OVERLAPS = ["Jaccard, own choices", "Jaccard, shared choice"]

NEW = ("Square", "LogBarrier")
"""The penalties that the paper proposes beside the common ones, `Linear` and `Ball`."""

MARKS = {"more": " ▲", "less": " ▼", "alike": ""}

ENOUGH = 20
"""Fewer resamples than this settle nothing."""


def paint(canvas: Figure, tables: Tables) -> None:
    """Draw one row of panels for each data set: where the choices lead, what carrying them costs, which supports."""
    carried, compared = tables["carried"], tables["compared"]
    names = list(compared["set"].unique())
    spreads = compared[compared["measure"] == "spread on other paths"].set_index(["set", "penalty"])["value"]
    axes = canvas.subplots(len(names), 3, squeeze=False, sharex=True)
    for row, name in zip(axes, names, strict=True):
        row[0].set_ylabel(name, fontsize=11, labelpad=8)
        _places(row[0], carried[carried["set"] == name], spreads[name])
        for ax, measures in zip(row[1:], (["regret in loss"], OVERLAPS), strict=True):
            _estimates(ax, compared[compared["set"] == name], measures)
        row[1].axhline(0, color="0.25", linewidth=0.8, zorder=1.6)
        row[2].set_ylim(0, 1)
    for ax, title in zip(axes[0], TITLES, strict=True):
        ax.set_title(title, pad=18)
    for ax in axes[-1]:
        ax.set_xticks(range(len(SHAPES)), SHAPES)
    for marker, face, label in (("o", "0.3", "each its own choice"), ("s", "w", "one choice for both")):
        axes[0, 2].plot([], [], marker, color="0.3", markerfacecolor=face, label=label)
    canvas.align_ylabels(axes[:, 0])
    canvas.legend(loc="outside lower right", ncols=2, handletextpad=0.1)


TITLES = (
    "where choices lead on the paths\nof other resamples, %",
    "regret of a choice made elsewhere,\n% of the loss",
    "Jaccard similarity of the supports\nof two resamples",
)


def _places(ax: Axes, carried: pd.DataFrame, spreads: "pd.Series[float]") -> None:
    """Draw one dot for each donor, in a cloud: the mean of the places to which its choice leads on other paths."""
    for x, (penalty, color) in enumerate(COLORS.items()):
        others = carried[(carried["penalty"] == penalty) & (carried["donor"] != carried["target"])]
        places, width = 100 * others.groupby("donor")["place"].mean().to_numpy(), float(spreads[penalty])
        cloud = 0.5 * (np.argsort(np.argsort(places)) * 0.618 % 1 - 0.5)
        ax.plot(x + cloud, places, ".", color=color, markersize=6, alpha=0.6)
        ax.errorbar(x, float(places.mean()), width, color="k", capsize=5, marker="_", markersize=11, linewidth=1.4)
        ax.annotate(f"{width:.1f}", (x, 1), xycoords=("data", "axes fraction"), ha="center", va="bottom", fontsize=8)
    ax.set_xlim(-0.6, len(COLORS) - 0.4)
    ax.set_ylim(0, 100)


def _estimates(ax: Axes, compared: pd.DataFrame, measures: Sequence[str]) -> None:
    """Draw estimates with bars of two standard errors: a band for `Linear`, elsewhere of the difference from it."""
    for k, measure in enumerate(measures):
        rows = compared[compared["measure"] == measure].set_index("penalty")[["value", "error", "difference error"]]
        shift = 0.3 * k - 0.15 * (len(measures) - 1)
        level, width = float(rows["value"]["Linear"]), 2 * float(rows["error"]["Linear"])
        ax.axhspan(level - width, level + width, color="0.5", alpha=0.12, linewidth=0, zorder=0)
        ax.axhline(level, color="0.6", linewidth=0.9, linestyle=":" if k else "--", zorder=1.6)
        for x, (penalty, color) in enumerate(COLORS.items()):
            value, error = float(rows["value"][penalty]), float(rows["difference error"][penalty])
            ax.errorbar(x + shift, value, 2 * error, color=color, capsize=3 if error else 0)
            ax.plot(x + shift, value, "os"[k], color=color, markersize=5.5, markerfacecolor="w" if k else color)


def text(tables: Tables, picture: str) -> str:
    """Return the section as markdown."""
    compared, count = tables["compared"], tables["choices"]["resample"].nunique()
    judged = judge(compared, count)
    return "\n\n".join(
        [
            _opening(tables, count),
            figure(picture, _caption(compared, judged)),
            table(_averages(pool(judged, count)), AVERAGES),
            "### What is the same, and what can differ",
            _explanation(tables["choices"], compared),
            "### Numbers",
            *(table(_wide(compared, judged, *measures), caption) for caption, measures in NUMBERS),
            _small_print(count, len(judged)),
        ]
    )


def _opening(tables: Tables, count: int) -> str:
    names, solves = list(tables["compared"]["set"].unique()), int(tables["work"]["solves"].sum())
    edges = tables["carried"].groupby("penalty")["edge"].mean()
    return (
        'The abstract speaks of penalties with "potentially more stability over the choice of hyperparameter". We drew '
        f"{count} bootstrap resamples of {len(names)} real data sets ({', '.join(names)}), chose the hyper-parameter "
        "of each penalty on each resample by cross-validation of the loss, and used every choice on every resample. "
        "Copies of a sample are one sample with a weight, so that no model is tested on copies of what it has seen. "
        "Scores are on samples that neither the resample nor the donor of the hyper-parameter has drawn. One warm "
        f"path for each resample and fold serves all four penalties: {solves:,} solutions in all, to a relative gap "
        f"of {short(TOL)}. At most {_percent(edges.max())} of the choices (`{edges.idxmax()}`) led to an end of the "
        "path that they were carried to."
    )


PLACES_ON_PATH = f"in percent of the way, in log slope, from the critical slope down to {RATIO:g} of it"

NUMBERS = (
    (
        "**Spread of what is chosen.** The standard deviation over resamples of the logarithm of the hyper-parameter, "
        "in units of its own for each penalty; of the place chosen on the resample's own path; and of the places to "
        "which all choices lead on the path of one resample, averaged over these. Places are counted "
        f"{PLACES_ON_PATH}; the first {CANDIDATES:.0%} can be chosen.",
        ("spread of log strength", "spread on own paths", "spread on other paths"),
    ),
    (
        "**Regret.** By how much a choice made on another resample is worse than the own one, in percent of the loss "
        "and in points of the error; and the error with the own choice (percent misclassified or of the variance).",
        ("regret in loss", "regret in error", "own error"),
    ),
    (
        "**Supports.** Jaccard similarity of the supports of two resamples, each with its own choice; of two "
        "resamples with one choice for both; of one resample with two choices, its own and another's; and, on one "
        "resample, of the supports chosen by the penalty and by `Linear`.",
        ("Jaccard, own choices", "Jaccard, shared choice", "Jaccard, swapped choice", "Jaccard with Linear"),
    ),
)


AVERAGES = (
    "**Difference from `Linear`, averaged over the data sets.** Less spread and less regret are more stable, and so is "
    "more similarity."
)


def _averages(pooled: pd.DataFrame) -> pd.DataFrame:
    """Return one row per judged measure and one column per penalty."""
    numbers = zip(pooled["difference"], pooled["difference error"], pooled["stability"].map(MARKS), strict=True)
    cells = [f"{with_error(difference, error, '+')}{mark}" for difference, error, mark in numbers]
    wide = pooled.assign(cell=cells).pivot(index="measure", columns="penalty", values="cell")
    return wide.loc[list(JUDGED), [name for name in SHAPES if name != "Linear"]].reset_index()


def _small_print(count: int, comparisons: int) -> str:
    return (
        "A triangle marks a difference from `Linear` beyond chance (▲ more stable, ▼ less) in the measures by which "
        f"we judge ({'; '.join(JUDGED)}): Student's t for the paired difference, at a level of {LEVEL:.0%} shared by "
        f"all {comparisons} comparisons. Standard errors are by the jackknife over resamples; leaving one out drops "
        f"it as donor and as target. They say how well {count} resamples settle a number for *these* data, not how "
        "it would differ for another draw of the data."
    )


def _caption(compared: pd.DataFrame, judged: pd.DataFrame) -> str:
    counts = "; ".join(f"`{penalty}` {_tally(judged, penalty)}" for penalty in SHAPES if penalty != "Linear")
    regrets = compared[compared["measure"] == "regret in loss"]
    costly = int((regrets["value"] > 2 * regrets["error"]).sum())
    return (
        "**The same path at four paces.** Left: where the choice of each resample leads on the paths of the others; "
        "bars and numbers are the spread over donors on one path. Middle: what a choice made on another resample "
        f"costs, at most {regrets['value'].max():.1f}% of the loss on average, and more than two standard errors in "
        f"{costly} of {len(regrets)} cases. Right: how alike supports are. In both, the grey band is two standard "
        "errors of `Linear`, and bars are two standard errors of the paired difference from it. Against `Linear`: "
        f"{counts}."
    )


def _tally(judged: pd.DataFrame, penalty: str) -> str:
    found = judged.loc[judged["penalty"] == penalty, "stability"].value_counts()
    more, less = (int(found.get(kind, 0)) for kind in ("more", "less"))
    return f"is more stable in {more} and less in {less} of {int(found.sum())} comparisons"


def _explanation(choices: pd.DataFrame, compared: pd.DataFrame) -> str:
    wide = choices.pivot(index=["set", "resample"], columns="penalty", values="common")
    low, high = wide[["Linear", "Ball"]].min(axis=1), wide[["Linear", "Ball"]].max(axis=1)
    inside = min(((wide[name] >= low - 1e-9) & (wide[name] <= high + 1e-9)).mean() for name in ("Square", "LogBarrier"))
    shift = {name: 100 * (wide[name] - wide["Linear"]).abs().mean() for name in ("Square", "LogBarrier", "Ball")}
    elastic = choices[choices["penalty"] == "Linear"].groupby("set")["elasticity"].median()
    share = elastic / (1 + elastic)
    own, other = _means(compared, "spread on own paths"), _means(compared, "spread on other paths")
    moved = {penalty: abs(other[penalty] - own[penalty]) for penalty in SHAPES}
    widest = max(moved, key=lambda penalty: moved[penalty])
    return (
        "On one resample the slope a of `Linear`, the strength a / s of `Square`, the radius s of `Ball` and the "
        "radius of `LogBarrier` are functions of one place on the path, where the slope is a and the size is s. All "
        "four offer the same models in the same order; *there* none can be more stable than another. They differ in "
        "what is kept on the way to other data, be it a fold or another resample: `Linear` keeps the slope, `Ball` "
        "the size, `Square` their quotient, `LogBarrier` a radius that grows as the slope falls and as the size "
        "grows. Therefore `Square` and `LogBarrier` always lead to a place between those of `Linear` and `Ball`: at "
        "the one the slope is as it was, at the other the size, and in between one has gone too far and the other "
        f"not far enough. So it was in {_percent(inside)} of the cases when the choice of `Linear` was given to all "
        f"four and carried to the full sample; `Ball` then led {shift['Ball']:.1f} points away from `Linear` on "
        f"average, `Square` {shift['Square']:.1f} and `LogBarrier` {shift['LogBarrier']:.1f}. To first order the "
        "displacement of `Square` is the mean of those of `Linear` and `Ball` with weights 1 and e, where the size "
        f"grows by e percent when the slope falls by one. At the choices the median of e is {elastic.min():.2f} "
        f"({elastic.idxmin()}) to {elastic.max():.2f} ({elastic.idxmax()}): `Square` goes {share.min():.0%} to "
        f"{share.max():.0%} of the way from `Linear` to `Ball`.\n\nCross-validation alone, on each resample's "
        f"own path, spreads the choices by {_list(own)} points on average over the data sets; on the paths of other "
        f"resamples the spread is {_list(other)}. It comes from the choice, which is made from nearly the same curve "
        f"for all penalties; carrying it elsewhere changes the spread by at most {moved[widest]:.1f} points on "
        f"average (`{widest}`)."
    )


def _means(compared: pd.DataFrame, measure: str) -> dict[str, float]:
    rows = compared[compared["measure"] == measure]
    return {penalty: float(rows.loc[rows["penalty"] == penalty, "value"].mean()) for penalty in SHAPES}


def _list(values: dict[str, float], digits: int = 1) -> str:
    return ", ".join(f"{value:.{digits}f} (`{name}`)" for name, value in values.items())


def _percent(part: float) -> str:
    return f"{100 * part:.3g}%"


def _wide(compared: pd.DataFrame, judged: pd.DataFrame, *measures: str) -> pd.DataFrame:
    """Return one row per data set and measure and one column per penalty, with errors and marks."""
    marks = judged.set_index(["set", "measure", "penalty"])["stability"].map(MARKS)
    rows = []
    for measure in measures:
        for name in compared["set"].unique():
            part = compared[(compared["set"] == name) & (compared["measure"] == measure)].set_index("penalty")
            cells = {
                penalty: with_error(part.loc[penalty, "value"], part.loc[penalty, "error"])
                + str(marks.get((name, measure, penalty), ""))
                for penalty in SHAPES
            }
            rows.append({"measure": measure, "data": name} | cells)
    return pd.DataFrame(rows)


def verdicts(tables: Tables) -> list[Finding]:
    """Judge what the abstract and the conclusion say of the hyper-parameter."""
    compared, count = tables["compared"], tables["choices"]["resample"].nunique()
    judged = judge(compared, count)
    sets = compared["set"].nunique()
    settled = count >= ENOUGH
    alike, closer = _means(compared, "Jaccard with Linear"), _closer(compared)
    apart = _means(compared, "Jaccard, own choices")["Linear"]
    pooled, differing = pool(judged, count), int((judged["stability"] != "alike").sum())
    stable = {penalty: _gain(pooled[pooled["penalty"] == penalty]["stability"]) for penalty in NEW}
    return [
        Finding(
            "These penalties have feature selection properties similar to those of common penalties.",
            "abstract",
            f"Supports of the penalty and of Linear on one resample: Jaccard similarity {_plain(alike)}; of two "
            f"resamples, both under Linear: {apart:.2f}. The former is higher on {closer} of {sets} data sets.",
            closer == sets if settled else None,
        ),
        Finding(
            "They are potentially more stable over the choice of hyper-parameter.",
            "abstract",
            f"{sets} data sets, {count} resamples, averages over data sets and differences from Linear: "
            f"{_sizes(compared, pooled)}. Better beyond chance by some measure and worse by none, on average: "
            f"{', '.join(name for name, gain in stable.items() if gain) or 'neither Square nor LogBarrier'}. (The "
            "spread of the logarithm of the hyper-parameter is in the section; it depends on the unit and is not "
            "judged.)",
            any(stable.values()) if settled else None,
        ),
        Finding(
            "They differ in their sensitivity toward hyper-parameters.",
            "conclusion",
            f"{differing} of {len(judged)} comparisons with Linear by data set and measure differ beyond chance: "
            + "; ".join(f"{penalty} {_tally(judged, penalty)}" for penalty in SHAPES if penalty != "Linear")
            + ".",
            differing > 0 if settled else None,
        ),
    ]


def _gain(words: "pd.Series[str]") -> bool:
    """Return whether a penalty is more stable by some measure and less by none."""
    return bool((words == "more").any() and not (words == "less").any())


def _sizes(compared: pd.DataFrame, pooled: pd.DataFrame) -> str:
    """Return the average of each judged measure under `Linear`, and by how much the others differ."""
    parts = []
    for measure in JUDGED:
        rows = pooled[pooled["measure"] == measure]
        numbers = zip(rows["penalty"], rows["difference"], rows["difference error"], strict=True)
        others = ", ".join(f"{penalty} {with_error(difference, error, '+')}" for penalty, difference, error in numbers)
        parts.append(f"{measure} {plain(_means(compared, measure)['Linear'])} ({others})")
    return "; ".join(parts)


def _plain(values: dict[str, float]) -> str:
    return ", ".join(f"{value:.2f} ({name})" for name, value in values.items() if name != "Linear")


def _closer(compared: pd.DataFrame) -> int:
    """Return on how many sets every penalty is closer to `Linear` than two resamples under `Linear` are."""
    wide = compared.pivot_table(index=["set", "penalty"], columns="measure", values="value")
    within = wide["Jaccard with Linear"].groupby("set").min()
    between = wide["Jaccard, own choices"].xs("Linear", level="penalty")
    return int((within >= between).sum())
