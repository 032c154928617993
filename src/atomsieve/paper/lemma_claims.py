"""What the tables of `lemmas.py` say of Property 2, the conjugate pairs and the lemmas of the appendix."""

# ruff: noqa: RUF001 -- formulas have Greek letters

import numpy as np
import pandas as pd

from atomsieve.paper.conjugates import polygon
from atomsieve.paper.experiment import Finding, Tables, rows_of
from atomsieve.paper.numbers import plain, signed
from atomsieve.paper.synthetic import listed

ROUNDING = 1e-12
"""Doubles may differ by this part of their size."""


def judged(tables: Tables) -> list[Finding]:
    """Judge every statement, in the order of the paper."""
    judges = (
        convex,
        as_printed,
        derivative,
        monomials,
        barrier,
        below_zero,
        diameter,
        diameter_with_zero,
        one_step,
        averaged,
        induction,
        bracket,
        helper,
        gap_bound,
        steps,
    )
    return [judge(tables) for judge in judges]


def convex(tables: Tables) -> Finding:
    """Judge the first half of Property 2 for penalties that are convex and closed."""
    rows = tables["maximisers"]
    worst = max(rows.missed.max(), rows.exceeded.max())
    return Finding(
        "φ*(ν) is finite and attained for all ν ≥ 0, if φ is closed and convex and Assumption 1 holds.",
        "Property 2, first part",
        f"{len(rows)} random penalties of {rows.penalty.nunique()} kinds and slopes: each has a finite maximiser, "
        f"where νξ − φ(ξ) is φ*(ν) but for {plain(rows.missed.max(), 1)} of its size, and no other ξ does better. "
        "(Ball and barrier are infinite beyond C and have no subgradients there, so that Assumption 1 leaves them out "
        "as it is printed; what serves for all is φ(ξ)/ξ → ∞.)",
        bool(rows.finite.all() and worst <= ROUNDING),
    )


def as_printed(tables: Tables) -> Finding:
    """Judge the first half of Property 2 as it is printed, without convexity."""
    row = tables["jump"].iloc[0]
    against = row.touched and row.grown and not row.attained
    return Finding(
        "Assumption 1 ensures that φ*(ν) is attained for all ν ≥ 0.",
        "Property 2, first part, as printed (slip 7)",
        "φ = ξ²/2 for ξ < 1 and ξ²/2 + 1 from there on is non-decreasing, grows quadratically and has the subgradient "
        "k at every k ≥ 3: both assumptions hold. At ν = 6/5 the supremum 7/10 is approached as ξ rises to 1 (at "
        f"1 − 10⁻⁹, {plain(row.missing, 1)} of it is missing) and attained nowhere. The proof says *by convexity*; φ "
        "must be assumed convex and closed.",
        False if against else None,
    )


def derivative(tables: Tables) -> Finding:
    """Judge the second half of Property 2."""
    rows = tables["slopes"]
    return Finding(
        "If φ(ξ) ≥ μξ² − φ₀, then (φ*)′(ν) ≤ ν/μ + ξ₀ for some finite ξ₀.",
        "Property 2, second part",
        f"With ξ₀ = √((φ(0) + φ₀)/μ) it holds at all {rows.points.sum()} points of {len(rows)} random convex φ, in "
        f"rational arithmetic; the largest share of ξ₀ that is used is {rows.used.max():.2f}. The factor 1/μ is the "
        f"best one: on a polygon inscribed in μξ², (φ*)′(ν) comes to {polygon():.3f} ν/μ. (The proof has φ₀ as large "
        "as possible and +φ₀; it must be as small as possible and −φ₀, and φ = ξ² + 1/(1 + ξ²) shows that φ need not "
        "touch the parabola. Compare νξ − φ(ξ) with its value at 0 instead. *Nonexpansive* must "
        "read: of linear growth.)",
        bool(rows.held.all()),
    )


def monomials(tables: Tables) -> Finding:
    """Judge the conjugate pair of the monomials."""
    rows, ends = tables["monomials"], tables["ends"]
    return Finding(
        "ξᵅ/α and νᵝ/β with 1/α + 1/β = 1 are a conjugate pair, for 1 ≤ α, β ≤ ∞.",
        "Section 2.4, monomials",
        f"{len(rows)} random α from {rows.alpha.min():.2f} to {rows.alpha.max():.0f}: νξ ≤ ξᵅ/α + νᵝ/β, with equality "
        "at ν = ξᵅ⁻¹, in rational arithmetic. At α = 1 and ∞ the pair is that of the limits, at ν = "
        f"{listed([float(nu) for nu in ends.nu])}. The library's conjugate differs by {plain(rows.library.max(), 1)} "
        "of itself at most.",
        bool(rows.met.all() and (rows.least >= 0).all() and ends.met.all() and rows.library.max() <= ROUNDING),
    )


