"""The strength chosen on held-out samples: one warm path per fold, one rule to choose, one picture."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, vstack
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch, _safe_indexing
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from atomsieve.estimators.base import SparseModel, uninterrupted
from atomsieve.estimators.notices import check_order
from atomsieve.estimators.pieces import ByPieces
from atomsieve.estimators.source import Source
from atomsieve.estimators.strengths import critical_slope, feature_count
from atomsieve.estimators.study import Study, coefficients, intercepts
from atomsieve.intake.arguments import as_floats, is_number
from atomsieve.losses import Loss
from atomsieve.methods import Corrective
from atomsieve.penalties import Linear, Penalty
from atomsieve.piece import Piece
from atomsieve.problem import Problem
from atomsieve.run.limits import Limits
from atomsieve.run.path import geometric_slopes, path, walk
from atomsieve.run.result import Result
from atomsieve.run.solve import solve
from atomsieve.typing import Array, Index

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RULES = ("min", "1se")


@dataclass(frozen=True, eq=False)
class Trial:
    """What candidates are tried on: folds, the targets as they were given, and what the scorer is to be told."""

    folds: list[tuple[Index, Index]]
    y: Any
    params: dict[str, Any]
    scorer: Any


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

    penalties_: list[Penalty]
    cv_scores_: Array
    feature_counts_: Array
    cv_mean_: Array
    cv_standard_error_: Array
    best_index_: int

    _names = ("strengths", "ratio")
    """What the number of candidates and the last slope over the first are called."""

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

    def _name_candidates(self, study: Study) -> None:
        """Set the candidates and the choice as attributes, under the names that users know."""
        raise NotImplementedError

    def _axis(self) -> tuple[Array, str]:
        """Return the strengths of the candidates, and what they are called, for the picture."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose the strength by cross-validation, then fit the model with it to all samples.

        Where y is sorted by row and folds are made of consecutive rows (a number as `cv` for a regressor, or `KFold`
        without `shuffle`) a warning asks for shuffled folds: `cv=KFold(5, shuffle=True, random_state=0)`.

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
        if self.selection not in self._selections():
            allowed = " or ".join(map(repr, self._selections()))
            raise ValueError(f"selection must be {allowed}, got {self.selection!r}.")
        routed = self._routed(sample_weight, params)
        study = self._study(X, y, sample_weight)
        problems = study.problems()
        candidates = self._candidates(study, problems)
        scorer = None if self.scoring is None else check_scoring(self, scoring=self.scoring)
        splitter = check_cv(self.cv, y, classifier=is_classifier(self))
        check_order(y, splitter)
        splits = splitter.split(X, y, **routed.split)
        trial = Trial([(_places(train), _places(test)) for train, test in splits], np.asarray(y), routed.score, scorer)
        if not trial.folds:
            raise ValueError("cv gives no fold.")
        missed = self._try(study, candidates, trial)
        self._name_candidates(study)
        results = self._solutions(candidates[self.best_index_], problems, [None for _ in problems])
        if missed:
            total = self.cv_scores_.size
            message = f"{missed} of the {total} fits in cross-validation missed the tolerance; raise max_iter or tol."
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self._keep(study, results, Source.of(X, y, sample_weight, keep=bool(self.keep_data)))

    def _try(self, study: Study, candidates: list[Penalty], trial: Trial) -> int:
        """Score all candidates, choose one, and return how many fits missed the tolerance."""
        shell = clone(self)
        shell.n_features_in_ = self.n_features_in_
        if study.targets.classes is not None:
            shell.classes_ = study.targets.classes
        folds: list[Fold] = Parallel(n_jobs=self.n_jobs)(
            delayed(held_out)(shell, study, candidates, trial, number) for number in range(len(trial.folds))
        )
        self.penalties_ = candidates
        self.cv_scores_ = np.stack([fold.scores for fold in folds], axis=1)
        self.feature_counts_ = np.stack([fold.counts for fold in folds], axis=1)
        self.cv_mean_, self.cv_standard_error_ = mean_and_error(self.cv_scores_)
        self.best_index_ = pick(self.cv_mean_, self.cv_standard_error_, "1se" if self.selection == "1se" else "min")
        return sum(fold.missed for fold in folds)

    def _selections(self) -> tuple[str, ...]:
        return RULES

    def _candidates(self, study: Study, problems: Sequence[Problem]) -> list[Penalty]:
        """Return the penalties to be compared, sparsest first."""
        shape, (grid, ratio) = self._shape(), self._grid(study)
        if not is_number(grid):
            return [shape.at(float(strength)) for strength in _sparsest_first(shape, grid, self._names[0])]
        slopes = geometric_slopes(problems, critical_slope(problems), grid, ratio, self._names)
        if isinstance(shape, Linear):
            return [shape.at(float(slope)) for slope in slopes]
        paths = [path(problem, slopes, tol=self.tol).results for problem in problems]
        found = [_common(shape, [uninterrupted(result) for result in row]) for row in zip(*paths, strict=True)]
        return [penalty for penalty in found if penalty is not None] or [shape]

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
        return Bunch(split=params, score={} if sample_weight is None else {"sample_weight": sample_weight})

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

        check_is_fitted(self)
        return draw_scores(self, ax)


