"""Statements of the paper that no figure shows, checked by numbers: its formulas, its properties, its slips."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from atomsieve import GCG, L1, L2, Atoms, Image, Logistic, Problem, Scaled, Square, solve
from atomsieve.paper.cache import Cache
from atomsieve.paper.experiment import Finding, Progress, Section, Settings, Tables
from atomsieve.paper.numbers import plain
from atomsieve.paper.synthetic import DATA, Optimum, gaussian, listed, stated
from atomsieve.typing import Array


@dataclass(frozen=True)
class Errata:
    """One number, or two, for every statement."""

    name: str = "errata"
    title: str = "Errata: formulas, properties and slips"

    def settings(self, quick: bool) -> Settings:
        return DATA | {"strength": 0.1, "iterations": 500 if quick else 2_000}

    def run(self, settings: Settings, cache: Cache, progress: Progress) -> Tables:
        design, facts = gaussian(settings), []
        for done, check in enumerate(CHECKS):
            progress(done, len(CHECKS), check.__name__.replace("_", " "))
            facts.append(cache.step(f"errata-{check.__name__}", settings, partial(one_row, check, settings, design)))
        progress(len(CHECKS), len(CHECKS), "all statements")
        return {"facts": pd.concat(facts, axis=1)}

    def draw(self, tables: Tables, folder: Path) -> list[str]:  # noqa: ARG002 -- numbers only
        return []

    def section(self, tables: Tables) -> Section:
        failed = [verdict.where for verdict in self.verdicts(tables) if not verdict.holds]
        end = f"Not as printed: {listed(failed)}." if failed else "All hold as printed."
        return Section(self.title, f"{ERRATA_WORDS} {end}")

    def verdicts(self, tables: Tables) -> list[Finding]:
        facts: Any = tables["facts"].iloc[0]
        return [*formulas(facts), *properties(facts), *conditions(facts)]


ERRATA_WORDS = """
Most slips of the paper show in its figures. These are the others, with the properties that the theorems rest on, each
put to the test on the synthetic data or on the smallest problem that tells.
""".strip()


def one_row(check: Any, settings: Settings, design: Array) -> pd.DataFrame:
    """Return the numbers of a check as a table."""
    return pd.DataFrame([check(settings, design)])


def constant_of_smoothness(settings: Settings, design: Array) -> dict[str, float]:
    """Compare L with and without the weights 1/n, and what the rule leaves with either."""
    problem = stated(settings, settings["strength"], design=design)
    printed = 0.25 * float((design**2).sum(axis=0).max())
    left = {value: np.ones(problem.shape[0], dtype=bool) for value in (problem.smoothness, printed)}

    def look(now: Any) -> None:
        scores = np.abs(now.point.z)
        for value, alive in left.items():
            alive[scores.max() - scores > 2 * np.sqrt(value * now.gap)] = False

    solve(problem, GCG(), tol=0, max_iter=settings["iterations"], screening="off", callbacks=[look])
    true_left, printed_left = (int(alive.sum()) for alive in left.values())
    return {"L": problem.smoothness, "L_printed": printed, "left": true_left, "left_printed": printed_left}


def size_of_atoms(settings: Settings, design: Array) -> dict[str, float]:
    """Compare L for atoms ten times as large with the paper's bound, diam(P) L_2."""
    y = np.ones(len(design))
    large = Problem(design, y, loss=Logistic(), gauge=Scaled(L1(), 10.0), penalty=Square(settings["strength"]))
    euclidean = Problem(design, y, loss=Logistic(), gauge=L2(), penalty=Square(settings["strength"]))
    return {
        "L_large": large.smoothness,
        "diam_bound": 20 * euclidean.smoothness,
        "square_bound": 100 * euclidean.smoothness,
    }


def chain_of_norms(_: Settings, design: Array) -> dict[str, float]:
    """Compare the paper's constants of the quadratic for three norms, as multiples of each other."""
    norms = np.linalg.norm(design, axis=0)
    d = len(norms)
    return {"d2L1": d**2 * norms.max() ** 2, "dL2": d * np.linalg.norm(design, 2) ** 2, "Linf": norms.sum() ** 2}


