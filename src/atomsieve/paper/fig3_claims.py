"""What the paper claims about screening, judged by the tables of Figure 3."""

import numpy as np
import pandas as pd

from atomsieve.paper.experiment import Finding, Tables, rows_of
from atomsieve.paper.numbers import plain, power
from atomsieve.paper.synthetic import listed


def judged(tables: Tables) -> list[Finding]:
    """Judge every claim."""
    judges = (aggressive, reversed_words, same_sparsity, safe, identified, unscreened, lingering, pessimistic)
    return [*(judge(tables["summary"]) for judge in judges), rate(tables["margins"])]


def exponent(delta: "pd.Series[float]", t: "pd.Series[int]") -> float:
    """Return the power of delta that fits t best."""
    return float(np.polyfit(np.log(delta), np.log(t), 1)[0]) if len(t) > 1 else np.nan


def aggressive(rows: pd.DataFrame) -> Finding:
    """Judge the caption of the paper's figure."""
    left = rows.sort_values("strength").left
    measured = f"{listed(list(left))} variables left for λ = {listed(sorted(rows.strength))}."
    claim = "Screening is more aggressive for larger λ."
    return Finding(
        claim, "Figure 4, caption", measured, bool(left.is_monotonic_decreasing and left.iloc[-1] < left.iloc[0])
    )


def reversed_words(rows: pd.DataFrame) -> Finding:
    """Judge the sentence on slow screening as it is printed."""
    ordered = rows.sort_values("strength")
    least, largest = ordered.iloc[0], ordered.iloc[-1]
    excess = [f"{row.left - row.support:.0f}" for row in rows_of(ordered)]
    return Finding(
        "For larger values of λ screening may be much slower.",
        "Section 4.1 (slip 6)",
        f"Zeros not yet screened: {listed(excess)} for λ = {listed(list(ordered.strength))}. It must read *smaller*.",
        bool(largest.left - largest.support > least.left - least.support),
    )


def same_sparsity(rows: pd.DataFrame) -> Finding:
    """Judge the end of the same sentence."""
    return Finding(
        "Smaller and larger λ arrive at about the same final sparsity level.",
        "Section 4.1",
        f"The rule leaves {listed(list(rows.left))} variables, and the certified solutions have "
        f"{listed(list(rows.support))} non-zeros, for λ = {listed(list(rows.strength))}. The paper does not print its "
        "λ; these span five decades.",
        bool(rows.support.max() <= 2 * rows.support.min()),
    )


def safe(rows: pd.DataFrame) -> Finding:
    """Judge safety against certified supports."""
    measured = (
        f"{rows.lost.sum():.0f} of {rows.support.sum():.0f} certified non-zeros were screened, for {len(rows)} λ."
    )
    return Finding(
        "Screening is safe: S(t) contains the support, for all t.", "Theorem 2", measured, bool((rows.lost == 0).all())
    )


def identified(rows: pd.DataFrame) -> Finding:
    """Judge the identification theorem for every strength at which it speaks."""
    spoken = rows[rows.promised > 0]
    cases = [
        f"promised at t = {row.promised:.0f}, exact at t = {row.exact:.0f} (λ = {row.strength:g})"
        for row in rows_of(spoken)
    ]
    measured = f"{'; '.join(cases) or 'No promise within this run'}."
    kept = bool(((spoken.exact > 0) & (spoken.exact <= spoken.promised)).all()) if len(spoken) else None
    return Finding("S(t) is the support once √(L min gap) < δ/4.", "Theorem 3", measured, kept)


def rate(margins: pd.DataFrame) -> Finding:
    """Judge the rate of identification, on problems that differ in delta alone."""
    met = margins[margins.promised > 0]
    found = exponent(met.delta, met.promised)
    cases = [f"{row.promised} (δ = {plain(row.delta, 1)})" for row in rows_of(met)]
    return Finding(
        "The support is identified at the rate t = O(1/δ²).",
        "Theorem 3",
        f"√(L min gap) < δ/4 from iteration {listed(cases)} on: t grows like {power('δ', found, 1)}. (The abstract has "
        "O(1/(tδ²)), slip 6: a rate for t cannot contain t.)",
        None if len(met) < 3 else found >= -2.2,
    )


def unscreened(rows: pd.DataFrame) -> Finding:
    """Judge the remark that only screening can find the support."""
    found = list(rows.strength[rows.nonzero_errors == 0])
    return Finding(
        "With deterministic steps, finite-time support recovery without screening is impossible.",
        "Section 3",
        f"Without screening, the last x has exactly the non-zeros of the solution for λ = {listed(found)}: it is not "
        "impossible, only not guaranteed.",
        False if found else None,
    )


def lingering(rows: pd.DataFrame) -> Finding:
    """Judge the reason that is given for it."""
    wrong = [f"{row.nonzero_extra} at λ = {row.strength:g}" for row in rows_of(rows) if row.nonzero_extra]
    return Finding(
        "Atoms selected in error never fully diminish.",
        "Section 3",
        f"Coefficients of the last x that are zero in the solution: {listed(wrong) or 'none'}. (A run that ends can "
        "contradict this, or agree.)",
        True if wrong else None,
    )


def pessimistic(rows: pd.DataFrame) -> Finding:
    """Judge the remark that the gap makes the rule pessimistic."""
    late = rows[rows.left > rows.support]
    cases = [
        f"{row.left:.0f} left, {row.nonzero:.0f} non-zero in x, {row.support:.0f} in the support (λ = {row.strength:g})"
        for row in rows_of(late)
    ]
    return Finding(
        "The rule, though safe, can be pessimistic in practice.",
        "Section 4.1, Conclusion",
        f"{'; '.join(cases) or 'The support was found for every λ'}.",
        not late.empty,
    )
