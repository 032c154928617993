"""Proofs about the optimum of a fit, from the fitted coefficients and the data."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from atomsieve.certificate import Certificate, nothing
from atomsieve.certificate.statement import unprovable
from atomsieve.estimators.notices import why_nothing, why_open
from atomsieve.estimators.solver import Solution, Solver, fits
from atomsieve.estimators.verdicts import Verdicts
from atomsieve.gauges.found import Combination
from atomsieve.problem import Problem
from atomsieve.run.decide import NEXT
from atomsieve.typing import Array, Mask

SAME = 1e-6
"""How far the objective may differ, as a part of that at x = 0, for data to pass as those of the fit."""


@dataclass(frozen=True, eq=False)
class ModelProof:
    """A certificate for each problem of a fit, and what they say of every coefficient."""

    certificates: list[Certificate]
    verdicts: list[Verdicts]
    silence: str | None
    """Why nothing is proven, and what to do about it; None where something is."""

    left_open: str | None = None
    """Why no coefficient of several classes is decided, though the optimal value is proven."""

    @classmethod
    def of(
        cls, stated: Sequence[Problem], solution: Solution, solver: Solver, titles: Sequence[str | None]
    ) -> "ModelProof":
        """Prove what can be proven, going on from the solution to smaller gaps where it is too coarse.

        `titles` say what each row of coefficients is about, where there are several.
        """
        problems = [problem.at_penalty(penalty) for problem, penalty in zip(stated, solution.penalties, strict=True)]
        parts = list(zip(problems, solution.lifted, strict=True))
        for (problem, x), objective in zip(parts, solution.objectives, strict=True):
            require_same(problem, x, objective)
        certificates = [certificate(problem, x, solver).without_data() for problem, x in parts]
        if len(titles) > 1:
            per = len(titles) // len(certificates)
            certificates = [named(one, titles[k * per : (k + 1) * per]) for k, one in enumerate(certificates)]
        verdicts = [Verdicts.of(*pair) for pair in zip(problems, certificates, strict=True)]
        return cls(certificates, verdicts, why_nothing(problems, certificates), why_open(problems, certificates))

    @property
    def zero(self) -> Mask:
        """Which features are proven to have no weight in any solution, in no class."""
        zeros = [np.atleast_2d(verdicts.zero.T).all(axis=0) for verdicts in self.verdicts]
        return np.asarray(np.all(zeros, axis=0))

    @property
    def undecided(self) -> str | None:
        """Why not a single coefficient is decided, None where one is."""
        if self.silence is not None:
            return self.silence
        if any((verdicts.zero | verdicts.nonzero).any() for verdicts in self.verdicts):
            return None
        return next((f"nothing is decided. {c.reason}" for c in self.certificates if c.undecided.any()), None)


def named(certificate: Certificate, titles: Iterable[str | None]) -> Certificate:
    """Return a certificate that says what its outputs are called."""
    return replace(certificate, names=certificate.names | {"outputs": tuple(map(str, titles))})


def require_same(problem: Problem, x: Array | Combination, objective: float) -> None:
    """Refuse data that are not those of the fit, by the objective at its coefficients."""
    if isinstance(x, Combination):
        here = problem.at(problem.made_of(x)).objective if fits(problem, x) else np.inf
    else:
        here = problem.at(problem.state(x)).objective if x.shape == problem.shape else np.inf
    if not abs(here - objective) <= SAME * problem.baseline:
        raise ValueError(
            "These are not the data of the fit: the objective at the fitted coefficients is "
            f"{here:.9g}, it was {objective:.9g}. Fit again, or pass the same X, y, sample_weight and offset."
        )


def certificate(problem: Problem, x: Array | Combination, solver: Solver) -> Certificate:
    """Return what can be proven of a problem, beginning at its solution.

    A first proof at a smaller gap than that of the fit costs a few passes, and its intervals are much narrower.
    """
    reason = unprovable(problem)
    if reason is not None:
        return nothing(problem, x.sum(problem.shape) if isinstance(x, Combination) else x, reason)
    finer = replace(solver, tol=solver.tol / NEXT)
    return finer.solve(problem, start=x, until="decided").certificate()
