"""Regressors that choose their strength by cross-validation."""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from atomsieve.estimators.base import SparseEstimator
from atomsieve.estimators.cross_validation import CHOICE_RULES, CrossValidationMixin
from atomsieve.estimators.grid import Grid
from atomsieve.estimators.params import Defaults, factor_gauge, given, piece_gauge, ridge_of
from atomsieve.estimators.regression import ExposureMixin, NumberMixin
from atomsieve.estimators.targets import Numbers
from atomsieve.estimators.task import Task, TrainingData
from atomsieve.gauges import L1, Gauge
from atomsieve.intake.arguments import is_number
from atomsieve.losses import Loss, Squared
from atomsieve.methods import Method
from atomsieve.penalties import Linear, Penalty
from atomsieve.typing import Array


class GaugeRegressorCV(ExposureMixin, CrossValidationMixin, NumberMixin, SparseEstimator):
    """`GaugeRegressor` with the strength of its penalty chosen by cross-validation.

    The objective is that of `GaugeRegressor`. Candidates follow the path of solutions down from the critical slope, the
    same for every penalty shape; each fold follows them with warm starts and screening.

    Parameters
    ----------
    loss, gauge, fit_intercept, standardize, unpenalized, method, tol, max_iter, keep_data, verbose, ridge, limits
        As for `GaugeRegressor`; the method serves every fold and the fit to all samples.
    penalty : Penalty, optional
        The shape; `Linear()` by default. Its strength is what is chosen.
    strengths : int or array
        The number of candidates, or the candidates themselves (radii, for `Ball` and `LogBarrier`).
    ratio : float, optional
        Last slope over the critical one; 0.001 by default where there are more samples than coefficients, else 0.01.
    cv : int, splitter or list of splits, optional
        As in scikit-learn; five folds by default.
    scoring : str or callable, optional
        As in scikit-learn. None is minus the mean of the loss on held-out samples, summed over several outputs.
    selection : "min" or "1se"
        The candidate with the best mean score; or the strongest penalty whose mean is within one standard error of it.
    random_state : int or RandomState, optional
        Shuffles the rows into the folds, where `cv` is a number. None leaves them in order, as in scikit-learn.
    n_jobs : int, optional
        Number of folds that are worked on at once.
    time_limit : float, optional
        Seconds for the whole fit. Folds have equal parts of it, and so has the fit to all samples; candidates that a
        fold does not get to are left out, and a `ConvergenceWarning` says so.

    Attributes
    ----------
    strength_, penalty_, strengths_, penalties_
        What was chosen, and what was compared, sparsest first.
    strength_min_, strength_1se_, index_min_, index_1se_
        What either rule chooses, whatever `selection` is, and its place among the candidates.
    cv_results_ : dict of arrays
        A table with a row per candidate: `strengths`, `mean_score`, `standard_error`, `n_features` (of the model on all
        samples), and `split0_score`, `split1_score` and so on for the folds.
    cv_scores_, feature_counts_
        For each candidate and fold: the score, and the number of features.
    cv_quality_ : dict
        How good predictions of held-out samples are, all folds together: "R²"; for counts "deviance explained"; for
        classes "accuracy" and "log-loss". `summary()` sets them beside those of the training data.
    cv_mean_, cv_standard_error_, best_index_
        The mean over folds, its standard error, and the choice.
    coef_path_, intercept_path_
        The models of all candidates on all samples: candidates x d, or candidates x K x d for K outputs; kept sparse,
        and dense when they are asked for. `predict(X, strength=value)` takes any strength on this path.
    coef_, intercept_, n_iter_, dual_gap_, status_, equivalent_alpha_, certificate_
        As for `GaugeRegressor`, for the model that is chosen, fitted to all samples.

    Notes
    -----
    scikit-learn's `LassoCV` has `alpha_ = strength_` for the defaults here, glmnet's `cv.glmnet` has
    `lambda.min = strength_` or `lambda.1se = strength_` (with `standardize = FALSE`). For the paper's penalties choose
    `penalty=Square()` (`strength_` is its lambda) or `penalty=Ball()` (`strength_` is its C).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LassoCV
    >>> from atomsieve import GaugeRegressorCV, Square
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GaugeRegressorCV(strengths=20, ratio=1e-3).fit(X, y)
    >>> peer = LassoCV(alphas=20, eps=1e-3).fit(X, y)
    >>> bool(abs(model.strength_ / peer.alpha_ - 1) < 1e-9)
    True
    >>> sparser = GaugeRegressorCV(penalty=Square(), strengths=20, selection="1se").fit(X, y)
    >>> int((sparser.coef_ != 0).sum()), int((model.coef_ != 0).sum())
    (6, 9)
    >>> model.strength_1se_ > model.strength_min_ == model.strength_
    True
    >>> model.predict(X, strength=model.strength_1se_).shape
    (442,)
    """

    _defaults: ClassVar[Defaults] = {"loss": (Squared(),), "gauge": (L1(),), "penalty": (Linear(),)}

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
        self.method = method
        self.time_limit = time_limit
        self.keep_data = keep_data
        self.verbose = verbose
        self.ridge = ridge
        self.limits = limits
        self.random_state = random_state

    def _task(self, data: TrainingData) -> Task:
        return Task(
            targets=Numbers(given(self, "loss", Loss), data.outputs),
            gauge=piece_gauge(self, data),
            strength=given(self, "penalty", Penalty),
            intercept=bool(self.fit_intercept),
            standardize=bool(self.standardize),
            ridge=ridge_of(self.ridge),
            limits=self.limits,
        )

    def _grid(self) -> Grid:
        return Grid(given(self, "penalty", Penalty), self.strengths, self.ratio)


