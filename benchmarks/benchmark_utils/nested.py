"""Nested cross-validation as users of each package write it: the same folds and strengths, default tolerances.

Every function takes training data, labels -1 and 1, falling strengths (slopes of the mean loss) and a list of folds; it
chooses a strength by held-out log loss and returns the coefficients at that strength, fitted to all of them.
"""

import logging
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from atomsieve import CertifiedLogisticRegressionCV, Logistic, Problem
from benchmark_utils.components import Component

OUTER, INNER, STRENGTHS, RATIO = 3, 5, 20, 0.01

Folds = list[tuple[np.ndarray, np.ndarray]]


def _atomsieve(X: Any, y: np.ndarray, slopes: np.ndarray, folds: Folds) -> np.ndarray:
    Cs = 1 / (slopes * len(y))
    return CertifiedLogisticRegressionCV(Cs=Cs, cv=folds, fit_intercept=False).fit(X, y).coef_[0]


def _scikit_learn(X: Any, y: np.ndarray, slopes: np.ndarray, folds: Folds) -> np.ndarray:
    model = LogisticRegressionCV(
        Cs=1 / (slopes * len(y)),
        cv=folds,
        l1_ratios=[1],
        solver="liblinear",
        scoring="neg_log_loss",
        fit_intercept=False,
        use_legacy_attributes=False,
        random_state=0,
    )
    return model.fit(X, y).coef_[0]


def _searched(model: Any, X: Any, y: np.ndarray, slopes: np.ndarray, folds: Folds, parameter: str) -> np.ndarray:
    values = 1 / (slopes * len(y)) if parameter == "C" else slopes
    search = GridSearchCV(model, {parameter: values}, cv=folds, scoring="neg_log_loss").fit(X, y)
    return np.ravel(search.best_estimator_.coef_)


def _celer(X: Any, y: np.ndarray, slopes: np.ndarray, folds: Folds) -> np.ndarray:
    from celer import LogisticRegression as CelerRegression  # noqa: PLC0415

    return _searched(CelerRegression(fit_intercept=False, warm_start=True), X, y, slopes, folds, "C")


def _skglm(X: Any, y: np.ndarray, slopes: np.ndarray, folds: Folds) -> np.ndarray:
    from skglm import SparseLogisticRegression  # noqa: PLC0415

    model = SparseLogisticRegression(fit_intercept=False, warm_start=True)
    return _searched(model, X, y, slopes, folds, "alpha")


def _glmnet(X: Any, y: np.ndarray, slopes: np.ndarray, folds: Folds) -> np.ndarray:
    import rpy2.robjects as ro  # noqa: PLC0415
    from rpy2.robjects import numpy2ri  # noqa: PLC0415

    number = np.zeros(len(y))
    for k, (_, test) in enumerate(folds):
        number[test] = k + 1
    if sparse.issparse(X):
        X = sparse.csc_matrix(X)
        parts = (ro.IntVector(X.indices), ro.IntVector(X.indptr), ro.FloatVector(X.data), ro.IntVector(X.shape))
        X = ro.r("function(i, p, x, d) Matrix::sparseMatrix(i = i, p = p, x = x, dims = d, index1 = FALSE)")(*parts)
    else:
        X = numpy2ri.numpy2rpy(X)
    ro.r("glmnet::glmnet.control(fdev = 0, devmax = 1)")  # every strength asked for, however well it fits
    fit = ro.r(
        """function(X, y, lambda, folds) { m <- glmnet::cv.glmnet(X, y, family = "binomial", lambda = lambda,
           foldid = folds, type.measure = "deviance", intercept = FALSE, standardize = FALSE);
           as.numeric(coef(m, s = "lambda.min"))[-1] }"""
    )
    return np.array(fit(X, ro.FloatVector(y), ro.FloatVector(slopes), ro.FloatVector(number)))


def peers() -> Iterator[tuple[str, Callable[..., np.ndarray]]]:
    """Yield every package that is installed."""
    logging.getLogger("rpy2").setLevel(logging.ERROR)
    yield "atomsieve", _atomsieve
    yield "scikit-learn", _scikit_learn
    for name, module, run in (("celer", "celer", _celer), ("skglm", "skglm", _skglm), ("glmnet", "rpy2", _glmnet)):
        try:
            __import__(module)
        except ImportError:
            continue
        yield name, run


def nested_times(name: str, repetitions: int = 3) -> list[dict[str, Any]]:
    """Return the seconds that each package takes, and the log loss on the outer folds."""
    data = Component(f"datasets/{name}.py").instance().get_data()
    if data["X"] is None:
        return []
    X, y = data["X"], np.asarray(data["labels"], dtype=float)
    parts = []
    for train, test in StratifiedKFold(OUTER, shuffle=True, random_state=0).split(np.zeros(len(y)), y):
        inside = sparse.csc_matrix(X[train]) if sparse.issparse(X) else np.asfortranarray(X[train])
        critical = Problem(inside, y[train], loss=Logistic()).origin.sigma
        slopes = critical * RATIO ** (np.arange(STRENGTHS) / (STRENGTHS - 1))
        folds = list(StratifiedKFold(INNER).split(np.zeros(len(train)), y[train]))
        parts.append(
            (np.asfortranarray(inside) if not sparse.issparse(inside) else inside, y[train], slopes, folds, test)
        )
    found = dict(peers())
    times: dict[str, list[float]] = {package: [] for package in found}
    losses = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for run in found.values():
            run(*parts[0][:2], parts[0][2][:2], parts[0][3])  # compile, if there is something to compile
        for _ in range(repetitions):  # in turn, so that other work on the machine meets all alike
            for package, run in found.items():
                seconds, coefs = _timed(run, parts)
                times[package].append(seconds)
                losses[package] = [_log_loss(X[part[4]], y[part[4]], w) for part, w in zip(parts, coefs, strict=True)]
    return [
        {"data": name, "package": package, "seconds": min(times[package]), "loss": float(np.mean(losses[package]))}
        for package in found
    ]


def _timed(run: Callable[..., np.ndarray], parts: list[Any]) -> tuple[float, list[np.ndarray]]:
    start = time.perf_counter()
    coefs = [run(*part[:4]) for part in parts]
    return time.perf_counter() - start, coefs


def _log_loss(X: Any, y: np.ndarray, coef: np.ndarray) -> float:
    return float(np.logaddexp(0.0, -y * (X @ coef)).mean())
