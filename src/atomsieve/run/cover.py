"""A whole path of solutions in a few certificates, and the strengths at which features come and go between them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from atomsieve.certificate import Certificate
from atomsieve.certificate.face import FaceProof
from atomsieve.display.live import LiveLine
from atomsieve.display.numbers import count
from atomsieve.intake.names import entries, pandas_for
from atomsieve.numerics.clock import look
from atomsieve.penalties import Linear
from atomsieve.problem import Problem
from atomsieve.run.result import Result
from atomsieve.run.solve import solve
from atomsieve.run.status import Status
from atomsieve.typing import Array

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
        if len(problem.eligible) < problem.core.labels(problem.shape).size:
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
        width = top - bottom if knot is None else high
        top, hair = (bottom, 0.0) if knot is None else (knot, HAIR)


def _widest(
    problem: Problem, result: Result, here: float, low: float
) -> tuple[Certificate, Result, float | None] | None:
    """Return a certificate for strengths up to `here` and as far below as possible, and its result.

    With them comes the next strength at which a feature comes or goes, if the range ends there, and not where losses
    are too curved to reach it at once. None if not even the nearest strengths can be decided.
    """
    result, near = _between(problem, here * (1 - HAIR), here, result)
    if not _is_decided(near):
        return None
    knot = _next_knot(near)
    bottom = max(knot * (1 + HAIR), low)
    while bottom < here * (1 - HAIR):
        look()
        result, wide = _between(problem, bottom, here, result)
        if _is_decided(wide):
            return wide, result, knot if bottom == knot * (1 + HAIR) else None
        bottom = (bottom + here) / 2
    return near, result, knot if knot > here * (1 - 2 * HAIR) else None


def _between(problem: Problem, low: float, high: float, start: Result) -> tuple[Result, Certificate]:
    """Return the solution in the middle of a range of strengths, and its certificate for all of the range."""
    result = solve(problem.at_penalty(Linear((low + high) / 2)), tol=TOL, start=start)
    if result.status is Status.INTERRUPTED:  # a run answers Ctrl-C with its best point, and here that is not enough
        raise KeyboardInterrupt
    return result, result.certificate(strengths=(low, high))


def _next_knot(certificate: Certificate) -> float:
    """Return the next smaller strength at which a block reaches 0, or a score the slope, as far as floats tell.

    Along the line of the proof, x and z are linear in the strength.
    """
    proof = certificate.proof
    assert isinstance(proof, FaceProof)  # noqa: S101
    statement, x, change = proof.statement, proof.x.ravel(), proof.moves[0].ravel()
    (z, _), (beyond, _) = proof.ends
    rise, middle = (beyond.mid - z.mid).ravel() / 2, (beyond.mid + z.mid).ravel() / 2
    low, high = certificate.family["strengths"]  # type: ignore[index]
    here, step = (low + high) / 2, (high - low) / 2
    blocks = len(statement.problem.eligible)
    prices = np.where(statement.problem.eligible, statement.prices.mid, np.inf)
    slope, on = float(statement.total.mid) * prices, np.bincount(statement.labels, np.abs(x), blocks) > 0

    def inner(a: Array, b: Array) -> Array:
        return np.asarray(np.bincount(statement.labels, a * b, blocks), dtype=np.float64)

    with np.errstate(all="ignore"):
        shrinking = inner(x, x) / inner(x, change)
        steps = [shrinking[on & (shrinking > 0)]]
        if statement.plain:
            reached = [(slope * here - side * middle) / (slope * step - side * rise) for side in (1.0, -1.0)]
        else:
            reached = _roots(
                inner(rise, rise) - (slope * step) ** 2,
                inner(middle, rise) - slope * here * slope * step,
                inner(middle, middle) - (slope * here) ** 2,
            )
        steps += [some[~on & (some > 0) & np.isfinite(some)] for some in reached]
    return float(max(here - step * np.min(np.concatenate(steps), initial=np.inf), 0.0))


def _roots(a: Array, b: Array, c: Array) -> list[Array]:
    """Return both roots of `a s^2 - 2 b s + c`, without cancellation."""
    farther = b + np.copysign(np.sqrt(b * b - a * c), b)
    return [farther / a, c / farther]


def _is_decided(certificate: Certificate) -> bool:
    return certificate.valid and not certificate.undecided.any()
