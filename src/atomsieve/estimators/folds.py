"""What candidates score on the samples that a fold holds out: one warm path per fold."""

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from math import ceil
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch, _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from atomsieve.estimators.grid import Candidates
from atomsieve.estimators.models import Models
from atomsieve.estimators.notices import check_order
from atomsieve.estimators.quality import measures
from atomsieve.estimators.solver import Solver
from atomsieve.estimators.task import Task, TrainingData
from atomsieve.estimators.watching import Watch
from atomsieve.intake.arguments import is_number
from atomsieve.problem import Problem
from atomsieve.typing import Array, Index


@dataclass(frozen=True, eq=False)
class Trial:
    """What candidates are tried on: a task, data with their splits, and whoever scores them there."""

    task: Task
    data: TrainingData
    splits: list[tuple[Index, Index]]
    y: Any
    """Targets as they were given."""

    model: Any
    """An unfitted estimator, which scorers are shown."""

    scorer: Any
    params: dict[str, Any]
    """What the scorer is told."""

    @classmethod
    def of(cls, model: Any, task: Task, data: TrainingData, X: Any, y: Any, routed: Bunch) -> "Trial":
        """Return the trial that the parameters `cv` and `scoring` of an estimator ask for."""
        scorer = None if model.scoring is None else check_scoring(model, scoring=model.scoring)
        splitter = splitter_of(model, y)
        check_order(y, splitter)
        splits = [(_places(train), _places(test)) for train, test in splitter.split(X, y, **routed.split)]
        if not splits:
            raise ValueError("cv gives no fold.")
        shell = clone(model)
        shell.n_features_in_ = model.n_features_in_
        return cls(task, data, splits, np.asarray(y), shell, scorer, routed.score)

    def run(self, candidates: Candidates, solver: Solver, watch: Watch, n_jobs: int | None) -> "list[Fold]":
        """Return what every fold says of the candidates.

        Where time is limited each fold has the same part of it, and one part is left for the fit to all samples.
        """
        turns = ceil(len(self.splits) / effective_n_jobs(n_jobs))
        share = solver.within(solver.share(turns + 1))
        numbers = range(len(self.splits))
        parallel = Parallel(n_jobs=n_jobs, prefer="threads")  # the core lets other threads run, and data need no copy
        folds: list[Fold] = parallel(delayed(held_out)(self, candidates, k, share, watch) for k in numbers)
        return folds

    def quality(self, folds: "Sequence[Fold]", place: int, problems: Sequence[Problem]) -> dict[str, float]:
        """Return how good one candidate is over all held-out samples, each predicted by the model of its fold."""
        tests = [test for _, test in self.splits]
        predicted = [
            self.task.linear(self.data, fold.models[place][0], fold.models[place][1][None], test)[:, 0]
            for fold, test in zip(folds, tests, strict=True)
        ]
        return measures(self.task, self.data, np.concatenate(predicted), np.concatenate(tests), problems)


def splitter_of(model: Any, y: Any) -> Any:
    """Return who makes the folds: as in scikit-learn, but shuffled if `cv` is a number and `random_state` is given."""
    splitter = check_cv(model.cv, y, classifier=is_classifier(model))
    if model.random_state is None or not (model.cv is None or is_number(model.cv)):
        return splitter
    return type(splitter)(splitter.n_splits, shuffle=True, random_state=model.random_state)


@dataclass(frozen=True, eq=False)
class Fold:
    """What one fold says of the candidates that it got to."""

    scores: Array
    models: Models


def held_out(trial: Trial, candidates: Candidates, number: int, solver: Solver, watch: Watch) -> Fold:
    """Fit all candidates to the training samples of one fold and score them on the others."""
    train, test = trial.splits[number]
    part = trial.data.part(train)
    penalties = candidates.penalties(trial.task.total(part))
    solver = solver.within(solver.time_limit)  # the clock starts when the fold begins
    rows = solver.follow_all(_problems(trial, number, part), penalties)
    models = Models.of(watch.part(rows, f"fold {number + 1} of {len(trial.splits)}", number, len(penalties)))
    score = held_out_loss if trial.scorer is None else scored
    return Fold(score(trial, test, models), models)


def _problems(trial: Trial, number: int, part: TrainingData) -> list[Problem]:
    """State the problems of a fold; errors say which it is."""
    try:
        return trial.task.problems(part)
    except ValueError as error:
        message = f"Fold {number + 1} of {len(trial.splits)} in cross-validation: {error}"
        if is_classifier(trial.model) and len(np.unique(part.y)) < len(np.unique(trial.data.y)):
            message += " Its training samples lack a class: StratifiedKFold(5, shuffle=True, random_state=0) keeps all."
        raise ValueError(message) from error


def held_out_loss(trial: Trial, test: Index, models: Models) -> Array:
    """Return minus the weighted mean of the loss for each candidate, all of them from one product with the data.

    With several outputs, and for one class against the rest, losses are added over outputs or classes.
    """
    task, data = trial.task, trial.data
    predicted = task.linear(data, models.coefs, models.intercepts, test)
    whole = task.weights(data)
    weights = np.ones(len(test)) if whole is None else whole[test]
    total = float(weights.sum()) or 1.0
    with np.errstate(over="ignore"):
        sums = [task.loss_sum(predicted[:, k], data.y[test], weights) for k in range(len(models))]
    return -np.array(sums) / total


def scored(trial: Trial, test: Index, models: Models) -> Array:
    """Return what a scorer says of each candidate."""
    held = trial.data.part(test)
    params = {name: _safe_indexing(value, test) if np.ndim(value) else value for name, value in trial.params.items()}
    if np.ndim(params.get("sample_weight", ())) == 0:
        del params["sample_weight"]  # the same for all
    if "sample_weight" not in signature(trial.scorer).parameters:
        params.pop("sample_weight", None)
    scores = []
    for k in range(len(models)):
        trial.model._show(trial.task, *models[k], held.offset)
        scores.append(trial.scorer(trial.model, held.X, trial.y[test], **params))
    return np.array(scores, dtype=np.float64)


def _places(samples: Any) -> Index:
    """Return positions of samples, from positions or a mask."""
    samples = np.asarray(samples)
    return np.flatnonzero(samples) if samples.dtype == bool else samples
