"""Conditional gradients with away steps: go towards the best atom or away from the worst one."""

from dataclasses import dataclass, field

import numpy as np

from atomsieve.gauges import Atom
from atomsieve.methods.base import Walk
from atomsieve.methods.moves import Move, rescale, toward
from atomsieve.methods.steps import LineSearch, Step
from atomsieve.numerics.places import support_of
from atomsieve.problem import Point


def worst(point: Point) -> tuple[Atom, float] | None:
    """Return the active atom with the lowest score, and its weight; None if no atom is active."""
    state, core = point.state, point.problem.core
    if core.listed:
        parts = state.parts
        if parts is None or not parts.atoms:
            return None
        lowest = int(np.argmin([atom.dot(point.z) for atom in parts.atoms]))
        return parts.atoms[lowest], float(parts.weights[lowest])
    sizes = core.sizes(state.x)
    active = support_of(sizes)
    if not len(active):
        return None
    block = int(active[np.argmin(core.dots(state.x, point.z)[active] / sizes[active])])
    return core.part(state.x, block)


def away(point: Point) -> Move | None:
    """Return the move that shifts weight from the worst active atom to all others in proportion; the mass stays."""
    found, state = worst(point), point.state
    if found is None or state.mass <= found[1]:
        return None
    atom, weight = found
    descent = -state.mass * atom.dot(point.z) + float(np.vdot(state.x, point.z))
    image = state.image - state.mass * atom.image(point.problem.design)
    longest = weight / (state.mass - weight)
    return Move(1.0, ((atom, -state.mass),), 0.0, descent, longest, image, emptied=atom)


@dataclass(frozen=True, eq=False, repr=False)
class Away(Walk):
    """Conditional gradient with away steps on the lifted cone: an away step takes weight off a bad atom.

    Guelat and Marcotte, Some comments on Wolfe's 'away step', Mathematical Programming 35 (1986).
    """

    step: Step = field(default_factory=LineSearch)

    def move(self, point: Point) -> Move:
        """Adjust the mass first if that is half of the gap; otherwise take the steeper of `toward` and `away`."""
        ahead = toward(point)
        size = rescale(point)
        back = away(point)
        settled = 0.0 if size is None else size.descent
        if size is not None and settled > ahead.descent / 2:
            return size
        return back if back is not None and back.descent > ahead.descent - settled else ahead
