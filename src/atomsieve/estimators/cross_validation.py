"""The strength chosen on held-out samples: candidates, folds, one rule to choose, one picture."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from sklearn import get_config
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from atomsieve.display.reading import RULES
from atomsieve.estimators.choice import Choice
from atomsieve.estimators.elsewhere import at_hand, is_elsewhere, split
from atomsieve.estimators.folds import Trial
from atomsieve.estimators.models import ModelPath, Models
from atomsieve.estimators.notices import check_exposure
from atomsieve.estimators.solver import Solver
from atomsieve.estimators.source import Source
from atomsieve.estimators.task import TrainingData
from atomsieve.estimators.watching import Watch, with_callbacks
from atomsieve.penalties import Penalty
from atomsieve.problem import Problem
from atomsieve.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CHOICE_RULES = tuple(RULES)


class CrossValidationMixin:
    """Chooses the strength of the penalty: an estimator says by `_grid` which strengths there are to choose from."""

    cv: Any
    scoring: Any
    selection: str
    n_jobs: int | None
    random_state: Any

    penalties_: list[Penalty]
    cv_scores_: Array
    feature_counts_: Array
    cv_mean_: Array
    cv_standard_error_: Array
    best_index_: int
    index_min_: int
    index_1se_: int
    cv_results_: dict[str, Array]
    cv_quality_: dict[str, float]
    _choice: Choice
    _models: ModelPath
    _grid_end: str | None
    """What there is to say where the best strength is the first or the last that was tried."""

    _rules: ClassVar[tuple[str, ...]] = CHOICE_RULES
    """What `selection` may be; all but "1se" mean "min"."""

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, **params: Any) -> Self:
        """Choose the strength by cross-validation, and fit the models of all candidates to all samples.

        Where y is sorted by row and folds are made of consecutive rows (a number as `cv` for a regressor, or `KFold`
        without `shuffle`) a warning asks for shuffled folds: `random_state=0`.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
            Features.
        y : array of shape (n,) or, for a regressor, (n, K)
            Targets. With K columns there are K outputs, and their losses are added.
        sample_weight : array of shape (n,), optional
            Non-negative weights, in training and in scores.
        offset : array of the shape of the linear predictions, optional
            What is added to the linear predictions as it is, in training and in scores; (n,), or (n, K) for K outputs
            or classes.
        **params
            `groups` for the splitter; with metadata routing, whatever splitter and scorer ask for.
        """
        fit_with_choice(self, X, y, sample_weight, offset, params)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata go to the splitter and to the scorer."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        mapping = MethodMapping().add(caller="fit", callee="split")
        router = router.add(splitter=check_cv(self.cv), method_mapping=mapping)
        if self.scoring is not None:
            mapping = MethodMapping().add(caller="fit", callee="score")
            router = router.add(scorer=check_scoring(self, scoring=self.scoring), method_mapping=mapping)
        return router

    @property
    def coef_path_(self) -> Array:
        """The coefficients of all candidates on all samples: candidates x d, or candidates x K x d for K rows."""
        check_is_fitted(self)
        return self._models.coefs

    @property
    def intercept_path_(self) -> Array:
        """The intercepts of all candidates on all samples: one for each or, for K rows of coefficients, K."""
        check_is_fitted(self)
        return self._models.intercepts

    def predict(self, X: Any, offset: Any = None, **strength: float | str) -> Array:
        """Return the expected target of each sample; its most likely class, where targets are classes.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
            Features.
        offset : array of the shape of the linear predictions, optional
            What is added to them; 0 by default, also where the model was fitted with one.
        **strength
            The strength by its name (`alpha`, `C` or `strength`), anywhere on the path: predictions are then those of
            the model there, not of the chosen one. "min" and "1se" stand for the two choices. Between two candidates
            coefficients are interpolated, linearly in the strength (in 1 / C for C).
        """
        answers: Array = super(CrossValidationMixin, self._at(strength)).predict(X, offset)  # type: ignore[misc]
        return answers

    def _at(self, strength: dict[str, float | str]) -> Self:
        """Return the estimator with its model at a strength on the path; as it is where none is given."""
        check_is_fitted(self)
        if not strength:
            return self
        name = self._models.candidates.grid.name
        if set(strength) != {name}:
            raise TypeError(f"The strength is called {name}: got {', '.join(strength)}.")
        value = strength[name]
        place = getattr(self, f"{name}_{value}_") if isinstance(value, str) and value in CHOICE_RULES else value
        shown: Any = copy(self)
        shown._show(shown._solved, *self._models.at(place))
        return cast("Self", shown)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the score of every candidate, fold by fold and on average with its standard error (needs matplotlib)."""
        from atomsieve.display import CVDisplay  # noqa: PLC0415 -- optional

        check_is_fitted(self)
        return CVDisplay.from_estimator(self, ax=ax).ax_


