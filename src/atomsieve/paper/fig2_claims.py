"""What the paper claims about residuals, judged by the tables of Figure 2."""

import numpy as np
import pandas as pd

from atomsieve.paper.experiment import Finding, Tables, rows_of
from atomsieve.paper.numbers import plain, signed
from atomsieve.paper.synthetic import fitted_slope


def when(t: float) -> str:
    """Return an iteration in words."""
    return f"at t = {t:.0f}" if t > 0 else "not within this run"


def by_key(slopes: pd.DataFrame) -> "pd.Series[float]":
    """Return the slopes for the steps of the main text."""
    return slopes[slopes.step == "2/(t+1)"].set_index("key").slope


def objective_rate(tables: Tables) -> Finding:
    """Judge Theorem 1, for f + h."""
    slope, run = by_key(tables["slopes"]).objective_error, tables["residuals"].iloc[-1]
    measured = (
        f"Slope {signed(slope)}, where −1 is promised. The error is {plain(run.objective_error)} at t = {run.t:.0f}."
    )
    return Finding("The objective error decays at the rate O(1/t).", "Theorem 1, Figure 3", measured, slope <= -0.9)


def loss_rate(tables: Tables) -> Finding:
    """Judge Theorem 1 as it is printed, for f alone."""
    run = tables["residuals"]
    below, slope = int((run.loss_error < 0).sum()), fitted_slope(run.t, run.loss_error.abs())
    return Finding(
        "f(x) − f(x*) = O(1/t).",
        "Theorem 1 (slip 8)",
        f"|f(x) − f(x*)| has slope {signed(slope)} here. But f(x) < f(x*) at {below} of {len(run)} iterates, by "
        f"{plain(-run.loss_error.min(), 1)} at most, so that this is no measure of error; the proof bounds f + h.",
        bool(slope <= -0.9),
    )


def gap_rate(tables: Tables) -> Finding:
    """Judge the rate of the gap, for both step rules."""
    slopes = tables["slopes"][tables["slopes"].key == "smallest_gap"]
    measured = "; ".join(f"{signed(row.slope)} for steps {row.step}" for row in rows_of(slopes))
    claim = "The smallest gap decays as O(1/t), with the steps 2/(t+1) of the text and 4/(t+2) of the appendix."
    return Finding(claim, "Theorem 1, Figure 3 (slip 5)", f"Slopes {measured}.", bool((slopes.slope <= -0.9).all()))


def gradient_rate(tables: Tables) -> Finding:
    """Judge the rate of the gradient error."""
    slope = by_key(tables["slopes"]).gradient_error
    measured = f"Slope {signed(slope)}, where −0.5 is promised."
    return Finding("The gradient error decays as O(1/√t).", "Figure 3, caption", measured, slope <= -0.45)


def pessimism(tables: Tables) -> Finding:
    """Judge the comparison of the gap with the squared gradient error."""
    slope = by_key(tables["slopes"])
    ratio = slope.squared_error / slope.gap
    return Finding(
        "The gap converges much more slowly than the squared gradient error, which is almost twice as fast.",
        "Section 4.1",
        f"Slopes {signed(slope.gap)} and {signed(slope.squared_error)}: {ratio:.2f} times as fast.",
        1.5 <= ratio <= 2.5,
    )


def gap_bounds_gradient(tables: Tables) -> Finding:
    """Judge the lemma behind the rule."""
    run, known = tables["residuals"], tables["constants"].iloc[0]
    ratio = run.gradient_error / np.sqrt(known.smoothness * run.gap)
    measured = (
        f"Largest ratio of the two sides over {len(run)} iterates: {ratio.max():.2f}; the last: {ratio.iloc[-1]:.3f}."
    )
    return Finding("res(x) ≤ √(L gap).", "Lemma 1", measured, bool(ratio.max() <= 1 + 1e-9))


def objective_bounds_gradient(tables: Tables) -> Finding:
    """Judge the lemma that bounds the gradient error by the objective error, as it is printed."""
    run, known = tables["residuals"], tables["constants"].iloc[0]
    run = run[run.objective_error > 1e-14]
    ratio = run.gradient_error**2 / (known.smoothness * run.objective_error)
    broken = int((ratio > 1 + 1e-6).sum())
    return Finding(
        "f(x) − f(x*) + h(x) − h(x*) ≥ res(x)²/L.",
        "Lemma 8, gradient suboptimality bound (slip 10)",
        f"Broken at {broken} of {len(run)} iterates (largest ratio of the two sides {ratio.max():.2f}; with "
        f"1/(2L), {ratio.max() / 2:.2f}).",
        broken == 0,
    )


def gradient_identifies(tables: Tables) -> Finding:
    """Judge the caption of the paper's figure."""
    run = tables["residuals"]
    known = tables["constants"].iloc[0]
    moment = tables["moments"].set_index("key").t
    hit = run[run.gradient_error < known.delta / 4]
    return Finding(
        "When the gradient error dips below δ/4 the support error is 0; the gap takes longer to reach this point.",
        "Figure 3, caption",
        f"Gradient error below δ/4 {when(moment['gradient'])}, √(L gap) {when(moment['bound'])}. While it is below, "
        f"the rule with the true gradient error errs by {hit.oracle_error.max():.0f} coefficients at most.",
        bool((hit.oracle_error == 0).all() and 0 < moment["gradient"] < moment["bound"]) if len(hit) else None,
    )


def gap_alone(tables: Tables) -> Finding:
    """Judge the condition as it is printed in the section on MNIST."""
    run = tables["residuals"]
    known = tables["constants"].iloc[0]
    moment = tables["moments"].set_index("key").t
    early = run[(run.smallest_gap < known.delta / 4) & (run.support_error > 0)]
    measured = (
        f"The gap is below δ/4 {when(moment['gap'])}, when {early.support_error.max():.0f} coefficients too many are "
        "left; it must read √(L gap) < δ/4."
        if len(early)
        else f"The gap is below δ/4 {when(moment['gap'])}."
    )
    return Finding("Support is settled once gap < δ/4.", "Section 4.2 (slip 6)", measured, early.empty)


def judged(tables: Tables) -> list[Finding]:
    """Judge every claim."""
    judges = (
        objective_rate,
        loss_rate,
        gap_rate,
        gradient_rate,
        pessimism,
        gap_bounds_gradient,
        objective_bounds_gradient,
        gradient_identifies,
        gap_alone,
    )
    return [judge(tables) for judge in judges]
