"""What a certificate says of every single coefficient, and the table that shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from atomsieve.certificate import Certificate
from atomsieve.display.coefficients import ZERO, Coefficients, verdict_words
from atomsieve.estimators.targets import Classes, Numbers
from atomsieve.estimators.task import Task
from atomsieve.gauges import Gauge, Image, Scaled
from atomsieve.gauges.base import BlockGauge
from atomsieve.intake.names import pandas_for
from atomsieve.numerics.enclosures import Enclosure
from atomsieve.problem import Problem
from atomsieve.typing import Array, Index, Mask

if TYPE_CHECKING:
    import pandas as pd


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

    @classmethod
    def of(cls, problem: Problem, certificate: Certificate) -> "Verdicts":
        """Translate claims about blocks, and about the preimage of an Image, into claims about coefficients."""
        gauge, form = problem.gauge, problem.lifted.form
        labels = problem.core.labels(problem.shape).reshape(form)
        zero = ~gauge.touched(~certificate.zero[labels])
        if not gauge.mapped:
            free = np.zeros(problem.shape, dtype=bool)
            free[problem.core.unpenalised()] = True
            nonzero = certificate.nonzero[labels]
            bounds = certificate.lower, certificate.upper
            return cls(zero, nonzero, *bounds, free.reshape(form), Groups.of(problem, certificate))
        lower, upper = _lowered(gauge, certificate)
        lower[zero] = upper[zero] = 0.0
        nowhere = np.zeros(zero.shape, dtype=bool)
        return cls(zero, (lower > 0) | (upper < 0), lower, upper, nowhere, Groups.of(problem, certificate))

    def words(self) -> Array:
        """Return a word for each coefficient."""
        return verdict_words(self.zero, self.nonzero, self.lower, self.upper, self.unpenalised)


@dataclass(frozen=True, eq=False)
class Groups:
    """Named groups of features, and what is proven of them."""

    names: tuple[str, ...]
    owners: Index
    """The group of each feature; -1 where it is in none, or in several."""

    words: Array
    """The verdict of each group."""

    @classmethod
    def of(cls, problem: Problem, certificate: Certificate) -> "Groups | None":
        """Return the groups that the gauge of a problem names; None where it names none."""
        names = problem.gauge.names()
        if names is None:
            return None
        rows = problem.data.design.shape[1]
        owners = problem.gauge.owners((rows, *problem.lifted.form[1:]))
        return cls(names, owners, verdict_words(certificate.zero, certificate.nonzero))

    @property
    def column(self) -> list[str]:
        """The name of the group of each feature, empty where it is in none or in several."""
        return ["" if owner < 0 else self.names[owner] for owner in self.owners]


def _lowered(gauge: Any, certificate: Certificate) -> tuple[Array, Array]:
    """Return bounds of `Q c` from bounds of c."""
    shape = gauge.lower(np.zeros_like(certificate.x)).shape
    while isinstance(gauge, Scaled):
        gauge = gauge.gauge
    if not isinstance(gauge, Image) or gauge.gauge.mapped:
        return np.full(shape, -np.inf), np.full(shape, np.inf)
    known = np.isfinite(certificate.lower) & np.isfinite(certificate.upper)
    low, high = np.where(known, certificate.lower, 0.0), np.where(known, certificate.upper, 0.0)
    middle = low + (high - low) / 2
    around = np.nextafter(np.maximum(high - middle, middle - low), np.inf)
    image = gauge.enclose(Enclosure(middle, np.where((low == 0) & (high == 0), 0.0, around)))
    open_ended = gauge.touched(~known)
    return np.where(open_ended, -np.inf, image.low), np.where(open_ended, np.inf, image.high)


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
        if groups is None or (groups.owners < 0).any():
            raise ValueError("group_report() needs a gauge that puts every feature in one group: gauge=Group(groups).")
        sizes = np.bincount(groups.owners, minlength=len(groups.names))
        squares = np.bincount(groups.owners, (rows * rows).sum(axis=0), len(groups.names))
        columns = {"group": groups.names, "features": sizes, "norm": np.sqrt(squares), "verdict": groups.words}
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
    outputs = [f"{task.targets.kind} {name}" for name in task.targets.outputs]
    groups = group_names(task.gauge, names)
    rows = zip(coef, *_by_output(verdicts), outputs if len(coef) > 1 else [None], strict=True)
    return [
        Coefficients(names, row, low, high, words, scales, groups, output) for row, low, high, words, output in rows
    ]


def unproven_coefficients(coef: Array, names: Sequence[str], task: Task) -> list[Coefficients]:
    """Return the coefficients of each output or class where nothing was proven, for lack of data."""
    unknown = np.full(len(names), np.inf)
    outputs = [f"{task.targets.kind} {name}" for name in task.targets.outputs] if len(coef) > 1 else [None]
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
