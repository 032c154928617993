"""A fitted model as a small file, which `atomsieve/standalone/predict.py` reads with NumPy alone."""

import json
import os
from typing import Any

import numpy as np

from atomsieve.estimators.base import SparseEstimator
from atomsieve.estimators.composed import Composed
from atomsieve.intake.files import write_text
from atomsieve.standalone.predict import MODEL_FORMAT, MODEL_VERSION


def save_model(estimator: Any, path: str | os.PathLike[str], *, offset: dict[str, Any] | None = None) -> None:
    """Write a fitted model as JSON: the features it uses, their coefficients, intercept, classes; a few kilobytes.

    `load_model` gives it back as an object with `predict`, `predict_proba` and `decision_function`. It lives in
    `atomsieve/standalone/predict.py`, a file that may be copied to a device where only NumPy is installed.

    The estimator may be the last step of a pipeline whose other steps scale, shift or select single features
    (`StandardScaler`, `MinMaxScaler`, `MaxAbsScaler`, `RobustScaler`, and all selectors): the file then has the
    coefficients of the features that go into the pipeline. It may also be a fitted search, whose best model is written.

    `offset` says where the data keep the offset: `{"column": name, "logarithm": whether that of the column is meant}`.
    It is written down for whoever reads the data; predictions take the offset itself.
    """
    model = Composed.of(estimator)
    last = model.last
    index = np.flatnonzero((model.coef != 0).any(axis=0))
    classes = getattr(last, "classes_", None)
    content = {
        "format": MODEL_FORMAT,
        "version": MODEL_VERSION,
        "estimator": type(last).__name__,
        "inverse_link": _inverse_link(last, classes),
        "count": int(model.coef.shape[1]),
        "features": {"index": index.tolist(), "names": None if model.names is None else model.names[index].tolist()},
        "coefficients": model.coef[:, index].tolist(),
        "intercept": model.intercept.tolist(),
        "classes": None if classes is None else {"dtype": _plain_type(classes), "labels": classes.tolist()},
    } | ({} if offset is None else {"offset": offset})
    write_text(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


def _inverse_link(estimator: SparseEstimator, classes: Any) -> str:
    loss = estimator._solved.targets.loss
    if loss.inverse_link is None:
        raise TypeError(f"save_model: the mean of {loss!r} is not known to the stand-alone predictor.")
    return "sign" if classes is not None and loss.inverse_link == "identity" else loss.inverse_link


def _plain_type(classes: Any) -> str:
    """Return the type of the labels by its name; strings in an object array are strings."""
    if classes.dtype.kind in "biufU":
        return str(classes.dtype.str)
    if not all(isinstance(label, str) for label in classes):
        raise TypeError("save_model: classes must be numbers or strings.")
    return "str"