class CertifiedLassoCV(CrossValidationMixin, NumberMixin, SparseEstimator):
    """scikit-learn's LassoCV with a certificate: the same objective, parameters and answers, and the 1-SE rule.

    The objective is that of `CertifiedLasso` ::

        sum_i w_i (y_i - x_i . coef - intercept)^2 / (2 sum_i w_i) + alpha sum_j penalty_factors_j |coef_j|

    Parameters
    ----------
    eps : float
        Last alpha over first, where their number is given.
    alphas : int or array
        The number of alphas, in geometric progression from the least one at which all coefficients are zero; or the
        alphas themselves.
    cv, random_state, scoring, n_jobs, time_limit
        As for `GaugeRegressorCV`; None for `scoring` is the mean squared error.
    selection : "min" or "1se"
        As for `GaugeRegressorCV`. scikit-learn's "cyclic" and "random", which here mean nothing else, are "min".
    fit_intercept, method, tol, max_iter, positive, penalty_factors, unpenalized, standardize, keep_data,
    verbose, limits
        As for `CertifiedLasso`.
    n_alphas : int, optional
        The number of alphas, as older scripts give it.
    precompute, copy_X
        Accepted so that scripts need no change; they have no effect.

    Attributes
    ----------
    alpha_, alphas_, mse_path_
        The alpha that was chosen, those that were compared, and the mean squared error for each of them and each fold
        (over all outputs; NaN where another `scoring` was asked for).
    alpha_min_, alpha_1se_, index_min_, index_1se_
        What either rule chooses, whatever `selection` is, and its place among the candidates.
    cv_results_, cv_scores_, cv_mean_, cv_standard_error_, cv_quality_, feature_counts_, best_index_
        As for `GaugeRegressorCV`; the column with the candidates is called `alphas`.
    coef_path_, intercept_path_
        As for `GaugeRegressorCV`.
    coef_, intercept_, n_iter_, dual_gap_, status_, equivalent_alpha_, certificate_
        As for `CertifiedLasso`, for the model that is chosen, fitted to all samples.

    Notes
    -----
    `alpha_` is scikit-learn's `LassoCV().alpha_`, and glmnet's `lambda.min` or `lambda.1se` for `standardize = FALSE`.
    The paper's `lambda` is `alpha_ / ||coef_||_1` and its `C` is `||coef_||_1`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LassoCV
    >>> from atomsieve import CertifiedLassoCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = CertifiedLassoCV().fit(X, y)
    >>> bool(abs(model.alpha_ / LassoCV().fit(X, y).alpha_ - 1) < 1e-9)
    True
    >>> model.certificate_  # doctest: +ELLIPSIS
    Certificate(1 of 10 coefficients proven zero, 9 proven non-zero, 0 undecided; optimal value 1441.470585, ...)
    >>> CertifiedLassoCV(selection="1se").fit(X, y).alpha_ == model.alpha_1se_ > model.alpha_
    True
    """

    _rules = (*CHOICE_RULES, "cyclic", "random")

    alphas_: Array
    alpha_: float

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int | None = None,
        tol: float = 1e-6,
        copy_X: bool = True,
        cv: Any = None,
        verbose: bool | int = False,
        n_jobs: int | None = None,
        positive: Any = False,
        random_state: Any = None,
        selection: str = "min",
        scoring: Any = None,
        n_alphas: int | None = None,
        penalty_factors: Any = None,
        unpenalized: Any = None,
        standardize: bool = False,
        method: Method | None = None,
        time_limit: float | None = None,
        keep_data: bool = False,
        limits: Any = None,
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.limits = limits
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.scoring = scoring
        self.n_alphas = n_alphas
        self.penalty_factors = penalty_factors
        self.unpenalized = unpenalized
        self.standardize = standardize
        self.method = method
        self.time_limit = time_limit
        self.keep_data = keep_data

    @property
    def mse_path_(self) -> Array:
        """The mean squared error for each alpha and each fold; NaN where another `scoring` was asked for."""
        check_is_fitted(self)
        if self._choice.scoring is not None:
            return np.full_like(self.cv_scores_, np.nan)
        return -2.0 * self.cv_scores_ / len(self._solved.targets.outputs)

    def _task(self, data: TrainingData) -> Task:
        return Task(
            targets=Numbers(Squared(), data.outputs),
            gauge=factor_gauge(self, data),
            strength=Linear(),
            intercept=bool(self.fit_intercept),
            standardize=bool(self.standardize),
            limits=self.limits,
        )

    def _grid(self) -> Grid:
        alphas = 100 if self.alphas is None else self.alphas
        count = self.n_alphas if is_number(alphas) else None
        return Grid(Linear(), count or alphas, self.eps, "alpha", "eps")
