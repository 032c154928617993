"""A whole path of solutions in a few certificates, and the strengths at which features come and go between them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count as count_from
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from atomsieve.certificate import Certificate
from atomsieve.certificate.family import Family
from atomsieve.core.clock import look
from atomsieve.display.live import LiveLine
from atomsieve.display.numbers import count
from atomsieve.intake.names import entries, pandas_for
from atomsieve.penalties import Linear
from atomsieve.problem import Problem
from atomsieve.run.knots import next_knot
from atomsieve.run.result import Result
from atomsieve.run.solve import solve
from atomsieve.run.status import Status

if TYPE_CHECKING:
    import pandas as pd

HAIR = 1e-6
"""Relative distance from a strength at which a feature comes or goes; ten times as much after every failure."""

FARTHEST = 1e-2
"""Beyond this relative distance the search for the next certificate goes on with equal steps."""

TOL = 1e-13
"""Tolerance of the solutions: the smaller their errors, the nearer certificates come to each other."""


class Event(NamedTuple):
    """A change of the support at a strength between two bounds, on the way down the path."""

    lower: float
    upper: float
    enters: list[str]
    leaves: list[str]


@dataclass(frozen=True, eq=False, repr=False)
class Cover:
    """Certificates for adjacent ranges of strengths; within a range no feature comes or goes."""

    problem: Problem
    strengths: tuple[float, float]
    """The range that was to be covered."""

    certificates: list[Certificate]
    """One for each range, `certificate.family["strengths"]`, from the largest strengths to the smallest."""

    interrupted: bool = False
    """Whether Ctrl-C ended the search; the certificates are those found until then."""

    @property
    def ranges(self) -> list[tuple[float, float]]:
        """The ranges of strengths, largest first."""
        return [tuple(c.family["strengths"]) for c in self.certificates if c.family]

    @property
    def covered(self) -> float:
        """The part of the range, on a logarithmic scale, that certificates cover."""
        low, high = self.strengths
        return float(sum(np.log(b / a) for a, b in self.ranges) / np.log(high / low))

    @property
    def events(self) -> list[Event]:
        """The strengths at which the support changes, each between two bounds, with what enters and what leaves."""
        names, found = self._names(), []
        for k in range(len(self.certificates) - 1):
            before, after = self.certificates[k].nonzero, self.certificates[k + 1].nonzero
            enters, leaves = ([names[j] for j in np.flatnonzero(some)] for some in (after & ~before, before & ~after))
            if enters or leaves:
                found.append(Event(self.ranges[k + 1][1], self.ranges[k][0], enters, leaves))
        return found

    def _names(self) -> list[str]:
        """Return the names of blocks: of features, of features and outputs, or of groups."""
        problem, shape = self.problem, self.problem.lifted.form
        labels = problem.core.labels(problem.shape)
        if labels.ndim == 2 and np.array_equal(labels, np.arange(len(labels))[:, None] + 0 * labels):
            shape = shape[:1]  # a block is a feature in all classes
        elif len(problem.eligible) < labels.size:
            return list(problem.gauge.names() or (f"group {k}" for k in range(len(problem.eligible))))
        about = entries(problem.data.names, shape)
        outputs = [f" of output {k}" for k in about["output"]] if "output" in about else [""] * len(about["feature"])
        return [name + output for name, output in zip(about["feature"], outputs, strict=True)]

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row per event: bounds of the strength, what enters, what leaves."""
        columns = list(zip(*self.events, strict=True)) or [(), (), (), ()]
        table = dict(zip(Event._fields, columns, strict=True))
        frame: pd.DataFrame = pandas_for("Cover.to_frame()").DataFrame(table)
        return frame

    def __repr__(self) -> str:
        low, high = self.strengths
        ended = ", interrupted" if self.interrupted else ""
        return (
            f"Cover({count(len(self.certificates), 'certificate')} for {100 * self.covered:.4g} % of the strengths "
            f"from {high:.6g} down to {low:.6g}, {count(len(self.events), 'event')} between them{ended})"
        )