def fit_with_choice(model: Any, X: Any, y: Any, sample_weight: Any, offset: Any, params: dict[str, Any]) -> None:
    """Fit an estimator with the strength that has the best score on held-out samples."""
    if model.selection not in model._rules:
        allowed = " or ".join(map(repr, model._rules))
        raise ValueError(f"selection must be {allowed}, got {model.selection!r}.")
    metadata = routed(model, sample_weight, params)
    solver = Solver.of(model, time_limit=model.time_limit)
    data = TrainingData.of(model, X, y, sample_weight, offset, reset=True)
    task = model._task(data)
    problems = task.problems(data)
    check_exposure(task.targets.loss, data)
    total = task.total(data)
    candidates = model._grid().candidates(problems, total, solver)
    solver.method.check(problems[0].at_penalty(candidates.penalties(total)[0]))
    trial = Trial.of(model, task, data, split(data.X) if is_elsewhere(X) else X, at_hand(y), metadata)
    watch = Watch.of(model, len(trial.splits) + 1)
    folds = trial.run(candidates, solver, watch, model.n_jobs)
    choice = Choice.of(candidates, folds, model.scoring, "1se" if model.selection == "1se" else "min")
    choice, models = on_all_samples(choice, problems, total, solver, watch)
    task = replace(task, strength=choice.candidates.penalties(total)[choice.index])
    choice.tell(models)
    source = Source.of(X, y, sample_weight, offset, keep=bool(model.keep_data))
    shown = choice.attributes() | choice.table(models)
    shown |= {"cv_quality_": trial.quality(folds, choice.index, problems), "_grid_end": choice.grid_end(models)}
    penalties, path = choice.candidates.penalties(total), ModelPath(choice.candidates, models.alone())
    watch.say(choice.told(models))
    model._keep(task, models.results[choice.index], source, penalties_=penalties, _choice=choice, _models=path, **shown)
    watch.end()


def on_all_samples(
    choice: Choice, problems: Sequence[Problem], total: float, solver: Solver, watch: Watch
) -> tuple[Choice, Models]:
    """Follow the candidates on all samples; return the choice among those that were reached, and their models.

    Solutions are large and models are small: only the solution that is chosen is kept, unless time may run out before
    it is reached.
    """
    held = {choice.index} if solver.time_limit is None else range(len(choice.scores))
    penalties, folds = choice.candidates.penalties(total), choice.scores.shape[1]
    rows = watch.part(solver.follow_all(problems, penalties), "all samples", folds, len(penalties))
    models = Models.of(rows, held)
    return choice.among(models), models


def routed(model: Any, sample_weight: Any, params: dict[str, Any]) -> Bunch:
    """Return what the splitter and the scorer are to be given."""
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    if get_config()["enable_metadata_routing"]:
        found = process_routing(model, "fit", **params, **weights)
        return Bunch(split=found.splitter.split, score=found.get("scorer", Bunch(score={})).score)
    unknown = sorted(set(params) - {"groups"})
    if unknown:
        raise TypeError(
            f"fit got {', '.join(unknown)}, which it does not know: beside sample_weight and offset it takes groups. "
            "Enable scikit-learn's metadata routing to pass more to splitter and scorer."
        )
    return Bunch(split=params, score=weights)
