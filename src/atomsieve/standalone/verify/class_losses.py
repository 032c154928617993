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
    """Return the probabilities; for the label, minus the probability of all other classes, `odds / (1 + odds)`."""
    slopes = [low.union(high) for low, high in (probability(u, c) for c in range(len(u)))]
    least, most = odds(u, label)
    slopes[label] = -(least / (1 + least)).union(most / (1 + most) if most.is_finite() else arb(1))
    return slopes


def class_loss(u: list[arb], label: int) -> arb:
    """Return the loss in the middle of balls, plus or minus the largest slopes times the radii."""
    above = [arb(v.mid()) - arb(u[label].mid()) for k, v in enumerate(u) if k != label]
    top = highest(above)
    if top > 50:
        value = top + sum(((v - top).exp() for v in above), (-top).exp()).log()
    else:
        value = sum((v.exp() for v in above), arb(0)).log1p()
    moved = sum((arb(abs(t).upper()) * arb(v.rad()) for t, v in zip(class_slopes(u, label), u)), arb(0))
    return value + arb(0, moved.upper())