def cover(problem: Problem, low: float, high: float, start: Result) -> Cover:
    """Cover a range of strengths of Linear with certificates that decide every coefficient.

    It begins a little higher, so that the first feature of a path comes within it. Ctrl-C ends it with those found.
    """
    high *= 1 + 10 * HAIR
    _require_covered(problem.at_penalty(Linear(high)), high)
    found: list[Certificate] = []
    interrupted = False
    with LiveLine() as line:
        try:
            for certificate in _walk(problem, low, high, start):
                found.append(certificate)
                covered = Cover(problem, (low, high), found).covered
                told = f"{count(len(found), 'certificate')} for {100 * covered:.1f} % of the strengths"
                line.tell(told)
        except KeyboardInterrupt:
            interrupted = True
    return Cover(problem, (low, high), found, interrupted)


def _require_covered(problem: Problem, strength: float) -> None:
    """Refuse problems without proofs for ranges of strengths, before anything is solved."""
    if problem.outputs == (2,) and problem.core.entrywise and problem.shrinkage is None:
        raise ValueError(
            "With two classes L1 leaves every feature of the model in both, and no coefficient is decided alone. Use "
            "Logistic() for two classes, Group(), or a ridge."
        )
    Family.of(problem, None, None, (strength, strength), None, relative=False)


def _walk(problem: Problem, low: float, high: float, start: Result) -> Iterator[Certificate]:
    """Yield certificates for ranges that follow each other, from the largest strengths to the smallest."""
    top, hair, result, width = high, 0.0, start, high
    while top * (1 - hair) > low:
        look()
        here = top * (1 - hair)
        found = _widest(problem, result, here, max(low, here - 2 * width))
        if found is None:
            hair = max(10 * hair, HAIR)
            top, hair = (here, 0.0) if hair > FARTHEST else (top, hair)
            continue
        certificate, result, knot = found
        yield certificate
        bottom, top = certificate.family["strengths"]  # type: ignore[index]
        width = max(top - bottom, 0.0 if knot is None else width)
        top, hair = (bottom, 0.0) if knot is None else (knot, HAIR)


def _widest(
    problem: Problem, result: Result, here: float, low: float
) -> tuple[Certificate, Result, float | None] | None:
    """Return a certificate for strengths up to `here` and as far below as possible, and its result.

    With them comes the next strength at which a feature comes or goes, if the range ends there, and not where losses
    are too curved to reach it at once. None if not even the nearest strengths can be decided.
    """
    result = _solved(problem, here * (1 - HAIR), here, result)
    knot = next_knot(result, here * (1 - HAIR / 2))
    bottom = max(knot * (1 + HAIR), low)
    near: Certificate | None = None
    for halvings in count_from(0):
        look()
        end = here - (here - bottom) / 2**halvings
        if halvings and end > here * (1 - HAIR):
            break
        result, wide = _between(problem, min(end, here * (1 - HAIR)), here, result)
        if _is_decided(wide):
            return wide, result, knot if end == knot * (1 + HAIR) else None
        if halvings == 1:  # before going on, see whether the nearest strengths can be decided
            result, near = _between(problem, here * (1 - HAIR), here, result)
            if not _is_decided(near):
                return None
    return None if near is None else (near, result, knot if knot > here * (1 - 2 * HAIR) else None)


def _solved(problem: Problem, low: float, high: float, start: Result) -> Result:
    """Return the solution in the middle of a range of strengths."""
    result = solve(problem.at_penalty(Linear((low + high) / 2)), tol=TOL, start=start)
    if result.status is Status.INTERRUPTED:  # a run answers Ctrl-C with its best point, and here that is not enough
        raise KeyboardInterrupt
    return result


def _between(problem: Problem, low: float, high: float, start: Result) -> tuple[Result, Certificate]:
    """Return the solution in the middle of a range of strengths, and its certificate for all of the range."""
    result = _solved(problem, low, high, start)
    return result, result.certificate(strengths=(low, high))


def _is_decided(certificate: Certificate) -> bool:
    return certificate.valid and not certificate.undecided.any()
