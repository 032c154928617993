"""Regressors: any loss, gauge and penalty; and a drop-in for scikit-learn's Lasso."""

from typing import Any, ClassVar, Self

from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from atomsieve.estimators.base import SparseEstimator
from atomsieve.estimators.elsewhere import at_hand
from atomsieve.estimators.params import Defaults, factor_gauge, given, linear, offset_of, piece_gauge, ridge_of
from atomsieve.estimators.strengths import CriticalFraction, StrengthRule
from atomsieve.estimators.targets import Numbers
from atomsieve.estimators.task import Task, TrainingData
from atomsieve.gauges import L1, Gauge
from atomsieve.losses import Loss, Squared
from atomsieve.methods import Method
from atomsieve.penalties import Linear, Penalty
from atomsieve.typing import Array


class NumberMixin(RegressorMixin):
    """What a regressor answers beside predictions: how good they are."""

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """Return the coefficient of determination R^2 of the predictions, its mean over several outputs."""
        return float(r2_score(at_hand(y), self._predicted(X, offset), sample_weight=at_hand(sample_weight)))


class ExposureMixin:
    """What a regressor for any loss takes beside an offset: the exposure of counts, which means its logarithm."""

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, exposure: Any = None, **params: Any
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
            Features. Single precision is widened to double, which is exact.
        y : array of shape (n,) or (n, K)
            Targets. With K columns there are K outputs, and their losses are added.
        sample_weight : array of shape (n,), optional
            Non-negative weights; a weight of 2 means the sample twice.
        offset : array of the shape of y, optional
            What is added to the linear predictions as it is.
        exposure : array of the shape of y, optional
            For counts (`Poisson`): the time, the area or the number of people in which they were counted, as they are.
            `exposure=e` means `offset=np.log(e)`, as in statsmodels; glmnet has `offset = log(e)` alone.
        **params
            For a `...CV` estimator: `groups` for the splitter; with metadata routing, whatever splitter and scorer ask
            for.
        """
        fitted: Self = super().fit(X, y, sample_weight, offset_of(self, offset, exposure), **params)  # type: ignore[misc]
        return fitted

    def predict(self, X: Any, offset: Any = None, exposure: Any = None, **strength: float | str) -> Array:
        """Return the expected target of each sample.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
            Features.
        offset, exposure : arrays, optional
            As for `fit`. Without them the offset is 0, also where the model was fitted with one: predictions of counts
            are then those for an exposure of 1, that is rates.
        **strength
            For a `...CV` estimator: a strength on its path by its name (`strength=0.1`), for the model there.
        """
        expected: Array = super().predict(X, offset_of(self, offset, exposure), **strength)  # type: ignore[misc]
        return expected


class GaugeRegressor(ExposureMixin, NumberMixin, SparseEstimator):
    """Sparse regression with any loss, gauge and penalty, and a certificate.

    Minimises ::

        sum_i w_i loss(x_i . coef + intercept, y_i) / sum_i w_i + penalty(gauge(coef)) + (ridge / 2) |coef|^2

    over `coef` and the intercept, with `loss(u, y) = (u - y)^2 / 2` by default. With y of shape (n, K) there are K
    outputs: their losses are added, and the gauge measures the d x K matrix of all coefficients (`L1()` its entries,
    `Group()` its rows, that is whole features: the multi-task Lasso). An offset is added to `x_i . coef + intercept`.

    Parameters
    ----------
    loss : Loss, optional
        `Squared()` (the default), `Huber(delta)` or `Poisson()`, which predicts `exp(x . coef + intercept)`.
    gauge : Gauge, optional
        `L1()` by default; `L1(weights)` with penalty factors (0: unpenalised, inf: left out), `Group(groups)`, ...
    penalty : Penalty, CriticalFraction or FeatureCount, optional
        The shape with its strength, or a rule that chooses the strength; `CriticalFraction(0.1)` by default, a tenth
        of the slope from which on all coefficients are zero.
    fit_intercept : bool
        Whether an unpenalised constant is added.
    standardize : bool
        Whether to penalise the coefficients that features of unit standard deviation would have. Features are not
        touched: sparse data stay sparse, and `coef_` and certificate speak of X as it is.
    unpenalized : list of names or positions, or mask, optional
        Features that the penalty leaves alone (with `L1`).
    method : Method, optional
        How to solve, for fits and for proofs; `Corrective()` by default.
    tol : float
        Relative: the fit ends when the duality gap is at most tol times the objective at `coef = 0`.
    max_iter : int, optional
        The method's own limit by default.
    warm_start : bool
        Whether to start from the last solution.
    time_limit : float, optional
        Seconds for the whole fit; where they are up the best model so far is kept, and a `ConvergenceWarning` says so.
    keep_data : bool
        Whether to keep X and y for `certificate_`. By default they are found as long as they live elsewhere.
    verbose : bool
        Whether to print what happens while the fit, and later the proof, goes on.
    ridge : float
        The strength of a ridge beside the penalty (elastic net), on the coefficients themselves, whatever the gauge.
        With `standardize` it is a ridge on the
        coefficients of features of unit standard deviation (with `L1`). It leaves unpenalised features alone.
    limits : pair (lower, upper) or dict {name: (lower, upper)}, optional
        Limits of the coefficients, as glmnet's `lower.limits` and `upper.limits`: numbers, or arrays with one for each
        feature; None or an infinite number means no limit. They hold for `coef_` in the units of X, whatever
        `standardize` says. For gauges of single coefficients (`L1`, `NonNegative`).

    Attributes
    ----------
    coef_, intercept_
        The model: an array of shape (d,) and a number; for K outputs, arrays of shape (K, d) and (K,).
    n_iter_, dual_gap_, status_
        Steps taken (at least 1), the gap (an upper bound of the objective's error), and why the fit ended.
    penalty_, equivalent_alpha_
        The penalty with its strength, and the slope at the solution: `Linear(equivalent_alpha_)` has the same solution.
    certificate_
        What is proven about every coefficient; see `support_report()`.

    Notes
    -----
    With the default loss and gauge the same `coef` solves, for `a = equivalent_alpha_`:

    - scikit-learn: `Lasso(alpha=a)`;
    - glmnet: `lambda = a`, for `standardize = FALSE`;
    - the paper: `lambda ||x||_1^2 / 2` with `lambda = a / ||coef||_1` (`Square`), or the ball of radius
      `C = ||coef||_1` (`Ball`).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso
    >>> from atomsieve import Ball, GaugeRegressor, Square
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GaugeRegressor(penalty=Square(0.001), tol=1e-12).fit(X, y)
    >>> model.certificate_  # doctest: +ELLIPSIS
    Certificate(7 of 10 coefficients proven zero, 3 proven non-zero, 0 undecided; optimal value 2116.281438, ...)
    >>> lasso = Lasso(alpha=model.equivalent_alpha_, tol=1e-12).fit(X, y)
    >>> bool(np.allclose(model.coef_, lasso.coef_, atol=1e-6))
    True
    >>> size = np.abs(model.coef_).sum()
    >>> bool(np.isclose(model.equivalent_alpha_ / size, 0.001))
    True
    >>> bool(np.allclose(GaugeRegressor(penalty=Ball(size), tol=1e-12).fit(X, y).coef_, model.coef_, atol=1e-6))
    True

    Two outputs that share their features:

    >>> from sklearn.linear_model import MultiTaskLasso
    >>> from atomsieve import Group, Linear
    >>> Y = np.column_stack([y, np.log(y)])
    >>> model = GaugeRegressor(gauge=Group(), penalty=Linear(0.5), tol=1e-12).fit(X, Y)
    >>> bool(np.allclose(model.coef_, MultiTaskLasso(alpha=0.5, tol=1e-12).fit(X, Y).coef_, atol=1e-6))
    True
    >>> model.coef_.shape, model.predict(X).shape
    ((2, 10), (442, 2))
    """

    _defaults: ClassVar[Defaults] = {
        "loss": (Squared(),),
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
        self.time_limit = time_limit
        self.keep_data = keep_data
        self.verbose = verbose
        self.ridge = ridge
        self.limits = limits

    def _task(self, data: TrainingData) -> Task:
        return Task(
            targets=Numbers(given(self, "loss", Loss), data.outputs),
            gauge=piece_gauge(self, data),
            strength=given(self, "penalty", Penalty, StrengthRule),
            intercept=bool(self.fit_intercept),
            standardize=bool(self.standardize),
            ridge=ridge_of(self.ridge),
            limits=self.limits,
        )


class CertifiedLasso(NumberMixin, SparseEstimator):
    """scikit-learn's Lasso with a certificate: the same objective, parameters and answers.

    Minimises, with sample weights w_i (1 by default) ::

        sum_i w_i (y_i - x_i . coef - intercept)^2 / (2 sum_i w_i) + alpha sum_j penalty_factors_j |coef_j|

    For y of shape (n, K) it is the sum over the K outputs, as if each had a Lasso of its own with the same alpha.

    Parameters
    ----------
    alpha : float, CriticalFraction or FeatureCount
        The strength: a number, a fraction of the least alpha at which all coefficients are zero, or a number of
        features.
    fit_intercept : bool
        Whether an unpenalised constant is added.
    max_iter : int, optional
        Limit of Newton steps on working sets; rarely ever needed.
    tol : float
        Relative: the fit ends when the duality gap is at most tol times the objective at `coef = 0`.
    warm_start : bool
        Whether to start from the last solution.
    positive : bool, mask, or list of names or positions
        Features whose coefficients must not be negative.
    penalty_factors : array or mapping, optional
        Penalty factors, one per feature or by name or position for some of them; 0: unpenalised, inf: left out.
    unpenalized : list of names or positions, or mask, optional
        Features with a factor of 0.
    standardize : bool
        Whether to penalise the coefficients that features of unit standard deviation would have; X is not touched.
    method : Method, optional
        How to solve, for fits and for proofs; `Corrective()` by default, and it must be able to solve `Linear`.
    time_limit : float, optional
        Seconds for the whole fit; where they are up the best model so far is kept, and a `ConvergenceWarning` says so.
    keep_data : bool
        Whether to keep X and y for `certificate_`. By default they are found as long as they live elsewhere.
    verbose : bool
        Whether to print a line about the solution.
    limits : pair (lower, upper) or dict {name: (lower, upper)}, optional
        Limits of the coefficients in the units of X, as for `GaugeRegressor`.
    precompute, copy_X, random_state, selection
        Accepted so that scripts need no change; they have no effect. X is never modified.

    Attributes
    ----------
    coef_, intercept_, n_iter_, dual_gap_
        As in scikit-learn, of shapes (K, d) and (K,) for K outputs; `n_iter_` and the gap, on the scale of the
        objective above, are single numbers.
    status_, penalty_, equivalent_alpha_, certificate_
        Why the fit ended, the penalty, alpha, and what is proven about every coefficient.

    Notes
    -----
    The same `coef` solves: `Lasso(alpha)` of scikit-learn; glmnet with `lambda = alpha` and `standardize = FALSE` (with
    `standardize=True` here, `standardize = TRUE` there); the paper's `lambda ||x||_1^2 / 2` with
    `lambda = alpha / ||coef||_1`, and its ball with `C = ||coef||_1`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso
    >>> from atomsieve import Ball, CertifiedLasso, GaugeRegressor, Square
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = CertifiedLasso(alpha=0.5, tol=1e-12).fit(X, y)
    >>> bool(np.allclose(model.coef_, Lasso(alpha=0.5, tol=1e-12).fit(X, y).coef_, atol=1e-6))
    True
    >>> model.certificate_  # doctest: +ELLIPSIS
    Certificate(6 of 10 coefficients proven zero, 4 proven non-zero, 0 undecided; optimal value 2152.122993, ...)
    >>> size = np.abs(model.coef_).sum()
    >>> for penalty in Square(0.5 / size), Ball(size):  # the paper's lambda and C
    ...     same = GaugeRegressor(penalty=penalty, tol=1e-12).fit(X, y)
    ...     print(bool(np.allclose(same.coef_, model.coef_, atol=1e-6)))
    True
    True
    """

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-6,
        warm_start: bool = False,
        positive: Any = False,
        random_state: Any = None,
        selection: str = "cyclic",
        penalty_factors: Any = None,
        unpenalized: Any = None,
        standardize: bool = False,
        method: Method | None = None,
        time_limit: float | None = None,
        keep_data: bool = False,
        verbose: bool | int = False,
        limits: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.penalty_factors = penalty_factors
        self.unpenalized = unpenalized
        self.standardize = standardize
        self.method = method
        self.time_limit = time_limit
        self.keep_data = keep_data
        self.verbose = verbose
        self.limits = limits

    def _task(self, data: TrainingData) -> Task:
        return Task(
            targets=Numbers(Squared(), data.outputs),
            gauge=factor_gauge(self, data),
            strength=linear(self.alpha, "alpha"),
            intercept=bool(self.fit_intercept),
            standardize=bool(self.standardize),
            limits=self.limits,
        )
