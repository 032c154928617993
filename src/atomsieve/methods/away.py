"""Conditional gradients with away steps: towards the best atom or away from the worst, whichever falls faster."""

from dataclasses import dataclass, field

import numpy as np

from atomsieve.gauges import Atom
from atomsieve.methods.base import Walk
from atomsieve.methods.moves import Move, rescale, toward
from atomsieve.methods.steps import LineSearch, Step
from atomsieve.problem import Point


def worst(point: Point) -> tuple[Atom, float] | None:
    """Return the active atom with the least score, and its weight; None where nothing is active."""
    state, core = point.state, point.problem.core
    sizes = core.sizes(state.x)
    active = np.flatnonzero(sizes)
    if not len(active):
        return None
    block = int(active[np.argmin(core.dots(state.x, point.z)[active] / sizes[active])])
    return core.part(state.x, block)


def away(point: Point) -> Move | None:
    """Return the move that keeps the mass and takes weight from the worst active atom to all others alike."""
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
    """Conditional gradient with away steps on the lifted cone: atoms that should not be there lose their weight.

    Guelat and Marcotte, Some comments on Wolfe's 'away step', Mathematical Programming 35 (1986).
    """

    step: Step = field(default_factory=LineSearch)

    def move(self, point: Point) -> Move:
        """Settle the mass first where that is half of the gap; of the rest, take the steeper of toward and away."""
        ahead, size, back = toward(point), rescale(point), away(point)
        settled = 0.0 if size is None else size.descent
        if size is not None and settled > ahead.descent / 2:
            return size
        return back if back is not None and back.descent > ahead.descent - settled else ahead
