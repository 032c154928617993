"""Pairwise conditional gradients: move weight directly from the worst active atom to the best atom."""

from dataclasses import dataclass, field

from atomsieve.methods.away import worst
from atomsieve.methods.base import Walk
from atomsieve.methods.moves import Move, rescale, toward
from atomsieve.methods.steps import LineSearch, Step
from atomsieve.problem import Point


def exchange(point: Point) -> Move | None:
    """Return the move that shifts the weight of the worst active atom to the best atom."""
    found, design = worst(point), point.problem.design
    if found is None or point.sigma == 0:
        return None
    old, weight = found
    new = point.atom
    descent = weight * (point.sigma - old.dot(point.z))
    image = weight * (new.image(design) - old.image(design))
    same = new.block == old.block and not point.problem.core.listed
    emptied = None if same else old
    return Move(0.0, ((new, weight), (old, -weight)), 0.0, descent, 1.0, image, emptied)


@dataclass(frozen=True, eq=False, repr=False)
class Pairwise(Walk):
    """Pairwise conditional gradient on the lifted cone: exchange atoms, and adjust the mass by moves along x.

    Lacoste-Julien and Jaggi, On the global linear convergence of Frank-Wolfe optimization variants (2015).
    """

    step: Step = field(default_factory=LineSearch)

    def move(self, point: Point) -> Move:
        """Adjust the mass if that is half of the descent, otherwise exchange atoms."""
        size = rescale(point)
        if size is not None and size.descent > point.descent / 2:
            return size
        return exchange(point) or toward(point)
