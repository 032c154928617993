"""Features kept by proof, and features kept by how often they are selected."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from atomsieve.display.table import Summary
from atomsieve.estimators.base import SparseEstimator
from atomsieve.estimators.notices import UnprovenWarning, tell
from atomsieve.estimators.solver import Solver, coefficients
from atomsieve.estimators.strengths import critical_slope
from atomsieve.estimators.summary import selector_summary, stability_summary
from atomsieve.estimators.task import Task, TrainingData
from atomsieve.intake.arguments import is_number, is_whole, require_on_host, shown
from atomsieve.methods import Corrective
from atomsieve.penalties import Linear
from atomsieve.run.path import geometric_slopes
from atomsieve.typing import Array, Index, Mask

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Selector(SelectorMixin, MetaEstimatorMixin, BaseEstimator):
    """A transformer that keeps some of the features, chosen with the help of a sparse model."""

    estimator: Any

    def _model(self) -> SparseEstimator:
        """Return an unfitted copy of the model."""
        if not isinstance(self.estimator, SparseEstimator):
            raise TypeError(
                f"{type(self).__name__}: estimator must be one of atomsieve's, for example CertifiedLasso(), got "
                f"{type(self.estimator).__name__}."
            )
        model: SparseEstimator = clone(self.estimator)
        return model

    def _check(self, X: Any, y: Any) -> None:
        """Record the features, by their names where they have any."""
        require_on_host(X, "X")
        validate_data(self, X, y, accept_sparse=True, skip_check_array=True)

    def summary(self) -> Summary:
        """Return how many features are kept, and the summary of the model."""
        check_is_fitted(self)
        return selector_summary(self)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata go to the model."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add(estimator=self.estimator, method_mapping=mapping)

    def _routed(self, params: dict[str, Any]) -> dict[str, Any]:
        from sklearn import get_config  # noqa: PLC0415 -- read at the time of the call

        if get_config()["enable_metadata_routing"]:
            routed: dict[str, Any] = process_routing(self, "fit", **params).estimator.fit
            return routed
        return params

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.target_tags.required = True
        tags.target_tags.multi_output = inner.target_tags.multi_output
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        return tags


class CertifiedSelector(Selector):
    """Keeps the features that are not proven to be zero in the optimal model.

    There is no threshold: a feature is dropped exactly if its coefficients are zero in every solution, by a proof that
    holds in spite of rounding. Where nothing is proven at all, every feature is kept, and a warning says why.

    Parameters
    ----------
    estimator : estimator of this package
        The model, for example `CertifiedLasso(alpha=0.1)` or `CertifiedLogisticRegressionCV()`.

    Attributes
    ----------
    estimator_ : the fitted model
    certificate_ : its certificate

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from atomsieve import CertifiedLasso, CertifiedSelector
    >>> X, y = load_diabetes(return_X_y=True)
    >>> CertifiedSelector(CertifiedLasso(alpha=0.5)).fit_transform(X, y).shape
    (442, 4)
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Fit the model and prove which of its coefficients are zero; `params` go to the model's `fit`."""
        self._check(X, y)
        params = self._routed(params)
        self.estimator_ = self._model().fit(X, y, **params)
        proof = self.estimator_._prove(X, y, params.get("sample_weight"), params.get("offset"))
        if proof.undecided is not None:
            tell(f"CertifiedSelector keeps all {self.n_features_in_} features: {proof.undecided}", UnprovenWarning)
            self.estimator_._told = True
        self.certificate_ = self.estimator_.certificate_
        self._zero = proof.zero
        return self

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        return ~self._zero


