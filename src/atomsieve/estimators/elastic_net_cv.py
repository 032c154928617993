"""A drop-in for scikit-learn's ElasticNetCV: mixing ratio and strength chosen by cross-validation."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from atomsieve.estimators.base import SparseEstimator
from atomsieve.estimators.cross_validation import CHOICE_RULES, CrossValidationMixin
from atomsieve.estimators.elastic_net import checked_ratio, mixed_task
from atomsieve.estimators.grid import Grid
from atomsieve.estimators.notices import GridEndWarning, tell
from atomsieve.estimators.regression import NumberMixin
from atomsieve.estimators.source import Source
from atomsieve.estimators.task import Task, TrainingData
from atomsieve.intake.arguments import is_number, shown
from atomsieve.methods import Method
from atomsieve.penalties import Linear, Penalty
from atomsieve.run.result import Result
from atomsieve.typing import Array


class CertifiedElasticNetCV(CrossValidationMixin, NumberMixin, SparseEstimator):
    """scikit-learn's ElasticNetCV with a certificate: the same objective, parameters and answers, and the 1-SE rule.

    The objective is that of `CertifiedElasticNet`. Each mixing ratio has a path of its own.

    Parameters
    ----------
    l1_ratio : float or list of floats
        The part of the l1 norm, above 0 and at most 1; of several ratios the one with the best mean score is taken.
    eps, n_alphas, alphas, cv, scoring, n_jobs, selection, time_limit
        As for `CertifiedLassoCV`; alphas are those of `CertifiedElasticNet`, and each ratio has an equal part of the
        time.
    fit_intercept, method, tol, max_iter, positive, penalty_factors, unpenalized, standardize, keep_data, verbose
        As for `CertifiedElasticNet`.
    precompute, copy_X, random_state
        Accepted so that scripts need no change; they have no effect.

    Attributes
    ----------
    alpha_, l1_ratio_
        What was chosen.
    alphas_, mse_path_
        The alphas that were compared, and the mean squared error for each of them and each fold (NaN where another
        `scoring` was asked for). For several ratios both have a first axis for them, but for alphas that were given.
    cv_scores_, cv_mean_, cv_standard_error_, cv_quality_, feature_counts_, best_index_
        As for `GaugeRegressorCV`, for the ratio that was chosen.
    coef_, intercept_, n_iter_, dual_gap_, status_, equivalent_alpha_, certificate_
        As for `CertifiedElasticNet`, for the model that was fitted to all samples in the end.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import ElasticNetCV
    >>> from atomsieve import CertifiedElasticNetCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = CertifiedElasticNetCV(l1_ratio=[0.5, 0.9], alphas=20).fit(X, y)
    >>> peer = ElasticNetCV(l1_ratio=[0.5, 0.9], alphas=20).fit(X, y)
    >>> bool(model.l1_ratio_ == peer.l1_ratio_), bool(abs(model.alpha_ / peer.alpha_ - 1) < 1e-9)
    (True, True)
    >>> model.mse_path_.shape
    (2, 20, 5)
    """

    _rules = (*CHOICE_RULES, "cyclic", "random")

    alphas_: Array
    alpha_: float
    l1_ratio_: float
    _mse_path: Array

    def __init__(
        self,
        *,
        l1_ratio: Any = 0.5,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int | None = None,
        tol: float = 1e-6,
        cv: Any = None,
        copy_X: bool = True,
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
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, **params: Any) -> Self:
        """Choose mixing ratio and strength by cross-validation, then fit the model with them to all samples.

        Parameters
        ----------
        X, y, sample_weight, offset, **params
            As for `GaugeRegressorCV`.
        """
        if is_number(self.l1_ratio):
            return super().fit(X, y, sample_weight, offset, **params)
        ratios = several_ratios(self.l1_ratio)
        limit = None if self.time_limit is None else self.time_limit / len(ratios)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GridEndWarning)  # of ratios that will not be chosen
            fitted = [
                clone(self).set_params(l1_ratio=ratio, time_limit=limit).fit(X, y, sample_weight, offset, **params)
                for ratio in ratios
            ]
        best = max(fitted, key=lambda model: float(np.nanmax(model.cv_mean_)))
        if best._grid_end is not None:
            tell(best._grid_end, GridEndWarning)
        self._set(dict(vars(best)) | self.get_params(deep=False))
        stacked = np.array([model.alphas_ for model in fitted])
        self.alphas_ = stacked if self.alphas is None or is_number(self.alphas) else stacked[0]
        self._mse_path = np.stack([model.mse_path_ for model in fitted])
        return self

    def _keep(self, task: Task, results: Sequence[Result], source: Source, **shown: Any) -> Self:
        super()._keep(task, results, source, l1_ratio_=float(self.l1_ratio), **shown)
        squares = -2.0 * self.cv_scores_ / len(task.targets.outputs)
        self._mse_path = squares if self._choice.scoring is None else np.full_like(squares, np.nan)
        return self

    @property
    def mse_path_(self) -> Array:
        """The mean squared error for each ratio (if there are several), alpha and fold; NaN for another `scoring`."""
        check_is_fitted(self)
        return self._mse_path

    def _task(self, data: TrainingData) -> Task:
        return mixed_task(self, data, Linear(), checked_ratio(self.l1_ratio))

    def _grid(self) -> Grid:
        alphas = 100 if self.alphas is None else self.alphas
        count = self.n_alphas if is_number(alphas) else None
        return MixedGrid(Linear(), count or alphas, self.eps, l1_ratio=checked_ratio(self.l1_ratio))


@dataclass(frozen=True, eq=False)
class MixedGrid(Grid):
    """Values of alpha, which mean the slope `alpha * l1_ratio`."""

    name: str = "alpha"
    ratio_name: str = "eps"
    l1_ratio: float = 1.0

    def penalty(self, value: float, total: float) -> Penalty:  # noqa: ARG002 -- the same for all
        return self.shape.at(value * self.l1_ratio)

    def value(self, penalty: Penalty, total: float) -> float:  # noqa: ARG002
        return penalty.slope(0.0) / self.l1_ratio


def several_ratios(ratios: Any) -> list[float]:
    """Return a list of parts of the l1 norm; refuse an empty one."""
    found = [checked_ratio(ratio) for ratio in ratios] if isinstance(ratios, Iterable) else []
    if isinstance(ratios, str) or not found:
        raise ValueError(f"l1_ratio must be a number above 0 and at most 1, or a list of such, got {shown(ratios)}.")
    return found
