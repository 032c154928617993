"""Figure 3: unscreened variables per iteration for strengths over five decades, and what more certificates tell."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from atomsieve import GCG, Problem, solve
from atomsieve.paper.cache import Cache
from atomsieve.paper.experiment import Finding, Progress, Section, Settings, Tables, rows_of
from atomsieve.paper.fig3_claims import exponent, judged
from atomsieve.paper.numbers import plain, power
from atomsieve.paper.pictures import picture, spaced
from atomsieve.paper.report import figure, table
from atomsieve.paper.synthetic import DATA, Optimum, gaussian, listed, stated, steps_of


@dataclass(frozen=True)
class Screening:
    """How many variables the paper's rule leaves, beside the support of the certified solution."""

    name: str = "fig3"
    title: str = "Figure 3 (4 in the paper): screening for strengths over five decades"

    def settings(self, quick: bool) -> Settings:
        return DATA | {
            "strengths": [0.001, 0.01, 0.1, 1.0, 10.0],
            "iterations": 1_000 if quick else 10_000,
            "margin_strength": 1.0,
            "margins": [1.0, 0.5, 0.25] if quick else [1.0, 0.5, 0.25, 0.125, 0.0625],
        }

    def run(self, settings: Settings, cache: Cache, progress: Progress) -> Tables:
        strengths, shared = settings["strengths"], {key: settings[key] for key in (*DATA, "iterations")}
        traces = []
        rows = []
        total = len(strengths) + 1
        for done, strength in enumerate(strengths):
            progress(done, total, f"λ = {strength:g}")
            problem, own = stated(settings, strength), shared | {"strength": strength}
            trace = cache.step(f"fig3-strength={strength:g}", own, partial(traced, problem, settings["iterations"]))
            facts = cache.step(
                f"fig3-facts-strength={strength:g}", own, partial(known, problem, settings["iterations"])
            )
            traces.append(trace.assign(strength=strength))
            rows.append({"strength": strength} | facts.iloc[0].to_dict() | summary(trace, facts.iloc[0]))
        progress(len(strengths), total, "varying δ")
        own = shared | {key: settings[key] for key in ("margin_strength", "margins")}
        margins = cache.step("fig3-margins", own, partial(narrowed, settings))
        progress(total, total, "all strengths")
        return {"screening": pd.concat(traces, ignore_index=True), "summary": pd.DataFrame(rows), "margins": margins}

    def draw(self, tables: Tables, folder: Path) -> list[str]:
        return picture(folder, self.name, (6.4, 3.8), lambda canvas: paint(canvas, tables))

    def section(self, tables: Tables) -> Section:
        rows = tables["summary"]
        text = [
            FIG3_WORDS,
            figure("fig3.png", caption(rows)),
            table(shown(rows)),
            forecast(rows),
            narrowing(tables["margins"]),
        ]
        return Section(self.title, "\n\n".join(text))

    def verdicts(self, tables: Tables) -> list[Finding]:
        return judged(tables)


def traced(problem: Problem, iterations: int) -> pd.DataFrame:
    """Run the paper's method with the paper's rule."""
    result = solve(problem, GCG(), tol=0, max_iter=iterations, screening="paper", trace=True)
    return steps_of(result.trace, iterations)[["t", "gap", "alive"]]


def known(problem: Problem, iterations: int) -> pd.DataFrame:
    """Return the certified solution's facts, and what other rules, or none, leave after as many iterations."""
    optimum = Optimum.of(problem)
    paper, auto, off = (
        solve(problem, GCG(), tol=0, max_iter=iterations - 1, screening=rule) for rule in ("paper", "auto", "off")
    )
    found = {
        "support": int(optimum.support.sum()),
        "decided": optimum.decided,
        "rounds": optimum.rounds,
        "delta": optimum.delta,
        "smoothness": problem.smoothness,
        "lost": int((optimum.support & ~paper.alive).sum()),
        "left_auto": int(auto.alive.sum()),
        "nonzero": int(np.count_nonzero(off.x)),
        "nonzero_errors": int(((off.x != 0) != optimum.support).sum()),
        "nonzero_extra": int(((off.x != 0) & ~optimum.support).sum()),
    }
    return pd.DataFrame([found])


def summary(trace: pd.DataFrame, facts: "pd.Series[Any]") -> dict[str, Any]:
    """Return what the rule left, when it left the support alone, and when the theorem would have promised it.

    The promise is `sqrt(L min gap) < delta / 4`; beyond the run it is extrapolated from `min gap * t` at the end.
    """
    smallest, needed = trace.gap.cummin(), facts.delta**2 / (16 * facts.smoothness)
    exact, promised = trace.t[trace.alive == facts.support], trace.t[smallest < needed]
    level = float(smallest.iloc[-1] * trace.t.iloc[-1])
    return {
        "iterations": int(trace.t.iloc[-1]),
        "left": int(trace.alive.iloc[-1]),
        "gap": smallest.iloc[-1],
        "exact": int(exact.min()) if len(exact) else 0,
        "promised": int(promised.min()) if len(promised) else 0,
        "forecast": level / needed,
    }


