"""What is predicted, numbers or classes: how y and offsets become those of problems, and predictions become answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from atomsieve.losses import Logistic, Loss, Multinomial
from atomsieve.typing import Array


@dataclass(frozen=True, eq=False)
class Numbers:
    """Targets are numbers: one problem, with a row of coefficients for each output."""

    loss: Loss
    outputs: Sequence[Any] = (0,)
    """What the rows of coefficients are called: by the names of the columns of y, or by their numbers."""

    kind: ClassVar[str] = "output"
    """What a row of coefficients belongs to."""

    def __post_init__(self) -> None:
        if self.loss.targets in ("signs", "classes"):
            raise TypeError(f"{self.loss!r} is a loss for classes: take GaugeClassifier.")

    @property
    def count(self) -> int:
        """How many numbers a sample has: the columns of y."""
        return len(self.outputs)

    @property
    def mean_loss(self) -> str:
        """What the mean of the loss is called elsewhere; empty where it has no other name."""
        name = self.loss.mean_is
        return name if self.count == 1 or not name else f"{name}, added up over {self.count} outputs"

    def vectors(self, y: Array) -> list[Array]:
        """Return the targets of each problem."""
        return [y]

    def shift(self, offset: Array) -> Array:
        """Return an offset as columns that can be added to the linear predictions."""
        return columns_of(offset, self.count)

    def offsets(self, offset: Array) -> list[Array]:
        """Return the offset of each problem, which refuses one of another shape."""
        return [offset]

    def weights(self, y: Array, weights: Array | None) -> Array | None:  # noqa: ARG002 -- the same for all targets
        """Return the weights of the samples."""
        return weights

    def attributes(self, coef: Array, intercept: Array) -> dict[str, Any]:
        """Return a model, given as a row of coefficients per output, as scikit-learn shows it."""
        if self.count > 1:
            return {"coef_": coef, "intercept_": intercept}
        return {"coef_": coef[0], "intercept_": float(intercept[0])}

    def predict(self, u: Array) -> Array:
        """Return the expected target of each sample from its linear predictions, one column per output."""
        expected: Array = self.loss.mean(u if self.count > 1 else u[:, 0])
        return expected


@dataclass(frozen=True, eq=False)
class Classes:
    """Targets are classes: signs for two of them; for more, numbers (`Multinomial`) or each against the rest."""

    loss: Loss
    labels: Array
    factors: Array | None
    """The weight of each class."""

    kind: ClassVar[str] = "class"
    """What a row of coefficients belongs to."""

    @classmethod
    def of(cls, y: Any, weights: Array | None, loss: Loss | None, class_weight: Any) -> "Classes":
        """Find the classes, and the loss for as many."""
        check_classification_targets(y)
        labels = np.unique(y)
        if len(labels) < 2:
            raise ValueError(f"y must have at least two classes, got one class: {labels.tolist()[0]!r}.")
        factors = None
        if class_weight is not None:
            with np.errstate(divide="ignore", invalid="ignore"):  # a class without weight is nobody's
                balance = compute_class_weight(class_weight, classes=labels, y=y, sample_weight=weights)
            factors = np.where(np.isfinite(balance), balance, 0.0)
        return cls(loss_for(len(labels), loss), labels, factors)

    @property
    def outputs(self) -> Sequence[Any]:
        """What the rows of coefficients are called, where there is one per class."""
        return list(self.labels)

    @property
    def mean_loss(self) -> str:
        """What the mean of the loss is called elsewhere; empty where it has no other name."""
        name = self.loss.mean_is
        one = self._joint or len(self.labels) == 2
        return name if one or not name else f"{name} of each class against the rest, added up"

    def vectors(self, y: Array) -> list[Array]:
        """Return the targets of each problem."""
        codes = self._codes(y)
        return [codes] if self._joint else [np.where(codes == k, 1.0, -1.0) for k in self._compared]

    def shift(self, offset: Array) -> Array:
        """Return an offset as columns that can be added to the linear predictions.

        For one class against the rest a single column counts for every class.
        """
        rows = len(self.labels if self._joint else self._compared)
        return columns_of(offset, rows, shared=not self._joint)

    def offsets(self, offset: Array) -> list[Array]:
        """Return the offset of each problem."""
        columns = self.shift(offset)
        return [columns] if self._joint else list(np.broadcast_to(columns, (len(offset), len(self._compared))).T)

    def weights(self, y: Array, weights: Array | None) -> Array | None:
        """Return the weights of the samples, times those of their classes."""
        if self.factors is None:
            return weights
        factors: Array = self.factors[self._codes(y)]
        return factors if weights is None else factors * weights

    def attributes(self, coef: Array, intercept: Array) -> dict[str, Any]:
        """Return a model, given as a row of coefficients per output, as scikit-learn shows it."""
        return {"classes_": self.labels, "coef_": coef, "intercept_": intercept}

    def scores(self, u: Array) -> Array:
        """Return one score per sample for two classes (positive: the second), else one per class."""
        if len(self.labels) > 2:
            return u
        return u[:, 0] if u.shape[1] == 1 else u[:, 1] - u[:, 0]

    def predict(self, u: Array) -> Array:
        """Return the most likely class of each sample from its linear predictions, one column per output."""
        scores = self.scores(u)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: Array = self.labels[best]
        return labels

    def probabilities(self, u: Array) -> Array:
        """Return the probability of each class; for one against the rest, their single ones made to sum to 1."""
        likely: Array = self.loss.mean(u)
        if self._joint:
            return likely
        if likely.shape[1] == 1:
            return np.hstack([self.loss.mean(-u), likely])
        total = likely.sum(axis=1, keepdims=True)
        uniform = np.full_like(likely, 1.0 / likely.shape[1])
        np.divide(likely, total, out=uniform, where=total > 0)
        return uniform

    @property
    def _joint(self) -> bool:
        """Whether one problem has all classes."""
        return self.loss.targets == "classes"

    @property
    def _compared(self) -> Sequence[int]:
        """Which classes are set against the rest where each has a problem of its own; of two, the second."""
        return [1] if len(self.labels) == 2 else range(len(self.labels))

    def _codes(self, y: Array) -> Array:
        """Return classes as numbers; refuse those that were not seen in fit."""
        unknown = np.setdiff1d(y, self.labels)
        if len(unknown):
            raise ValueError(f"y has classes that were not seen in fit: {unknown}.")
        return np.asarray(np.searchsorted(self.labels, y))


def loss_for(count: int, loss: Loss | None) -> Loss:
    """Return the loss for a number of classes: by default `Logistic` for two and `Multinomial` for more."""
    if loss is None:
        loss = Multinomial() if count > 2 else Logistic()
    if loss.targets not in ("signs", "classes"):
        raise TypeError(f"{loss!r} is a loss for numbers: take GaugeRegressor.")
    return loss.with_params(classes=count) if loss.targets == "classes" else loss


def columns_of(offset: Array, rows: int, *, shared: bool = False) -> Array:
    """Return an offset with one column per row of coefficients, or a single one that is shared by all of them."""
    wanted = (len(offset),) if rows == 1 else (len(offset), rows)
    if offset.shape != wanted and not (shared and offset.ndim == 1):
        raise ValueError(f"offset must have shape {wanted}, like the linear predictions, got {offset.shape}.")
    return offset.reshape(len(offset), -1)


def titles(targets: Numbers | Classes, rows: int) -> list[str | None]:
    """Return what each row of coefficients is about, such as "class setosa"; None where there is just one row."""
    return [f"{targets.kind} {name}" for name in targets.outputs] if rows > 1 else [None]
