"""What was fitted, in names and numbers."""

from dataclasses import dataclass
from typing import Any, Self

from atomsieve.estimators.proof import ModelProof
from atomsieve.estimators.targets import Classes
from atomsieve.report.outputs import finite
from atomsieve.run.status import Status


@dataclass(frozen=True)
class ModelFacts:
    """The model: its pieces, the strength of its penalty, and how the fit ended."""

    estimator: str
    loss: str
    gauge: str
    penalty: str
    link: str | None
    """How predictions follow from linear ones: "identity", "logistic", "exp" or "softmax"; None if unknown."""

    classes: tuple[str, ...] | None
    """The classes; None where targets are numbers."""

    standardized: bool
    samples: int
    status: str
    converged: bool
    gap: float | None

    @classmethod
    def of(cls, model: Any, proof: ModelProof) -> Self:
        """Return the facts of a fitted estimator."""
        targets, penalty = model._solved.targets, model.penalty_
        return cls(
            estimator=type(model).__name__,
            loss=repr(targets.loss),
            gauge=repr(model._solved.gauge),
            penalty=", ".join(map(repr, penalty)) if isinstance(penalty, list) else repr(penalty),
            link=targets.loss.inverse_link,
            classes=tuple(map(str, targets.labels)) if isinstance(targets, Classes) else None,
            standardized=model._solved.standardize,
            samples=int(proof.certificates[0].statement["samples"]),
            status=str(model.status_),
            converged=model.status_ in (Status.CONVERGED, Status.DECIDED),
            gap=finite(model.dual_gap_),
        )