def narrowed(settings: Settings) -> pd.DataFrame:
    """Return when the support is found on problems that differ in delta alone.

    Enlarging the column with the best score outside the support changes nothing in the solution but brings that score,
    and with it delta, closer to those of the support.
    """
    strength = settings["margin_strength"]
    iterations = settings["iterations"]
    design = gaussian(settings)
    optimum = Optimum.of(stated(settings, strength))
    scores = np.where(optimum.support, 0.0, np.abs(optimum.z))
    rival, rows = int(scores.argmax()), []
    for margin in settings["margins"]:
        column = np.where(np.arange(design.shape[1]) == rival, 1 + (1 - margin) * optimum.delta / scores[rival], 1.0)
        problem = stated(settings, strength, design=design * column)
        again = Optimum.of(problem)
        facts = {"support": int(again.support.sum()), "delta": again.delta, "smoothness": problem.smoothness}
        moments = summary(traced(problem, iterations), pd.Series(facts))
        rows.append(facts | {key: moments[key] for key in ("exact", "promised")})
    return pd.DataFrame(rows)


def paint(canvas: Figure, tables: Tables) -> None:
    """Draw one staircase for each strength, and the true size of each support at the right edge.

    Where staircases coincide the weaker penalty shows on both sides of the stronger one, being drawn broader.
    """
    axes, rows = canvas.subplots(), tables["summary"]
    for place, row in enumerate(rows_of(rows)):
        curve = spaced(tables["screening"][tables["screening"].strength == row.strength])
        color = mpl.colormaps["viridis_r"](0.1 + 0.9 * place / max(len(rows) - 1, 1))
        width = 1.3 * 1.7 ** (len(rows) - 1 - place)
        axes.step(curve.t, curve.alive, where="post", color=color, lw=width, label=f"λ = {row.strength:g}")
        axes.plot(1.15 * row.iterations, row.support, "<", color=color, ms=7, mec="w", mew=0.6, clip_on=False, zorder=5)
    axes.plot([], [], "<", color="0.4", ms=7, label="support")
    axes.set_xscale("log")
    axes.set_xlim(1, 1.15 * rows.iterations.max())
    axes.set_ylim(0, None)
    axes.set_xlabel("iteration t")
    axes.set_ylabel("variables not screened")
    axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5))


def shown(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the summary as it stands in the report."""
    return pd.DataFrame(
        {
            "λ": rows.strength.map("{:g}".format),
            "left by the paper's rule": rows.left,
            "left by the rule in data space": rows.left_auto,
            "non-zeros of x without screening": rows.nonzero,
            "support, certified": rows.support,
            "support exact from": [f"t = {t}" if t else "not yet" for t in rows.exact],
            "promised by Theorem 3 from": [
                f"t = {row.promised}" if row.promised else f"about t = {plain(row.forecast, 1)}"
                for row in rows_of(rows)
            ],
            "rounds of Corrective": rows.rounds,
        }
    )


FIG3_WORDS = """
The paper's rule during the paper's method, with φ = λ s²/2. Marks at the right edge are the sizes of the supports of
the solutions, which the corrective method finds and a certificate proves coefficient by coefficient. The smaller λ, the
broader its line, so that none hides another.
""".strip()


def caption(rows: pd.DataFrame) -> str:
    """Say what the figure shows."""
    closed = list(rows.strength[rows.left == rows.support])
    still = [
        f"{row.left - row.support:.0f} too many at λ = {row.strength:g}"
        for row in rows_of(rows)
        if row.left > row.support
    ]
    rest = f"; it still leaves {listed(still)}" if still else ""
    return (
        f"**Figure 3.** Variables that the paper's rule leaves. After {rows.iterations.max()} iterations "
        f"{listed(list(rows.left))} are left for λ = {listed(list(rows.strength))}, and {listed(list(rows.support))} "
        f"are in the support: the rule has found it for λ = {listed(closed)}{rest}."
    )


def forecast(rows: pd.DataFrame) -> str:
    """Tell what the plain method would still need, and what the corrective method took."""
    late = rows[rows.promised == 0]
    if late.empty:
        return f"The corrective method settles every strength in {rounds(rows)} at most."
    needs = [f"{plain(row.forecast, 1)} iterations at λ = {row.strength:g}" for row in rows_of(late)]
    return (
        f"At its rate the plain method would need about {listed(needs)} before √(L gap) < δ/4, the moment at which the "
        f"theorem promises the support. The corrective method with certificates decides every coefficient in "
        f"{rounds(rows)} at most, because the rule does not care how a point was found."
    )


def rounds(rows: pd.DataFrame) -> str:
    """Return the largest number of rounds, in words."""
    most = int(rows.rounds.max())
    return f"{most} round{'s' * (most > 1)}"


def narrowing(margins: pd.DataFrame) -> str:
    """Tell how the support is found later as delta shrinks."""
    frame = pd.DataFrame(
        {
            "δ": [plain(delta) for delta in margins.delta],
            "support exact from": [f"t = {t}" if t else "not yet" for t in margins.exact],
            "promised by Theorem 3 from": [f"t = {t}" if t else "not yet" for t in margins.promised],
        }
    )
    met = margins[margins.promised > 0]
    words = (
        "Enlarging one column outside the support shrinks δ and leaves the solution as it is. The theorem allows the "
        f"promise to come later like 1/δ²; it comes like {power('δ', exponent(met.delta, met.promised), 1)}."
    )
    return f"{words}\n\n{table(frame)}"


experiment = Screening()
