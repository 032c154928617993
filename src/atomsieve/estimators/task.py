"""What an estimator is asked to solve, as values: checked data, and the task that parameters state."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse
from sklearn.base import is_classifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import _check_sample_weight, check_X_y, column_or_1d, validate_data

from atomsieve.design import is_narrow, require_entries
from atomsieve.estimators.elsewhere import at_hand, checked, deviations, image, is_elsewhere, rows_of
from atomsieve.estimators.strengths import StrengthRule
from atomsieve.estimators.targets import Classes, Numbers
from atomsieve.gauges import Gauge, Image
from atomsieve.gauges.coordinates import Coordinates
from atomsieve.intake.arguments import as_numbers, require_read
from atomsieve.intake.columns import is_frame, names_of, not_finite, require_exact, stored_in, texts_in
from atomsieve.intake.names import listed
from atomsieve.numerics.namespace import is_foreign
from atomsieve.penalties import Penalty
from atomsieve.problem import Problem
from atomsieve.problem.data import check_names, check_offset
from atomsieve.typing import Array, Index


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The data of a fit, checked: everything that comes with the samples."""

    X: Any
    y: Array
    """Targets, one per sample; with K > 1 outputs, an n x K matrix."""

    weights: Array | None
    offset: Array | None
    """What is added to the linear predictions as it is, None for nothing."""

    names: Array | None
    """Names of the features, where they have any."""

    outputs: Sequence[Any] = (0,)
    """What the targets are called: the columns of a data frame by their names, others by their numbers."""

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, sample_weight: Any, offset: Any, *, reset: bool) -> "TrainingData":
        """Check data by scikit-learn's rules: against those of the last fit, or to be remembered in their place."""
        numeric, given = not is_classifier(model), y
        require_columns(X)
        require_unmasked(y, "y")
        checks: dict[str, Any] = {"y_numeric": numeric, "multi_output": numeric}
        if is_elsewhere(X):
            y, sample_weight, offset = (at_hand(part) for part in (y, sample_weight, offset))
            X = checked(model, X, reset=reset)
            _, y = check_X_y(np.zeros((X.shape[0], 1)), y, **checks)
        else:
            if numeric:
                require_no_text(model, y)
            checks["accept_sparse"] = ("csr", "csc")
            X, y = validated(model, X, y, reset=reset, dtype=(np.float64, np.float32), **checks)
            X = X if not issparse(X) and is_narrow(X) else X.astype(np.float64, copy=False)
        y = as_numbers(y, "y") if numeric else y
        y = column_or_1d(y, warn=True) if y.shape[1:] == (1,) else y
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True)
        names, count = getattr(model, "feature_names_in_", None), y.shape[1] if y.ndim == 2 else 1
        outputs = (check_names(None, given, count) if count > 1 else None) or range(count)
        return cls(X, y, weights, check_offset(offset, len(y)), names, outputs)

    def part(self, samples: Index) -> "TrainingData":
        """Return some of the samples."""
        weights = None if self.weights is None else self.weights[samples]
        offset = None if self.offset is None else self.offset[samples]
        return replace(self, X=rows_of(self.X, samples), y=self.y[samples], weights=weights, offset=offset)


def validated(model: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Return data as scikit-learn checks them; what is missing, infinite or text is told column by column."""
    require_exact(X, "X")
    try:
        return validate_data(model, X, *y, **options)
    except ValueError as error:
        told = wrong_columns(X, str(error))
        if told is None:
            raise
        raise ValueError(told) from None


def wrong_columns(X: Any, error: str) -> str | None:
    """Say which columns of X are the reason of an error of scikit-learn; None where it has other reasons."""
    texts = texts_in(X) if is_frame(X) else []
    if texts:
        return (
            f"X has text in these columns: {listed(texts)}. Turn them into numbers first (pandas.get_dummies, or "
            "scikit-learn's OneHotEncoder in a pipeline), or leave them out."
        )
    if "NaN" not in error and "inf" not in error:
        return None
    try:
        numbers, entries = _numbers_of(X)
    except (TypeError, ValueError):
        return None
    return None if np.isfinite(entries).all() else not_finite(numbers, "X", names_of(X))


def require_no_text(model: Any, y: Any) -> None:
    """Refuse text as targets where numbers are predicted."""
    if is_foreign(y) or np.asarray(y).dtype.kind not in "OU":
        return
    text = next((value for value in np.ravel(np.asarray(y, dtype=object)) if isinstance(value, str)), None)
    if text is not None:
        raise ValueError(
            f"y holds text, such as {str(text)!r}, and {type(model).__name__} predicts numbers. For classes take "
            "CertifiedLogisticRegression or GaugeClassifier."
        )


def _numbers_of(X: Any) -> tuple[Any, Any]:
    """Return a sparse matrix as it is, anything else as an array with NaN for what is missing, and their entries."""
    if issparse(X):
        return X, stored_in(X)
    array = X.to_numpy(np.float64, na_value=np.nan) if hasattr(X, "iloc") else np.asarray(X, dtype=np.float64)
    return array, array


def require_unmasked(values: Any, name: str) -> None:
    """Refuse masked entries, of which scikit-learn would take what is behind the mask."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} has masked (missing) entries. Impute or remove them first.")


