"""An imputer: what is missing in a table, from a matrix of low rank that fits what is there."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from atomsieve.design import Completion
from atomsieve.estimators.strengths import CriticalFraction
from atomsieve.gauges import Nuclear
from atomsieve.gauges.triplets import Triplets, decomposed
from atomsieve.intake.arguments import is_number, shown
from atomsieve.penalties import Linear
from atomsieve.problem import Problem
from atomsieve.run.solve import solve
from atomsieve.typing import Array

KEPT = 1e-9
"""Part of the largest singular value below which others are rounding."""


class LowRankImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Fill in what is missing (NaN) by a matrix of low rank: matrix completion with the nuclear norm.

    With the n entries that are there, less the means of their columns, it minimises ::

        sum over these (i, j) of (X_ij - mean_j - Z_ij)^2 / (2 n) + alpha * nuclear norm of Z

    Entries that are there stay as they are; others become `mean_j + Z_ij`.

    Parameters
    ----------
    alpha : float or CriticalFraction, optional
        The strength: a number, or a fraction of the least alpha at which Z is 0; a tenth of it by default.
    tol : float
        The duality gap at which the fit ends, as a part of the objective at Z = 0.
    max_iter : int, optional
        The most rounds.

    Attributes
    ----------
    mean_ : array of shape (d,)
        The means of the columns.
    components_ : array of shape (r, d)
        Orthonormal rows, r being the rank: the factors of the columns, the largest first.
    singular_values_ : array of shape (r,)
        The singular values of Z.
    rank_ : int
        The rank of Z.
    alpha_, dual_gap_, n_iter_
        The strength, a bound of how far the objective is above its minimum, and the number of rounds.

    Notes
    -----
    New rows are fitted to the factors by ridge regression, with the penalty that the nuclear norm implies for the rows
    of a factor, `min (|L|^2 + |R|^2) / 2` over `Z = L R'`. Rows of the table that was fitted get what the fit gave
    them, up to its tolerance. Proofs are those of `Problem(Completion.of(X), ...)`.

    Examples
    --------
    >>> import numpy as np
    >>> from atomsieve import LowRankImputer
    >>> rng = np.random.default_rng(1)
    >>> table = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 6))
    >>> truth, table[3, 2] = table[3, 2], np.nan
    >>> filled = LowRankImputer(alpha=1e-4).fit_transform(table)
    >>> round(float(truth), 2), round(float(filled[3, 2]), 2)
    (-0.43, -0.4)
    """

    def __init__(
        self, alpha: float | CriticalFraction | None = None, *, tol: float = 1e-6, max_iter: int | None = None
    ) -> None:
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 -- of every transformer
        """Find the matrix of low rank that fits the entries which are there."""
        table = self._table(X, reset=True)
        seen = ~np.isnan(table)
        empty = np.flatnonzero(~seen.any(axis=0))
        if len(empty):
            raise ValueError(f"Column {empty[0]} of X has no value: leave it out, or fill it in.")
        self.mean_ = np.nanmean(table, axis=0)
        entries = Completion.of(table)
        problem = Problem(entries, entries.entries(table - self.mean_), gauge=Nuclear())
        self.alpha_ = self._strength(problem)
        if self.alpha_ > 0:
            result = solve(problem.at_penalty(Linear(self.alpha_)), tol=self.tol, max_iter=self.max_iter)
            found = result.point.state.factors or decomposed(result.x.reshape(table.shape))
            self.dual_gap_, self.n_iter_ = result.gap, max(result.n_iter, 1)
        else:  # all columns are constant
            found, self.dual_gap_, self.n_iter_ = Triplets.nothing(entries.shape), 0.0, 1
        _, values, right = found
        self.rank_ = int(np.count_nonzero(values > KEPT * max(float(values.max(initial=0.0)), np.finfo(float).tiny)))
        self.components_, self.singular_values_ = right[:, : self.rank_].T.copy(), values[: self.rank_].copy()
        self._ridge = self.alpha_ * len(entries.rows)
        return self

    def transform(self, X: Any) -> Array:
        """Return X with what is missing filled in."""
        check_is_fitted(self)
        table = self._table(X, reset=False)
        filled = np.array(table)
        factors = self.components_.T * np.sqrt(self.singular_values_)
        for i in np.flatnonzero(np.isnan(table).any(axis=1)):
            seen = ~np.isnan(table[i])
            inside = factors[seen]
            system = inside.T @ inside + self._ridge * np.eye(self.rank_)
            weights = np.linalg.solve(system, inside.T @ (table[i] - self.mean_)[seen])
            filled[i, ~seen] = self.mean_[~seen] + factors[~seen] @ weights
        return filled

    def _strength(self, problem: Problem) -> float:
        """Return alpha as a number."""
        alpha = CriticalFraction() if self.alpha is None else self.alpha
        if isinstance(alpha, CriticalFraction):
            return float(alpha.fraction * problem.critical)
        if not is_number(alpha) or not 0 < float(alpha) < np.inf:
            raise ValueError(f"alpha must be a positive number or CriticalFraction(...), got {shown(alpha)}.")
        return float(alpha)

    def _table(self, X: Any, *, reset: bool) -> Array:
        """Return X as a table of doubles with NaN for what is missing."""
        table: Array = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=reset)
        return table

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
