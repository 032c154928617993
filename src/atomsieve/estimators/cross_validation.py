"""The strength chosen on held-out samples: one warm path per fold, one rule to choose, one picture."""

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.parallel import Parallel, delayed

from atomsieve.checks import as_floats, is_number
from atomsieve.estimators.base import SparseModel
from atomsieve.estimators.strengths import critical_slope, feature_count, through
from atomsieve.estimators.study import Fit, Study
from atomsieve.losses import Loss
from atomsieve.path import geometric_slopes, path
from atomsieve.penalties import Linear, Penalty
from atomsieve.problem import Problem
from atomsieve.result import Result
from atomsieve.solve import solve
from atomsieve.typing import Array, Index

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RULES = ("min", "1se")


@dataclass(frozen=True, eq=False)
class Fold:
    """What one fold says of every candidate."""

    scores: Array
    counts: Array
    missed: int


class CrossValidated(SparseModel):
    """The penalty is the candidate with the best score on held-out samples, or the sparsest one close to it."""

    cv: Any
    scoring: Any
    selection: str
    n_jobs: int | None

    penalties_: list[Any]
    cv_scores_: Array
    feature_counts_: Array
    cv_mean_: Array
    cv_error_: Array
    best_index_: int

    _loss_name = "held-out loss"

    def _shape(self) -> Penalty:
        """Return the shape whose strength is chosen."""
        return Linear()

    def _grid(self, study: Study) -> tuple[Any, Any]:
        """Return a number of candidates or strengths, and the last slope over the critical one."""
        raise NotImplementedError

    def _in_fold(self, penalty: Penalty, whole: Study, part: Study) -> Penalty:  # noqa: ARG002
        """Return the penalty that a candidate means for the samples of a fold."""
        return penalty

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose the strength by cross-validation, then fit the model with it to all samples.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
            Features.
        y : array of shape (n,)
            Targets.
        sample_weight : array of shape (n,), optional
            Non-negative weights, in training and in scores.
        **params
            `groups` for the splitter; with metadata routing, whatever splitter and scorer ask for.
        """
        routed = self._routed(sample_weight, params)
        study = self._study(X, y, sample_weight, reset=True)
        self._folds = list(check_cv(self.cv, y, classifier=hasattr(self, "classes_")).split(X, y, **routed.split))
        self._labels, self._score_params = np.asarray(y), routed.score
        try:
            self._fit(study)
        finally:
            del self._folds, self._labels, self._score_params
        return self._remember(X, y, sample_weight)

    def _choose(self, study: Study, problems: Sequence[Problem]) -> Sequence[Penalty]:
        if self.selection not in self._selections():
            allowed = " or ".join(map(repr, self._selections()))
            raise ValueError(f"selection must be {allowed}, got {self.selection!r}.")
        candidates = self._candidates(study, problems)
        scorer = None if self.scoring is None else check_scoring(self, scoring=self.scoring)
        folds: list[Fold] = Parallel(n_jobs=self.n_jobs)(
            delayed(_held_out)(self, study, candidates, train, test, scorer) for train, test in self._folds
        )
        self.penalties_ = [row[0] if len(row) == 1 else row for row in candidates]
        self.cv_scores_ = np.stack([fold.scores for fold in folds], axis=1)
        self.feature_counts_ = np.stack([fold.counts for fold in folds], axis=1)
        sizes = np.array([_weight_of(study, test) for _, test in self._folds])
        self.cv_mean_, self.cv_error_ = mean_and_error(self.cv_scores_, sizes)
        self.best_index_ = chosen(self.cv_mean_, self.cv_error_, "1se" if self.selection == "1se" else "min")
        missed = sum(fold.missed for fold in folds)
        if missed:
            total = self.cv_scores_.size
            message = f"{missed} of the {total} fits in cross-validation missed the tolerance; raise max_iter or tol."
            warnings.warn(message, ConvergenceWarning, stacklevel=4)
        return candidates[self.best_index_]

    def _selections(self) -> tuple[str, ...]:
        return RULES

    def _candidates(self, study: Study, problems: Sequence[Problem]) -> list[list[Penalty]]:
        """Return the penalties to be compared, sparsest first, each for every problem."""
        shape, (grid, ratio) = self._shape(), self._grid(study)
        if not is_number(grid):
            return [[shape.at(float(strength))] * len(problems) for strength in _strengths(shape, grid)]
        slopes = geometric_slopes(problems[0], critical_slope(problems) or 1.0, grid, ratio)
        if isinstance(shape, Linear):
            return [[Linear(float(slope))] * len(problems) for slope in slopes]
        paths = [path(problem, slopes, tol=self.tol, max_iter=self.max_iter).results for problem in problems]
        started = [row for row in zip(*paths, strict=True) if all(r.point.state.mass > 0 for r in row)]
        return [[through(shape, result) for result in row] for row in started]

    def _routed(self, sample_weight: Any, params: dict[str, Any]) -> Bunch:
        """Return what the splitter and the scorer are to be given."""
        from sklearn import get_config  # noqa: PLC0415 -- read at the time of the call

        if get_config()["enable_metadata_routing"]:
            given = params if sample_weight is None else params | {"sample_weight": sample_weight}
            routed = process_routing(self, "fit", **given)
            return Bunch(split=routed.splitter.split, score=routed.get("scorer", Bunch(score={})).score)
        unknown = sorted(set(params) - {"groups"})
        if unknown:
            raise TypeError(
                f"fit got {', '.join(unknown)}, which it does not know: beside sample_weight it takes groups. Enable "
                "scikit-learn's metadata routing to pass more to splitter and scorer."
            )
        scores = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
        return Bunch(split=params, score=scores)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata go to the splitter and to the scorer."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        mapping = MethodMapping().add(caller="fit", callee="split")
        router = router.add(splitter=check_cv(self.cv), method_mapping=mapping)
        if self.scoring is not None:
            mapping = MethodMapping().add(caller="fit", callee="score")
            router = router.add(scorer=check_scoring(self, scoring=self.scoring), method_mapping=mapping)
        return router

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the score of every candidate, fold by fold and on average with its standard error (needs matplotlib)."""
        from atomsieve.estimators.curves import draw_scores  # noqa: PLC0415 -- optional

        return draw_scores(self, ax)


