"""What a certificate says of every single coefficient, and the table that shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from atomsieve.certificate import Certificate
from atomsieve.certificate.features import bounds_of
from atomsieve.display.coefficients import ZERO, Coefficients, verdict_words
from atomsieve.estimators.targets import Classes, Numbers, titles
from atomsieve.estimators.task import Task
from atomsieve.gauges import Gauge
from atomsieve.gauges.base import BlockGauge
from atomsieve.intake.names import pandas_for
from atomsieve.problem import Problem
from atomsieve.typing import Array, Index, Mask

if TYPE_CHECKING:
    import pandas as pd

NO_GROUPS = (
    "group_report() needs a gauge that puts every feature in one group, Group(groups) or SparseGroup(groups), or "
    "LatentGroup(groups)."
)


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Claims about coefficients, in the shape of x: (d,), or (d, K) for K outputs or classes."""

    zero: Mask
    """Zero in every solution."""

    nonzero: Mask
    """Not zero, or in a group that is not zero as a whole."""

    lower: Array
    """Lower bounds."""

    upper: Array
    """Upper bounds."""

    unpenalised: Mask
    """Free to take any value, so that nothing is decided."""

    groups: "Groups | None"
    """The groups of the features, where they have names."""

    limits: tuple[Mask, Mask]
    """At the lower limit, and at the upper limit, in every solution."""

    alone: bool = False
    """Whether `nonzero` is about single coefficients, also without an interval."""

    @classmethod
    def of(cls, problem: Problem, certificate: Certificate) -> "Verdicts":
        """Translate claims about blocks, and about the preimage of an Image, into claims about coefficients."""
        gauge, form = problem.gauge, problem.lifted.form
        alone = certificate.facts is not None
        labels = (np.arange(certificate.x.size) if alone else problem.core.labels(problem.shape)).reshape(form)
        zero = ~gauge.touched(~certificate.zero[labels])
        if not gauge.mapped:
            free = np.zeros(problem.shape, dtype=bool)
            free[problem.core.unpenalised()] = True
            nonzero = certificate.nonzero[labels]
            bounds = certificate.lower, certificate.upper
            limits = (certificate.at_lower[labels], certificate.at_upper[labels])
            groups = Groups.of(problem, certificate)
            return cls(zero, nonzero, *bounds, free.reshape(form), groups, limits, alone)
        lower, upper, _ = bounds_of(certificate)
        lower[zero] = upper[zero] = 0.0
        nowhere = np.zeros(zero.shape, dtype=bool)
        groups, limits = Groups.of(problem, certificate), (nowhere, nowhere)
        return cls(zero, (lower > 0) | (upper < 0), lower, upper, nowhere, groups, limits)

    def words(self) -> Array:
        """Return a word for each coefficient."""
        if self.alone:
            return verdict_words(self.zero, self.nonzero, unpenalised=self.unpenalised)
        return verdict_words(self.zero, self.nonzero, self.lower, self.upper, self.unpenalised, self.limits)


@dataclass(frozen=True, eq=False)
class Groups:
    """Named groups of features, and what is proven of them."""

    names: tuple[str, ...]
    owners: Index
    """The group of each feature; -1 where it is in none, or in several."""

    words: Array
    """The verdict of each group."""

    parts: "Parts | None" = None
    """The latent parts of groups that overlap."""

    @classmethod
    def of(cls, problem: Problem, certificate: Certificate) -> "Groups | None":
        """Return the groups that the gauge of a problem names; None where it names none."""
        names = problem.gauge.names()
        if names is None:
            return None
        rows = problem.data.design.shape[1]
        owners = problem.gauge.owners((rows, *problem.lifted.form[1:]))
        return cls(names, owners, verdict_words(*certificate.of_groups()), Parts.of(problem, certificate))

    @property
    def column(self) -> list[str]:
        """The name of the group of each feature, or of several; empty where they are not known."""
        if self.parts is not None:
            return [", ".join(self.names[g] for g in np.unique(groups)) for groups in self.parts.by_feature()]
        return ["" if owner < 0 else self.names[owner] for owner in self.owners]

    def sizes(self, coef: Array) -> tuple[Index, Array]:
        """Return the number of features of each group, and the norm of its coefficients, given in columns."""
        count = len(self.names)
        if self.parts is not None:
            return self.parts.sizes(count)
        if (self.owners < 0).any():
            raise ValueError(NO_GROUPS)
        squares = np.bincount(self.owners, (coef * coef).sum(axis=0), count)
        return np.bincount(self.owners, minlength=count), np.sqrt(squares)