def barrier(tables: Tables) -> Finding:
    """Judge the conjugate of the log-barrier."""
    rows = tables["barrier"]
    return Finding(
        "The barrier has the conjugate Cν − β⁻¹ log(Cβν + 1), achieved at ξ = C²βν/(Cβν + 1).",
        "Section 2.4, barrier functions",
        f"{len(rows)} random C, β and ν > 0: at the printed ξ the slope of φ is ν, the terms without logarithm add up "
        "to Cν and the logarithm is that of Cβν + 1, all three in rational arithmetic. No other ξ does better, and the "
        f"library's conjugate differs by {plain(rows.library.max(), 1)} of Cν at most.",
        bool(rows.met.all() and (rows.least >= -ROUNDING).all() and rows.library.max() <= ROUNDING),
    )


def below_zero(tables: Tables) -> Finding:
    """Judge the range in which the formulas of the barrier are said to hold."""
    rows = tables["barrier"]
    outside = int((rows.maximiser_below < 0).sum())
    undefined = int((~rows.defined_below).sum())
    return Finding(
        "For all C, β > 0 and ν ≠ −1/(Cβ), both φ* and its maximiser exist and are finite.",
        "Section 2.4, barrier functions (slip 14)",
        f"For {len(rows)} random ν < 0 the printed maximiser is negative, outside the domain of φ, in {outside} cases, "
        f"and the logarithm has no value in {undefined}. For ν ≤ 0 it must read φ*(ν) = 0, at ξ = 0. (σ(z) < 0 occurs "
        "where 0 is not in P.)",
        outside == 0 and undefined == 0,
    )


def diameter(tables: Tables) -> Finding:
    """Judge the lemma on the diameter as it is printed."""
    rows = tables["diameters"]
    broken = rows[~rows.printed_holds]
    return Finding(
        "diam(P) κ(x) ≥ ‖x‖₂ for any closed convex P.",
        "Lemma 2 (slip 15)",
        f"On {len(rows)} random polytopes that do not contain 0 it is broken at {len(broken)}, by a factor of "
        f"{rows.printed.max():.1f} at most, in rational arithmetic. The smallest case: P = [1, 2] has diameter 1, and "
        "κ(2) = 1. The ball of the proof must be centred at 0, which has to be in P.",
        broken.empty,
    )


def diameter_with_zero(tables: Tables) -> Finding:
    """Judge the lemma on the diameter with 0 in P, and its sharper form."""
    rows = tables["diameters"]
    return Finding(
        "diam(P) κ(x) ≥ ‖x‖₂ if 0 is in P.",
        "Lemma 2, with what its proof needs",
        f"It holds on all {len(rows)} polytopes once 0 is a vertex too, which leaves κ as it is; so does max‖p‖ κ(x) ≥ "
        f"‖x‖₂, with or without 0. The largest ratios of the two sides are {rows.with_zero.max():.2f} and "
        f"{rows.longest.max():.2f}.",
        bool(rows.with_zero_holds.all() and rows.longest_holds.all()),
    )


def one_step(tables: Tables) -> Finding:
    """Judge the bound on the change of the objective in one step."""
    rows, small = tables["one_step"], tables["one_dimension"].iloc[0]
    kept = bool(rows.right.max() <= 1 and small.change <= small.right)
    worst = [
        f"{plain(part.printed.max())} at λ = {strength:g}" for strength, part in rows.groupby("strength") if len(part)
    ]
    return Finding(
        "g(x⁺) − g(x) ≤ −θ gap + θ²/2 · (6L σ(z* + ν₀)² + 3L² Δ + 3L² Δ̄).",
        "Lemma 9 (slip 16)",
        f"f = x²/2 − x, φ = μs²/2, μ = 1/10, second step: g(x⁺) − g(x) + θ gap = {small.change:.0f}, the bound is "
        f"{small.printed:.0f}. On the synthetic data it is broken at {int((rows.printed > 1).sum())} of {len(rows)} "
        f"steps; left over right is at most {listed(worst)}. The statement has lost the 1/μ² of its proof, (a + a + b "
        "+ c)² has four terms (at a = b = c = 1 it is 16, not at most 6 + 3 + 3), and the lemma it rests on lacks a 2 "
        "(slip 10). Right: −θ gap + (4Lθ²/μ²)((σ(z*) + μξ₀)² + LΔ + LΔ̄) for t ≥ 2, "
        f"{'kept' if kept else 'broken too'}: at most {rows.right.max():.2f} of it is used.",
        bool((rows.printed <= 1).all() and small.change <= small.printed),
    )


def averaged(tables: Tables) -> Finding:
    """Judge the bound on the averaged error."""
    rows = tables["averaged"]
    ratios = [f"{row.exact / row.printed:.2f} (t = {row.t})" for row in rows_of(rows)]
    used = (rows.exact / rows.right).max()
    return Finding(
        "If Δ ≤ G/t up to now, then Δ̄ ≤ 4Gt/(9(t+1)²) ≤ G/(2t).",
        "Lemma 10, averaged error (slip 17)",
        f"For Δ = G/t, Δ̄ over G/(2t) is {listed(ratios)}. A factor 2 is lost, and the sum of √t is at least its "
        f"integral, not at most. Right: Δ̄ ≤ 2G/(t+1), by Jensen; at most {used:.2f} of it is used.",
        bool((rows.exact <= rows.printed).all()),
    )


