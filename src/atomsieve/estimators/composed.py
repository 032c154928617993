"""A linear model behind scalers and selectors is a linear model of what goes into them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from atomsieve.estimators.base import SparseEstimator
from atomsieve.typing import Array


@dataclass(frozen=True, eq=False)
class Composed:
    """An estimator with the steps before it: coefficients in terms of the features that go into the first step."""

    last: SparseEstimator
    coef: Array
    """One row of coefficients per output."""

    intercept: Array
    names: Any
    """Names of the features, None where they have none."""

    @classmethod
    def of(cls, estimator: Any) -> "Composed":
        """Return the model of a fitted estimator, pipeline or search; refuse other steps by name."""
        estimator = getattr(estimator, "best_estimator_", estimator)
        steps, last = [], estimator
        if isinstance(estimator, Pipeline):
            *before, (_, last) = estimator.steps
            steps = [step for _, step in before if step not in (None, "passthrough")]
        if not isinstance(last, SparseEstimator):
            raise TypeError(
                f"save_model takes a fitted estimator of atomsieve, or a pipeline that ends in one, got "
                f"{type(last).__name__}{' at the end of a Pipeline' if last is not estimator else ''}."
            )
        check_is_fitted(last)
        coef, intercept = np.atleast_2d(last.coef_), np.atleast_1d(last.intercept_).astype(np.float64)
        for step in reversed(steps):
            coef, intercept = before_step(step, coef, intercept)
        return cls(last, coef, intercept, getattr(estimator, "feature_names_in_", None))


def before_step(step: Any, coef: Array, intercept: Array) -> tuple[Array, Array]:
    """Return a linear model of what goes into a step, from one of what comes out of it."""
    if isinstance(step, Pipeline):
        for _, inner in reversed(step.steps):
            if inner not in (None, "passthrough"):
                coef, intercept = before_step(inner, coef, intercept)
        return coef, intercept
    if hasattr(step, "get_support"):
        support = step.get_support()
        whole = np.zeros((len(coef), len(support)))
        whole[:, support] = coef
        return whole, intercept
    factors, shifts = affine(step)
    return coef * factors, intercept + coef @ np.broadcast_to(shifts, coef.shape[1:])


def affine(step: Any) -> tuple[Any, Any]:
    """Return the factor and the shift of each feature in a scaler: what comes out is `factor * x + shift`."""
    kind = type(step)
    if kind is MinMaxScaler and not step.clip:
        return step.scale_, step.min_
    if kind is MaxAbsScaler and not getattr(step, "clip", False):
        return 1.0 / step.scale_, 0.0
    if kind in (StandardScaler, RobustScaler):
        centre = step.mean_ if kind is StandardScaler and step.with_mean else 0.0
        centre = step.center_ if kind is RobustScaler and step.with_centering else centre
        factors = 1.0 if step.scale_ is None else 1.0 / step.scale_
        return factors, -centre * factors
    clipped = " with clip=True" if getattr(step, "clip", False) else ""
    raise TypeError(
        f"save_model: the step {kind.__name__}{clipped} is more than a factor and a shift per feature (scalers) or "
        "a choice of features (selectors). Save the last step, save_model(pipeline[-1], path), and pass it what "
        "pipeline[:-1].transform(X) returns; or let the estimator do without the step (standardize=True scales)."
    )
