"""How good the predictions of a model are: on the samples it was fitted to, and on samples that were held out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, log_loss, r2_score

from atomsieve.display.numbers import number
from atomsieve.estimators.targets import Classes
from atomsieve.estimators.task import Task, TrainingData
from atomsieve.problem import Problem
from atomsieve.run.path import explained
from atomsieve.typing import Array, Index

R2, ACCURACY, LOG_LOSS, DEVIANCE = "R²", "accuracy", "log-loss", "deviance explained"
"""What is measured: R² for numbers, accuracy and log-loss for classes, deviance explained for counts."""

PERCENT = (ACCURACY, DEVIANCE)
"""What is told in percent."""

SEEN = "Training data: the samples of the fit, which flatter a model; expect worse on new ones."
UNSEEN = "Cross-validation: each sample predicted by a model fitted without it. (The same folds chose the strength.)"


@dataclass(frozen=True)
class Quality:
    """One measure of the predictions of a model; None where it is not known."""

    name: str
    training: float | None
    """On the samples of the fit."""

    held_out: float | None
    """By cross-validation, over all samples that were held out."""

    def told(self, value: float | None) -> str:
        """Return a value of this measure as people write it.

        >>> Quality("accuracy", 0.98765, None).told(0.98765), Quality("R²", 0.5131, None).told(0.5131)
        ('98.8%', '0.513')
        >>> Quality("R²", 2.2e-16, None).told(2.2e-16), Quality("R²", -0.0436, None).told(-0.0436)
        ('0', '-0.044')
        >>> Quality("log-loss", 0.00987, None).told(0.00987)
        '0.00987'
        """
        if value is None:
            return "unknown"
        if self.name in PERCENT:
            return f"{100 * value:.1f}%"
        return number(round(value, 3) + 0.0 if self.name == R2 else value, 3)


def quality_of(model: Any) -> list[Quality]:
    """Return all that is known about the predictions of a fitted estimator."""
    data, held_out = model._known_data(), getattr(model, "cv_quality_", {})
    training = {}
    if data is not None:
        task = model._solved
        u = task.linear(data, np.atleast_2d(model.coef_), np.atleast_2d(model.intercept_))[:, 0]
        training = measures(task, data, u)
    names = dict.fromkeys([*training, *held_out])
    return [Quality(name, training.get(name), held_out.get(name)) for name in names]


def remarks(qualities: Sequence[Quality]) -> list[str]:
    """Return sentences on what the columns of a table of measures mean."""
    seen = any(quality.training is not None for quality in qualities)
    unseen = any(quality.held_out is not None for quality in qualities)
    told = [SEEN] * seen + [UNSEEN] * unseen
    if any(quality.name == DEVIANCE for quality in qualities):
        told.append("Deviance explained: 0% is a model without the penalised features, 100% a perfect one.")
    return told


def measures(
    task: Task,
    data: TrainingData,
    u: Array,
    samples: Index | slice = slice(None),
    problems: Sequence[Problem] | None = None,
) -> dict[str, float]:
    """Return the measures of linear predictions u of some samples; those that are not defined are left out.

    `problems` are those of all samples, where they are at hand. They say how well a model does without features.
    """
    y, weights = data.y[samples], None if data.weights is None else data.weights[samples]
    if len(y) < 2 or not np.isfinite(u).all() or (weights is not None and not weights.any()):
        return {}
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(task.targets, Classes):
            found = _of_classes(task.targets, y, u, weights)
        elif task.targets.loss.targets == "counts":
            loss = np.array([task.loss_sum(u, y, weights) / (len(y) if weights is None else weights.sum())])
            found = {DEVIANCE: explained(task.problems(data) if problems is None else problems, loss)[0]}
        else:
            predicted = task.targets.predict(u)
            known = np.isfinite(predicted).all()
            found = {R2: r2_score(y, predicted, sample_weight=weights)} if known else {}
    return {name: float(value) for name, value in found.items() if np.isfinite(value)}


def _of_classes(targets: Classes, y: Array, u: Array, weights: Array | None) -> dict[str, float]:
    """Return accuracy and, where there are probabilities, log-loss."""
    found = {ACCURACY: accuracy_score(y, targets.predict(u), sample_weight=weights)}
    if targets.loss.probabilistic:
        likely = targets.probabilities(u)
        found[LOG_LOSS] = log_loss(y, likely, sample_weight=weights, labels=targets.labels)
    return found
