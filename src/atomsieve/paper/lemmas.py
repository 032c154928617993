"""Property 2, the conjugate pairs and the lemmas of the appendix: no figure shows them, and the rates rest on them."""

# ruff: noqa: RUF001 -- formulas have Greek letters

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

from atomsieve.paper import conjugates, diameter, rate_lemmas
from atomsieve.paper.cache import Cache
from atomsieve.paper.experiment import Finding, Progress, Section, Settings, Tables
from atomsieve.paper.lemma_claims import judged
from atomsieve.paper.report import table
from atomsieve.paper.synthetic import DATA

CHECKS = (
    conjugates.maximisers,
    conjugates.jump,
    conjugates.slopes,
    conjugates.monomials,
    conjugates.ends,
    conjugates.barrier,
    diameter.diameters,
    rate_lemmas.one_dimension,
    rate_lemmas.one_step,
    rate_lemmas.averaged,
    rate_lemmas.inductions,
    rate_lemmas.helper,
    rate_lemmas.gap_bounds,
)
"""Each takes the settings and returns a table, which has its name."""


@dataclass(frozen=True)
class Lemmas:
    """Every statement on random instances, with fixed seeds, and on the smallest one that tells."""

    name: str = "lemmas"
    title: str = "Lemmas: Property 2, conjugate pairs and the appendix"

    def settings(self, quick: bool) -> Settings:
        sizes = {"instances": 200, "iterations": 500} if quick else {"instances": 2_000, "iterations": 10_000}
        return DATA | {"strengths": [0.01, 0.1, 1.0]} | sizes

    def run(self, settings: Settings, cache: Cache, progress: Progress) -> Tables:
        tables = {}
        for done, check in enumerate(CHECKS):
            name = check.__name__
            progress(done, len(CHECKS), name.replace("_", " "))
            tables[name] = cache.step(f"lemmas-{name}", settings, partial(check, settings))
        progress(len(CHECKS), len(CHECKS), "all statements")
        return tables

    def draw(self, tables: Tables, folder: Path) -> list[str]:  # noqa: ARG002 -- numbers only
        return []

    def section(self, tables: Tables) -> Section:
        corrections = table(pd.DataFrame(RIGHT, columns=["where", "printed", "right"]))
        count = len(tables["monomials"])
        return Section(self.title, f"{LEMMA_WORDS.format(count=count)}\n\n{corrections}\n\n{LEMMA_END}")

    def verdicts(self, tables: Tables) -> list[Finding]:
        return judged(tables)


LEMMA_WORDS = """
Lemmas are counted as the paper counts them: Lemma 1 is in the text, Lemma 2 opens the appendix. Each statement was put
to {count} random instances with fixed seeds, in rational arithmetic wherever it reaches, so that what holds does so to
the last digit and what fails does so without doubt. Where a statement fails, its right form was tested on the same
instances:
""".strip()

RIGHT = (
    ("Property 2", "Assumption 1", "Assumption 1, and φ is closed and convex"),
    ("Property 2", "some finite ξ₀", "ξ₀ = √((φ(0) + φ₀)/μ)"),
    ("Section 2.4, barrier", "for ν ≠ −1/(Cβ)", "for ν ≥ 0; below, φ*(ν) = 0 at ξ = 0"),
    ("Lemma 2", "for any closed convex P", "for closed convex P that contain 0; max‖p‖ κ(x) ≥ ‖x‖₂ for all"),
    (
        "Lemma 9",
        "θ²/2 · (6L σ(z* + ν₀)² + 3L² Δ + 3L² Δ̄)",
        "(4Lθ²/μ²)((σ(z*) + μξ₀)² + LΔ + LΔ̄), t ≥ 2",
    ),
    ("Lemma 10", "Δ̄ ≤ G/(2t)", "Δ̄ ≤ 2G/(t+1)"),
    (
        "Lemma 10",
        "A = 3L σ(z* + ν₀)²/μ², B = 3L²/μ², t̄ > 12B",
        "A = 4L(σ(z*) + μξ₀)²/μ², B = 4L²/μ², t̄ ≥ 48B",
    ),
    ("Lemma 11", "for all k > T₁", "for k + D ≥ (D+T₁)(D+T₂)/(D(T₁−T₂))"),
    (
        "Lemma 11",
        "C₁(D+T₁)/D ≤ C₃ log((D+T₂)/D)",
        "C₁(D+T₁)/D + C₂(2(D+T₁)/D − 1) ≤ C₃ log((D+T₂)/D)",
    ),
    (
        "Lemma 12",
        "G₄ ≥ (G₁/G₂)(D+2)/(D log((D+1)/D))",
        "G₄ ≥ (G₁(D+2) + (αG₁G₂ + G₃G₂²)(D+4))/(G₂ D log((D+1)/D)), t ≥ 5",
    ),
    ("Theorem 1, appendix", "θ = 4/(t+2)", "θ = min(1, 4/(t+2)), or 2/(t+1) as in the text"),
)

LEMMA_END = """
All rates stand: every correction changes a constant or adds a condition. With Lemma 8 as it should be (slip 10), Lemmas
9 to 12 in the right column follow one from the other as the paper has it.
""".strip()


experiment = Lemmas()
