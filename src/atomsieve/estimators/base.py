"""What all estimators share: check the data, state the task, solve its problems, keep the model, prove it on demand."""

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from atomsieve.certificate import Certificate
from atomsieve.certificate.verify import verify
from atomsieve.display.coefficients import Coefficients
from atomsieve.display.table import Summary
from atomsieve.estimators.elsewhere import at_hand, checked, image, in_library_of, is_elsewhere
from atomsieve.estimators.notices import UnprovenWarning, check_exposure, tell
from atomsieve.estimators.params import Defaults, changed, parted
from atomsieve.estimators.paths import FollowedPath
from atomsieve.estimators.proof import ModelProof
from atomsieve.estimators.solver import Solution, Solver, attributes, coefficients, intercepts, uninterrupted
from atomsieve.estimators.source import Source
from atomsieve.estimators.summary import summary_of
from atomsieve.estimators.targets import titles
from atomsieve.estimators.task import Task, TrainingData, require_columns, scales_of, validated
from atomsieve.estimators.verdicts import group_table, model_coefficients, support_table, unproven_coefficients
from atomsieve.estimators.watching import CallbackSupportMixin, Watch, printer_of, with_callbacks
from atomsieve.intake.names import feature_names
from atomsieve.methods import Method
from atomsieve.problem.data import check_offset
from atomsieve.run.progress import watched_by
from atomsieve.run.result import Result
from atomsieve.typing import Array, Mask

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from atomsieve.standalone.verify import Verification

T = TypeVar("T")


