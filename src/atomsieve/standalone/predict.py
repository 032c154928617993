"""Load a fitted model from a file. This module stands alone: a copy of it on a small device needs only NumPy.

from predict import load_model

model = load_model("model.json")
model.predict(X)
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

MODEL_FORMAT = "atomsieve model"
MODEL_VERSION = 1


def _logistic(u: Any) -> Any:
    decay = np.exp(-np.abs(u))
    return np.where(u >= 0, 1.0, decay) / (1.0 + decay)


def _softmax(u: Any) -> Any:
    scaled = np.exp(u - u.max(axis=1, keepdims=True))
    return scaled / scaled.sum(axis=1, keepdims=True)


MEANS: dict[str, Any] = {"identity": lambda u: u, "exp": np.exp, "logistic": _logistic, "softmax": _softmax}
"""The expected target for each inverse link; "sign" has none."""


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A sparse linear model: the features it uses, their coefficients, and the inverse link."""

    inverse_link: str
    """The map from linear predictions to targets: "identity", "exp", "logistic", "softmax" or, for classes, "sign"."""

    index: Any
    """Positions of the used features among all features."""

    names: list[str] | None
    """Their names, if the model was fitted to a data frame."""

    count: int
    """The number of all features."""

    coef: Any
    """Coefficients, one row per output."""

    intercept: Any
    """Intercepts, one per output."""

    classes: Any
    """The classes; None for regression."""

    offset: dict[str, Any] | None = None
    """Where data keep the offset, if the model was fitted with one: a column, and whether its logarithm is meant."""

    def decision_function(self, X: Any, offset: Any = None) -> Any:
        """Return the linear predictions: one number per sample, or one per output or class if there are several."""
        u = self._linear(X, offset)
        if u.shape[1] == 1:
            return u[:, 0]
        return u[:, 1] - u[:, 0] if self.classes is not None and len(self.classes) == 2 else u

    def predict(self, X: Any, offset: Any = None) -> Any:
        """Return the expected target (one per output, where there are several) or the most likely class of each sample.

        Without an offset it is taken to be 0, also where the model was fitted with one.
        """
        u = self.decision_function(X, offset)
        if self.classes is None:
            return MEANS[self.inverse_link](u)
        return self.classes[(u > 0).astype(int) if u.ndim == 1 else u.argmax(axis=1)]

    def predict_proba(self, X: Any, offset: Any = None) -> Any:
        """Return the probability of each class."""
        if self.classes is None or self.inverse_link == "sign":
            raise AttributeError("This model gives no probabilities.")
        u = self._linear(X, offset)
        likely = MEANS[self.inverse_link](u)
        if self.inverse_link == "softmax":
            return likely
        if likely.shape[1] == 1:
            return np.hstack([_logistic(-u), likely])
        total = likely.sum(axis=1, keepdims=True)
        return np.where(total > 0, likely / np.where(total > 0, total, 1.0), 1.0 / likely.shape[1])

    def _linear(self, X: Any, offset: Any) -> Any:
        """Return `X coef' + intercept + offset`, one column per row of coefficients."""
        u = self._used(X) @ self.coef.T + self.intercept
        if offset is None:
            return u
        shift = np.asarray(offset, dtype=np.float64)
        wanted = u.shape if u.shape[1] > 1 else u.shape[:1]
        shared = self.classes is not None and self.inverse_link != "softmax" and shift.shape == u.shape[:1]
        if shift.shape != wanted and not shared:
            raise ValueError(f"offset must have shape {wanted}, got {shift.shape}.")
        if not np.isfinite(shift).all():
            raise ValueError("offset has NaN or infinite values.")
        return u + shift.reshape(len(u), -1)

    def _used(self, X: Any) -> Any:
        """Return the columns that the model uses, from an array, a sparse matrix or a data frame."""
        if hasattr(X, "columns") and self.names is not None:
            missing = [name for name in self.names if name not in X.columns]
            if missing:
                raise ValueError(f"X lacks the columns {missing}, which the model uses.")
            columns = [np.asarray(X[name], dtype=np.float64) for name in self.names]
            return _finite(np.stack(columns, axis=1) if columns else np.zeros((len(X), 0)))
        X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.count:
            raise ValueError(f"X must have shape (n, {self.count}), got {tuple(X.shape)}.")
        used = X[:, self.index]
        return _finite(np.asarray(used.toarray() if hasattr(used, "toarray") else used, dtype=np.float64))


def _finite(X: Any) -> Any:
    if not np.isfinite(X).all():
        raise ValueError("X has NaN or infinite values in columns that the model uses.")
    return X


def load_model(path: Any) -> SavedModel:
    """Read a model that `save_model` wrote.

    >>> import os, tempfile
    >>> from atomsieve import CertifiedLasso, load_model, save_model
    >>> fitted = CertifiedLasso(alpha=0.1).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 1.5]], [0.0, 1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(fitted, os.path.join(folder, "model.json"))
    ...     model = load_model(os.path.join(folder, "model.json"))
    >>> bool(np.allclose(model.predict([[3.0, 3.0]]), fitted.predict([[3.0, 3.0]])))
    True
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (RecursionError, ValueError) as error:  # too deep, no text, no JSON, numbers without end
        raise ValueError(f"{path} is not a model: it is no JSON ({error}).") from error
    if not isinstance(content, dict) or content.get("format") != MODEL_FORMAT:
        raise ValueError(f"{path} is not a model: it does not say format {MODEL_FORMAT!r}.")
    if content.get("version") != MODEL_VERSION:
        raise ValueError(f"{path} has version {content.get('version')!r}; this module reads version {MODEL_VERSION}.")
    try:
        return _model(content)
    except (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {type(error).__name__} ({error}).") from error


def _model(content: dict[str, Any]) -> SavedModel:
    features, classes = content["features"], content["classes"]
    index = np.array(features["index"], dtype=np.intp)
    intercept = np.array(content["intercept"], dtype=np.float64)
    coef = np.array(content["coefficients"], dtype=np.float64).reshape(len(intercept), len(index))
    if content["inverse_link"] not in (*MEANS, "sign"):
        raise ValueError(f"unknown inverse link {content['inverse_link']!r}")
    if len(index) and not (index.min() >= 0 and index.max() < int(content["count"])):
        raise ValueError("features out of range")
    labels = None if classes is None else np.array(classes["labels"], dtype=classes["dtype"])
    link, names, offset = content["inverse_link"], features["names"], content.get("offset")
    if offset is not None and not (isinstance(offset["column"], str) and isinstance(offset["logarithm"], bool)):
        raise ValueError("offset must name a column, and whether its logarithm is meant")
    return SavedModel(link, index, names, int(content["count"]), coef, intercept, labels, offset)
