"""What an estimator is asked to solve, as values: checked data, and the task that parameters state.

A task has targets, which are numbers or classes. They say how y becomes the targets of problems, and how predictions
become answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import diags_array, issparse
from sklearn.base import is_classifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from atomsieve.estimators.strengths import StrengthRule
from atomsieve.gauges import Gauge, Image
from atomsieve.gauges.coordinates import Coordinates
from atomsieve.losses import Logistic, Loss, Multinomial
from atomsieve.penalties import Penalty
from atomsieve.problem import Problem
from atomsieve.typing import Array, Index


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The data of a fit, checked: everything that comes with the samples."""

    X: Any
    y: Array
    weights: Array | None
    names: Array | None
    """Names of the features, where they have any."""

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> "TrainingData":
        """Check data by scikit-learn's rules: against those of the last fit, or to be remembered in their place."""
        checks = {"accept_sparse": ("csr", "csc"), "dtype": np.float64, "y_numeric": not is_classifier(model)}
        require_columns(X)
        X, y = validate_data(model, X, y, reset=reset, **checks)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        return cls(X, y, weights, getattr(model, "feature_names_in_", None))

    def part(self, samples: Index) -> "TrainingData":
        """Return some of the samples."""
        weights = None if self.weights is None else self.weights[samples]
        return replace(self, X=self.X[samples], y=self.y[samples], weights=weights)


def require_columns(X: Any) -> None:
    """Refuse a data frame without columns in plain words."""
    if hasattr(X, "columns") and len(X.columns) == 0:
        raise ValueError("X has no columns: a data frame with at least one feature is needed.")


@dataclass(frozen=True, eq=False)
class Numbers:
    """Targets are numbers: one problem, one vector of coefficients."""

    loss: Loss

    def __post_init__(self) -> None:
        if self.loss.targets in ("signs", "classes"):
            raise TypeError(f"{self.loss!r} is a loss for classes: take GaugeClassifier.")

    @property
    def outputs(self) -> Sequence[Any]:
        """Names of the rows of coefficients, where they have any."""
        return ()

    def vectors(self, y: Array) -> list[Array]:
        """Return the targets of each problem."""
        return [y]

    def weights(self, y: Array, weights: Array | None) -> Array | None:  # noqa: ARG002 -- the same for all targets
        """Return the weights of the samples."""
        return weights

    def attributes(self, coef: Array, intercept: Array) -> dict[str, Any]:
        """Return a model, given as a row of coefficients per output, as scikit-learn shows it."""
        return {"coef_": coef[0], "intercept_": float(intercept[0])}

    def predict(self, u: Array) -> Array:
        """Return the expected target of each sample from its linear predictions, one column per output."""
        expected: Array = self.loss.mean(u[:, 0])
        return expected


@dataclass(frozen=True, eq=False)
class Classes:
    """Targets are classes: signs for two of them; for more, numbers (`Multinomial`) or each against the rest."""

    loss: Loss
    labels: Array
    factors: Array | None
    """The weight of each class."""

    @classmethod
    def of(cls, y: Any, weights: Array | None, loss: Loss | None, class_weight: Any) -> "Classes":
        """Find the classes, and the loss for as many."""
        check_classification_targets(y)
        labels = np.unique(y)
        if len(labels) < 2:
            raise ValueError(f"y must have at least two classes, got one class: {labels[0]!r}.")
        factors = None
        if class_weight is not None:
            with np.errstate(divide="ignore", invalid="ignore"):  # a class without weight is nobody's
                balance = compute_class_weight(class_weight, classes=labels, y=y, sample_weight=weights)
            factors = np.where(np.isfinite(balance), balance, 0.0)
        return cls(loss_for(len(labels), loss), labels, factors)

    @property
    def outputs(self) -> Sequence[Any]:
        """Names of the rows of coefficients, where they have any."""
        return list(self.labels)

    def vectors(self, y: Array) -> list[Array]:
        """Return the targets of each problem."""
        codes = self._codes(y)
        if self.loss.targets == "classes":
            return [codes]
        positive = [1] if len(self.labels) == 2 else range(len(self.labels))
        return [np.where(codes == k, 1.0, -1.0) for k in positive]

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
        if self.loss.targets == "classes":
            return likely
        if likely.shape[1] == 1:
            return np.hstack([self.loss.mean(-u), likely])
        total = likely.sum(axis=1, keepdims=True)
        uniform = np.full_like(likely, 1.0 / likely.shape[1])
        np.divide(likely, total, out=uniform, where=total > 0)
        return uniform

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


@dataclass(frozen=True, eq=False)
class Task:
    """What is minimised, for any data: each vector of targets makes a problem."""

    targets: Numbers | Classes
    gauge: Gauge
    strength: Penalty | StrengthRule
    """The penalty, or a rule that finds it; before a cross-validation, the shape whose strength is to be chosen."""

    intercept: bool
    standardize: bool

    def problems(self, data: TrainingData) -> list[Problem]:
        """State the problems; their penalty is not yet chosen."""
        weights = self.weights(data)
        gauge = rescaled(self.gauge, scales_of(data.X, weights)) if self.standardize else self.gauge
        return [
            Problem(data.X, y, loss=self.targets.loss, gauge=gauge, sample_weight=weights, intercept=self.intercept)
            for y in self.targets.vectors(data.y)
        ]

    def weights(self, data: TrainingData) -> Array | None:
        """Return the weights of the samples, those of their classes included; None where all are 1."""
        return self.targets.weights(data.y, data.weights)

    def total(self, data: TrainingData) -> float:
        """Return the sum of the weights."""
        weights = self.weights(data)
        return float(len(data.y) if weights is None else weights.sum())


def scales_of(X: Any, weights: Array | None) -> Array:
    """Return the (weighted) standard deviation of each feature, 1 where it is constant."""
    whole: Any = X
    if issparse(X) and not whole.has_canonical_format:
        whole = whole.copy()
        whole.sum_duplicates()
    scales: Array = StandardScaler(with_mean=False).fit(whole, sample_weight=weights).scale_
    return scales


def rescaled(gauge: Gauge, scales: Array) -> Gauge:
    """Return the gauge that prices x as the given one prices `scales * x`, the coefficients of features of unit scale.

    No feature is touched: sparse data stay sparse and coefficients keep their own units. Centring is what the
    intercept does.
    """
    if not isinstance(gauge, Coordinates):
        return Image(gauge, diags_array(1.0 / scales, format="csc"))
    if gauge.weights is None:
        return replace(gauge, weights=scales)
    return replace(gauge, weights=gauge.weights * (scales if gauge.weights.ndim == 1 else scales[:, None]))
