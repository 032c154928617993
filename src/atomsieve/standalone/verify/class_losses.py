"""The loss of several classes: probabilities from predictions."""

from flint import arb

from .balls import highest

LARGE = arb(2) ** 30
"""Differences of predictions up to which exponentials are computed."""


def odds(u: list[arb], c: int) -> tuple[arb, arb]:
    """Return bounds of `sum over all other classes k of exp(u_k - u_c)`; the second may be inf."""
    least, most = arb(0), arb(0)
    for k, v in enumerate(u):
        if k != c:
            low, high = arb((v - u[c]).lower()), arb((v - u[c]).upper())
            least += arb(low.min(LARGE).exp().lower()) if low > -LARGE else arb(0)
            most += arb(high.max(-LARGE).exp().upper()) if high < LARGE else arb("inf")
    return arb(least.lower()), arb(most.upper())


def probability(u: list[arb], c: int) -> tuple[arb, arb]:
    """Return bounds of the probability of a class, `1 / (1 + odds)`."""
    least, most = odds(u, c)
    return arb((1 / (1 + most)).lower()) if most.is_finite() else arb(0), arb((1 / (1 + least)).upper())


def class_slopes(u: list[arb], label: int) -> list[arb]:
    """Return the probabilities; for the label, minus the probability of all other classes.

    Those in the middle of the balls are within a factor of `exp(2 r)` of all others, where r is the largest radius, and
    `exp(2 r) - 1 <= 4 r` for r <= 1/4.
    """
    middle = [arb(v.mid()) for v in u]
    top = max(middle, key=float)
    away, reach = max(float(arb(v.rad())) for v in u), [v - top for v in middle]
    if not away <= 0.25 or not all(abs(v) < LARGE for v in reach):
        return _wide_slopes(u, label)
    powers = [v.exp() for v in reach]
    others = sum((power for k, power in enumerate(powers) if k != label), arb(0))
    total = others + powers[label]
    spread = 1 + arb(0, 4 * away)
    slopes = [power * spread / total for power in powers]
    slopes[label] = -others * spread / total
    return slopes


def _wide_slopes(u: list[arb], label: int) -> list[arb]:
    """Return the same for balls of any size; for the label it is minus `odds / (1 + odds)`."""
    slopes = [low.union(high) for low, high in (probability(u, c) for c in range(len(u)))]
    least, most = odds(u, label)
    slopes[label] = -(least / (1 + least)).union(most / (1 + most) if most.is_finite() else arb(1))
    return slopes


def class_loss(u: list[arb], label: int, slopes: list[arb]) -> arb:
    """Return the loss in the middle of balls, plus or minus the largest slopes times the radii."""
    above = [arb(v.mid()) - arb(u[label].mid()) for k, v in enumerate(u) if k != label]
    top = highest(above)
    if top > 50:
        value = top + sum(((v - top).exp() for v in above), (-top).exp()).log()
    else:
        value = sum((v.exp() for v in above), arb(0)).log1p()
    moved = sum((arb(abs(t).upper()) * arb(v.rad()) for t, v in zip(slopes, u)), arb(0))
    return value + arb(0, moved.upper())
