"""Classifiers: any loss, gauge and penalty; and a drop-in for scikit-learn's LogisticRegression with an l1 penalty."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.metaestimators import available_if

from atomsieve.estimators.base import SparseEstimator
from atomsieve.estimators.elsewhere import at_hand, in_library_of
from atomsieve.estimators.params import Defaults, factor_gauge, given, linear, piece_gauge, ridge_of
from atomsieve.estimators.strengths import CriticalFraction, StrengthRule
from atomsieve.estimators.targets import Classes
from atomsieve.estimators.task import Task, TrainingData
from atomsieve.gauges import L1, Gauge
from atomsieve.intake.arguments import is_number
from atomsieve.losses import Logistic, Loss, Multinomial
from atomsieve.methods import Method
from atomsieve.penalties import Linear, Penalty
from atomsieve.typing import Array


def is_probabilistic(model: Any) -> bool:
    """Whether the loss of a classifier has probabilities; raise AttributeError, with the remedy, if not."""
    loss = model._solved.targets.loss if hasattr(model, "_solved") else getattr(model, "loss", None)
    if loss is not None and not loss.probabilistic:
        raise AttributeError(f"{loss!r} gives no probabilities: take decision_function, or Logistic().")
    return True


class LabelMixin(ClassifierMixin):
    """What a classifier answers beside labels: scores, and probabilities where the loss has them."""

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return the part of the samples whose class is predicted."""
        return float(accuracy_score(at_hand(y), self._predicted(X, offset), sample_weight=at_hand(sample_weight)))

    def decision_function(self, X: Any, offset: Any = None) -> Array:
        """Return scores: one number per sample for two classes (positive: the second), else one per class."""
        u = self._linear(X, offset)
        scores: Array = in_library_of(X, self._solved.targets.scores(u))
        return scores

    @available_if(is_probabilistic)
    def predict_proba(self, X: Any, offset: Any = None) -> Array:
        """Return the probability of each class; for one against the rest, their single ones made to sum to 1."""
        likely: Array = in_library_of(X, self._likely(X, offset))
        return likely

    def _likely(self, X: Any, offset: Any) -> Array:
        """Return probabilities on the host."""
        u = self._linear(X, offset)
        likely: Array = self._solved.targets.probabilities(u)
        return likely

    @available_if(is_probabilistic)
    def predict_log_proba(self, X: Any, offset: Any = None) -> Array:
        """Return the logarithm of the probability of each class."""
        with np.errstate(divide="ignore"):
            logarithms: Array = in_library_of(X, np.log(self._likely(X, offset)))
        return logarithms


