"""From the options of a command to samples, a gauge and an estimator."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING, Any

from atomsieve.cli.choices import FOLDS, Wish, estimator, options_of
from atomsieve.cli.said import RefusedError

if TYPE_CHECKING:
    from atomsieve.tables import Reading, Samples


@dataclass(frozen=True)
class Source:
    """A data file and what the options say about it."""

    path: str
    target: str | None = None
    offset: str | None = None
    exposure: str | None = None
    weights: str | None = None
    exclude: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    separator: str | None = None
    header: bool | None = None

    def __post_init__(self) -> None:
        if self.offset is not None and self.exposure is not None:
            raise RefusedError(
                "--exposure and --offset both say what is added to the predictions (an exposure its logarithm): give "
                "one of them."
            )

    def command(self, wish: Wish, folder: Path) -> str:
        """Return the command that fits a model to this file, as a shell takes it."""
        options = options_of(self, {})[2:]  # without the path, which stands first
        return join(["atomsieve", "fit", self.path, *options, *wish.options, "--out", str(folder)])


@dataclass(frozen=True, eq=False)
class Job:
    """Samples, how they were read, and the estimator for them."""

    samples: "Samples"
    reading: "Reading"
    model: Any
    excluded: tuple[str, ...]
    """Columns of the file that are left out."""

    notes: list[str]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return len(self.samples), len(self.samples.columns)


def job(source: Source, wish: Wish) -> Job:
    """Read the data and prepare the fit; refuse what cannot be fitted."""
    from atomsieve.tables import Roles, plan, read_table  # noqa: PLC0415 -- NumPy

    if source.exposure is not None and wish.loss != "poisson":
        raise RefusedError("--exposure is for counts: add --loss poisson.")
    roles = Roles(source.target, source.offset, source.weights, source.exclude, source.categorical, source.exposure)
    table = read_table(source.path, roles.selection(), separator=source.separator, header=source.header)
    reading, notes = plan(table, roles, classes=wish.classes, reference=wish.gauge == "group")
    samples = reading.take(table)
    _check_signs(source, wish, samples)
    _check_folds(wish, samples, reading)
    labels = _grouped(reading, wish.groups) if wish.gauge == "group" else None
    unpenalized = _positions(reading, wish.unpenalized, "--unpenalized")
    limits = limits_of(reading, wish, unpenalized)
    model = estimator(wish, reading.labels, gauge_of(wish, labels), unpenalized, limits)
    notes += [*_exposure_note(source, wish, samples), *_groups_note(wish, labels)]
    return Job(samples, reading, model, table.unread, notes)


def _check_signs(source: Source, wish: Wish, samples: "Samples") -> None:
    """Refuse negative weights and negative counts."""
    if samples.weights is not None and (samples.weights.min() < 0 or samples.weights.max() == 0):
        raise RefusedError(f"Column {source.weights!r} (--weights) must hold weights: none negative, and not all 0.")
    if wish.loss == "poisson" and samples.y is not None and samples.y.min() < 0:
        raise RefusedError(f"--loss poisson is for counts, and the target {source.target!r} has negative numbers.")


def _exposure_note(source: Source, wish: Wish, samples: "Samples") -> list[str]:
    """Say that an offset seems to hold exposures, not their logarithms."""
    from atomsieve.estimators.notices import looks_like_exposure  # noqa: PLC0415 -- slow to import

    offset, y = samples.offset, samples.y
    if source.offset is None or wish.loss != "poisson" or offset is None or y is None:
        return []
    if not looks_like_exposure(offset, y, samples.weights):
        return []
    return [
        f"The counts are explained worse by {source.offset!r} than by no offset at all, and better by its logarithm: "
        f"if it holds exposures, take --exposure {quote(source.offset)}."
    ]


def _groups_note(wish: Wish, labels: Sequence[str] | None) -> list[str]:
    """Say that every group is a single feature; with one problem for all classes it has a coefficient for each."""
    if labels is None or len(set(labels)) < len(labels) or wish.loss == "multinomial":
        return []
    return [
        "Every group is a single feature, so that --gauge group is the same as --gauge l1. Name groups of columns by "
        "--groups FILE."
    ]


def _check_folds(wish: Wish, samples: "Samples", reading: "Reading") -> None:
    """Refuse more folds than there are rows, or rows of a class."""
    import numpy as np  # noqa: PLC0415 -- slow to import

    if not wish.validates:
        return
    folds = wish.folds or FOLDS
    if reading.labels is None:
        rows, what = len(samples), "rows"
    else:
        values, counts = np.unique(np.asarray(samples.y), return_counts=True)
        rows, what = int(counts.min()), f"rows of the class {values[counts.argmin()]!s}"
    if rows < folds:
        way = f"--cv {rows}" if rows > 1 else "--fraction 0.1, which needs no folds"
        raise RefusedError(
            f"{folds} folds need at least {folds} {what}, and there are {rows}. Take {way}, or more data."
        )


def _positions(reading: "Reading", names: Sequence[str], option: str) -> list[int]:
    """Return the places of columns among the features; of all its levels for a category."""
    from atomsieve.tables import closest, named  # noqa: PLC0415

    where = {name: [j] for j, name in enumerate(reading.features)}
    for category in reading.categories:
        where[category.column] = [j for name in category.features for j in where[name]]
    chosen = list(named(names, where))
    for name in chosen:
        if name not in where:
            raise RefusedError(f"There is no feature {name!r} ({option}). {closest(name, where)}")
    return [j for name in chosen for j in where[name]]


def limits_of(reading: "Reading", wish: Wish, unpenalized: Sequence[int]) -> tuple[Any, Any] | None:
    """Return the limits of all coefficients; None if there are none. A number is for all that are penalised."""
    import numpy as np  # noqa: PLC0415 -- slow to import

    if not (wish.lower or wish.upper):
        return None
    sides = []
    for option, given, none in (("--lower", wish.lower, -np.inf), ("--upper", wish.upper, np.inf)):
        side = np.full(len(reading.features), none)
        for name, number in sorted((_limit(option, text) for text in given), key=lambda pair: pair[0] is not None):
            side[slice(None) if name is None else _positions(reading, [name], option)] = number
            if name is None:
                side[list(unpenalized)] = none
        sides.append(side)
    wrong = np.flatnonzero(~(sides[0] <= sides[1]))
    if len(wrong):
        name, low, high = reading.features[wrong[0]], sides[0][wrong[0]], sides[1][wrong[0]]
        raise RefusedError(f"--lower is above --upper for {name!r}: {low:g} and {high:g}.")
    held = [j for j in unpenalized if np.isfinite(sides[0][j]) or np.isfinite(sides[1][j])]
    if held:
        raise RefusedError(f"{reading.features[held[0]]!r} has limits and is --unpenalized: leave out one of them.")
    return sides[0], sides[1]


def _limit(option: str, text: str) -> tuple[str | None, float]:
    """Return the column and the number of a limit; None for all columns. A column may have "=" in its name."""
    name, _, number = text.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if value != value or abs(value) == float("inf") or (not name and "=" in text):  # noqa: PLR0124 -- NaN
        raise RefusedError(f"{option} must be a number, or COLUMN=NUMBER, got {text!r}.")
    return (name.strip() or None), value


def _grouped(reading: "Reading", path: str | None) -> list[str]:
    """Return the group of each feature: of a file, of its category, or its own."""
    from atomsieve.cli.groups import read_groups  # noqa: PLC0415

    given = {} if path is None else read_groups(Path(path), reading)
    columns = [*reading.numbers, *(category.column for category in reading.categories)]
    mixed = sorted(set(given.values()).intersection(columns) - set(given))
    if mixed:
        raise RefusedError(
            f"{path} (--groups) has a group {mixed[0]!r}, which is also a column that is in no group: give the group "
            "another name, or put the column into it."
        )
    found = [given.get(name, name) for name in reading.numbers]
    for category in reading.categories:
        group = given.get(category.column, category.column)
        found += [given.get(name, group) for name in category.features]
    return found


def gauge_of(wish: Wish, labels: Sequence[str] | None) -> Any:
    """Return the gauge; groups weigh the square root of their size, as is usual."""
    import numpy as np  # noqa: PLC0415 -- slow to import

    from atomsieve.gauges import L1, Group, NonNegative  # noqa: PLC0415

    if labels is None:
        return NonNegative() if wish.gauge == "nonnegative" else L1()
    return Group(np.array(labels))
