"""Solve to smaller and smaller gaps until the certificate decides every coefficient."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from atomsieve.certificate import Certificate
from atomsieve.certificate.statement import unprovable
from atomsieve.certificate.ties import tied
from atomsieve.core.clock import TimeUp, deadline
from atomsieve.problem import Point, Problem, State
from atomsieve.run.limits import Limits
from atomsieve.run.progress import say, watcher
from atomsieve.run.result import Result
from atomsieve.run.status import Status
from atomsieve.typing import Mask

NEXT = 1000
"""The target gap is divided by this each time."""

SMALLEST = 1e-16
"""The smallest relative gap to aim at."""

ENDED = (Status.CONVERGED, Status.STALLED, Status.EXHAUSTED, Status.NO_HEADWAY)
"""How a run can end if no limit and no user stops it."""


def decide(go: Callable[[Point, Limits], Result], first: Point, limits: Limits) -> Result:
    """Solve to smaller gaps until the certificate decides every coefficient, or no smaller gap would decide more.

    A certificate can cost as much as a solve. So before the first one, the next gap is reached if screening says that
    some blocks would stay undecided; a run that is there already is not asked. A new one is made only if it is expected
    to decide every block that is left, and once more at the end, unless dependent columns are all that the last one
    leaves undecided and nothing else is expected of it. The expectation takes bounds of the curvature as they were;
    they may shrink much faster (`Poisson`).
    """
    asked, result = limits, go(first, limits)
    if result.status is Status.CONVERGED and limits.gap > SMALLEST * limits.baseline:
        following = replace(limits, gap=limits.gap / NEXT)
        if following.reached(result.point):
            limits = following
        elif _leaves_some(result):
            limits, result = following, _further(go, result, following)
    if result.status not in ENDED:
        return result
    certificate: Certificate | None = None
    try:
        with deadline(limits.ends):
            certificate, expected = _certified(result), np.zeros(0, dtype=bool)
            while _goes_on(result, certificate) and limits.gap > SMALLEST * limits.baseline:
                limits = replace(limits, gap=limits.gap / NEXT)
                result = _further(go, result, limits)
                expected = _expected(certificate, result)
                if expected.all():
                    certificate, expected = _certified(result), expected[:0]
            hopeful = expected.any() or (len(expected) and _leaves_more_than_dependent(certificate, result.problem))
            if hopeful and result.status in ENDED:
                certificate = min(_certified(result), certificate, key=lambda proof: int(proof.undecided.sum()))
    except TimeUp:
        return replace(result, status=Status.TIME_LIMIT, known=certificate)
    except KeyboardInterrupt:
        return replace(result, status=Status.INTERRUPTED, known=certificate)
    reached = result.status is Status.CONVERGED or asked.reached(result.point)
    # a run that did not reach the tolerance keeps its status, which says why
    status = _verdict(certificate) if reached and result.status in ENDED else result.status
    return replace(result, status=status, known=certificate)


def _certified(result: Result) -> Certificate:
    """Return the certificate of a result, and say so where somebody listens."""
    say(f"certificate at the gap {result.gap:.2e}: proving ...")
    certificate = result.certificate()
    if watcher() is not None:  # the words take as long as a tenth of a small certificate
        say(f"certificate at the gap {result.gap:.2e}: {certificate!r}")
    return certificate


def _leaves_some(result: Result) -> bool:
    """Return whether a certificate would leave blocks undecided: zero at the point, and not ruled out by screening.

    Screening that has ruled out nothing says nothing.
    """
    problem, alive = result.problem, result.alive
    if problem.core.listed or np.array_equal(alive, problem.eligible):
        return False
    left = alive & (problem.core.sizes(result.lifted) == 0)
    return bool(left.any()) and unprovable(problem) is None


def _leaves_more_than_dependent(certificate: Certificate, problem: Problem) -> bool:
    """Return whether a block is undecided that is not one of columns that depend on each other: it has an interval.

    It may be zero where nothing but another certificate can tell.
    """
    if not certificate.dependencies or (problem.core.listed and certificate.facts is None):
        return not certificate.dependencies
    with np.errstate(all="ignore"):
        widths = (certificate.upper - certificate.lower).reshape(problem.shape)
        widths = widths.ravel() if certificate.facts is not None else problem.core.sizes(widths)
    return bool(np.isfinite(widths[certificate.undecided]).any())


def _goes_on(result: Result, certificate: Certificate) -> bool:
    if result.status is not Status.CONVERGED or not certificate.valid:
        return False
    return bool((certificate.undecided & ~tied(certificate)).any())


def _verdict(certificate: Certificate) -> Status:
    if not certificate.valid:
        return Status.UNPROVEN
    return Status.UNDECIDED if certificate.undecided.any() else Status.DECIDED


def _further(go: Callable[[Point, Limits], Result], before: Result, limits: Limits) -> Result:
    """Continue from a result, and return both runs as one."""
    problem = before.problem
    again = problem.at(_again(before), problem.eligible)
    result = go(again, limits)
    return replace(
        result,
        n_iter=before.n_iter + result.n_iter,
        passes=before.passes + result.passes,
        trace=before.trace.followed_by(result.trace),
    )


def _again(result: Result) -> State:
    """Return the state of a result, with its predictions computed anew."""
    state = result.point.state
    return (
        result.problem.state(result.lifted, state.coordinates) if state.parts is None else result.problem.renewed(state)
    )


def _expected(certificate: Certificate, result: Result) -> Mask:
    """Return, for each undecided block of a certificate, whether a certificate at the new point should decide it.

    A block that screening has ruled out in the meantime should be proven zero. A block with an interval should be
    proven non-zero if the interval excludes 0; its width falls like the square root of the gap. Columns that depend on
    each other have no intervals at any gap.
    """
    if result.problem.core.listed and certificate.facts is None:
        return ~result.alive[certificate.undecided]
    core, gap = result.problem.core, max(result.point.gap, result.point.uncertainty)
    with np.errstate(invalid="ignore"):
        if certificate.facts is not None:  # nothing else tells which entries that are 0 will be proven zero
            away = (certificate.upper - certificate.lower).ravel() * math.sqrt(gap / certificate.gap)
            sizes = np.abs(result.lifted.ravel())
            return np.asarray(((sizes == 0) | (sizes > away))[certificate.undecided])
        intervals = (certificate.upper - certificate.x).reshape(result.problem.shape)
        away = core.sizes(intervals) * math.sqrt(gap / certificate.gap)
        expected = ~result.alive | (core.sizes(result.lifted) > away)
    return np.asarray(expected[certificate.undecided])
