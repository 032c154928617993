"""The Newton system of a face too large for a matrix, by conjugate gradients."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from atomsieve.methods.curvature import Products
from atomsieve.methods.factor import PROXIMAL
from atomsieve.typing import Array, Index

CG_STEPS = 1000
"""Conjugate gradient steps for one system."""


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

    def solve(self, side: Array, rtol: float) -> Array:
        """Return the solution up to a relative error of the residual."""
        return np.asarray(cg(self._operator(self._product), side, rtol=rtol, maxiter=CG_STEPS, M=self._inverse)[0])

    def _product(self, v: Array) -> Array:
        bent = self.hessian @ v + PROXIMAL * self.stiffness * v
        return np.asarray(bent + self.bend * (v - self._along(v)) if np.ndim(self.bend) else bent)

    def _along(self, v: Array) -> Array:
        """Return the part of v along the directions of the blocks."""
        return np.asarray(self.directions * np.bincount(self.labels, self.directions * v)[self.labels])

    @property
    def _inverse(self) -> LinearOperator:
        """The inverse of the system with nothing but the diagonal of H, block by block."""
        curvature = self.hessian.diagonal
        curvature = np.maximum(self.stiffness if curvature is None else curvature, PROXIMAL * self.stiffness)
        curvature = np.where(curvature > 0, curvature, 1.0)

        def product(v: Array) -> Array:
            across = v / (curvature + self.bend)
            return across + self._along(self.bend / curvature * across) if np.ndim(self.bend) else across

        return self._operator(product)

    def _operator(self, product: Callable[[Array], Array]) -> LinearOperator:
        return LinearOperator((len(self.labels), len(self.labels)), matvec=product, dtype=np.float64)