def signs_of_the_loss(_: Settings, design: Array) -> dict[str, float]:
    """Evaluate the loss as printed at 0 and halfway between two opposite points."""
    u = design @ np.ones(design.shape[1])

    def printed(v: Array) -> float:
        return -float(np.logaddexp(0.0, v).mean())

    return {"middle": printed(0 * u), "mean_of_ends": (printed(u) + printed(-u)) / 2}


def margin(settings: Settings, design: Array) -> dict[str, float]:
    """Compute delta as printed, which has x* where p belongs."""
    optimum = Optimum.of(stated(settings, settings["strength"], design=design))
    weak = Optimum.of(stated(settings, settings["strength"] / 10, design=design))
    printed = [float(np.abs(best.z).max() - best.z @ best.x) for best in (optimum, weak)]
    return {
        "delta": optimum.delta,
        "delta_printed": printed[0],
        "delta_weak": weak.delta,
        "delta_weak_printed": printed[1],
    }


def support_optimality(settings: Settings, design: Array) -> dict[str, float]:
    """Compare the scores within the support of the solution with the best."""
    optimum = Optimum.of(stated(settings, settings["strength"], design=design))
    scores = np.abs(optimum.z)
    return {"sigma": scores.max(), "spread": scores.max() - scores[optimum.support].min()}


def invariance(settings: Settings, design: Array) -> dict[str, float]:
    """Run the method on f(x) = g(Qx) over P and on g over QP."""
    Q = np.random.default_rng(settings["seed"]).standard_normal((design.shape[1], 20)) / 5
    y, penalty = np.ones(len(design)), Square(settings["strength"])
    direct = Problem(design @ Q, y, loss=Logistic(), penalty=penalty)
    image = Problem(design, y, loss=Logistic(), gauge=Image(L1(), Q), penalty=penalty)
    runs = [solve(problem, GCG(), tol=0, max_iter=200, screening="off", trace=True) for problem in (direct, image)]
    gaps = [np.array(run.trace.gap) for run in runs]
    return {"gap_difference": float(np.max(np.abs(gaps[0] - gaps[1]) / gaps[0]))}


def image_that_forgets(_: Settings, __: Array) -> dict[str, float]:
    """Compare the gaps of x = (1, -1) and of its image 0 under A = (1, 1)."""
    whole = Problem([[1.0, 1.0]], [0.0], penalty=Square(1.0))
    image = Problem([[1.0]], [0.0], penalty=Square(1.0))
    return {
        "gap_of_x": whole.at(whole.state(np.array([1.0, -1.0]))).gap,
        "gap_of_image": image.at(image.state(np.zeros(1))).gap,
    }


def zero_from_the_oracle(_: Settings, __: Array) -> dict[str, float]:
    """Look at P = {1}, f = (x - 1)^2 / 2, phi = s^2 / 2 at x = 2, where the oracle returns 0."""
    problem = Problem([[1.0]], [1.0], gauge=Atoms([[1.0]]), penalty=Square(1.0))
    point = problem.at(problem.state(np.array([2.0])))
    return {
        "oracle_sigma": point.sigma,
        "oracle_gap": point.gap,
        "oracle_solution": float(solve(problem, tol=1e-12).x[0]),
    }


def value_of_the_subproblem(settings: Settings, design: Array) -> dict[str, float]:
    """Compute grad f . s + h(s) at x = 0, and h*(-grad f)."""
    problem = stated(settings, settings["strength"], design=design)
    sigma, penalty = problem.origin.sigma, problem.penalty
    size = penalty.argmax(sigma)
    return {"subproblem": penalty.value(size) - sigma * size, "conjugate": penalty.conjugate(sigma)}


CHECKS = (
    constant_of_smoothness,
    size_of_atoms,
    chain_of_norms,
    signs_of_the_loss,
    margin,
    support_optimality,
    invariance,
    image_that_forgets,
    zero_from_the_oracle,
    value_of_the_subproblem,
)


