"""Which blocks may be alive in a family of problems: those that the proof with just these alive does not prove zero."""

from atomsieve.certificate.class_face import ClassFace
from atomsieve.certificate.face import TOO_WIDE, Face
from atomsieve.certificate.face_proof import FaceProof
from atomsieve.certificate.family import Family
from atomsieve.certificate.proof import Proof
from atomsieve.certificate.shape import covering
from atomsieve.numerics.enclosures import Uncertain

ROUNDS = 20
"""How often blocks that are not proven zero are added to those that are alive."""


def on_face(nominal: Proof, family: Family) -> FaceProof:
    """Return what a point proves about all problems of a family; raise Uncertain if that is nothing."""
    kind = ClassFace if family.problem.outputs else Face
    if family.strengths is not None and family.problem.penalty.superlinear:
        return covering(lambda one: kind.of(nominal, one), _settled, family)
    return _settled(kind.of(nominal, family))


def _settled(face: Face) -> FaceProof:
    """Return the proof with the blocks alive that it does not prove zero."""
    given = face.statement.problem.eligible
    alive = held = face.held
    for _ in range(ROUNDS):
        proof = face.proof(alive)
        left = ~proof.zero() & given
        if not (left & ~alive).any():
            if ((left | held) == alive).all():
                return proof
            alive = left | held  # fewer blocks, and sharper bounds
        else:
            alive = alive | left
    raise Uncertain(TOO_WIDE)