class SparseEstimator(CallbackSupportMixin, BaseEstimator, metaclass=ABCMeta):
    """A sparse linear model with a certificate: an estimator says by `_task` what its parameters ask for.

    The task that was solved is kept: parameters that are set later count at the next fit.
    """

    _defaults: ClassVar[Defaults] = {}
    """What None stands for, where a parameter is a piece."""

    method: Method | None
    tol: float
    max_iter: int | None
    time_limit: float | None
    warm_start: bool
    keep_data: bool
    verbose: bool | int

    coef_: Array
    intercept_: Any
    _solved: Task
    _own_offset: Array | None
    _solution: Solution
    _source: Source
    _proof: ModelProof | None
    _told: bool

    @abstractmethod
    def _task(self, data: TrainingData) -> Task:
        """Return what is to be solved, by the parameters."""

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
            Features. Single precision is widened to double, which is exact. Arrays of PyTorch, JAX, CuPy and dask, and
            data frames of dask, stay where they are.
        y : array of shape (n,) or, for a regressor, (n, K)
            Targets. With K columns there are K outputs, and their losses are added.
        sample_weight : array of shape (n,), optional
            Non-negative weights; a weight of 2 means the sample twice.
        offset : array of the shape of the linear predictions, optional
            What is added to the linear predictions as it is, such as the logarithm of an exposure: (n,), or (n, K) for
            K outputs or the K classes of `Multinomial`. Where each of K classes is set against the rest, (n, K) or
            (n,), which is then the same for all of them.
        """
        solver = Solver.of(self, time_limit=self.time_limit)
        data = TrainingData.of(self, X, y, sample_weight, offset, reset=True)
        task = self._task(data)
        problems = task.problems(data)
        check_exposure(task.targets.loss, data)
        last = getattr(self, "_solution", None) if self.warm_start else None
        watch = Watch.of(self)
        with watched_by(watch.printer):
            results = solver.solve_all(task.strength, problems, last)
        self._keep(task, results, Source.of(X, y, sample_weight, offset, keep=bool(self.keep_data)))
        watch.end()
        return self

    def _keep(self, task: Task, results: Sequence[Result], source: Source, **shown: Any) -> Self:
        """Keep the model, and what else users are shown; let go of X; say at last if the tolerance was missed."""
        self._show(task, coefficients(results), intercepts(results))
        self._set(attributes(results) | shown)
        self._solution = Solution.of(results)
        self._source = source
        self._proof = None
        if self.verbose:
            print(*map(repr, results), sep="\n", flush=True)  # noqa: T201 -- what verbose asks for
        for result in results:
            uninterrupted(result)  # the best point is kept, but whoever fits many models must not go on
        missed = next((result for result in results if not result.converged), None)
        if missed is not None:
            goal = self.tol * missed.problem.baseline
            tell(f"{missed.status} The gap is {missed.gap:.3g}, the tolerance {goal:.3g}.", ConvergenceWarning)
        return self

    def _show(self, task: Task, coef: Array, intercept: Array, offset: Array | None = None) -> None:
        """Take on a model, given as a row of coefficients per output: all that predictions need.

        The offset is for predictions that are asked for without one: scorers know of none.
        """
        self._solved = task
        self._own_offset = offset
        self._set(task.targets.attributes(coef, intercept))

    def _set(self, attributes: dict[str, Any]) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)

    def predict(self, X: Any, offset: Any = None) -> Array:
        """Return the expected target of each sample; its most likely class, where targets are classes.

        Without an offset it is taken to be 0, also where the model was fitted with one.
        """
        answers: Array = in_library_of(X, self._predicted(X, offset))
        return answers

    def _predicted(self, X: Any, offset: Any) -> Array:
        """Return predictions on the host."""
        u = self._linear(X, offset)
        return self._solved.targets.predict(u)

    def _linear(self, X: Any, offset: Any) -> Array:
        """Return `X coef' + intercept + offset`, one column per output."""
        check_is_fitted(self)
        require_columns(X)
        coefs = np.atleast_2d(self.coef_).T
        if is_elsewhere(X):
            offset = at_hand(offset)
            predicted: Array = image(checked(self, X, reset=False), coefs) + self.intercept_
        else:
            X = validated(self, X, accept_sparse=("csr", "csc"), dtype=np.float64, reset=False)
            predicted = X @ coefs + self.intercept_
        shift = check_offset(self._own_offset if offset is None else offset, len(predicted))
        return predicted if shift is None else predicted + self._solved.targets.shift(shift)

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
        return _one_or_all(self._told_proof().certificates)

    def certify(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, *, time_limit: float | None = None
    ) -> Certificate | list[Certificate]:
        """Prove what can be proven about the optimum, from the fitted coefficients and the data of the fit.

        Where the fit is too coarse to decide every coefficient the proof goes on from it to smaller gaps, by the method
        of the fit. It speaks of the optimum; `coef_` stays as it is. Where nothing can be proven a warning says why,
        and what to fit instead. `time_limit` ends the way to smaller gaps after so many seconds; one proof is made in
        any case.
        """
        self._prove(X, y, sample_weight, offset, time_limit=time_limit)
        return _one_or_all(self._told_proof().certificates)

    def _prove(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, *, time_limit: float | None = None
    ) -> ModelProof:
        """Prove what can be proven, without a word."""
        check_is_fitted(self)
        data = TrainingData.of(self, X, y, sample_weight, offset, reset=False)
        with watched_by(printer_of(self)):
            solver = Solver.of(self, time_limit=time_limit)
            named = titles(self._solved.targets, len(np.atleast_2d(self.coef_)))
            self._proof = ModelProof.of(self._solved.problems(data), self._solution, solver, named)
        self._told = False
        return self._proof

    def _told_proof(self) -> ModelProof:
        """Return the proof, made from the data of the fit if need be; say why, once, where it proves nothing."""
        check_is_fitted(self)
        proof = self._prove(*self._source.recall()) if self._proof is None else self._proof
        warning = proof.silence or proof.left_open
        if warning is not None and not self._told:
            tell(warning[0].upper() + warning[1:], UnprovenWarning)
        self._told = True
        return proof

    def zero_mask(self) -> Mask:
        """Return which features are proven to have no weight in any solution, in no output and no class."""
        return self._told_proof().zero

    def verify(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None
    ) -> "Verification | list[Verification]":
        """Check the certificate against data, by the independent checker."""
        check_is_fitted(self)
        if self._proof is None:
            self._prove(X, y, sample_weight, offset)
        certificates = self._told_proof().certificates
        data = TrainingData.of(self, X, y, sample_weight, offset, reset=False)
        weights, parts = self._solved.weights(data), self._solved.parts(data)
        return _one_or_all(
            [
                verify(certificate, data.X, y, sample_weight=weights, offset=offset)
                for certificate, (y, offset) in zip(certificates, parts, strict=True)
            ]
        )

    def support_report(self) -> "pd.DataFrame":
        """Return a data frame with a row per feature: coefficient, interval of the optimal one, verdict.

        The verdict is "zero", "non-zero" or "in a non-zero group" where that is proven, "undecided" where not; with
        limits also "at its upper limit", "at its lower limit" or "fixed by its limits". "unpenalised" features are not
        asked about. Where the gauge has groups, a column names them. With several
        classes there is a row per class and feature, with several outputs a row per output and feature.
        """
        verdicts = self._told_proof().verdicts
        return support_table(verdicts, np.atleast_2d(self.coef_), self._names, self._solved.targets)

    def summary(self) -> Summary:
        """Return what was fitted and what is proven about it, to be printed or shown in a notebook.

        Features in the model stand by weight, largest first, each with the interval that is proven to hold its optimal
        coefficient. Zeros are counted, and what is undecided is named. `to_frame()` has every feature.
        """
        return summary_of(self)

    def plot_path(self, X: Any = None, y: Any = None, *, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw the path of the model (needs matplotlib); options are those of `PathDisplay.from_estimator`."""
        from atomsieve.display import PathDisplay  # noqa: PLC0415 -- optional

        return PathDisplay.from_estimator(self, X, y, ax=ax, **options).ax_

    def _path(self, X: Any, y: Any) -> FollowedPath:
        """Return the models along the path: those that were kept, or else followed on the data of the fit."""
        check_is_fitted(self)
        return FollowedPath.kept(self) if hasattr(self, "coef_path_") else FollowedPath.followed(self, self._data(X, y))

    def _deviance(self, found: FollowedPath, X: Any, y: Any) -> Array:
        """Return which part of the deviance of the data of the fit each model on a path explains."""
        return found.deviance_explained(self._solved, self._data(X, y))

    def _coefficients(self) -> list[Coefficients]:
        """Return the coefficients with what is proven about them, once for each output or class."""
        check_is_fitted(self)
        names = self._names
        scales = self._scales()
        if self._proof is None and scales is None:
            return unproven_coefficients(np.atleast_2d(self.coef_), names, self._solved)
        verdicts = self._told_proof().verdicts
        return model_coefficients(verdicts, np.atleast_2d(self.coef_), names, self._solved, scales)

    def _scales(self, X: Any = None) -> Array | None:
        """Return the standard deviation of each feature in the data of the fit; None where they are gone."""
        data = self._known_data() if X is None else self._data(X, None)
        return None if data is None else scales_of(data.X, self._solved.weights(data))

    def _known_data(self) -> TrainingData | None:
        """Return the data of the fit, None where they are gone."""
        return None if self._source.X() is None else self._data(None, None)

    def _data(self, X: Any, y: Any) -> TrainingData:
        """Return the data of the fit: as given here, or where they still exist."""
        source = self._source
        X, y = source.X() if X is None else X, source.y if y is None else y
        if X is None or y is None:
            raise ValueError("The data of fit are gone: pass X and y, or fit with keep_data=True.")
        return TrainingData.of(self, X, y, source.sample_weight, source.offset, reset=False)

    @property
    def _names(self) -> list[str]:
        """The names of the features; x0, x1 and so on where they have none."""
        return feature_names(getattr(self, "feature_names_in_", None), self.n_features_in_)

    @property
    def _outputs(self) -> Sequence[Any]:
        """What the rows of coefficients are called."""
        return self._solved.targets.outputs

    @property
    def _kind(self) -> str:
        """What a row of coefficients belongs to: an output or a class."""
        return self._solved.targets.kind

    def group_report(self) -> "pd.DataFrame":
        """Return a data frame with a row per group: its number of features, the norm of its coefficients, its verdict.

        The verdict is "zero", "non-zero" or "undecided". Where each class is set against the rest, there is a row per
        class and group; the coefficients of several outputs make one norm. For `LatentGroup` it is that of the part of
        each group, at the point of the certificate.
        """
        return group_table(self._told_proof().verdicts, np.atleast_2d(self.coef_), self._solved.targets)

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; those of a piece as `penalty__strength`, of a piece within it by another `__`.

        Pieces are immutable: a new one takes the place of the old.
        """
        plain, nested = parted(self, params)
        super().set_params(**plain)
        for name, changes in nested.items():
            setattr(self, name, changed(getattr(self, name), self._defaults.get(name, ()), changes))
        return self

    def _get_fitted_attr_html(self, doc_link: str = "") -> Any:
        """Return the fitted attributes for display: those of a copy without data, for which no proof is run."""
        shown = copy(self)
        shown._source = Source.gone()
        return BaseEstimator._get_fitted_attr_html(shown, doc_link)

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        return state | {"_source": state["_source"].portable} if "_source" in state else state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        counts = getattr(getattr(self, "loss", None), "targets", None) == "counts"
        tags.target_tags.positive_only = counts
        # counts can have several outputs too, but scikit-learn's check of that tag has negative targets
        tags.target_tags.multi_output = isinstance(self, RegressorMixin) and not counts
        return tags


def _one_or_all(answers: list[T]) -> T | list[T]:
    """Return the answer where there is one problem, a list of them where there are several."""
    return answers if len(answers) > 1 else answers[0]