def require_columns(X: Any) -> None:
    """Refuse a data frame without columns, masked entries, operators and paths of files, in plain words."""
    require_read(X)
    require_entries(X)
    require_unmasked(X, "X")
    if hasattr(X, "columns") and len(X.columns) == 0:
        raise ValueError("X has no columns: a data frame with at least one feature is needed.")


@dataclass(frozen=True, eq=False)
class Task:
    """What is minimised, for any data: each vector of targets makes a problem."""

    targets: Numbers | Classes
    gauge: Gauge
    strength: Penalty | StrengthRule
    """The penalty, or a rule that finds it; before a cross-validation, the shape whose strength is to be chosen."""

    intercept: bool
    standardize: bool
    ridge: float | Array = 0.0
    """The ridge beside the penalty: one number, or one for each feature."""

    coupled: bool = False
    """Whether the ridge is in units of the slope of the penalty, as for elastic nets of one mixing ratio."""

    limits: Any = None
    """Limits of the coefficients, in the units of X."""

    def problems(self, data: TrainingData) -> list[Problem]:
        """State the problems; their penalty is not yet chosen."""
        weights = self.weights(data)
        gauge, ridge = self.gauge, self.ridge
        if self.standardize:
            gauge = gauge.named(None if data.names is None else data.names.tolist(), data.X.shape[1])
            scales = scales_of(data.X, weights)
            gauge, ridge = rescaled(gauge, scales), rescaled_ridge(ridge, gauge, scales)
        stated = [
            Problem(
                data.X,
                y,
                loss=self.targets.loss,
                gauge=gauge,
                sample_weight=weights,
                intercept=self.intercept,
                offset=offset,
                names=data.names,
                ridge=ridge,
                limits=self.limits,
            )
            for y, offset in self.parts(data)
        ]
        return [problem.coupled() for problem in stated] if self.coupled else stated

    def parts(self, data: TrainingData) -> list[tuple[Array, Array | None]]:
        """Return targets and offset of each problem."""
        vectors = self.targets.vectors(data.y)
        offsets = [None for _ in vectors] if data.offset is None else self.targets.offsets(data.offset)
        return list(zip(vectors, offsets, strict=True))

    def weights(self, data: TrainingData) -> Array | None:
        """Return the weights of the samples, those of their classes included; None where all are 1."""
        return self.targets.weights(data.y, data.weights)

    def linear(self, data: TrainingData, coefs: Any, constants: Array, samples: Index | slice = slice(None)) -> Array:
        """Return the linear predictions of models for some samples: samples x models x outputs.

        `coefs` has the rows of coefficients of one model below those of the other, `constants` a row for each model.
        """
        if is_elsewhere(data.X):
            whole = image(data.X, csr_array(coefs).toarray().T)[samples]
            return self._shifted(whole.reshape(len(whole), *constants.shape) + constants, data, samples)
        rows = csr_array(coefs)
        used = np.unique(rows.indices)
        # columns first: few of them are used
        X = data.X[:, used][samples] if len(used) else np.zeros((len(data.y[samples]), 0))
        predicted = (
            np.asarray(X @ rows[:, used].toarray().T).reshape(len(data.y[samples]), *constants.shape) + constants
        )
        return self._shifted(predicted, data, samples)

    def _shifted(self, predicted: Array, data: TrainingData, samples: Index | slice) -> Array:
        """Return predictions with what the offset adds."""
        return predicted if data.offset is None else predicted + self.targets.shift(data.offset[samples])[:, None]

    def loss_sum(self, u: Array, y: Array, weights: Array | None) -> float:
        """Return the weighted sum of the losses of linear predictions of one model, over all outputs or classes."""
        targets = self.targets.vectors(y)
        parts = [u] if len(targets) < u.shape[1] else u.T
        weights = np.ones(len(y)) if weights is None else weights
        return float(sum(np.sum(weights @ self.targets.loss.value(u, y)) for u, y in zip(parts, targets, strict=True)))

    def total(self, data: TrainingData) -> float:
        """Return the sum of the weights."""
        weights = self.weights(data)
        return float(len(data.y) if weights is None else weights.sum())


def scales_of(X: Any, weights: Array | None) -> Array:
    """Return the (weighted) standard deviation of each feature, 1 where it is constant."""
    if is_elsewhere(X):
        return deviations(X, weights)
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


def rescaled_ridge(ridge: float | Array, gauge: Gauge, scales: Array) -> float | Array:
    """Return the ridge that charges x what the given one charges `scales * x`."""
    if not np.any(ridge):
        return ridge
    if not isinstance(gauge, Coordinates):
        raise TypeError(
            f"standardize and ridge go together for gauges of single coefficients, not for {gauge!r}: scale the "
            "features of X yourself."
        )
    return np.asarray(ridge * scales * scales)
