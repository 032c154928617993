"""The choice among candidates: what every fold says of them, the rule that chooses one, and what users are told."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from atomsieve.estimators.folds import Fold
from atomsieve.estimators.grid import Candidates
from atomsieve.estimators.models import Models
from atomsieve.estimators.notices import GridEndWarning, tell
from atomsieve.typing import Array


@dataclass(frozen=True, eq=False)
class Choice:
    """Candidates that were tried, what every fold says of them, and the one that is chosen."""

    candidates: Candidates
    scores: Array
    counts: Array
    missed: int
    planned: int
    """How many candidates there were to be tried."""

    scoring: Any
    """Who scored them; None is minus the loss on held-out samples."""

    rule: str

    @classmethod
    def of(cls, candidates: Candidates, folds: Sequence[Fold], scoring: Any, rule: str) -> "Choice":
        """Compare the candidates that all folds got to before time was up."""
        tried = min(len(fold.scores) for fold in folds)
        scores = np.stack([fold.scores[:tried] for fold in folds], axis=1)
        counts = np.stack([fold.models.counts[:tried] for fold in folds], axis=1)
        missed = sum(fold.models.missed for fold in folds)
        return cls(candidates.first(tried), scores, counts, missed, len(candidates.values), scoring, rule)

    def among(self, models: Models) -> "Choice":
        """Return the choice among the candidates that have a model on all samples."""
        count, missed = len(models), self.missed + models.missed
        first = self.candidates.first(count)
        return replace(self, candidates=first, scores=self.scores[:count], counts=self.counts[:count], missed=missed)

    @cached_property
    def index(self) -> int:
        """The candidate that is chosen."""
        return self.by(self.rule)

    def by(self, rule: str) -> int:
        """Return the candidate that a rule chooses."""
        return pick(*mean_and_error(self.scores), rule)

    def attributes(self) -> dict[str, Any]:
        """Return what users are shown, candidates under the name that they know."""
        mean, error = mean_and_error(self.scores)
        name, values = self.candidates.grid.name, self.candidates.values
        least, sparse = self.by("min"), self.by("1se")
        return {
            f"{name}s_": values,
            f"{name}_": float(values[self.index]),
            f"{name}_min_": float(values[least]),
            f"{name}_1se_": float(values[sparse]),
            "index_min_": least,
            "index_1se_": sparse,
            "cv_scores_": self.scores,
            "feature_counts_": self.counts,
            "cv_mean_": mean,
            "cv_standard_error_": error,
            "best_index_": self.index,
        }

    def table(self, models: Models) -> dict[str, dict[str, Array]]:
        """Return the table of the cross-validation: a row per candidate, with its number of features on all samples."""
        mean, error = mean_and_error(self.scores)
        columns = {
            f"{self.candidates.grid.name}s": self.candidates.values,
            "mean_score": mean,
            "standard_error": error,
            "n_features": models.counts,
        }
        folds = {f"split{k}_score": scores for k, scores in enumerate(self.scores.T)}
        return {"cv_results_": columns | folds}

    def told(self, models: Models) -> str:
        """Return both choices in words, the one that is taken first."""
        name, values = self.candidates.grid.name, self.candidates.values
        other = "min" if self.rule == "1se" else "1se"
        words = [
            f"{name}_{rule}_ {values[k]:.6g} ({models.counts[k]} features)"
            for rule in (self.rule, other)
            for k in [self.by(rule)]
        ]
        return f"chosen: {words[0]}; {words[1]}"

    def grid_end(self, models: Models) -> str | None:
        """Return a note where the best score is at an end of the candidates, None where it is within.

        It is no note where nothing lies beyond: the first candidate has no features, or there is only one. Where time
        was up, another warning says how to get further.
        """
        tried, best = len(self.scores), self.by("min")
        if tried < max(self.planned, 2) or 0 < best < tried - 1 or (best == 0 and models.counts[0] == 0):
            return None
        end, flat = ("strongest", "") if best == 0 else ("weakest", ", or these data need hardly any penalty")
        further = self.candidates.grid.beyond(sparser=best == 0)
        return (
            f"The best score is that of the {end} penalty that was tried. A better one may lie beyond{flat}: {further}."
        )

    def tell(self, models: Models) -> None:
        """Warn where fits missed the tolerance, time was up too early, or the best candidate is at an end."""
        tried = len(self.scores)
        note = self.grid_end(models)
        if note is not None:
            tell(note, GridEndWarning)
        if tried < self.planned:
            tell(
                f"The time limit ended cross-validation after {tried} of {self.planned} candidates, sparsest first; "
                "raise time_limit or tol.",
                ConvergenceWarning,
            )
        elif self.missed:
            count = f"{self.missed} fits" if self.missed > 1 else "1 fit"
            tell(
                f"{count} in cross-validation missed the tolerance; raise max_iter or tol.",
                ConvergenceWarning,
            )


def mean_and_error(scores: Array) -> tuple[Array, Array]:
    """Return the mean over folds and its standard error."""
    folds = scores.shape[1]
    with np.errstate(invalid="ignore"):
        spread = scores.std(axis=1, ddof=1) if folds > 1 else np.zeros(len(scores))
    return scores.mean(axis=1), spread / np.sqrt(folds)


def pick(mean: Array, error: Array, rule: str) -> int:
    """Return the best candidate or, by "1se", the strongest penalty that is no worse than one standard error below it.

    Candidates stand strongest penalty first; of equally good ones the first is taken.
    """
    if not np.isfinite(mean).any():
        raise ValueError("No candidate has a score: the scorer returned NaN or infinity for all of them.")
    best = int(np.argmax(np.where(np.isfinite(mean), mean, -np.inf)))
    return best if rule == "min" else int(np.flatnonzero(mean >= mean[best] - error[best])[0])