def induction(tables: Tables) -> Finding:
    """Judge the constants of the induction."""
    largest = tables["inductions"].groupby("kind").largest.max()
    kept = f"comes to 1 − {plain(1 - largest['right'], 1)}" if largest["right"] < 1 else "breaks too"
    return Finding(
        "With t̄ > 12B and G > 24A the recursion keeps Δ ≤ G/t.",
        "Lemma 10, induction (slip 17)",
        f"The recursion with equality, from Δ = G/t up to 12B on: tΔ/G comes to {largest['printed']:.2f} with the 2/3 "
        f"of the induction and to {largest['halved']:.1f}, growing, with the 1/2 of the statement (B = 1, 4 and 16). "
        f"With 2/3 and t̄ ≥ 48B it {kept}; A = 4L(σ(z*) + μξ₀)²/μ² and B = 4L²/μ². The rate O(1/t) "
        "stands.",
        bool(largest["printed"] <= 1 and largest["halved"] <= 1),
    )


def bracket(tables: Tables) -> Finding:
    """Judge the first half of the helper of the gap bound."""
    rows = tables["helper"]
    kept = "always" if rows.bracket_proven.all() else "not always"
    return Finding(
        "k̄ = ⌈D(k+D)/(D+T₁)⌉ − D gives D/(D+T₁) ≤ (k̄+D)/(k+D) ≤ D/(D+T₂), for 0 < T₂ < T₁ and k > T₁.",
        "Lemma 11, first part (slip 18)",
        f"The right half is broken for {int((~rows.bracket).sum())} of {len(rows)} random D, T₁ and T₂, such as 1, 2 "
        f"and 1.9 at k = 3 (1/2 against 1/2.9). From k + D ≥ (D+T₁)(D+T₂)/(D(T₁−T₂)) on it holds {kept}.",
        bool(rows.bracket.all()),
    )


def helper(tables: Tables) -> Finding:
    """Judge the second half of the helper of the gap bound."""
    rows = tables["helper"]
    kept = "always negative" if (rows.right < 0).all() else "not always negative"
    return Finding(
        "If C₁(D+T₁)/D ≤ C₃ log((D+T₂)/D), the sum of C₁/(D+k̄) and of C₂/(D+i)² − C₃/((D+i)(D+k)) is negative.",
        "Lemma 11 (slip 18)",
        f"It is positive for {int((rows.printed > 0).sum())} of {len(rows)} random constants: the condition does not "
        "contain C₂, since the proof has the sum of 1/(D+i)² bounded by a negative number. With C₁(D+T₁)/D + "
        f"C₂(2(D+T₁)/D − 1) on the left it is {kept} (at most {signed(float(rows.right.max()))}/(D+k)).",
        bool((rows.printed < 0).all()),
    )


def gap_bound(tables: Tables) -> Finding:
    """Judge the constant of the gap bound."""
    rows = tables["gap_bounds"]
    kept = (
        f"holds for all, with {rows.right.max():.2f} of it used at most" if (rows.right <= 1).all() else "is broken too"
    )
    return Finding(
        "min gap ≤ G₄/(t+D) for G₄ ≥ (G₁/G₂)(D+2)/(D log((D+1)/D)).",
        "Lemma 12 (slip 19)",
        f"Broken for {int((rows.printed > 1).sum())} of {len(rows)} random sequences that satisfy its hypotheses, by a "
        f"factor of {plain(rows.printed.max())} at most: G₄ must grow with G₃ and α. The smallest case: D = G₁ = 1, G₂ "
        "= 2, G₃ = 10, Δ = 1/(t+1) and gaps of 20/(t+1), where the printed G₄ is 2.2. With G₄ = (G₁(D+2) + (αG₁G₂ + "
        f"G₃G₂²)(D+4))/(G₂ D log((D+1)/D)) and t ≥ 5 the bound {kept}. The rate O(1/t) stands.",
        bool((rows.printed <= 1).all()),
    )


def steps(_: Tables) -> Finding:
    """Judge the steps of the appendix."""
    sizes = pd.Series(4 / (np.arange(1, 4) + 2))
    return Finding(
        "θ = 4/(t+2) is a step in [0, 1].",
        "Appendix, Theorem 1 (slip 5)",
        f"θ is {listed([plain(size, 3) for size in sizes])} at t = 1, 2 and 3: the first is no convex combination, "
        "which Lemma 9 needs, and Lemmas 9 and 10 are proven for 2/(t+1). The experiments take min(1, θ).",
        bool((sizes <= 1).all()),
    )