class GaugeClassifier(LabelMixin, SparseEstimator):
    """Sparse classification with any loss, gauge and penalty, and a certificate.

    Minimises ::

        sum_i w_i loss(x_i . coef + intercept, y_i) / sum_i w_i + penalty(gauge(coef)) + (ridge / 2) |coef|^2

    over `coef` and the intercept, with `loss(u, y) = log(1 + exp(-y u))` for y = -1 and 1 by default. The weights w_i
    are the sample weights times the class weights.

    Parameters
    ----------
    loss : Loss, optional
        `Logistic()` or `SquaredHinge()`: with more than two classes, each class against the rest. `Multinomial()`:
        all classes at once, with one matrix of coefficients that the gauge measures (`L1()` its entries, `Group()` its
        rows, that is whole features). By default `Logistic()` for two classes and `Multinomial()` for more.
    gauge, penalty, fit_intercept, standardize, unpenalized, method, tol, max_iter, time_limit, warm_start
        As for `GaugeRegressor`.
    keep_data, verbose, ridge, limits
        As for `GaugeRegressor`.
    class_weight : dict or "balanced", optional
        Weights of the classes, as in scikit-learn.

    Attributes
    ----------
    classes_, coef_, intercept_
        The model, with one row of coefficients for two classes (two for `Multinomial()`) and one per class for more.
    n_iter_, dual_gap_, status_, penalty_, equivalent_alpha_, certificate_
        As for `GaugeRegressor`; lists of penalties and certificates where each class is set against the rest.

    Notes
    -----
    With the default loss and gauge the same `coef` solves, for `a = equivalent_alpha_` and `W = sum_i w_i`:

    - scikit-learn: `LogisticRegression(l1_ratio=1, solver="saga", C=1 / (a * W))`;
    - glmnet: `family = "binomial"`, `lambda = a`, `standardize = FALSE`;
    - the paper: `lambda ||x||_1^2 / 2` with `lambda = a / ||coef||_1` (`Square`), or the ball of radius
      `C = ||coef||_1` (`Ball`).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from atomsieve import Ball, CertifiedLogisticRegression, GaugeClassifier, Square
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = GaugeClassifier(penalty=Square(0.02), tol=1e-12).fit(X, y)
    >>> model.certificate_  # doctest: +ELLIPSIS
    Certificate(26 of 30 coefficients proven zero, 4 proven non-zero, 0 undecided; optimal value 0.269125985, ...)
    >>> same = CertifiedLogisticRegression(C=1 / (model.equivalent_alpha_ * len(y)), tol=1e-12).fit(X, y)
    >>> bool(np.allclose(model.coef_, same.coef_, atol=1e-6))
    True
    >>> size = np.abs(model.coef_).sum()
    >>> bool(np.isclose(model.equivalent_alpha_ / size, 0.02))
    True
    >>> bool(np.allclose(GaugeClassifier(penalty=Ball(size), tol=1e-12).fit(X, y).coef_, model.coef_, atol=1e-5))
    True
    """

    _defaults: ClassVar[Defaults] = {
        "loss": (Logistic(), Multinomial()),
        "gauge": (L1(),),
        "penalty": (CriticalFraction(), Linear()),
    }

    def __init__(
        self,
        loss: Loss | None = None,
        gauge: Gauge | None = None,
        penalty: Penalty | StrengthRule | None = None,
        *,
        fit_intercept: bool = True,
        standardize: bool = False,
        unpenalized: Any = None,
        method: Method | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        warm_start: bool = False,
        class_weight: Any = None,
        time_limit: float | None = None,
        keep_data: bool = False,
        verbose: bool | int = False,
        ridge: float = 0.0,
        limits: Any = None,
    ) -> None:
        self.loss = loss
        self.gauge = gauge
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.unpenalized = unpenalized
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.keep_data = keep_data
        self.verbose = verbose
        self.ridge = ridge
        self.limits = limits

    def _task(self, data: TrainingData) -> Task:
        loss = None if self.loss is None else given(self, "loss", Loss)
        return Task(
            targets=Classes.of(data.y, data.weights, loss, self.class_weight),
            gauge=piece_gauge(self, data),
            strength=given(self, "penalty", Penalty, StrengthRule),
            intercept=bool(self.fit_intercept),
            standardize=bool(self.standardize),
            ridge=ridge_of(self.ridge),
            limits=self.limits,
        )


