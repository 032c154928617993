"""Second-order models over a set that is given by its oracle alone: atoms join until none lowers the model any more.

An atom that the oracle finds on the model costs no pass over the data, only a product with the Hessian.
"""

import math

import numpy as np

from atomsieve.core import Blocks, quadratic
from atomsieve.gauges import Atom
from atomsieve.gauges.found import Combination, key_of
from atomsieve.gauges.proximal import Line
from atomsieve.methods.corrective.inner import ROUGH
from atomsieve.methods.corrective.proximal import Proximal
from atomsieve.methods.moves import Move
from atomsieve.numerics.clock import look
from atomsieve.problem import Point
from atomsieve.problem.state import State
from atomsieve.typing import Array

CALLS = 1000
"""Atoms that the oracle is asked for on one model."""


class Corners:
    """Atoms of a model: their products with the Hessian and with each other, and their weights, in units."""

    def __init__(self, hessian: Array, shape: tuple[int, ...], unit: float, parts: Combination) -> None:
        self.hessian, self.shape, self.unit = hessian, shape, unit
        self.atoms: dict[object, Atom] = {}
        self.weights = np.empty(0)
        self._bent = np.empty((16, *shape))
        self._gram = np.empty((16, 16))
        self._idle = np.empty(0, dtype=np.intp)
        for atom, weight in parts.pairs:
            self.add(atom, weight)

    def add(self, atom: Atom, weight: float) -> None:
        """Take in an atom, in front of which its product with the Hessian is stored."""
        count = len(self.atoms)
        if count == len(self._bent):
            self._bent = np.concatenate([self._bent, np.empty_like(self._bent)])
            self._gram = np.pad(self._gram, (0, count))
        whole = np.zeros(self.shape)
        atom.add_to(whole, 1 / self.unit)
        self._bent[count] = (self.hessian @ whole.ravel()).reshape(self.shape)
        columns, values = atom.columns, atom.values.ravel() / self.unit
        across = self._bent[: count + 1, columns].reshape(count + 1, -1) @ values
        self._gram[count, : count + 1] = self._gram[: count + 1, count] = across
        self.atoms[key_of(atom)] = atom
        self.weights = np.append(self.weights, weight * self.unit)
        self._idle = np.append(self._idle, 0)

    def drop_idle(self) -> None:
        """Let atoms go that had no weight twice in a row."""
        self._idle = np.where(self.weights > 0, 0, self._idle + 1)
        kept = np.flatnonzero(self._idle < 2)
        count = len(kept)
        if count == len(self.atoms):
            return
        atoms = list(self.atoms.items())
        self.atoms = dict(atoms[j] for j in kept)
        self.weights, self._idle = self.weights[kept], self._idle[kept]
        self._bent[:count] = self._bent[kept]
        self._gram[:count, :count] = self._gram[np.ix_(kept, kept)]

    def pulls(self, z: Array) -> Array:
        """Return `p . z` for each atom, in units."""
        return np.array([atom.dot(z) for atom in self.atoms.values()]) / self.unit

    def solve(self, z: Array, line: Line, value: float, target: float, *, respond: bool = False) -> float:
        """Find the best weights, where minus the gradient is z now; return how fast the mass falls with the slope."""
        count = len(self.atoms)
        gram = np.ascontiguousarray(self._gram[:count, :count])
        sizes, signs = np.full(count, 1 / self.unit), np.zeros(count, dtype=np.uint8)
        blocks = Blocks(np.arange(1, count + 1), sizes, sizes, gram.diagonal().copy(), np.zeros(count), signs)
        return quadratic(gram, self.pulls(z), self.weights, blocks, line, value, target, respond)[1]

    @property
    def parts(self) -> Combination:
        """The atoms with their weights."""
        return Combination(tuple(self.atoms.values()), self.weights / self.unit)


class Hull(Proximal):
    """All columns of a problem whose gauge is given by its oracle alone, in one model."""

    def _newton(self, point: Point, line: Line, part: float) -> tuple[State, float]:
        before = point.state.parts or Combination()
        after = self._minimised(point, line, part * point.gap)
        moved = after.less(before)
        change = moved.sum(point.state.x.shape)
        move = Move(0.0, tuple(moved.pairs), moved.mass, 0.0, 1.0, point.problem.design.matvec(change))
        return self._go(point, change, move)

    def _corners(self, point: Point) -> Corners:
        """Return the model over the atoms that x is made of."""
        reach = point.problem.lifted.widest_reach
        unit = 2.0 ** round(math.log2(reach)) if reach > 0 else 1.0
        hessian = self._hessian(point) * self.unit * self.unit
        return Corners(hessian, point.state.x.shape, unit, point.state.parts or Combination())

    def _minimised(self, point: Point, line: Line, enough: float) -> Combination:
        """Return the minimiser of the model, up to what is enough: atoms join while one promises more."""
        corners, start = self._corners(point), point.state.x
        z, best = point.pulls, point.atom
        for _ in range(CALLS):
            look()
            fresh = key_of(best) not in corners.atoms
            if fresh:
                corners.add(best, 0.0)
            weights = corners.weights.copy()
            corners.solve(z, line, point.smooth_value, ROUGH)
            moved = len(weights) != len(corners.weights) or not np.array_equal(weights, corners.weights)
            parts = corners.parts
            there = parts.sum(start.shape)
            z = point.pulls - (corners.hessian @ (there - start).ravel()).reshape(start.shape)
            best = point.problem.core.atom(z, 0)
            slope = line[0] + line[1] * parts.mass
            promise = parts.mass * max(best.dot(z), slope) - float(np.vdot(there, z))
            if promise <= enough or not (fresh or moved):
                break
            corners.drop_idle()
        return corners.parts

    def _response(self, point: Point, line: Line) -> float:
        corners = self._corners(point)
        return corners.solve(point.pulls, line, point.smooth_value, 1.0, respond=True) if corners.atoms else 0.0

