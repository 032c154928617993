"""Classifiers that choose their strength by cross-validation."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from atomsieve.estimators.base import SparseEstimator
from atomsieve.estimators.classification import LabelMixin, is_probabilistic, require_l1
from atomsieve.estimators.cross_validation import CrossValidationMixin
from atomsieve.estimators.grid import Grid, InverseGrid
from atomsieve.estimators.params import Defaults, factor_gauge, given, piece_gauge, ridge_of
from atomsieve.estimators.targets import Classes
from atomsieve.estimators.task import Task, TrainingData
from atomsieve.gauges import L1, Gauge
from atomsieve.losses import Logistic, Loss, Multinomial
from atomsieve.methods import Method
from atomsieve.penalties import Linear, Penalty
from atomsieve.typing import Array


class PathLabelMixin:
    """What a classifier answers at any strength on its path; see `predict` for how strengths are given."""

    _at: Callable[[dict[str, float | str]], Any]

    def decision_function(self, X: Any, offset: Any = None, **strength: float | str) -> Array:
        """Return scores: one number per sample for two classes (positive: the second), else one per class.

        `strength` is a strength on the path by its name, as in `predict`.
        """
        scores: Array = LabelMixin.decision_function(self._at(strength), X, offset)
        return scores

    @available_if(is_probabilistic)
    def predict_proba(self, X: Any, offset: Any = None, **strength: float | str) -> Array:
        """Return the probability of each class; for one against the rest, their single ones made to sum to 1.

        `strength` is a strength on the path by its name, as in `predict`.
        """
        likely: Array = LabelMixin.predict_proba(self._at(strength), X, offset)
        return likely

    @available_if(is_probabilistic)
    def predict_log_proba(self, X: Any, offset: Any = None, **strength: float | str) -> Array:
        """Return the logarithm of the probability of each class, at a strength on the path as in `predict`."""
        likely: Array = LabelMixin.predict_log_proba(self._at(strength), X, offset)
        return likely


class GaugeClassifierCV(PathLabelMixin, CrossValidationMixin, LabelMixin, SparseEstimator):
    """`GaugeClassifier` with the strength of its penalty chosen by cross-validation.

    The objective is that of `GaugeClassifier`; parameters and attributes are those of `GaugeClassifier` and of
    `GaugeRegressorCV`, stratified folds the default.

    Notes
    -----
    With the default loss, penalty and gauge, and `W` the sum of the sample weights: scikit-learn's
    `LogisticRegressionCV(l1_ratios=[1], solver="saga")` has `C_ = 1 / (strength_ * W)`, glmnet's `cv.glmnet` with
    `family = "binomial"` and `standardize = FALSE` has `lambda.min = strength_` or `lambda.1se = strength_`. For the
    paper's penalties choose `penalty=Square()` (`strength_` is its lambda) or `penalty=Ball()` (`strength_` is its C).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from atomsieve import CertifiedLogisticRegression, GaugeClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = GaugeClassifierCV(strengths=20, selection="1se").fit(X, y)
    >>> same = CertifiedLogisticRegression(C=1 / (model.strength_ * len(y))).fit(X, y)
    >>> bool(np.allclose(same.coef_, model.coef_, atol=1e-4))
    True
    """

    _defaults: ClassVar[Defaults] = {
        "loss": (Logistic(), Multinomial()),
        "gauge": (L1(),),
        "penalty": (Linear(),),
    }

    strengths_: Array
    strength_: float

    def __init__(
        self,
        loss: Loss | None = None,
        gauge: Gauge | None = None,
        penalty: Penalty | None = None,
        *,
        strengths: Any = 100,
        ratio: float | None = None,
        cv: Any = None,
        scoring: Any = None,
        selection: str = "min",
        n_jobs: int | None = None,
        fit_intercept: bool = True,
        standardize: bool = False,
        unpenalized: Any = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        class_weight: Any = None,
        method: Method | None = None,
        time_limit: float | None = None,
        keep_data: bool = False,
        verbose: bool | int = False,
        ridge: float = 0.0,
        random_state: Any = None,
        limits: Any = None,
    ) -> None:
        self.loss = loss
        self.gauge = gauge
        self.penalty = penalty
        self.strengths = strengths
        self.ratio = ratio
        self.cv = cv
        self.scoring = scoring
        self.selection = selection
        self.n_jobs = n_jobs
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.unpenalized = unpenalized
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.method = method
        self.time_limit = time_limit
        self.keep_data = keep_data
        self.verbose = verbose
        self.ridge = ridge
        self.limits = limits
        self.random_state = random_state

    def _task(self, data: TrainingData) -> Task:
        loss = None if self.loss is None else given(self, "loss", Loss)
        return Task(
            targets=Classes.of(data.y, data.weights, loss, self.class_weight),
            gauge=piece_gauge(self, data),
            strength=given(self, "penalty", Penalty),
            intercept=bool(self.fit_intercept),
            standardize=bool(self.standardize),
            ridge=ridge_of(self.ridge),
            limits=self.limits,
        )

    def _grid(self) -> Grid:
        return Grid(given(self, "penalty", Penalty), self.strengths, self.ratio)


class CertifiedLogisticRegressionCV(PathLabelMixin, CrossValidationMixin, LabelMixin, SparseEstimator):
    """scikit-learn's LogisticRegressionCV with an l1 penalty, and a certificate; with the 1-SE rule.

    The objective is that of `CertifiedLogisticRegression` ::

        C sum_i w_i log(1 + exp(-y_i (x_i . coef + intercept))) + sum_j penalty_factors_j |coef_j|

    A value of C means the same in every fold, as in scikit-learn: `lambda = 1 / (C W)` with W the weight of the samples
    that are fitted.

    Parameters
    ----------
    Cs : int or array
        The number of values of C, in geometric progression from the largest one at which all coefficients are zero; or
        the values themselves. (scikit-learn spreads a number of values over 1e-4 to 1e4, whatever the data.)
    eps : float, optional
        First C over last, where their number is given; 0.001 by default where there are more samples than
        coefficients, else 0.01.
    cv, random_state, n_jobs, time_limit
        As for `GaugeRegressorCV`; folds are stratified by default.
    scoring : str or callable, optional
        As in scikit-learn. None is minus the mean of the loss on held-out samples ("neg_log_loss").
    selection : "min" or "1se"
        The value of C with the best mean score; or the least one whose mean is within one standard error of it.
    fit_intercept, class_weight, method, tol, max_iter, penalty_factors, positive, unpenalized, standardize
        As for `CertifiedLogisticRegression`.
    keep_data, verbose, limits
        As for `CertifiedLogisticRegression`.
    penalty, l1_ratios
        "l1" (or "deprecated") and 1, the only ones there are here.
    dual, intercept_scaling, solver, refit, use_legacy_attributes
        Accepted so that scripts need no change; they have no effect.

    Attributes
    ----------
    C_, Cs_, scores_
        The C that was chosen, those that were compared (smallest first), and the score for each fold and each of them.
    C_min_, C_1se_, index_min_, index_1se_
        What either rule chooses, whatever `selection` is, and its place among the candidates.
    cv_results_, cv_scores_, cv_mean_, cv_standard_error_, cv_quality_, feature_counts_, best_index_
        As for `GaugeRegressorCV`; the column with the candidates is called `Cs`.
    coef_path_, intercept_path_
        As for `GaugeRegressorCV`.
    classes_, coef_, intercept_, n_iter_, dual_gap_, status_, equivalent_alpha_, certificate_
        As for `CertifiedLogisticRegression`, for the model that is chosen, fitted to all samples.

    Notes
    -----
    With `W = sum_i w_i`, glmnet's lambda (`family = "binomial"`, `standardize = FALSE`) is
    `equivalent_alpha_ = 1 / (C_ W)`, the paper's `lambda` is `equivalent_alpha_ / ||coef_||_1` and its `C` is
    `||coef_||_1`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegressionCV
    >>> from sklearn.preprocessing import scale
    >>> from atomsieve import CertifiedLogisticRegressionCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, Cs = scale(X), [0.01, 0.1, 1.0]
    >>> model = CertifiedLogisticRegressionCV(Cs=Cs).fit(X, y)
    >>> settings = dict(l1_ratios=[1], solver="liblinear", scoring="neg_log_loss", use_legacy_attributes=False)
    >>> float(LogisticRegressionCV(Cs=Cs, **settings).fit(X, y).C_) == model.C_
    True
    >>> bool(np.isclose(model.equivalent_alpha_, 1 / (model.C_ * len(y))))
    True
    >>> model.certificate_  # doctest: +ELLIPSIS
    Certificate(14 of 30 coefficients proven zero, 16 proven non-zero, 0 undecided; optimal value 0.08098714...)
    """

    Cs_: Array
    C_: float

    def __init__(
        self,
        *,
        Cs: Any = 100,
        l1_ratios: Any = (1.0,),
        fit_intercept: bool = True,
        cv: Any = None,
        dual: bool = False,
        penalty: str = "l1",
        scoring: Any = None,
        solver: str = "corrective",
        tol: float = 1e-6,
        max_iter: int | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
        refit: bool = True,
        intercept_scaling: float = 1,
        random_state: Any = None,
        use_legacy_attributes: bool = False,
        eps: float | None = None,
        selection: str = "min",
        penalty_factors: Any = None,
        positive: Any = False,
        unpenalized: Any = None,
        standardize: bool = False,
        method: Method | None = None,
        time_limit: float | None = None,
        keep_data: bool = False,
        limits: Any = None,
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.limits = limits
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes
        self.eps = eps
        self.selection = selection
        self.penalty_factors = penalty_factors
        self.positive = positive
        self.unpenalized = unpenalized
        self.standardize = standardize
        self.method = method
        self.time_limit = time_limit
        self.keep_data = keep_data

    @property
    def scores_(self) -> Array:
        """The score for each fold and each value of C."""
        check_is_fitted(self)
        return self.cv_scores_.T

    def _task(self, data: TrainingData) -> Task:
        for ratio in np.atleast_1d(1.0 if self.l1_ratios is None else self.l1_ratios):
            require_l1(self.penalty, ratio)
        return Task(
            targets=Classes.of(data.y, data.weights, None, self.class_weight),
            gauge=factor_gauge(self, data),
            strength=Linear(),
            intercept=bool(self.fit_intercept),
            standardize=bool(self.standardize),
            limits=self.limits,
        )

    def _grid(self) -> Grid:
        return InverseGrid(Linear(), self.Cs, self.eps)