@dataclass(frozen=True, eq=False)
class Parts:
    """The latent parts of groups that overlap: a row of c for each feature of each group."""

    features: Index
    groups: Index
    c: Array

    @classmethod
    def of(cls, problem: Problem, certificate: Certificate) -> "Parts | None":
        """Return the parts at the point of a certificate; None for other gauges."""
        features = problem.gauge.copies(problem.lifted.form[0])
        if features is None:
            return None
        groups = problem.core.labels(problem.shape).reshape(len(features), -1)[:, 0]
        return cls(features, groups, certificate.x.reshape(len(features), -1))

    def by_feature(self) -> list[Index]:
        """Return the groups of each feature."""
        order = np.argsort(self.features, kind="stable")
        return np.split(self.groups[order], np.cumsum(np.bincount(self.features))[:-1])

    def sizes(self, count: int) -> tuple[Index, Array]:
        """Return the number of features of each group, and the norm of its part."""
        squares = np.bincount(self.groups, (self.c * self.c).sum(axis=1), count)
        return np.bincount(self.groups, minlength=count), np.sqrt(squares)


def support_table(verdicts: Sequence[Verdicts], coef: Array, names: Any, targets: Numbers | Classes) -> "pd.DataFrame":
    """Return one row per feature (and per output or class, where there are several): coefficient, interval, verdict."""
    pandas = pandas_for("support_report()")
    groups = verdicts[0].groups
    about = {"feature": names} if groups is None else {"feature": names, "group": groups.column}

    tables: list[pd.DataFrame] = [
        pandas.DataFrame(about | {"coefficient": row, "lower": low, "upper": high, "verdict": words})
        for row, low, high, words in zip(coef, *_by_output(verdicts), strict=True)
    ]
    return _one_table(tables, targets)


def group_table(verdicts: Sequence[Verdicts], coef: Array, targets: Numbers | Classes) -> "pd.DataFrame":
    """Return one row per group (and per class, where each has its own problem): features, norm, verdict."""
    pandas = pandas_for("group_report()")
    tables: list[pd.DataFrame] = []
    for one, rows in zip(verdicts, np.array_split(coef, len(verdicts)), strict=True):
        groups = one.groups
        if groups is None:
            raise ValueError(NO_GROUPS)
        sizes, norms = groups.sizes(rows)
        columns = {"group": groups.names, "features": sizes, "norm": norms, "verdict": groups.words}
        tables.append(pandas.DataFrame(columns))
    return _one_table(tables, targets)


def _one_table(tables: "list[pd.DataFrame]", targets: Numbers | Classes) -> "pd.DataFrame":
    """Return tables one below the other, with a column that says what each is about."""
    if len(tables) == 1:
        return tables[0]
    for table, output in zip(tables, targets.outputs, strict=True):
        table.insert(0, targets.kind, output)
    whole: pd.DataFrame = pandas_for("a report").concat(tables, ignore_index=True)
    return whole


def model_coefficients(
    verdicts: Sequence[Verdicts], coef: Array, names: Sequence[str], task: Task, scales: Array | None
) -> list[Coefficients]:
    """Return the coefficients of each output or class with what is proven about them."""
    groups = group_names(task.gauge, names)
    rows = zip(coef, *_by_output(verdicts), titles(task.targets, len(coef)), strict=True)
    return [
        Coefficients(names, row, low, high, words, scales, groups, output) for row, low, high, words, output in rows
    ]


def unproven_coefficients(coef: Array, names: Sequence[str], task: Task) -> list[Coefficients]:
    """Return the coefficients of each output or class where nothing was proven, for lack of data."""
    unknown = np.full(len(names), np.inf)
    outputs = titles(task.targets, len(coef))
    groups = group_names(task.gauge, names)
    return [
        Coefficients(names, row, -unknown, unknown, np.where(row == 0, ZERO, ""), None, groups, output)
        for row, output in zip(coef, outputs, strict=True)
    ]


def group_names(gauge: Gauge, names: Sequence[str]) -> list[str] | None:
    """Return the name of the group of each feature; None where groups have no names."""
    gauge = gauge.named(names, len(names))
    blocks = gauge.names()
    if blocks is None or not isinstance(gauge, BlockGauge):
        return None
    return [blocks[k] for k in gauge.labels((len(names),))]


def _by_output(verdicts: Sequence[Verdicts]) -> tuple[Array, Array, Array]:
    """Return lower bounds, upper bounds and words with a row per output or class."""
    tables = ([v.lower for v in verdicts], [v.upper for v in verdicts], [v.words() for v in verdicts])
    lower, upper, words = (np.concatenate([np.atleast_2d(part.T) for part in parts]) for parts in tables)
    return lower, upper, words
