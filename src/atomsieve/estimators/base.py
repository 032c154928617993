"""What all estimators share: state the problem, choose the strength, solve, keep the model, prove it on demand."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from atomsieve.certificate import Certificate
from atomsieve.certificate.statement import unprovable
from atomsieve.certificate.verify import verify
from atomsieve.estimators.columns import require_columns
from atomsieve.estimators.notices import UnprovenWarning, tell, why_nothing
from atomsieve.estimators.params import PieceParams
from atomsieve.estimators.source import GONE, Source
from atomsieve.estimators.strengths import StrengthRule, through
from atomsieve.estimators.study import Pieces, Solution, Study, Targets
from atomsieve.estimators.verdicts import Verdicts, support_table
from atomsieve.gauges import Gauge
from atomsieve.losses import Loss
from atomsieve.methods import Method
from atomsieve.penalties import Linear, Penalty
from atomsieve.problem import Problem
from atomsieve.run.result import Result
from atomsieve.run.solve import solve
from atomsieve.run.status import Status
from atomsieve.typing import Array, Mask

if TYPE_CHECKING:
    import pandas as pd

    from atomsieve.standalone.verify import Verification

SAME = 1e-6
"""How far the objective may differ, as a part of that at x = 0, for data to pass as those of the fit."""


class SparseModel(PieceParams):
    """A sparse linear model with a certificate.

    Subclasses say what is minimised (`_loss`, `_gauge`, `_penalty`) and how targets become numbers (`_targets`). What
    was fitted is kept in `_pieces`: parameters that are set later count at the next fit.
    """

    fit_intercept: bool
    tol: float
    max_iter: int | None
    verbose: bool | int
    keep_data: bool
    standardize: bool
    warm_start: bool = False
    method: Method | None = None

    coef_: Array
    intercept_: Any
    _pieces: Pieces
    _penalties: list[Penalty]
    _lifted: list[Array]
    _objectives: list[float]
    _certificates: list[Certificate] | None
    _verdicts: list[Verdicts] | None
    _untold: str | None
    _source: Source

    def _loss(self, classes: Array | None) -> Loss:
        raise NotImplementedError

    def _gauge(self, count: int) -> Gauge:
        raise NotImplementedError

    def _penalty(self, study: Study) -> Penalty | StrengthRule:
        raise NotImplementedError

    def _targets(self, y: Any, classes: Array | None, weights: Array | None) -> Targets:
        """Return the targets of each problem; classes are those of an earlier fit."""
        raise NotImplementedError

    def _expose(self, coef: Array, intercept: Array) -> None:
        """Set `coef_` and `intercept_` in the shape that scikit-learn gives them."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
            Features. Single precision is widened to double, which is exact.
        y : array of shape (n,)
            Targets.
        sample_weight : array of shape (n,), optional
            Non-negative weights; a weight of 2 means the sample twice.
        """
        study = self._study(X, y, sample_weight)
        problems = study.problems()
        results = self._solutions(self._penalty(study), problems, self._starts(problems))
        return self._keep(study, results, Source.of(X, y, sample_weight, keep=bool(self.keep_data)))

    def _study(self, X: Any, y: Any, sample_weight: Any, *, fitted: bool = False) -> Study:
        """Check the data and say what is to be solved, or what was solved."""
        require_columns(X)
        kinds = ("csr", "csc")
        X, y = validate_data(self, X, y, accept_sparse=kinds, dtype=np.float64, reset=not fitted, **self._checks())
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        targets = self._targets(y, getattr(self, "classes_", None) if fitted else None, weights)
        if targets.factors is not None:
            weights = targets.factors if weights is None else targets.factors * weights
        return Study(X, targets, weights, self._pieces if fitted else self._stated(X.shape[1], targets.classes))

    def _stated(self, count: int, classes: Array | None) -> Pieces:
        """Return what the parameters ask for."""
        return Pieces(self._loss(classes), self._gauge(count), bool(self.fit_intercept), bool(self.standardize))

    def _checks(self) -> dict[str, Any]:
        return {"y_numeric": True}

    def _solutions(
        self, penalty: Penalty | StrengthRule, problems: Sequence[Problem], starts: Sequence[Any]
    ) -> list[Result]:
        """Solve all problems for a penalty, or for the strength that a rule chooses."""
        if isinstance(penalty, Penalty):
            return [self._solve(p.at_penalty(penalty), start) for p, start in zip(problems, starts, strict=True)]
        if isinstance(penalty.shape, Linear):
            return penalty.solve(problems, lambda problem, start: uninterrupted(self._solve(problem, start)), starts)
        found = penalty.solve(problems, self._solve_linear, starts)
        shapes = [through(penalty.shape, result) for result in found]
        return [self._solve(p.at_penalty(shape), r) for p, shape, r in zip(problems, shapes, found, strict=True)]

    def _solve(self, problem: Problem, start: Any = None) -> Result:
        return solve(problem, self.method, tol=self.tol, max_iter=self.max_iter, start=start)

    def _solve_linear(self, problem: Problem, start: Any = None) -> Result:
        """Solve on the way to the solution that is meant, by the method that can."""
        return uninterrupted(solve(problem, tol=self.tol, start=start))

    def _starts(self, problems: Sequence[Problem]) -> Sequence[Any]:
        """Return where to start: at the last solution, where that is asked for and it fits."""
        last = getattr(self, "_lifted", [])
        shapes = [problem.shape for problem in problems]
        if not self.warm_start or [x.shape for x in last] != shapes:
            return [None for _ in problems]
        inside = [np.isfinite(problem.core.value(x)) for problem, x in zip(problems, last, strict=True)]
        return [x if fits else None for x, fits in zip(last, inside, strict=True)]

    def _keep(self, study: Study, results: Sequence[Result], source: Source) -> Self:
        """Keep the model and let go of X; say at last if the tolerance was missed."""
        solution = Solution.of(results)
        if study.targets.classes is not None:
            self.classes_ = study.targets.classes
        self._expose(solution.coef, solution.intercept)
        self._pieces, self._penalties = study.pieces, [result.problem.penalty for result in results]
        self._lifted, self._objectives = solution.lifted, solution.objectives
        self._certificates = self._verdicts = self._untold = None
        self._source = source
        self.penalty_ = self._penalties[0] if len(set(self._penalties)) == 1 else self._penalties
        self.n_iter_, self.dual_gap_, self.status_ = solution.n_iter, solution.gap, solution.status
        self.equivalent_alpha_ = solution.alphas[0] if len(results) == 1 else np.array(solution.alphas)
        if self.verbose:
            print(*results, sep="\n", flush=True)  # noqa: T201 -- what verbose asks for
        for result in results:
            uninterrupted(result)  # the best point is kept, but whoever fits many models must not go on
        missed = next((result for result in results if not result.converged), None)
        if missed is not None:
            goal = self.tol * missed.problem.baseline
            message = f"{missed.status} The gap is {missed.gap:.3g}, the tolerance {goal:.3g}."
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
        return self

    def _linear(self, X: Any) -> Array:
        """Return `X coef' + intercept`, one column per output."""
        check_is_fitted(self)
        require_columns(X)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=np.float64, reset=False)
        predicted: Array = X @ np.atleast_2d(self.coef_).T + self.intercept_
        return predicted

    @property
    def sparse_coef_(self) -> csr_matrix:
        """`coef_` with nothing but its non-zeros stored, one row per output."""
        check_is_fitted(self)
        return csr_matrix(np.atleast_2d(self.coef_))

    @property
    def certificate_(self) -> Certificate | list[Certificate]:
        """The certificate (one per class for one against the rest), proven when first asked for.

        X is not kept alive for it: where it is gone, call `certify(X, y)` or fit with `keep_data=True`.
        """
        check_is_fitted(self)
        if self._certificates is None:
            return self.certify(*self._recall())
        return self._told()

    def _recall(self) -> tuple[Any, Any, Any]:
        if "_source" not in vars(self):
            raise AttributeError(GONE)
        return self._source.recall()

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate | list[Certificate]:
        """Prove what can be proven about the optimum, from the fitted coefficients and the data of the fit.

        Where the fit is too coarse to decide every coefficient the proof goes on from it to smaller gaps. It speaks of
        the optimum; `coef_` stays as it is. Where nothing can be proven a warning says why, and what to fit instead.
        """
        self._prove(X, y, sample_weight)
        return self._told()

    def _told(self) -> Certificate | list[Certificate]:
        """Return the certificates; say why, once, where they prove nothing."""
        assert self._certificates is not None  # noqa: S101 -- made before
        if self._untold:
            tell(self._untold[0].upper() + self._untold[1:], UnprovenWarning)
            self._untold = None
        return self._certificates if len(self._certificates) > 1 else self._certificates[0]

    def _prove(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Prove what can be proven, without a word."""
        check_is_fitted(self)
        stated = self._study(X, y, sample_weight, fitted=True).problems()
        problems = [problem.at_penalty(penalty) for problem, penalty in zip(stated, self._penalties, strict=True)]
        certificates = []
        for problem, x, objective in zip(problems, self._lifted, self._objectives, strict=True):
            here = problem.at(problem.state(x)).objective if x.shape == problem.shape else np.inf
            if not abs(here - objective) <= SAME * problem.baseline:
                raise ValueError(
                    "These are not the data of the fit: the objective at the fitted coefficients is "
                    f"{here:.9g}, it was {objective:.9g}. Fit again, or pass the same X, y and sample_weight."
                )
            reason = unprovable(problem)
            if reason is not None:
                certificates.append(Certificate.nothing(problem, x, reason))
                continue
            result = solve(problem, tol=self.tol, max_iter=self.max_iter, start=x, until="decided")
            certificates.append(result.certificate())
        self._verdicts = [Verdicts.of(p, certificate) for p, certificate in zip(problems, certificates, strict=True)]
        self._certificates, self._untold = certificates, why_nothing(problems, certificates)

    def _proven(self) -> list[Verdicts]:
        """Return the verdicts, which come with the certificate."""
        check_is_fitted(self)
        if self._verdicts is None:
            self._prove(*self._recall())
        self._told()
        return self._verdicts or []

    def zero_mask(self) -> Mask:
        """Return which features are proven to have no weight in any solution, in no class."""
        zeros = [np.atleast_2d(verdicts.zero.T).all(axis=0) for verdicts in self._proven()]
        return np.asarray(np.all(zeros, axis=0))

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> "Verification | list[Verification]":
        """Check the certificate against data, by the independent checker (needs python-flint)."""
        check_is_fitted(self)
        if self._certificates is None:
            self.certify(X, y, sample_weight)
        assert self._certificates is not None  # noqa: S101 -- made just now
        study = self._study(X, y, sample_weight, fitted=True)
        pairs = zip(self._certificates, study.targets.vectors, strict=True)
        answers = [verify(proof, study.X, target, sample_weight=study.weights) for proof, target in pairs]
        return answers if len(answers) > 1 else answers[0]

    def support_report(self) -> "pd.DataFrame":
        """Return a data frame with a row per feature: coefficient, interval of the optimal one, verdict.

        The verdict is "zero", "non-zero" or "in a non-zero group" where that is proven, "undecided" where not;
        "unpenalised" features are not asked about. With several classes there is a row per class and feature.
        """
        verdicts = self._proven()
        names = getattr(self, "feature_names_in_", None)
        names = [f"x{j}" for j in range(self.n_features_in_)] if names is None else names
        return support_table(verdicts, np.atleast_2d(self.coef_), names, getattr(self, "classes_", ()))

    def _get_fitted_attr_html(self, doc_link: str = "") -> Any:
        """Return the fitted attributes for display, which must not run a proof to show one."""
        source = self.__dict__.pop("_source", None)
        try:
            return super()._get_fitted_attr_html(doc_link)
        finally:
            if source is not None:
                self._source = source

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        if "_source" in state and not state["_source"].kept:
            del state["_source"]
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.positive_only = getattr(getattr(self, "loss", None), "targets", None) == "counts"
        return tags


def uninterrupted(result: Result) -> Result:
    """Return the result, or pass on an interruption: where many runs are to come, one cannot end with its best."""
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result
