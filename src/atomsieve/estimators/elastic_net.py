"""A drop-in for scikit-learn's ElasticNet, with a certificate."""

from typing import Any

import numpy as np

from atomsieve.estimators.base import SparseEstimator
from atomsieve.estimators.params import factor_gauge, linear
from atomsieve.estimators.regression import NumberMixin
from atomsieve.estimators.targets import Numbers
from atomsieve.estimators.task import Task, TrainingData
from atomsieve.gauges.coordinates import Coordinates
from atomsieve.intake.arguments import is_number, shown
from atomsieve.losses import Squared
from atomsieve.methods import Method
from atomsieve.penalties import Linear, Penalty
from atomsieve.typing import Array


class CertifiedElasticNet(NumberMixin, SparseEstimator):
    """scikit-learn's ElasticNet with a certificate: the same objective, parameters and answers.

    Minimises, with sample weights w_i (1 by default) ::

        sum_i w_i (y_i - x_i . coef - intercept)^2 / (2 sum_i w_i)
        + alpha sum_j penalty_factors_j (l1_ratio |coef_j| + (1 - l1_ratio) coef_j^2 / 2)

    The ridge makes the solution unique: features that repeat each other share their weight, and the certificate has an
    interval for each of them. For y of shape (n, K) it is the sum over the K outputs.

    Parameters
    ----------
    alpha : float, CriticalFraction or FeatureCount
        The strength: a number, a fraction of the least alpha at which all coefficients are zero, or a number of
        features.
    l1_ratio : float
        The part of the l1 norm, above 0 and at most 1: 1 is the Lasso. (0 is ridge regression, which has no zeros.)
    fit_intercept, max_iter, tol, warm_start, positive, unpenalized, method, time_limit, keep_data, verbose
        As for `CertifiedLasso`.
    penalty_factors : array or mapping, optional
        Factors of both parts of the penalty, as in glmnet; 0: unpenalised, inf: left out.
    standardize : bool
        Whether both parts penalise the coefficients that features of unit standard deviation would have, as in glmnet;
        X is not touched.
    precompute, copy_X, random_state, selection
        Accepted so that scripts need no change; they have no effect. X is never modified.

    Attributes
    ----------
    coef_, intercept_, n_iter_, dual_gap_
        As in scikit-learn, of shapes (K, d) and (K,) for K outputs; `n_iter_` and the gap, on the scale of the
        objective above, are single numbers.
    status_, penalty_, equivalent_alpha_, certificate_
        Why the fit ended, the linear part of the penalty and its strength `alpha * l1_ratio`, and what is proven about
        every coefficient.

    Notes
    -----
    The same `coef` solves `ElasticNet(alpha, l1_ratio=l1_ratio)` of scikit-learn, and glmnet with `lambda = alpha`,
    `alpha = l1_ratio` and `standardize = FALSE` for a y of unit variance (glmnet scales y first; for other y its ridge
    is that much weaker).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import ElasticNet
    >>> from atomsieve import CertifiedElasticNet
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = CertifiedElasticNet(alpha=0.01, l1_ratio=0.8, tol=1e-12).fit(X, y)
    >>> peer = ElasticNet(alpha=0.01, l1_ratio=0.8, tol=1e-12, max_iter=10_000).fit(X, y)
    >>> bool(np.allclose(model.coef_, peer.coef_, atol=1e-6))
    True
    >>> model.certificate_  # doctest: +ELLIPSIS
    Certificate(1 of 10 coefficients proven zero, 9 proven non-zero, 0 undecided; optimal value 1898.078801, ...)
    """

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int | None = None,
        copy_X: bool = True,
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
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
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

    def _task(self, data: TrainingData) -> Task:
        strength = linear(self.alpha, "alpha")
        if isinstance(strength, Penalty):
            strength = Linear(strength.slope(0.0) * checked_ratio(self.l1_ratio))
        return mixed_task(self, data, strength, checked_ratio(self.l1_ratio))


def mixed_task(model: Any, data: TrainingData, strength: Any, ratio: float) -> Task:
    """Return the task of an elastic net: the ridge is in proportion to the slope of the l1 norm, feature by feature."""
    gauge = factor_gauge(model, data)
    return Task(
        targets=Numbers(Squared(), data.outputs),
        gauge=gauge,
        strength=strength,
        intercept=bool(model.fit_intercept),
        standardize=bool(model.standardize),
        ridge=ridge_per_slope(gauge, ratio),
        coupled=True,
    )


def ridge_per_slope(gauge: Any, ratio: float) -> float | Array:
    """Return the ridge per unit of the slope, times the price of each feature; those without one have no ridge."""
    share = (1 - ratio) / ratio
    weights = gauge.weights if isinstance(gauge, Coordinates) else None
    if weights is None or share == 0:
        return share
    priced = (weights > 0) & np.isfinite(weights)
    return np.asarray(share * np.where(priced, weights, 1.0))


def checked_ratio(ratio: Any) -> float:
    """Return the part of the l1 norm; refuse what is none."""
    if not (is_number(ratio) and 0 < ratio <= 1):
        raise ValueError(
            f"l1_ratio must be a number above 0 and at most 1, got {shown(ratio)}. (For 0 there are no zeros to prove: "
            "take scikit-learn's Ridge.)"
        )
    return float(ratio)
