"""Property 2 and the conjugate pairs of Section 2.4, on random instances, in rational arithmetic where it reaches."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from atomsieve import Ball, Linear, LinearSquare, LogBarrier, Power, Square
from atomsieve.paper.draws import integer, positive
from atomsieve.paper.experiment import Settings
from atomsieve.penalties import Penalty

Row = dict[str, Any]


def monomials(settings: Settings) -> pd.DataFrame:
    """Test Young's inequality for `xi^alpha / alpha` and `nu^beta / beta`, exactly.

    With `alpha = 1 + a/b`, `xi = r^b` and `nu = u^a` every power is rational; the two sides meet where `u = r`.
    """
    rng = np.random.default_rng(settings["seed"])
    return pd.DataFrame([_monomial(rng) for _ in range(settings["instances"])])


def _monomial(rng: np.random.Generator) -> Row:
    a, b = integer(rng, 1, 6), integer(rng, 1, 6)
    alpha, beta = Fraction(a + b, b), Fraction(a + b, a)
    r, u = positive(rng), positive(rng)

    def slack(xi: Fraction, nu: Fraction) -> Fraction:
        return xi ** (a + b) / alpha + nu ** (a + b) / beta - xi**b * nu**a

    value = float(u ** (a + b) / beta)
    library = Power(1.0, float(alpha)).conjugate(float(u**a))
    return {
        "alpha": float(alpha),
        "beta": float(beta),
        "met": slack(r, r) == 0,
        "least": float(slack(r, u)),
        "library": abs(library / value - 1),
    }


def ends(_: Settings) -> pd.DataFrame:
    """Compare the pairs at alpha = 1 and at alpha = infinity with the limits of `nu^beta / beta`."""
    rows = []
    for nu in (0.5, 0.9, 1.0, 1.1, 2.0):
        limit = math.inf if nu > 1 else 0.0
        far = 0.0 if nu < 1 else nu**1000 / 1000
        met = Linear(1.0).conjugate(nu) == limit and Ball(1.0).conjugate(nu) == nu
        rows.append({"nu": nu, "met": met, "far": far})
    return pd.DataFrame(rows)


def barrier(settings: Settings) -> pd.DataFrame:
    """Test the conjugate of the log-barrier, term by term, and what the formulas give below zero.

    At the printed maximiser the slope must be nu, the terms without logarithm must add up to `C nu`, and the logarithm
    must be that of `1 + C beta nu`: three identities between rational numbers.
    """
    rng = np.random.default_rng(settings["seed"])
    return pd.DataFrame([_barrier(rng) for _ in range(settings["instances"])])


def _barrier(rng: np.random.Generator) -> Row:
    C, beta, nu = positive(rng), positive(rng), positive(rng)
    xi = C**2 * beta * nu / (C * beta * nu + 1)
    slope = 1 / (beta * (C - xi)) - 1 / (C * beta)
    penalty = LogBarrier(float(C), float(beta))
    printed = float(C * nu) - math.log(C * beta * nu + 1) / beta
    other = float(C) * rng.random()
    below = -nu  # the formulas are said to serve for every slope but -1 / (C beta)
    inside = 1 + C * beta * below
    return {
        "met": slope == nu and nu * xi + xi / (C * beta) == C * nu and (C - xi) * (1 + C * beta * nu) == C,
        "least": penalty.value(other) + printed - float(nu) * other,
        "library": abs(penalty.conjugate(float(nu)) - printed) / float(C * nu),
        "maximiser_below": float(C**2 * beta * below / inside) if inside else math.nan,
        "defined_below": inside > 0,
    }


def maximisers(settings: Settings) -> pd.DataFrame:
    """Compare both sides of Fenchel and Young at the maximiser, for random closed convex penalties and slopes."""
    rng = np.random.default_rng(settings["seed"])
    return pd.DataFrame([_maximiser(rng) for _ in range(settings["instances"])])


def _maximiser(rng: np.random.Generator) -> Row:
    penalty = random_penalty(rng)
    nu = math.exp(rng.uniform(-3, 3))
    xi = penalty.argmax(nu)
    value = penalty.conjugate(nu)
    others = [xi * rng.uniform(0, 2) for _ in range(20)]
    scale = max(1.0, abs(value), nu * xi)
    return {
        "penalty": type(penalty).__name__,
        "finite": math.isfinite(xi) and math.isfinite(value),
        "missed": abs(nu * xi - penalty.value(xi) - value) / scale,
        "exceeded": max((nu * other - penalty.value(other) - value) / scale for other in others),
    }


def random_penalty(rng: np.random.Generator) -> Penalty:
    """Return a penalty that satisfies Assumption 1, or would but for being infinite beyond some size."""
    size, shape = math.exp(rng.uniform(-2, 2)), math.exp(rng.uniform(-1, 1))
    kinds = (
        lambda: Square(size),
        lambda: Power(size, 1 + shape),
        lambda: LinearSquare(size, shape),
        lambda: LogBarrier(size, shape),
        lambda: Ball(size),
    )
    return kinds[int(rng.integers(len(kinds)))]()


def jump(_: Settings) -> pd.DataFrame:
    """Look at `phi = xi^2 / 2`, plus 1 from xi = 1 on, which meets both assumptions as printed and is not convex.

    `touched` says that the line of slope k through (k, phi(k)) stays below phi, for k = 3, 10 and 30: subgradients
    exist and grow without bound. At slope 6/5 the supremum 7/10 is approached from the left of 1 and attained nowhere.
    """

    def phi(xi: Fraction) -> Fraction:
        return xi**2 / 2 + (xi >= 1)

    grid = [Fraction(k, 20) for k in range(800)]
    nu, supremum = Fraction(6, 5), Fraction(7, 10)
    best = [nu * xi - phi(xi) for xi in grid]
    near = 1 - Fraction(1, 10**9)
    return pd.DataFrame(
        [
            {
                "touched": all(phi(xi) >= phi(k) + k * (xi - k) for k in map(Fraction, (3, 10, 30)) for xi in grid),
                "grown": all(phi(xi) >= xi**2 / 2 for xi in grid),
                "largest": float(max(best)),
                "attained": max(best) >= supremum,
                "missing": float(supremum - (nu * near - phi(near))),
            }
        ]
    )


def slopes(settings: Settings) -> pd.DataFrame:
    """Test the bound on the derivative of the conjugate, exactly, on `phi = max(0, a_i xi - b_i, mu xi^2 - phi_0)`.

    A point xi is the derivative at every subgradient there, the least of which is the slope of the flattest piece that
    attains phi. The bound is `xi <= nu / mu + xi_0` with `xi_0^2 = (phi(0) + phi_0) / mu`.
    """
    rng = np.random.default_rng(settings["seed"])
    return pd.DataFrame([_slope(rng) for _ in range(settings["instances"])])


def _slope(rng: np.random.Generator) -> Row:
    mu, least = positive(rng), positive(rng)
    lines = [(positive(rng), positive(rng)) for _ in range(integer(rng, 1, 4))]

    def subgradient(xi: Fraction) -> Fraction:
        pieces = [(Fraction(0), Fraction(0)), (mu * xi**2 - least, 2 * mu * xi)]
        pieces += [(a * xi - b, a) for a, b in lines]
        value = max(piece[0] for piece in pieces)
        return min(slope for height, slope in pieces if height == value)

    kinks = [(b - d) / (a - c) for a, b in lines for c, d in lines if a != c and (b - d) / (a - c) > 0]
    points = [positive(rng) for _ in range(10)] + [b / a for a, b in lines] + kinks
    excess = [max(xi - subgradient(xi) / mu, Fraction(0)) ** 2 * mu / least for xi in points]
    return {"points": len(points), "held": max(excess) <= 1, "used": float(max(excess)) ** 0.5}


def polygon() -> float:
    """Return `mu (phi*)'(nu) / nu` on a polygon inscribed in `mu xi^2` whose corners lie at 2, 4, 16, 256 and 65536.

    At the right end of a side the least subgradient is `mu` times the sum of both corners.
    """
    before, after = 2.0**8, 2.0**16
    return after / (before + after)
