"""The paper's method for many penalties at once: all walks share the products with the data.

Open-loop steps depend on nothing but t, so walks under K penalties can go in step. One product `A' theta` is bound by
memory; K of them together are a product of two matrices, which is bound by arithmetic: for MNIST 4 against 9
thirty-nine of them cost what six cost one by one. Stepping takes one column of X for each walk. Everything else is as
`solve(problem, GCG(OpenLoop()), screening="paper")` does it for one penalty, and the tests hold it to that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from atomsieve.losses import Logistic
from atomsieve.numerics.rounding import EPS, noise_level
from atomsieve.penalties import Penalty
from atomsieve.problem import Problem
from atomsieve.typing import Array, Index, Mask


@dataclass(frozen=True, eq=False)
class Standing:
    """Where the walks stand: the points from which step t is taken, one row for each penalty."""

    t: int
    x: Array
    alive: Mask
    """Coefficients that the paper's rule has not ruled out, here or on the way."""
    gap: Array
    least: Array
    """The smallest gap so far."""


@dataclass(frozen=True, eq=False)
class Sight:
    """What one product with A' shows of each walk: scores of the atoms alive, the best of them, and the gap."""

    z: Array
    scores: Array
    best: Index
    sigma: Array
    gap: Array
    rounding: Array


class Walks:
    """Sparse logistic regression under many penalties, by open-loop conditional gradients in step."""

    def __init__(self, X: Array, y: Array, penalties: Sequence[Penalty]) -> None:
        self.penalties = list(penalties)
        self.y = y
        self.loss = Logistic()
        self.smoothness = Problem(X, y, loss=self.loss).smoothness
        self.columns = np.ascontiguousarray(X.T)
        self.used = np.flatnonzero(self.columns.any(axis=1))  # a feature that is always 0 has the score 0
        self.adjoint = self.columns[self.used].T

    def begin(self) -> Standing:
        """Return the walks at x = 0, once the rule has looked."""
        shape = (len(self.penalties), len(self.columns))
        unknown = np.full(shape[0], np.inf)
        return _Stride(self, Standing(1, np.zeros(shape), np.ones(shape, dtype=bool), unknown, unknown)).sieve()

    def advance(self, standing: Standing, t: int) -> Standing:
        """Return where the walks stand before step t.

        What they predict is computed afresh from x, so that going in stages, each from what a file has kept, changes
        nothing but rounding. One thread is faster than two that have to wait for each other.
        """
        with threadpool_limits(1, user_api="blas"):
            stride = _Stride(self, standing)
            while stride.t < t:
                stride.step()
                standing = stride.sieve()
        return standing  # the stride ends here, and nobody else changes its arrays


class _Stride:
    """Walks under way, with their predictions u."""

    def __init__(self, walks: Walks, standing: Standing) -> None:
        self.walks, self.t = walks, standing.t
        self.x = standing.x.copy()
        self.alive = standing.alive.copy()
        self.least = standing.least
        self.u = self.x @ walks.columns
        self.sight = self.look(np.arange(len(self.x)))

    def look(self, chosen: Index) -> Sight:
        """Return what the data show of the chosen walks."""
        walks, u = self.walks, self.u[chosen]
        theta = walks.loss.gradient(u, walks.y) / len(walks.y)
        z = np.zeros((len(chosen), len(walks.columns)))
        z[:, walks.used] = -(theta @ walks.adjoint)
        scores = np.where(self.alive[chosen], np.abs(z), -np.inf)
        best = scores.argmax(axis=1)
        sigma = np.maximum(scores[np.arange(len(chosen)), best], 0.0)
        mass, penalties = np.abs(self.x[chosen]).sum(axis=1), [walks.penalties[k] for k in chosen]
        charge = np.array([phi.value(s) for phi, s in zip(penalties, mass.tolist(), strict=True)])
        answer = np.array([phi.conjugate(s) for phi, s in zip(penalties, sigma.tolist(), strict=True)])
        gap = np.maximum(charge + answer + np.einsum("kn,kn->k", u, theta), 0.0)
        length = np.sqrt(np.einsum("kn,kn->k", u, u) / len(walks.y))
        rounding = noise_level(len(walks.y)) * (charge + answer + length * (1 + walks.loss.smoothness * length))
        return Sight(z, scores, best, sigma, gap, rounding)

    def sieve(self) -> Standing:
        """Rule out what the paper's rule can, drop its weight, and return where the walks stand."""
        sight = self.sight
        room = 2 * np.sqrt(self.walks.smoothness * (sight.gap + sight.rounding))
        removed = self.alive & (sight.scores + room[:, None] < sight.sigma[:, None])
        self.alive &= ~removed
        touched = np.flatnonzero((removed & (self.x != 0)).any(axis=1))
        if len(touched):
            self.x[~self.alive] = 0.0
            self.u[touched] = self.x[touched] @ self.walks.columns
            again = self.look(touched)
            for name in ("z", "scores", "best", "sigma", "gap", "rounding"):
                getattr(sight, name)[touched] = getattr(again, name)
        self.least = np.minimum(self.least, sight.gap)
        return Standing(self.t, self.x, self.alive, sight.gap, self.least)

    def step(self) -> None:
        """Take step t of every walk: `x <- (1 - s) x + s xi p` with `s = 2 / (t + 1)`."""
        walks = self.walks
        sight = self.sight
        s = 2 / (self.t + 1)
        every = np.arange(len(self.x))
        sizes = np.array([phi.argmax(v) for phi, v in zip(walks.penalties, sight.sigma.tolist(), strict=True)])
        weights = s * sizes * np.sign(sight.z[every, sight.best])
        self.x *= 1 - s
        self.x[every, sight.best] += weights
        self.u *= 1 - s
        self.u += weights[:, None] * walks.columns[sight.best]
        self._stay_inside()
        self.t += 1
        self.sight = self.look(every)

    def _stay_inside(self) -> None:
        """Undo what rounding carries over the edge of a ball."""
        for k, penalty in enumerate(self.walks.penalties):
            while not penalty.admits(mass := float(np.abs(self.x[k]).sum())):
                shrink = penalty.limit / mass * (1 - 4 * EPS)
                self.x[k] *= shrink
                self.u[k] *= shrink