class ChosenStrength(CrossValidated, ByPieces):
    """The penalty is a parameter, its strength is chosen."""

    _defaults: ClassVar[dict[str, tuple[Piece, ...]]] = ByPieces._defaults | {"penalty": (Linear(),)}

    strengths: Any
    ratio: float | None
    strengths_: Array
    strength_: float

    def _shape(self) -> Penalty:
        penalty: Penalty = self._given("penalty", (Penalty,))
        return penalty

    def _grid(self, study: Study) -> tuple[Any, Any]:  # noqa: ARG002
        return self.strengths, self.ratio

    def _name_candidates(self, study: Study) -> None:  # noqa: ARG002
        self.strengths_ = np.array([main_parameter(penalty) for penalty in self.penalties_])
        self.strength_ = float(self.strengths_[self.best_index_])

    def _axis(self) -> tuple[Array, str]:
        shape = self.penalties_[0]
        return self.strengths_, f"{shape.main} of {type(shape).__name__}"


def held_out(model: CrossValidated, study: Study, candidates: Sequence[Penalty], trial: Trial, number: int) -> Fold:
    """Fit all candidates to the training samples of one fold and score them on the others."""
    train, test = trial.folds[number]
    part = study.part(train)
    try:
        problems = part.problems()
    except ValueError as error:
        message = f"Fold {number + 1} of {len(trial.folds)} in cross-validation: {error}"
        if is_classifier(model) and len(np.unique(trial.y[train])) < len(np.unique(trial.y)):
            message += " Its training samples lack a class: StratifiedKFold(5, shuffle=True, random_state=0) keeps all."
        raise ValueError(message) from error
    inside = [model._in_fold(penalty, study, part) for penalty in candidates]
    walks = [follow(problem, inside, model) for problem in problems]
    coefs, constants, counts, missed = [], [], [], 0
    for row in zip(*walks, strict=True):
        coefs.append(csr_array(coefficients(row)))
        constants.append(intercepts(row))
        counts.append(feature_count(row))
        missed += sum(not result.converged for result in row)
    if trial.scorer is None:
        scores = held_out_loss(study, test, coefs, np.stack(constants))
    else:
        scores = _scored(model, study.X[test], coefs, constants, trial, test)
    return Fold(scores, np.array(counts), missed)


def follow(problem: Problem, penalties: Sequence[Penalty], model: SparseModel) -> Iterator[Result]:
    """Yield the solutions of a problem for penalties that fall off, each found from the one before it."""
    method = Corrective()
    if all(isinstance(penalty, Linear) for penalty in penalties):
        limits = Limits.of(problem, model.tol, method.max_iter if model.max_iter is None else model.max_iter, None)
        slopes = [penalty.slope(0.0) for penalty in penalties]
        for result in walk(problem, slopes, limits, method=method):
            yield uninterrupted(result)
        return
    last: Result | None = None
    for penalty in penalties:
        last = solve(problem.at_penalty(penalty), tol=model.tol, max_iter=model.max_iter, start=last)
        yield uninterrupted(last)


