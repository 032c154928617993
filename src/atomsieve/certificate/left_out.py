"""Which samples can be left out: what that is asked of, and the proof for one output or several classes."""

import numpy as np

from atomsieve.certificate import class_samples, samples
from atomsieve.certificate.class_face import ClassFace
from atomsieve.certificate.face import Face
from atomsieve.certificate.family import Family
from atomsieve.certificate.proof import Proof
from atomsieve.problem import Problem
from atomsieve.typing import Mask


def removable(proof: Proof, zero: Mask) -> Mask:
    """Return which samples can lose any part of their weight, without a change of zeros, non-zeros and signs."""
    problem, labels = proof.statement.problem, proof.statement.labels
    _require(problem, proof.statement.family)
    alive = ~zero & problem.eligible
    if not proof.x.ravel()[alive[labels]].all():
        return np.zeros(len(proof.statement.counts), dtype=bool)
    alone = Family.none(problem)
    if problem.outputs:
        face = ClassFace.of(proof, alone)
        assert isinstance(face, ClassFace)  # noqa: S101 -- `of` is that of Face
        return class_samples.removable(face, alive)
    return samples.removable(Face.of(proof, alone), alive)


def _require(problem: Problem, family: Family | None) -> None:
    """Refuse problems for which leaving out samples has no proof."""
    if family is not None or problem.data.tasks > 1 or np.any(problem.ridge != 0) or problem.limits is not None:
        raise ValueError("without_each_sample() is for one problem with one target, without a ridge or limits.")
    if problem.penalty.superlinear or not problem.core.entrywise:
        raise ValueError("without_each_sample() needs the penalty Linear and a gauge of coordinates (L1).")
