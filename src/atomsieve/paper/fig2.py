"""Figure 2: the residuals of one run (p = 2, lambda = 1), their rates, and the moment each certificate closes."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from atomsieve import GCG, OpenLoop, Problem, solve
from atomsieve.paper.cache import Cache
from atomsieve.paper.experiment import Finding, Progress, Section, Settings, Tables
from atomsieve.paper.fig2_claims import by_key, judged, when
from atomsieve.paper.numbers import plain, power, signed
from atomsieve.paper.pictures import picture, spaced
from atomsieve.paper.report import figure, table
from atomsieve.paper.synthetic import DATA, Optimum, fitted_slope, stated, steps_of

STEPS = {"2/(t+1)": OpenLoop(2, 1), "4/(t+2)": OpenLoop(4, 2)}
"""The steps of the paper's main text and those of its appendix."""

QUANTITIES = {
    "objective_error": "objective error",
    "gap": "duality gap",
    "smallest_gap": "smallest gap so far",
    "gradient_error": "gradient error σ(z − z*)",
    "squared_error": "its square",
}


@dataclass(frozen=True)
class Residuals:
    """How the objective, the gap and the gradient converge, and when each of them settles the support."""

    name: str = "fig2"
    title: str = "Figure 2 (3 in the paper): residuals, and the moment each certificate closes"

    def settings(self, quick: bool) -> Settings:
        return DATA | {"strength": 1.0, "iterations": 1_000 if quick else 10_000}

    def run(self, settings: Settings, cache: Cache, progress: Progress) -> Tables:
        problem = stated(settings, settings["strength"])
        iterations = settings["iterations"]
        total = len(STEPS) + 2
        progress(0, total, "the solution")
        optimum = Optimum.of(problem)
        runs = {}
        for done, (rule, step) in enumerate(STEPS.items(), start=1):
            progress(done, total, f"steps {rule}")
            measure = partial(residuals, problem, optimum, GCG(step), iterations)
            runs[rule] = cache.step(f"fig2-{rule}", settings | {"step": rule}, measure)
        progress(len(STEPS) + 1, total, "the rule in data space")
        auto = cache.step("fig2-auto", settings, partial(screened, problem, iterations))
        progress(total, total, "all residuals")
        main, appendix = runs.values()
        known = constants(problem, optimum)
        moments = closing(main, auto, known)
        return {"residuals": main, "appendix": appendix, "constants": known, "moments": moments, "slopes": rates(runs)}

    def draw(self, tables: Tables, folder: Path) -> list[str]:
        return picture(folder, self.name, (6.4, 5.4), lambda canvas: paint(canvas, tables))

    def section(self, tables: Tables) -> Section:
        rates = tables["slopes"].pivot(index="quantity", columns="step", values="slope").map(signed)
        moments = tables["moments"][["certificate", "t"]].copy()
        moments["t"] = [f"{t:.0f}" if t > 0 else "not yet" for t in moments["t"]]
        parts = [
            FIG2_WORDS,
            figure("fig2.png", caption(tables)),
            table(rates.loc[list(QUANTITIES.values())].reset_index()),
            "Exponents of t, fitted from t = 100 on, for the steps of the main text and for those of the appendix.",
            table(moments.rename(columns={"certificate": "what closes", "t": "first iteration"})),
        ]
        return Section(self.title, "\n\n".join(parts))

    def verdicts(self, tables: Tables) -> list[Finding]:
        return judged(tables)


def residuals(problem: Problem, optimum: Optimum, method: GCG, iterations: int) -> pd.DataFrame:
    """Run a method without screening, and measure every point against the solution.

    `left` counts what the paper's rule has not ruled out so far, `support_error` what it leaves or rules out in error,
    and `oracle_error` the same for a rule that knows the gradient error itself instead of its bound by the gap.
    """
    strength, size = problem.penalty.slope(1.0), float(np.abs(optimum.x).sum())
    loss = optimum.value - strength * size**2 / 2
    alive, rows = np.ones(problem.shape[0], dtype=bool), []

    def look(now: Any) -> None:
        point, t = now.point, now.iteration
        scores = np.abs(point.z)
        mass = point.state.mass
        error = float(np.abs(point.z - optimum.z).max())
        alive[scores.max() - scores > 2 * np.sqrt(problem.smoothness * now.gap)] = False
        oracle = scores.max() - scores <= 2 * error
        rows.append(
            {
                "t": t,
                "objective_error": now.objective - optimum.value,
                "loss_error": now.objective - strength * mass**2 / 2 - loss,
                "gap": now.gap,
                "gradient_error": error,
                "left": alive.sum(),
                "support_error": (alive != optimum.support).sum(),
                "oracle_error": (oracle != optimum.support).sum(),
            }
        )

    solve(problem, method, tol=0, max_iter=iterations, screening="off", callbacks=[look])
    frame = pd.DataFrame(rows)
    frame = frame[frame.t <= iterations]
    return frame.assign(smallest_gap=frame.gap.cummin(), squared_error=frame.gradient_error**2)