def formulas(facts: Any) -> list[Finding]:
    """Judge the formulas of the preliminaries."""
    return [
        Finding(
            "For linear models L = sup g″ · sup‖Av‖².",
            "Section 2.5 (slip 1)",
            f"The weight 1/n is missing: L = {plain(facts.L, 3)}, printed {plain(facts.L_printed, 3)}. The rule stays "
            f"safe but leaves {facts.left_printed:.0f} variables where it could leave {facts.left:.0f}.",
            bool(np.isclose(facts.L, facts.L_printed)),
        ),
        Finding(
            "L ≤ diam(P) L₂.",
            "Section 2.5 (slip 2)",
            f"With atoms ±10 eᵢ: L = {plain(facts.L_large, 3)}, diam(P) L₂ = {plain(facts.diam_bound, 3)}. The square "
            f"is missing: max‖p‖² L₂ = {plain(facts.square_bound, 3)}.",
            bool(facts.L_large <= facts.diam_bound),
        ),
        Finding(
            "d² L₁ ≥ d L₂ ≥ L∞, with L∞ = (Σ‖Aᵢ‖)².",
            "Section 2.5 (slip 12)",
            f"{plain(facts.d2L1, 3)}, {plain(facts.dL2, 3)} and {plain(facts.Linf, 3)} on the synthetic data: the "
            "formula for L∞ is an upper bound of the constant, and too large for the chain.",
            bool(facts.d2L1 >= facts.dL2 >= facts.Linf),
        ),
        Finding(
            "The logistic objective is −(1/n) Σ log(1 + exp(bᵢ aᵢᵀx)), and convex.",
            "Section 4 (slip 3)",
            f"As printed it is {facts.middle:.2f} at 0 and {facts.mean_of_ends:.2f} on average at two opposite points: "
            "concave. Both signs are reversed.",
            bool(facts.middle <= facts.mean_of_ends),
        ),
        Finding(
            "By construction of s, ∇f(x)ᵀs + h(s) = h*(−∇f(x)).",
            "Lemma 5, gap in primal form (slip 11)",
            f"{plain(facts.subproblem, 3)} on the left, {plain(facts.conjugate, 3)} on the right at x = 0: the sign is "
            "missing.",
            bool(np.isclose(facts.subproblem, facts.conjugate)),
        ),
    ]


def properties(facts: Any) -> list[Finding]:
    """Judge the properties that the theorems rest on."""
    return [
        Finding(
            "If p is in the support of x*, then pᵀz* = σ(z*).",
            "Property 1",
            f"Scores within the support differ from the best, {plain(facts.sigma, 3)}, by {plain(facts.spread, 1)} "
            "at most.",
            bool(facts.spread <= 1e-6 * facts.sigma),
        ),
        Finding(
            "f(x) = g(Ax) over P and g over AP have the same gaps along their iterates.",
            "Property 3",
            f"Over 200 iterations with a random A, which is injective, the gaps differ by "
            f"{plain(facts.gap_difference, 1)} of themselves at most.",
            bool(facts.gap_difference <= 1e-8),
        ),
        Finding(
            "For any A, x and w = Ax: the gaps are equal, and x is optimal if and only if w is.",
            "Property 3 (slip 13)",
            f"A = (1 1), g = w²/2, φ = s²/2, x = (1, −1): the gap is {facts.gap_of_x:g} at x and "
            f"{facts.gap_of_image:g} at Ax = 0, which is optimal. A must be injective.",
            bool(np.isclose(facts.gap_of_x, facts.gap_of_image)),
        ),
    ]


def conditions(facts: Any) -> list[Finding]:
    """Judge the conditions of optimality and degeneracy."""
    return [
        Finding(
            "If the subproblem returns s = 0 then optimality is achieved.",
            "Section 2.1 (slip 9)",
            f"P = {{1}}, f = (x−1)²/2, φ = s²/2, at x = 2: σ = {facts.oracle_sigma:g}, so s = 0, but the gap is "
            f"{facts.oracle_gap:g} and the solution {facts.oracle_solution:.3g}.",
            bool(facts.oracle_gap <= 1e-12),
        ),
        Finding(
            "δ = min over p outside the support of σ(z*) − z*ᵀx*.",
            "Section 3 (slip 4)",
            f"As printed, nothing depends on p: {plain(facts.delta_printed, 3)} where δ = {plain(facts.delta, 3)}, and "
            f"{plain(facts.delta_weak_printed, 3)} for a weaker penalty where δ = {plain(facts.delta_weak, 3)}. It "
            "must be z*ᵀp.",
            bool(np.isclose(facts.delta, facts.delta_printed)),
        ),
    ]


experiment = Errata()
