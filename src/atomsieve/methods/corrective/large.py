"""The Newton system of a face too large for a matrix, by conjugate gradients."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from atomsieve.methods.corrective.curvature import Products
from atomsieve.methods.corrective.factor import PROXIMAL
from atomsieve.numerics.clock import look
from atomsieve.typing import Array, Index

CG_STEPS = 1000
"""Conjugate gradient steps for one system."""

BRIEF = 100
"""The same on a curved face, whose system serves for one step of many."""


@dataclass(frozen=True, eq=False)
class LargeFace:
    """`H + D (I - U U')`: the curvature of the loss, and that of the gauge across the direction of each block."""

    hessian: Products
    stiffness: Array
    """The largest curvature that each entry can have."""
    labels: Index
    """The block of each entry, from 0."""
    directions: Array
    """x over the norm of its block."""
    bend: Array | float
    """D, one number for each entry, the same within a block; 0 where blocks are straight."""

    def solve(
        self,
        side: Array,
        enough: float,
        small: Callable[[Array, Array], bool] | None = None,
        start: Array | None = None,
    ) -> Array:
        """Return the solution up to a residual that is short `enough`, or `small` already; `start` is a guess."""
        solution, residual = np.zeros_like(side), side.copy()
        if start is not None and start.any():
            solution, residual = start.copy(), side - self._product(start)
        invert = self._inverse()
        ahead = invert(residual)
        direction, along = ahead, float(residual @ ahead)
        for _ in range(BRIEF if np.ndim(self.bend) else CG_STEPS):
            if np.linalg.norm(residual) <= enough or (small is not None and small(solution, residual)):
                break
            look()
            bent = self._product(direction)
            curvature = float(direction @ bent)
            if not curvature > 0:  # nothing but rounding is left
                break
            step = along / curvature
            solution += step * direction
            residual -= step * bent
            ahead = invert(residual)
            before, along = along, float(residual @ ahead)
            direction = ahead + along / before * direction
        return solution

    def _product(self, v: Array) -> Array:
        bent = self.hessian @ v + PROXIMAL * self.stiffness * v
        return np.asarray(bent + self.bend * (v - self._along(v)) if np.ndim(self.bend) else bent)

    def _along(self, v: Array) -> Array:
        """Return the part of v along the directions of the blocks."""
        return np.asarray(self.directions * np.bincount(self.labels, self.directions * v)[self.labels])

    def _inverse(self) -> Callable[[Array], Array]:
        """Return how to solve the system with nothing but the diagonal of H, block by block."""
        curvature = self.hessian.diagonal
        curvature = np.maximum(self.stiffness if curvature is None else curvature, PROXIMAL * self.stiffness)
        curvature = np.where(curvature > 0, curvature, 1.0)
        shrink = 1 / (curvature + self.bend)

        def product(v: Array) -> Array:
            across = shrink * v
            return across + self._along(self.bend / curvature * across) if np.ndim(self.bend) else across

        return product
