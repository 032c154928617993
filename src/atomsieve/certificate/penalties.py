"""Penalties with error bounds: phi and its conjugate at a number that is known up to a radius."""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from atomsieve.numerics.enclosures import Enclosure, exp, log
from atomsieve.penalties import Ball, Linear, LinearSquare, LogBarrier, Penalty, Power, Square

Formula: TypeAlias = Callable[[Any, Enclosure], Enclosure]

ONE, HALF = Enclosure.exact(1.0), Enclosure.exact(0.5)
NOTHING, UNKNOWN = Enclosure.exact(0.0), Enclosure(np.float64(np.inf), np.float64(0.0))


def value(penalty: Penalty, mass: Enclosure) -> Enclosure:
    """Return phi(mass); inf where the mass may lie outside its domain."""
    return _FORMULAS[type(penalty)][0](penalty, mass)


def conjugate(penalty: Penalty, t: Enclosure) -> Enclosure:
    """Return phi*(t); inf where t may lie outside its domain."""
    return _FORMULAS[type(penalty)][1](penalty, t)


def known(penalty: Penalty) -> bool:
    """Return whether the formulas of a penalty are known here."""
    return type(penalty) in _FORMULAS


def _exact(number: float) -> Enclosure:
    return Enclosure.exact(number)


def _power(base: Enclosure, exponent: Enclosure) -> Enclosure:
    """Return a power of a number that is not negative."""
    if base.mid > 0:
        return exp(exponent * log(base))
    if base.rad == 0:
        return NOTHING
    return Enclosure(np.float64(0.0), exp(exponent * log(_exact(float(base.size)))).high)


def _in_ball(radius: float) -> Callable[[Penalty, Enclosure], Enclosure]:
    return lambda _, mass: NOTHING if float(mass.high) <= radius or (mass.rad == 0 and mass.mid <= radius) else UNKNOWN


def _square_value(p: Square, mass: Enclosure) -> Enclosure:
    return _exact(p.strength) * mass * mass * HALF


def _square_conjugate(p: Square, t: Enclosure) -> Enclosure:
    return t * (t / _exact(p.strength)) * HALF


def _power_value(p: Power, mass: Enclosure) -> Enclosure:
    if p.p == math.inf:
        return _in_ball(1.0)(p, mass)
    return _exact(p.strength) * _power(mass, _exact(p.p)) / _exact(p.p)


def _power_conjugate(p: Power, t: Enclosure) -> Enclosure:
    if p.p == math.inf:
        return t
    dual = _exact(p.p) / (_exact(p.p) - ONE)
    return _exact(p.strength) * _power(t / _exact(p.strength), dual) / dual


def _barrier_value(p: LogBarrier, mass: Enclosure) -> Enclosure:
    part = mass / _exact(p.radius)
    if not float(part.high) < 1:
        return UNKNOWN
    return (-log(ONE - part) - part) / _exact(p.sharpness)


def _barrier_conjugate(p: LogBarrier, t: Enclosure) -> Enclosure:
    size = _exact(p.radius) * t
    sharpness = _exact(p.sharpness)
    return size - log(ONE + sharpness * size) / sharpness


def _linear_square_value(p: LinearSquare, mass: Enclosure) -> Enclosure:
    return mass * (_exact(p.strength) + _exact(p.square) * mass * HALF)


def _linear_square_conjugate(p: LinearSquare, t: Enclosure) -> Enclosure:
    excess = t - _exact(p.strength)
    excess = Enclosure(np.maximum(excess.mid, 0.0), excess.rad)
    return excess * (excess / _exact(p.square)) * HALF


_FORMULAS: dict[type[Penalty], tuple[Formula, Formula]] = {
    Linear: (
        lambda p, mass: _exact(p.strength) * mass,
        lambda p, t: NOTHING if float(t.high) <= p.strength else UNKNOWN,
    ),
    Square: (_square_value, _square_conjugate),
    Power: (_power_value, _power_conjugate),
    Ball: (lambda p, mass: _in_ball(p.radius)(p, mass), lambda p, t: _exact(p.radius) * t),
    LogBarrier: (_barrier_value, _barrier_conjugate),
    LinearSquare: (_linear_square_value, _linear_square_conjugate),
}