def held_out_loss(study: Study, test: Index, coefs: Sequence[Any], constants: Array) -> Array:
    """Return minus the weighted mean of the loss for each candidate, all of them from one product with the data.

    For one class against the rest it is the sum over the classes.
    """
    stacked = vstack(coefs, format="csr")
    used = np.unique(stacked.indices)
    outputs = constants.shape[1]
    # columns first: few of them are used
    X = study.X[:, used][test] if len(used) else np.zeros((len(test), 0))
    predicted = np.asarray(X @ stacked[:, used].toarray().T).reshape(len(test), -1, outputs) + constants
    weights = np.ones(len(test)) if study.weights is None else study.weights[test]
    targets = [y[test] for y in study.targets.vectors]
    total = float(weights.sum()) or 1.0
    with np.errstate(over="ignore"):
        return np.array(
            [-_loss_sum(study.pieces.loss, predicted[:, k], targets, weights) / total for k in range(len(coefs))]
        )


def _loss_sum(loss: Loss, predicted: Array, targets: Sequence[Array], weights: Array) -> float:
    if len(targets) == 1 and predicted.shape[1] > 1:
        return float(weights @ loss.value(predicted, targets[0]))
    return sum(float(weights @ loss.value(predicted[:, j], y)) for j, y in enumerate(targets))


def _scored(
    model: CrossValidated, X: Any, coefs: Sequence[Any], constants: Sequence[Array], trial: Trial, test: Index
) -> Array:
    """Return what a scorer says of each candidate."""
    model._pieces = model._stated(X.shape[1], getattr(model, "classes_", None))
    params = {name: _safe_indexing(value, test) if np.ndim(value) else value for name, value in trial.params.items()}
    if np.ndim(params.get("sample_weight", ())) == 0:
        del params["sample_weight"]  # the same for all
    if "sample_weight" not in signature(trial.scorer).parameters:
        params.pop("sample_weight", None)
    scores = []
    for coef, constant in zip(coefs, constants, strict=True):
        model._expose(coef.toarray(), constant)
        scores.append(trial.scorer(model, X, trial.y[test], **params))
    return np.array(scores, dtype=np.float64)


def mean_and_error(scores: Array) -> tuple[Array, Array]:
    """Return the mean over folds and its standard error."""
    folds = scores.shape[1]
    with np.errstate(invalid="ignore"):
        spread = scores.std(axis=1, ddof=1) if folds > 1 else np.zeros(len(scores))
    return scores.mean(axis=1), spread / np.sqrt(folds)


def pick(mean: Array, error: Array, rule: str) -> int:
    """Return the best candidate or, by "1se", the sparsest that is no worse than one standard error below it.

    Candidates stand sparsest first; of equally good ones the sparsest is taken.
    """
    if not np.isfinite(mean).any():
        raise ValueError("No candidate has a score: the scorer returned NaN or infinity for all of them.")
    best = int(np.argmax(np.where(np.isfinite(mean), mean, -np.inf)))
    return best if rule == "min" else int(np.flatnonzero(mean >= mean[best] - error[best])[0])


def main_parameter(penalty: Penalty) -> float:
    """Return the value of the parameter that `Penalty.at` sets."""
    return float(getattr(penalty, penalty.main))


def _common(shape: Penalty, row: Sequence[Result]) -> Penalty | None:
    """Return the shape with a strength near those at which it has the given solutions; None where none has them.

    For one class against the rest it is their geometric mean: the strength is what all classes share.
    """
    try:
        found = [shape.through(r.point.state.mass, r.problem.penalty.slope(0.0)) for r in row if r.point.state.mass > 0]
    except ValueError:  # LinearSquare charges more than the slope by its square alone
        return None
    parameters = [main_parameter(penalty) for penalty in found]
    return shape.at(float(np.exp(np.mean(np.log(parameters))))) if parameters else None


def _places(samples: Any) -> Index:
    """Return positions of samples, from positions or a mask."""
    samples = np.asarray(samples)
    return np.flatnonzero(samples) if samples.dtype == bool else samples


def _sparsest_first(shape: Penalty, grid: Any, name: str) -> Array:
    """Return given strengths, sparsest first."""
    strengths = np.sort(np.atleast_1d(as_floats([] if isinstance(grid, bool) else grid, name)).ravel())
    if not (len(strengths) and strengths[0] > 0 and np.isfinite(strengths).all()):
        raise ValueError(f"{name} must be a number of candidates, or positive finite numbers to choose from.")
    return strengths if hasattr(shape, "radius") else strengths[::-1]
