"""Lemma 2, `diam(P) kappa(x) >= norm(x)`, on random polytopes with 0 within and without, in rational arithmetic."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from atomsieve.paper.draws import integer
from atomsieve.paper.experiment import Settings


def diameters(settings: Settings) -> pd.DataFrame:
    """Compare both sides, squared, on the hull of d independent vertices in d dimensions, without 0 and with it.

    A point `x = sum c_i p_i` of their cone has no other weights, so that its gauge is exactly the sum of these, with 0
    among the vertices or not.
    """
    rng = np.random.default_rng(settings["seed"])
    return pd.DataFrame([_polytope(rng) for _ in range(settings["instances"])])


def _polytope(rng: np.random.Generator) -> dict[str, Any]:
    vertices = independent(rng)
    weights = [Fraction(integer(rng, 0, 9), 9) for _ in vertices]
    weights[rng.integers(len(vertices))] += 1
    d = len(vertices)
    x = [sum((c * p[i] for c, p in zip(weights, vertices, strict=True)), Fraction(0)) for i in range(d)]
    gauge, norm = sum(weights), sum(entry**2 for entry in x)
    apart = diameter(vertices)
    with_zero = diameter([*vertices, [0] * d])
    longest = max(squared(p) for p in vertices)
    return {
        "d": d,
        "printed": float(norm / (apart * gauge**2)) ** 0.5,
        "with_zero": float(norm / (with_zero * gauge**2)) ** 0.5,
        "longest": float(norm / (longest * gauge**2)) ** 0.5,
        "printed_holds": norm <= apart * gauge**2,
        "with_zero_holds": norm <= with_zero * gauge**2,
        "longest_holds": norm <= longest * gauge**2,
    }


def independent(rng: np.random.Generator) -> list[list[int]]:
    """Return linearly independent integer vectors around a random centre."""
    while True:
        d = integer(rng, 2, 5)
        centre = [integer(rng, -4, 4) for _ in range(d)]
        vertices = [[at + integer(rng, -3, 3) for at in centre] for _ in range(d)]
        if abs(np.linalg.det(np.array(vertices, dtype=float))) > 0.5:  # an integer, but for rounding
            return vertices


def diameter(points: list[list[int]]) -> int:
    """Return the square of the largest distance of two points; that of their hull is the same."""
    return max(squared([a - b for a, b in zip(p, q, strict=True)]) for p in points for q in points)


def squared(point: list[int]) -> int:
    """Return the square of the Euclidean norm."""
    return sum(entry**2 for entry in point)