def screened(problem: Problem, iterations: int) -> pd.DataFrame:
    """Run the paper's method with the library's own rule, which compares atoms in pairs in data space."""
    result = solve(problem, GCG(), tol=0, max_iter=iterations, screening="auto", trace=True)
    return steps_of(result.trace, iterations)[["t", "gap", "alive"]]


def constants(problem: Problem, optimum: Optimum) -> pd.DataFrame:
    """Return the numbers of the problem that the theorems speak of."""
    found = {
        "strength": problem.penalty.slope(1.0),
        "smoothness": problem.smoothness,
        "delta": optimum.delta,
        "support": int(optimum.support.sum()),
        "decided": optimum.decided,
        "rounds": optimum.rounds,
    }
    return pd.DataFrame([found])


def closing(run: pd.DataFrame, auto: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Return the first iteration at which each certificate settles the support; 0 if none does."""
    quarter = known.delta[0] / 4
    smoothness = known.smoothness[0]
    support = known.support[0]
    met = {
        "gap": ("gap < δ/4 (as printed for MNIST)", run.smallest_gap < quarter),
        "oracle": ("the rule with the true gradient error leaves the support", run.oracle_error == 0),
        "gradient": ("gradient error < δ/4 (needs the solution)", run.gradient_error < quarter),
        "auto": ("the rule in data space leaves the support", auto.alive == support),
        "paper": ("the paper's rule leaves the support", run.support_error == 0),
        "bound": ("√(L gap) < δ/4 (Theorem 3)", np.sqrt(smoothness * run.smallest_gap) < quarter),
    }
    rows = [(key, words, int(run.t[hits.to_numpy()].min()) if hits.any() else 0) for key, (words, hits) in met.items()]
    return pd.DataFrame(rows, columns=["key", "certificate", "t"])


def rates(runs: Tables) -> pd.DataFrame:
    """Return the fitted exponent of every quantity, for every step rule."""
    rows = [
        {"step": rule, "key": key, "quantity": words, "slope": fitted_slope(run.t, run[key])}
        for rule, run in runs.items()
        for key, words in QUANTITIES.items()
    ]
    return pd.DataFrame(rows)


def paint(canvas: Figure, tables: Tables) -> None:
    """Draw residuals above, the error of the support below."""
    upper, lower = canvas.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    run = spaced(tables["residuals"])
    known = tables["constants"].iloc[0]
    moments = tables["moments"].set_index("key").t
    upper.loglog(run.t, run.objective_error, color="C0", label="objective error")
    upper.loglog(run.t, run.gap, color="C3", label="duality gap")
    upper.loglog(run.t, np.sqrt(known.smoothness * run.smallest_gap), color="C3", ls="--", label="√(L · smallest gap)")
    upper.loglog(run.t, run.gradient_error, color="C2", label="gradient error σ(z − z*)")
    upper.loglog(run.t, run.squared_error, color="C2", ls=":", label="its square")
    upper.axhline(known.delta / 4, color="0.4", lw=0.8)
    upper.annotate("δ/4", (run.t.iloc[-1], known.delta / 4), ha="right", va="bottom", color="0.4")
    for key, color in (("gradient", "C2"), ("bound", "C3")):
        if moments[key] > 0:
            upper.plot(moments[key], known.delta / 4, "o", ms=4, color=color)
    upper.set_ylabel("residual")
    upper.legend(loc="lower left")
    lower.step(run.t, run.support_error, where="post", color="C3", label="the paper's rule")
    lower.step(run.t, run.oracle_error, where="post", color="C2", label="with the true gradient error")
    lower.set_ylabel("support error")
    lower.set_xlabel("iteration t")
    lower.legend(loc="upper right")


FIG2_WORDS = """
One run with φ = λ s²/2. The solution, from the corrective method with every coefficient certified, gives the optimum,
the gradient z* and δ, the distance of the best score outside the support from those within. The support error counts
the coefficients that the rule leaves though they are zero in the solution.
""".strip()


def caption(tables: Tables) -> str:
    """Say what the figure shows."""
    slope = by_key(tables["slopes"])
    moment = tables["moments"].set_index("key").t
    known = tables["constants"].iloc[0]
    return (
        f"**Figure 2.** Residuals for λ = {known.strength:g}; δ/4 = {plain(known.delta / 4)}. The gap falls like "
        f"{power('t', slope['gap'])}; the objective error like {power('t', slope['objective_error'])}, the gradient "
        f"error like {power('t', slope['gradient_error'])}. The gradient error passes δ/4 {when(moment['gradient'])}, "
        f"its bound by the gap {when(moment['bound'])}; the paper's rule leaves exactly the {known.support} "
        f"coefficients of the support {when(moment['paper'])}, the rule in data space {when(moment['auto'])}."
    )


experiment = Residuals()