class CertifiedLogisticRegression(LabelMixin, SparseEstimator):
    """scikit-learn's LogisticRegression with an l1 penalty, and a certificate: same objective, parameters and answers.

    Minimises, for two classes y_i = -1 and 1, with weights w_i (sample weight times class weight, 1 by default) ::

        C sum_i w_i log(1 + exp(-y_i (x_i . coef + intercept))) + sum_j penalty_factors_j |coef_j|

    and for more classes the same with the multinomial loss. The intercept is not penalised, as by scikit-learn's solver
    "saga" (its "liblinear" penalises it).

    Parameters
    ----------
    C : float, CriticalFraction or FeatureCount
        The inverse strength: a number; or a rule that chooses the strength.
    fit_intercept : bool
        Whether an unpenalised constant is added.
    class_weight : dict or "balanced", optional
        Weights of the classes, as in scikit-learn.
    tol : float
        Relative: the fit ends when the duality gap is at most tol times the objective at `coef = 0`.
    max_iter : int, optional
        Limit of Newton steps on working sets; rarely ever needed.
    warm_start : bool
        Whether to start from the last solution.
    penalty_factors, positive, unpenalized, standardize, method, time_limit, keep_data, verbose, limits
        As for `CertifiedLasso`.
    penalty, l1_ratio
        "l1" (or "deprecated") and 1, the only ones there are here.
    dual, intercept_scaling, random_state, solver, n_jobs
        Accepted so that scripts need no change; they have no effect.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_
        As in scikit-learn.
    dual_gap_, status_, penalty_, equivalent_alpha_, certificate_
        As for `GaugeClassifier`; the gap is on the scale of the weighted mean of the losses.

    Notes
    -----
    With `W = sum_i w_i` and `a = equivalent_alpha_ = 1 / (C W)`, the same `coef` solves: scikit-learn's
    `LogisticRegression(l1_ratio=1, solver="saga", C=C)`; glmnet with `family = "binomial"`, `lambda = a` and
    `standardize = FALSE`; the paper's `lambda ||x||_1^2 / 2` with `lambda = a / ||coef||_1`, and its ball with
    `C = ||coef||_1`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.preprocessing import scale
    >>> from atomsieve import CertifiedLogisticRegression, GaugeClassifier, Linear, Square
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = CertifiedLogisticRegression(C=0.05, tol=1e-12).fit(X, y)
    >>> peer = LogisticRegression(l1_ratio=1, solver="saga", C=0.05, tol=1e-8, max_iter=10000).fit(X, y)
    >>> bool(np.allclose(model.coef_, peer.coef_, atol=1e-5))
    True
    >>> model.certificate_  # doctest: +ELLIPSIS
    Certificate(25 of 30 coefficients proven zero, 5 proven non-zero, 0 undecided; optimal value 0.2810818215, ...)
    >>> a = 1 / (0.05 * len(y))  # glmnet's lambda
    >>> for penalty in Linear(a), Square(a / np.abs(model.coef_).sum()):  # and the paper's
    ...     same = GaugeClassifier(penalty=penalty, tol=1e-12).fit(X, y)
    ...     print(bool(np.allclose(same.coef_, model.coef_, atol=1e-6)))
    True
    True
    """

    def __init__(
        self,
        penalty: str = "l1",
        *,
        C: Any = 1.0,
        l1_ratio: float = 1.0,
        dual: bool = False,
        tol: float = 1e-6,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "corrective",
        max_iter: int | None = None,
        verbose: bool | int = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        penalty_factors: Any = None,
        positive: Any = False,
        unpenalized: Any = None,
        standardize: bool = False,
        method: Method | None = None,
        time_limit: float | None = None,
        keep_data: bool = False,
        limits: Any = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.limits = limits
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.penalty_factors = penalty_factors
        self.positive = positive
        self.unpenalized = unpenalized
        self.standardize = standardize
        self.method = method
        self.time_limit = time_limit
        self.keep_data = keep_data

    def _task(self, data: TrainingData) -> Task:
        require_l1(self.penalty, self.l1_ratio)
        task = Task(
            targets=Classes.of(data.y, data.weights, None, self.class_weight),
            gauge=factor_gauge(self, data),
            strength=Linear(),
            intercept=bool(self.fit_intercept),
            standardize=bool(self.standardize),
            limits=self.limits,
        )
        return replace(task, strength=linear(self.C, "C", per_unit=1.0 / task.total(data)))


def require_l1(penalty: Any, ratio: Any) -> None:
    """Refuse the penalties of scikit-learn's LogisticRegression that are not the l1 norm."""
    if isinstance(penalty, (StrengthRule, Penalty)) or is_number(penalty):
        raise TypeError(
            f"The first argument is penalty, as in scikit-learn, and got {penalty!r}. The strength is C: write C=..., "
            "a number, CriticalFraction(0.1) or FeatureCount(10)."
        )
    if penalty not in ("l1", "deprecated") or ratio != 1:
        raise ValueError(
            f'Only the l1 penalty is here: penalty="l1" and l1_ratio=1, got penalty={penalty!r}, l1_ratio={ratio!r}. '
            "For others take GaugeClassifier."
        )
