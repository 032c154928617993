"""Penalties: phi(s), phi*(t) and phi'(s)."""

from typing import Any

from flint import arb

from .balls import cannot, positive_part, power, square

PENALTIES: dict[str, tuple[Any, Any, Any]] = {  # phi(s), phi*(t), phi'(s); p holds the parameters
    "Linear": (lambda p, s: p["strength"] * s, None, lambda p, s: p["strength"]),
    "Square": (
        lambda p, s: p["strength"] * s * s / 2,
        lambda p, t: t * t / (2 * p["strength"]),
        lambda p, s: p["strength"] * s,
    ),
    "LinearSquare": (
        lambda p, s: p["strength"] * s + p["square"] * s * s / 2,
        lambda p, t: square(positive_part(t - p["strength"])) / (2 * p["square"]),
        lambda p, s: p["strength"] + p["square"] * s,
    ),
    "Power": (
        lambda p, s: p["strength"] * power(s, p["p"]) / p["p"],
        lambda p, t: p["strength"] * power(t / p["strength"], p["p"] / (p["p"] - 1)) * (p["p"] - 1) / p["p"],
        lambda p, s: p["strength"] * power(s, p["p"] - 1),
    ),
    "Ball": (
        lambda p, s: arb(0) if s <= p["radius"] else cannot("phi: x may lie outside the ball"),
        lambda p, t: p["radius"] * t,
        lambda p, s: arb(0),
    ),
    "LogBarrier": (
        lambda p, s: (-(-s / p["radius"]).log1p() - s / p["radius"]) / p["sharpness"],
        lambda p, t: p["radius"] * t - (p["radius"] * p["sharpness"] * t).log1p() / p["sharpness"],
        lambda p, s: s / (p["radius"] - s) / (p["radius"] * p["sharpness"]),
    ),
}
