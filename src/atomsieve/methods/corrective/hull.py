"""Second-order models over a set that is given by its oracle alone: atoms join until none lowers the model any more.

An atom that the oracle finds on the model costs no pass over the data, only a product with the Hessian.
"""

import math

import numpy as np

from atomsieve.core import Blocks, Outcome, quadratic
from atomsieve.core.clock import look
from atomsieve.gauges import Atom
from atomsieve.gauges.found import Combination
from atomsieve.gauges.proximal import Line
from atomsieve.methods.corrective.inner import ROUGH
from atomsieve.methods.corrective.lines import meet
from atomsieve.methods.corrective.proximal import Proximal
from atomsieve.methods.moves import Move
from atomsieve.problem import Point
from atomsieve.problem.state import State
from atomsieve.typing import Array

CALLS = 1000
"""Atoms that the oracle is asked for on one model."""


class Corners:
    """Atoms of the model `x . H x / 2 - x . r`: their products with H, with each other and with r, and their weights.

    Weights are in units.
    """

    def __init__(self, point: Point, hessian: Array, r: Array, unit: float) -> None:
        self.point, self.best = point, point.atom
        self.hessian, self.r, self.unit = hessian, r, unit
        self.atoms: dict[bytes, Atom] = {}
        self.weights = np.empty(0)
        self._bent = np.empty((16, *r.shape))
        self._gram = np.empty((16, 16))
        self._along = np.empty(0)
        self._idle = np.empty(0, dtype=np.intp)

    def add(self, atom: Atom, weight: float) -> None:
        """Take in an atom."""
        count = len(self.atoms)
        if count == len(self._bent):
            self._bent = np.concatenate([self._bent, np.empty_like(self._bent)])
            self._gram = np.pad(self._gram, (0, count))
        whole = np.zeros(self.r.shape)
        atom.add_to(whole, 1 / self.unit)
        self._bent[count] = (self.hessian @ whole.ravel()).reshape(self.r.shape)
        columns, values = atom.columns, atom.values.ravel() / self.unit
        across = self._bent[: count + 1, columns].reshape(count + 1, -1) @ values
        self._gram[count, : count + 1] = self._gram[: count + 1, count] = across
        self._along = np.append(self._along, atom.dot(self.r) / self.unit)
        self.atoms[atom.key] = atom
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
        self.weights, self._along, self._idle = self.weights[kept], self._along[kept], self._idle[kept]
        self._bent[:count] = self._bent[kept]
        self._gram[:count, :count] = self._gram[np.ix_(kept, kept)]

    @property
    def gram(self) -> Array:
        """The products of atoms with each other."""
        count = len(self.atoms)
        return np.ascontiguousarray(self._gram[:count, :count])

    @property
    def z(self) -> Array:
        """Minus the gradient of the model."""
        return np.asarray(self.r - np.tensordot(self.weights, self._bent[: len(self.atoms)], axes=1))

    @property
    def pulls(self) -> Array:
        """The products of atoms with z, in units."""
        return np.asarray(self._along - self.gram @ self.weights)

    @property
    def mass(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum()) / self.unit

    def solve(self, line: Line, target: float, respond: bool) -> Outcome:
        """Go on to the minimiser, up to the target: atoms join while one promises more."""
        promise = math.inf
        for _ in range(CALLS):
            look()
            fresh = self.best.key not in self.atoms
            if fresh:
                self.add(self.best, 0.0)
            before = self.weights.copy()
            self._weigh(line, ROUGH)
            z = self.z
            self.best = self.point.problem.core.atom(z, 0)
            slope = line[0] + line[1] * self.mass
            promise = self.mass * max(self.best.dot(z), slope) - float(self.weights @ self.pulls)
            if promise <= target or not (fresh or (before != self.weights).any()):
                break
            self.drop_idle()
        return Outcome(promise, self.mass, self._weigh(line, 1.0, respond=True) if respond else 0.0)

    def _weigh(self, line: Line, target: float, *, respond: bool = False) -> float:
        """Find the best weights; return how fast the mass falls as the slope rises, if that is asked for."""
        count, gram = len(self.atoms), self.gram
        sizes, none, signs = np.full(count, 1 / self.unit), np.zeros(count), np.zeros(count, dtype=np.uint8)
        blocks = Blocks(np.arange(1, count + 1), sizes, none, sizes, gram.diagonal().copy(), none, signs)
        value = self.point.smooth_value
        return quadratic(gram, self.pulls, self.weights, blocks, line, value, target, respond).response

    @property
    def parts(self) -> Combination:
        """The atoms with their weights."""
        return Combination(tuple(self.atoms.values()), self.weights / self.unit)


class Hull(Proximal):
    """All columns of a problem whose gauge is given by its oracle alone, in one model."""

    def _newton(self, point: Point, enough: float) -> tuple[State, float]:
        before, corners = point.state.parts or Combination(), self._corners(point)
        meet(corners.solve, point, enough)
        moved = corners.parts.less(before)
        change = moved.sum(point.state.x.shape)
        move = Move(0.0, tuple(moved.pairs), moved.mass, 0.0, 1.0, point.problem.design.matvec(change))
        return self._go(point, change, move)

    def _corners(self, point: Point) -> Corners:
        """Return the model over the atoms that x is made of."""
        reach, x = point.problem.lifted.widest_reach, point.state.x
        unit = 2.0 ** round(math.log2(reach)) if reach > 0 else 1.0
        hessian = self._hessian(point) * self.unit * self.unit
        corners = Corners(point, hessian, point.pulls + (hessian @ x.ravel()).reshape(x.shape), unit)
        for atom, weight in (point.state.parts or Combination()).pairs:
            corners.add(atom, weight)
        return corners
