"""How the strength was chosen, and the models for other strengths with what is proven of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from atomsieve.core.clock import TimeUp
from atomsieve.display.reading import shown_scores
from atomsieve.estimators.proof import ModelProof, certificate
from atomsieve.estimators.solver import Solver
from atomsieve.estimators.task import TrainingData
from atomsieve.estimators.verdicts import Verdicts
from atomsieve.problem import Problem
from atomsieve.report.outputs import finite
from atomsieve.typing import Array, Mask

Numbers = tuple[float | None, ...]

CERTIFIED = 20
"""About how many strengths of a path are certified: enough for a picture, and quick."""


@dataclass(frozen=True)
class Choice:
    """A cross-validation: the score of every candidate, and the candidates that the two rules choose."""

    name: str
    """What users call the strength: alpha, C or strength."""

    label: str
    strengths: tuple[float, ...]
    """The candidates, sparsest model first."""

    score: str
    """What is drawn: the scorer, or the loss on held-out samples."""

    mean: Numbers
    error: Numbers
    """The standard error of the mean over folds."""

    folds: tuple[Numbers, ...]
    counts: tuple[int, ...]
    """The number of features of each candidate on all samples."""

    rule: str
    chosen: int
    least: int
    """The candidate with the best mean."""

    sparse: int
    """The strongest penalty within one standard error of it."""

    grid_end: str | None
    """What there is to say where the best candidate is the first or the last; None where it is within."""


@dataclass(frozen=True)
class Line:
    """A coefficient at every strength."""

    feature: int
    output: int
    values: tuple[float, ...]


@dataclass(frozen=True)
class Support:
    """How many features are proven to carry weight at a strength, to carry none, and neither."""

    place: int
    """The place of the strength among the candidates."""

    nonzero: int
    zero: int
    undecided: int


@dataclass(frozen=True)
class PathFacts:
    """The models of all candidates on all samples."""

    lines: tuple[Line, ...]
    """Coefficients that are not 0 somewhere."""

    supports: tuple[Support, ...] | None
    """What is proven at some of the strengths; None where nothing can be."""


def choice_of(model: Any) -> Choice | None:
    """Return how a fitted estimator chose its strength; None where it did not."""
    choice = getattr(model, "_choice", None)
    if choice is None:
        return None
    sign, score = shown_scores(model)
    results, grid = model.cv_results_, choice.candidates.grid
    return Choice(
        name=grid.name,
        label=grid.label,
        strengths=_floats(choice.candidates.values),
        score=score,
        mean=_numbers(sign * results["mean_score"]),
        error=_numbers(results["standard_error"]),
        folds=tuple(_numbers(sign * scores) for scores in choice.scores.T),
        counts=tuple(map(int, results["n_features"])),
        rule=choice.rule,
        chosen=int(model.best_index_),
        least=int(model.index_min_),
        sparse=int(model.index_1se_),
        grid_end=model._grid_end,
    )


def path_of(model: Any, proof: ModelProof, data: TrainingData | None) -> PathFacts | None:
    """Return the models of all candidates, and what is proven of some; None where there was no choice."""
    models = getattr(model, "_models", None)
    if models is None:
        return None
    coefs = [models.models[k][0] for k in range(len(models.models))]
    used = np.flatnonzero(np.any([coef.any(axis=0) for coef in coefs], axis=0))
    values = np.stack([coef[:, used] for coef in coefs])
    lines = tuple(
        Line(int(j), k, _floats(values[:, k, place]))
        for place, j in enumerate(used)
        for k in range(values.shape[1])
        if values[:, k, place].any()
    )
    provable = data is not None and proof.silence is None and not model._solved.gauge.mapped
    return PathFacts(lines, supports_of(model, coefs, data) if provable else None)


def supports_of(model: Any, coefs: list[Array], data: Any) -> tuple[Support, ...] | None:
    """Return what is proven at some strengths of the path; None for gauges whose coefficients have preimages.

    Models beyond the one with the best score are nobody's choice, and they are large: they are left alone. A deadline
    ends the proofs with those at the largest strengths.
    """
    problems = model._solved.problems(data)
    if problems[0].gauge.mapped:
        return None
    solver = Solver.of(model)
    chosen = sorted((int(model.index_min_), int(model.index_1se_)))
    spread = np.linspace(0, chosen[1], CERTIFIED).round().astype(int)
    supports = []
    for place in sorted({*spread.tolist(), *chosen}):
        parts = _parts(problems, coefs[place])
        try:
            decided = [_decided(problem.at_penalty(model.penalties_[place]), coef, solver) for problem, coef in parts]
        except TimeUp:
            break
        supports.append(_support(place, decided))
    return tuple(supports)


def _parts(problems: list[Problem], coef: Array) -> Any:
    """Return the problems, each with its rows of coefficients."""
    return zip(problems, np.split(coef, len(problems)), strict=True)


def _decided(problem: Problem, coef: Array, solver: Solver) -> tuple[Mask, Mask]:
    """Return which features are proven to carry weight and which to carry none, in the solution of one problem."""
    x = np.ascontiguousarray(coef.T).reshape(problem.shape)
    verdicts = Verdicts.of(problem, certificate(problem, x, solver))
    features = (coef.shape[1], -1)
    nonzero = np.asarray((verdicts.nonzero | verdicts.unpenalised).reshape(features).any(axis=1))
    return nonzero, np.asarray(verdicts.zero.reshape(features).all(axis=1))


def _support(place: int, decided: list[tuple[Mask, Mask]]) -> Support:
    """Count the features over all problems of a strength: one that carries weight in any of them counts."""
    nonzero = np.any([pair[0] for pair in decided], axis=0)
    zero = np.all([pair[1] for pair in decided], axis=0)
    counts = int(np.count_nonzero(nonzero)), int(np.count_nonzero(zero))
    return Support(place, *counts, len(zero) - sum(counts))


def _floats(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _numbers(values: Any) -> Numbers:
    return tuple(finite(value) for value in values)
