"""What resamples say of each penalty, in a dozen numbers with their errors, and of its distance from `Linear`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t as student

from atomsieve.paper.carrying import SHAPES, jaccard, supports
from atomsieve.paper.jackknife import Statistic, estimate, jackknife, off_diagonal, relative, spread
from atomsieve.typing import Array, Mask

LEVEL = 0.05
"""The chance, over all comparisons of a table together, that one of them is called a difference by accident."""


@dataclass(frozen=True)
class Comparison:
    """All resamples of one data set under one penalty; `linear` are the choices of `Linear` on the same resamples."""

    choices: pd.DataFrame
    carried: pd.DataFrame
    linear: pd.DataFrame

    def chosen(self, column: str) -> Array:
        """Return one number per resample."""
        return self.choices[column].to_numpy(dtype=float)

    def pairs(self, column: str) -> Array:
        """Return one number per pair: the row is the resample where a choice is used, the column that of its donor."""
        return self.carried.pivot(index="target", columns="donor", values=column).to_numpy(dtype=float)

    def excess(self, column: str) -> Array:
        """Return by how much each carried choice scores worse than the own one; on the diagonal, the own score."""
        excess = self.pairs(column) - self.pairs(f"own {column}")
        np.fill_diagonal(excess, np.diag(self.pairs(column)))
        return excess

    def between(self) -> Array:
        """Return the similarity of the supports of each two resamples, each with its own choice."""
        masks = self._supports(self.choices)
        return np.stack([jaccard(masks, mask) for mask in masks])

    def with_linear(self) -> Array:
        """Return the similarity of the supports that this penalty and `Linear` choose on the same resample."""
        return jaccard(self._supports(self.choices), self._supports(self.linear))

    def _supports(self, choices: pd.DataFrame) -> Mask:
        texts = [*self.choices["support"], *self.linear["support"]]
        return supports(choices["support"], 1 + max(int(text.split()[-1]) for text in map(str, texts)))


@dataclass(frozen=True)
class Measure:
    """A statistic of a trial; `better` is -1 where less of it is more stable, 1 where more of it is, 0 for context."""

    name: str
    values: Callable[[Comparison], Array]
    statistic: Statistic
    better: int = 0


MEASURES = (
    Measure("spread of log strength", lambda trial: trial.chosen("log strength"), spread),
    Measure("spread on own paths", lambda trial: 100 * trial.chosen("place"), spread),
    Measure("spread on other paths", lambda trial: 100 * trial.pairs("place"), spread, -1),
    Measure("spread on full path", lambda trial: 100 * trial.chosen("reference"), spread),
    Measure("own loss", lambda trial: np.diag(trial.pairs("loss")), np.mean),
    Measure("own error", lambda trial: 100 * np.diag(trial.pairs("error")), np.mean),
    Measure("regret in loss", lambda trial: trial.excess("loss"), relative, -1),
    Measure("regret in error", lambda trial: 100 * trial.excess("error"), off_diagonal),
    Measure("support size", lambda trial: np.diag(trial.pairs("size")), np.mean),
    Measure("Jaccard, own choices", lambda trial: trial.between(), off_diagonal),
    Measure("Jaccard, shared choice", lambda trial: trial.pairs("shared"), off_diagonal, 1),
    Measure("Jaccard, swapped choice", lambda trial: trial.pairs("swapped"), off_diagonal, 1),
    Measure("Jaccard with Linear", lambda trial: trial.with_linear(), np.mean),
)

JUDGED = {measure.name: measure.better for measure in MEASURES if measure.better}
"""The measures by which the claim of more stability is judged, and which way is better."""


def compare(choices: pd.DataFrame, carried: pd.DataFrame) -> pd.DataFrame:
    """Return every measure for every data set and penalty, with the difference from `Linear` and their errors."""
    return pd.DataFrame([row for name in choices["set"].unique() for row in _compared(name, choices, carried)])


def _compared(name: str, choices: pd.DataFrame, carried: pd.DataFrame) -> Iterator[dict[str, object]]:
    made, used = (frame[frame["set"] == name] for frame in (choices, carried))
    parts = {penalty: (made[made["penalty"] == penalty], used[used["penalty"] == penalty]) for penalty in SHAPES}
    for measure in MEASURES:
        looks = {}
        for penalty, (mine, brought) in parts.items():
            trial = Comparison(mine, brought, parts["Linear"][0])
            looks[penalty] = jackknife(measure.statistic, measure.values(trial))
        base, base_without = looks["Linear"]
        for penalty, (value, without) in looks.items():
            here, apart = estimate(value, without), estimate(value - base, without - base_without)
            yield {
                "set": name,
                "measure": measure.name,
                "penalty": penalty,
                "value": here.value,
                "error": here.error,
                "difference": apart.value,
                "difference error": apart.error,
            }


def judge(compared: pd.DataFrame, resamples: int) -> pd.DataFrame:
    """Return the judged comparisons with `Linear`: t, and "more", "less" or "alike" stable, beyond chance."""
    return _called(compared[compared["measure"].isin(list(JUDGED)) & (compared["penalty"] != "Linear")], resamples)


def pool(judged: pd.DataFrame, resamples: int) -> pd.DataFrame:
    """Return the judged comparisons averaged over data sets, whose resamples are independent of each other."""
    groups = judged.groupby(["measure", "penalty"], sort=False)
    error = groups["difference error"].agg(lambda errors: float(np.sqrt((errors**2).sum()) / len(errors)))
    return _called(
        pd.DataFrame({"difference": groups["difference"].mean(), "difference error": error}).reset_index(), resamples
    )


def _called(rows: pd.DataFrame, resamples: int) -> pd.DataFrame:
    """Return comparisons with a word for each, at a level that all of them share."""
    limit = float(student.ppf(1 - LEVEL / 2 / max(len(rows), 1), resamples - 1))
    t = (rows["difference"] / rows["difference error"].where(rows["difference error"] > 0)).fillna(0.0)
    towards = t * rows["measure"].map(JUDGED)
    words = np.select([towards > limit, towards < -limit], ["more", "less"], "alike")
    return rows.assign(t=t, stability=words).reset_index(drop=True)
