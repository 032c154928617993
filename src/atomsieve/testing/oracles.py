"""The laws of an oracle that a user brings."""

from fractions import Fraction

import numpy as np

from atomsieve.gauges import Oracle
from atomsieve.gauges.found import entries_of
from atomsieve.testing.laws import law
from atomsieve.typing import Array

MOVES = (-1.0, 1.0, 0.3)
"""Where in a box scores are looked at, as parts of its width."""


def check_oracle(oracle: Oracle, shape: tuple[int, ...], *, seed: int = 0) -> None:
    """Check that no atom beats the one that lmo returns, and that no score in a box exceeds the bound, to the last bit.

    >>> import numpy as np
    >>> from atomsieve import Oracle
    >>> check_oracle(Oracle(lmo=lambda z: np.sign(z), bound=lambda z, err: (np.abs(z) + err).sum() * (1 + 1e-14)), (4,))
    """
    rng = np.random.default_rng(seed)
    points = [rng.normal(size=shape) for _ in range(8)]
    points += [np.round(z) for z in points[:4] if np.round(z).any()]  # ties
    atoms = [dense(oracle.lmo(_locked(z)), shape) for z in points]
    if oracle.more is not None:
        others = oracle.more(_locked(points[0]), 3)
        atoms += [dense(given, shape) for given in others]
    for z, best in zip(points, atoms, strict=False):
        score, room = float(np.vdot(best, z)), 1e-9 * float(np.abs(best * z).sum())
        for other in atoms:
            law(
                np.vdot(other, z) <= score + room,
                "lmo must return an atom with the best p . z, and another atom has a better one",
            )
        again = dense(oracle.lmo(_locked(3.0 * z)), shape)
        law(abs(np.vdot(again, z) - score) <= room, "lmo must find as good an atom at 3 z as at z")
    if oracle.bound is not None:
        for z in points:
            _check_bound(oracle, z, atoms, rng)


def _check_bound(oracle: Oracle, z: Array, atoms: list[Array], rng: np.random.Generator) -> None:
    """Check the bound at z itself, by exact sums, and over boxes of several sizes around it."""
    assert oracle.bound is not None  # noqa: S101
    told = float(oracle.bound(_locked(z), _locked(np.zeros(z.shape))))
    for atom in [dense(oracle.lmo(_locked(z)), z.shape), *atoms]:
        exact = sum((Fraction(p) * Fraction(q) for p, q in zip(atom.flat, z.flat, strict=True)), Fraction(0))
        law(told >= exact, "bound(z, 0) must not be below the score of an atom, not even by rounding")
    for width in (1e-12, 0.1, 10.0):
        err = width * rng.uniform(size=z.shape)
        told = float(oracle.bound(_locked(z), _locked(err)))
        for part in MOVES:
            moved = z + part * err * rng.choice([-1.0, 1.0], size=z.shape)
            score = float(np.vdot(dense(oracle.lmo(_locked(moved)), z.shape), moved))
            law(score <= told + 1e-13 * abs(score), "bound(z, err) must hold for every z' with |z' - z| <= err")
        for atom in atoms:
            highest = float(np.vdot(atom, z) + np.abs(atom).ravel() @ err.ravel())
            law(highest <= told + 1e-13 * abs(highest), "bound(z, err) must hold for every z' with |z' - z| <= err")


def dense(given: object, shape: tuple[int, ...]) -> Array:
    """Return a user's atom as an array."""
    columns, values = entries_of(given, shape)
    atom = np.zeros(shape)
    atom[columns] = values
    return atom


def _locked(z: Array) -> Array:
    """Return an array that an oracle cannot change."""
    z.flags.writeable = False
    return z
