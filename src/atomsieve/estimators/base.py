"""What all estimators share: state the problem, choose the strength, solve, keep the model, prove it on demand."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from atomsieve.certificate import Certificate
from atomsieve.certificate.verification import verify
from atomsieve.estimators.params import PieceParams
from atomsieve.estimators.source import Source
from atomsieve.estimators.strengths import Choice
from atomsieve.estimators.study import Fit, Study
from atomsieve.estimators.verdicts import Verdicts, support_table
from atomsieve.gauges import Gauge
from atomsieve.losses import Loss
from atomsieve.methods import Method
from atomsieve.penalties import Penalty
from atomsieve.problem import Problem
from atomsieve.result import Result
from atomsieve.solve import solve
from atomsieve.typing import Array, Mask

if TYPE_CHECKING:
    import pandas as pd

    from atomsieve.certificate.verify import Verification


class SparseModel(PieceParams):
    """A sparse linear model with a certificate.

    Subclasses say what is minimised (`_loss`, `_gauge`, `_penalty`) and how targets become numbers (`_targets`).
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
    _lifted: list[Array]
    _penalties: list[Penalty]
    _certificates: list[Certificate] | None
    _verdicts: list[Verdicts] | None

    def _loss(self) -> Loss:
        raise NotImplementedError

    def _gauge(self, count: int) -> Gauge:
        raise NotImplementedError

    def _penalty(self, study: Study) -> Penalty | Choice:
        raise NotImplementedError

    def _targets(self, y: Any, *, reset: bool) -> tuple[list[Array], Array | None]:
        """Return the targets of each problem, and weights that come with them."""
        raise NotImplementedError

    def _expose(self, fit: Fit) -> None:
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
        return self._fit(self._study(X, y, sample_weight, reset=True))._remember(X, y, sample_weight)

    def _study(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Study:
        """Check the data and say what is to be solved."""
        kinds = ("csr", "csc")
        X, y = validate_data(self, X, y, accept_sparse=kinds, dtype=np.float64, reset=reset, **self._checks())
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            if not weights.any():
                raise ValueError("All sample weights are zero; at least one must be positive.")
        targets, factors = self._targets(y, reset=reset)
        if factors is not None:
            weights = factors if weights is None else factors * weights
        gauge = self._gauge(X.shape[1])
        return Study(X, targets, weights, self._loss(), gauge, bool(self.fit_intercept), bool(self.standardize))

    def _checks(self) -> dict[str, Any]:
        return {"y_numeric": True}

    def _fit(self, study: Study) -> Self:
        problems = study.problems()
        penalties = self._choose(study, problems)
        starts: Sequence[Any] = self._starts(problems)
        stated = [problem.at_penalty(penalty) for problem, penalty in zip(problems, penalties, strict=True)]
        self._keep([self._solve(problem, start) for problem, start in zip(stated, starts, strict=True)])
        return self

    def _choose(self, study: Study, problems: Sequence[Problem]) -> Sequence[Penalty]:
        """Return the penalty of each problem."""
        penalty = self._penalty(study)
        if isinstance(penalty, Choice):
            return penalty.penalties(problems, self._solve)
        return [penalty for _ in problems]

    def _solve(self, problem: Problem, start: Any = None) -> Result:
        return solve(problem, self.method, tol=self.tol, max_iter=self.max_iter, start=start)

    def _starts(self, problems: Sequence[Problem]) -> Sequence[Any]:
        """Return where to start: at the last solution, where that is asked for and it fits."""
        last = getattr(self, "_lifted", [])
        if self.warm_start and [x.shape for x in last] == [problem.shape for problem in problems]:
            return list(last)
        return [None for _ in problems]

    def _keep(self, results: Sequence[Result]) -> None:
        """Keep the model and let go of the data; say so if the tolerance was missed."""
        fit, penalties = Fit.of(results), [result.problem.penalty for result in results]
        self._expose(fit)
        self._lifted, self._certificates, self._verdicts = fit.lifted, None, None
        self._penalties = penalties
        self.penalty_ = penalties[0] if len(set(penalties)) == 1 else penalties
        self.n_iter_, self.dual_gap_, self.status_ = fit.n_iter, fit.gap, fit.status
        self.equivalent_alpha_ = fit.alpha
        if self.verbose:
            print(*results, sep="\n", flush=True)  # noqa: T201 -- what verbose asks for
        for result in results:
            if not result.converged:
                goal = self.tol * result.problem.baseline
                message = f"{result.status} The gap is {result.gap:.3g}, the tolerance {goal:.3g}."
                warnings.warn(message, ConvergenceWarning, stacklevel=4)
                break

    def _remember(self, *data: Any) -> Self:
        self._source = Source.of(*data, keep=bool(self.keep_data))
        return self

    def _linear(self, X: Any) -> Array:
        """Return `X coef' + intercept`, one column per output."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=np.float64, reset=False)
        coef = np.atleast_2d(self.coef_)
        predicted: Array = X @ coef.T + self.intercept_
        return predicted

    @property
    def certificate_(self) -> Certificate | list[Certificate]:
        """The certificate (one per class for one against the rest), proven when first asked for.

        The data of `fit` are not kept alive for it: where they are gone, call `certify(X, y)` or fit with
        `keep_data=True`.
        """
        check_is_fitted(self)
        if self._certificates is None:
            X, y, sample_weight = self._recall()
            return self.certify(X, y, sample_weight)
        return self._certificates if len(self._certificates) > 1 else self._certificates[0]

    def _recall(self) -> list[Any]:
        return getattr(self, "_source", Source((lambda: None,))).recall()

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate | list[Certificate]:
        """Prove what can be proven about the optimum, from the fitted coefficients and the data of the fit.

        Where the fit is too coarse to decide every coefficient the proof goes on from it to smaller gaps. It speaks of
        the optimum; `coef_` stays as it is.
        """
        check_is_fitted(self)
        problems = [
            problem.at_penalty(penalty)
            for problem, penalty in zip(
                self._study(X, y, sample_weight, reset=False).problems(), self._penalties, strict=True
            )
        ]
        certificates = []
        for problem, x in zip(problems, self._lifted, strict=True):
            result = solve(problem, tol=self.tol, max_iter=self.max_iter, start=x, until="decided")
            certificates.append(result.certificate().detached())
        self._certificates = certificates
        self._verdicts = [Verdicts.of(p, certificate) for p, certificate in zip(problems, certificates, strict=True)]
        return certificates if len(certificates) > 1 else certificates[0]

    def proven_zero(self) -> Mask:
        """Return which features are proven to have no weight in any solution, in no class."""
        assert self.certificate_ is not None and self._verdicts is not None  # noqa: S101, PT018 -- made together
        zeros = [np.atleast_2d(verdicts.zero.T).all(axis=0) for verdicts in self._verdicts]
        return np.asarray(np.all(zeros, axis=0))

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> "Verification | list[Verification]":
        """Check the certificate against data, by the independent checker (needs python-flint)."""
        certificates = self.certificate_
        certificates = certificates if isinstance(certificates, list) else [certificates]
        study = self._study(X, y, sample_weight, reset=False)
        answers = [
            verify(certificate, study.X, target, sample_weight=study.weights)
            for certificate, target in zip(certificates, study.targets, strict=True)
        ]
        return answers if len(answers) > 1 else answers[0]

    def support_report(self) -> "pd.DataFrame":
        """Return a data frame with a row per feature: coefficient, interval of the optimal one, verdict.

        The verdict is "zero" or "non-zero" where that is proven, "undecided" where not. With several classes there is
        a row per class and feature.
        """
        assert self.certificate_ is not None and self._verdicts is not None  # noqa: S101, PT018 -- made together
        names = getattr(self, "feature_names_in_", None)
        names = [f"x{j}" for j in range(self.n_features_in_)] if names is None else names
        coef = np.atleast_2d(self.coef_)
        return support_table(self._verdicts, coef, names, getattr(self, "classes_", ()))

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        if not self.keep_data:
            state.pop("_source", None)
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