class StabilitySelector(Selector):
    """Keeps the features that are selected on most random halves of the samples (stability selection).

    On each of many random halves the path of the model is followed; a feature's probability at a strength is the part
    of the halves on which it is in the model, and its probability is the largest along the path. Halves come in pairs
    that share no sample (Shah and Samworth, 2013). This is statistical doubt. `support_report()` sets beside it the
    verdict of the certificate for the model itself: optimisation doubt, which says that a coefficient's being zero at
    the optimum could not be decided.

    Parameters
    ----------
    estimator : estimator of this package
        The model: loss, gauge, weights, intercept. Its strength counts for the verdicts alone.
    threshold : float
        The least probability of features that are kept.
    n_subsamples : int
        The number of halves.
    n_slopes : int
        The number of slopes along the path.
    ratio : float
        The last slope over the critical one. The path should end before many features enter that are noise.
    n_jobs : int, optional
        Number of halves that are worked on at once.
    random_state : int, optional
        Seed of the halves.

    Attributes
    ----------
    probabilities_ : array of shape (d,)
        The largest selection probability of each feature along the path.
    probability_path_, slopes_
        The same for each slope.
    expected_false_ : float
        The bound `q^2 / ((2 threshold - 1) d)` of the expected number of features kept in error, with q the mean number
        of features on a half (Meinshausen and Buehlmann, 2010), which assumes that noise features are exchangeable and
        selection is no worse than guessing; inf for a threshold of 1/2 or less.
    estimator_ : the model fitted to all samples

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from atomsieve import CertifiedLasso, CriticalFraction, StabilitySelector
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> selector = StabilitySelector(CertifiedLasso(CriticalFraction(0.1)), random_state=0).fit(X, y)
    >>> selector.get_feature_names_out().tolist()
    ['bmi', 'bp', 's3', 's5']
    """

    def __init__(
        self,
        estimator: Any,
        *,
        threshold: float = 0.9,
        n_subsamples: int = 100,
        n_slopes: int = 30,
        ratio: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.n_subsamples = n_subsamples
        self.n_slopes = n_slopes
        self.ratio = ratio
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Follow the path on random halves of the samples; `params` go to the model's `fit`."""
        self._check_parameters()
        self._check(X, y)
        params = self._routed(params)
        self.estimator_ = self._model().fit(X, y, **params)
        given = (X, y, params.get("sample_weight"), params.get("offset"))
        self.estimator_._prove(*given)  # what it proves is told with the verdicts
        data = TrainingData.of(self.estimator_, *given, reset=False)
        task = self.estimator_._solved
        problems = task.problems(data)
        critical = critical_slope(problems)
        self.slopes_ = geometric_slopes(problems, critical, self.n_slopes, self.ratio, ("n_slopes", "ratio"))
        halves, solver = self._halves(data.y), replace(Solver.of(self.estimator), method=Corrective())
        found = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(selected)(task, data.part(half), self.slopes_, solver) for half in halves
        )
        times, typical = np.zeros((len(self.slopes_), self.n_features_in_)), 0.0
        for masks in found:
            times += masks
            typical += masks.any(axis=0).sum() / len(halves)
        self.probability_path_ = times / len(halves)
        self.probabilities_ = self.probability_path_.max(axis=0)
        certain = 2 * self.threshold - 1
        self.expected_false_ = float(typical**2 / (certain * self.n_features_in_)) if certain > 0 else np.inf
        return self

    def _check_parameters(self) -> None:
        if not (is_number(self.threshold) and 0 < self.threshold <= 1):
            raise ValueError(f"threshold must lie above 0 and be at most 1, got {self.threshold!r}.")
        if not (is_whole(self.n_subsamples) and self.n_subsamples >= 2):
            raise ValueError(f"n_subsamples must be a whole number, 2 or more, got {shown(self.n_subsamples)}.")

    def _halves(self, y: Array) -> list[Index]:
        """Return random halves in pairs that share no sample; of every class there is a half."""
        random = check_random_state(self.random_state)
        halves: list[Index] = []
        count = len(y)
        strata = np.unique(y, return_inverse=True)[1] if is_classifier(self.estimator) else np.zeros(count, dtype=int)
        while len(halves) < self.n_subsamples:
            order = random.permutation(count)
            order = order[np.argsort(strata[order], kind="stable")]
            halves += [np.sort(order[::2]), np.sort(order[1::2])] if count > 1 else [order, order]
        return halves[: int(self.n_subsamples)]

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        kept: Mask = self.probabilities_ >= self.threshold
        return kept

    def support_report(self) -> "pd.DataFrame":
        """Return the report of the model with two columns more: selection probability, and whether it is kept."""
        check_is_fitted(self)
        table = self.estimator_.support_report()
        repeats = len(table) // len(self.probabilities_)
        table["probability"] = np.tile(self.probabilities_, repeats)
        table["kept"] = np.tile(self._get_support_mask(), repeats)
        return table

    def summary(self) -> Summary:
        """Return how often the features that are kept are selected, and the summary of the model."""
        check_is_fitted(self)
        return stability_summary(self)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the probability of every feature along the path (needs matplotlib)."""
        from atomsieve.display import StabilityDisplay  # noqa: PLC0415 -- optional

        check_is_fitted(self)
        return StabilityDisplay.from_estimator(self, ax=ax).ax_


def selected(task: Task, data: TrainingData, slopes: Array, solver: Solver) -> Mask:
    """Return which features are in the model at each slope."""
    penalties = [Linear(float(slope)) for slope in slopes]
    walks = [solver.follow(problem, penalties) for problem in task.problems(data)]
    return np.stack([np.any(coefficients(row) != 0, axis=0) for row in zip(*walks, strict=True)])