def _held_out(
    model: CrossValidated, study: Study, candidates: list[list[Penalty]], train: Index, test: Index, scorer: Any
) -> Fold:
    """Fit all candidates to the training samples and score them on the others."""
    part, rest = study.part(train), study.part(test)
    problems = part.problems()
    inside = [[model._in_fold(p, study, part) for p in row] for row in candidates]
    columns = [follow(q, [row[k] for row in inside], model) for k, q in enumerate(problems)]
    rows = list(zip(*columns, strict=True))
    fits = [Fit.of(row) for row in rows]
    scores = held_out_loss(part.loss, fits, rest) if scorer is None else _scored(model, fits, rest.X, test, scorer)
    counts = np.array([feature_count(row) for row in rows])
    return Fold(scores, counts, sum(not result.converged for row in rows for result in row))


def follow(problem: Problem, penalties: Sequence[Penalty], model: SparseModel) -> list[Result]:
    """Solve a problem for penalties that fall off, each from the solution before it."""
    if all(isinstance(penalty, Linear) for penalty in penalties):
        slopes = [penalty.slope(0.0) for penalty in penalties]
        return path(problem, slopes, tol=model.tol, max_iter=model.max_iter).results
    results: list[Result] = []
    for penalty in penalties:
        start = results[-1] if results else None
        stated = problem.at_penalty(penalty)
        results.append(solve(stated, tol=model.tol, max_iter=model.max_iter, start=start))
    return results


def held_out_loss(loss: Loss, fits: Sequence[Fit], rest: Study) -> Array:
    """Return minus the weighted mean of the loss for each fit, all of them from one product with the data."""
    coefs = np.stack([fit.coef for fit in fits])
    used = np.flatnonzero(np.any(coefs != 0, axis=(0, 1)))
    predicted = np.asarray(rest.X[:, used] @ coefs[:, :, used].reshape(coefs.shape[0] * coefs.shape[1], -1).T)
    predicted = predicted.reshape(len(predicted), *coefs.shape[:2]) + np.stack([fit.intercept for fit in fits])
    weights = np.ones(len(predicted)) if rest.weights is None else rest.weights
    total = weights.sum() or 1.0

    def value(k: int) -> float:
        if len(rest.targets) == 1 and predicted.shape[2] > 1:
            return float(weights @ loss.value(predicted[:, k], rest.targets[0]))
        return sum(float(weights @ loss.value(predicted[:, k, j], y)) for j, y in enumerate(rest.targets))

    with np.errstate(over="ignore"):
        return np.array([-value(k) / total for k in range(len(fits))])


def _scored(model: CrossValidated, fits: Sequence[Fit], X: Any, test: Index, scorer: Any) -> Array:
    """Return what a scorer says of each fit."""
    shell = copy.copy(model)
    shell.__dict__.pop("feature_names_in_", None)
    params = {name: value[test] for name, value in model._score_params.items()}
    if "sample_weight" not in signature(scorer).parameters:
        params.pop("sample_weight", None)
    scores = []
    for fit in fits:
        shell._expose(fit)
        scores.append(scorer(shell, X, model._labels[test], **params))
    return np.array(scores, dtype=np.float64)


def _weight_of(study: Study, samples: Index) -> float:
    return float(len(samples) if study.weights is None else study.weights[samples].sum())


def mean_and_error(scores: Array, sizes: Array) -> tuple[Array, Array]:
    """Return the mean over folds, by their total weight, and its standard error."""
    sizes = sizes if sizes.any() else np.ones_like(sizes)
    mean = scores @ sizes / sizes.sum()
    spread = (scores - mean[:, None]) ** 2 @ sizes / sizes.sum()
    return mean, np.sqrt(spread / max(scores.shape[1] - 1, 1))


def chosen(mean: Array, error: Array, rule: str) -> int:
    """Return the best candidate or, by "1se", the sparsest that is no worse than one standard error below it.

    Candidates stand sparsest first; of equally good ones the sparsest is taken.
    """
    if np.isnan(mean).all():
        raise ValueError("No candidate has a score: the scorer returned NaN for all of them.")
    best = int(np.nanargmax(mean))
    return best if rule == "min" else int(np.flatnonzero(mean >= mean[best] - error[best])[0])


def _strengths(shape: Penalty, grid: Any) -> Array:
    """Return given strengths, sparsest first."""
    strengths = np.sort(np.atleast_1d(as_floats(grid, "the strengths")).ravel())
    if not (len(strengths) and strengths[0] > 0 and np.isfinite(strengths).all()):
        raise ValueError("The strengths to choose from must be positive finite numbers.")
    return strengths if hasattr(shape, "radius") else strengths[::-1]
