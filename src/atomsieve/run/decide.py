"""Solve until every coefficient is decided: to ever smaller gaps, with a proof where one is expected to say more."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from atomsieve.certificate import Certificate
from atomsieve.numerics.clock import TimeUp, deadline
from atomsieve.problem import Point
from atomsieve.run.limits import Limits
from atomsieve.run.result import Result
from atomsieve.run.status import Status
from atomsieve.typing import Mask

NEXT = 1000
"""How much smaller a gap is asked for each time."""

SMALLEST = 1e-16
"""The least relative gap that is asked for."""

ENDED = (Status.CONVERGED, Status.STALLED, Status.EXHAUSTED, Status.NO_HEADWAY)
"""How a run ends that nobody cut short."""


def decide(go: Callable[[Point, Limits], Result], first: Point, limits: Limits) -> Result:
    """Solve to ever smaller gaps until the certificate decides every coefficient, or no smaller gap would decide more.

    A certificate can cost more than a solve. So a second one is made only where it is expected to decide all that is
    left, and at the end where it is expected to decide more than the last one.
    """
    asked, result = limits, go(first, limits)
    if result.status not in ENDED:
        return result
    try:
        with deadline(limits.ends):
            certificate, expected = result.certificate(), np.zeros(0, dtype=bool)
            while _goes_on(result, certificate) and limits.gap > SMALLEST * limits.baseline:
                limits = replace(limits, gap=limits.gap / NEXT)
                result = _further(go, result, limits)
                expected = _expected(certificate, result)
                if expected.all():
                    certificate, expected = result.certificate(), expected[:0]
            if expected.any() and result.status in ENDED:
                certificate = min(result.certificate(), certificate, key=lambda proof: int(proof.undecided.sum()))
    except TimeUp:
        return replace(result, status=Status.TIME_LIMIT)
    except KeyboardInterrupt:
        return replace(result, status=Status.INTERRUPTED)
    reached = result.status is Status.CONVERGED or asked.reached(result.point)
    status = _verdict(certificate) if reached and result.status in ENDED else result.status  # which says why it is not
    return replace(result, status=status, known=certificate)


def _goes_on(result: Result, certificate: Certificate) -> bool:
    return result.status is Status.CONVERGED and certificate.valid and bool(certificate.undecided.any())


def _verdict(certificate: Certificate) -> Status:
    if not certificate.valid:
        return Status.UNPROVEN
    return Status.UNDECIDED if certificate.undecided.any() else Status.DECIDED


def _further(go: Callable[[Point, Limits], Result], before: Result, limits: Limits) -> Result:
    """Go on from a result, and return both runs as one."""
    problem = before.problem
    again = problem.at(problem.state(before.lifted, before.point.state.free), problem.eligible)
    result = go(again, limits)
    return replace(
        result,
        n_iter=before.n_iter + result.n_iter,
        passes=before.passes + result.passes,
        trace=before.trace.followed_by(result.trace),
    )


def _expected(certificate: Certificate, result: Result) -> Mask:
    """Return, for each block that a certificate leaves undecided, whether one at a later point should decide it.

    A block that screening has ruled out since should be proven zero. One that has an interval should be proven
    non-zero where the interval, narrower as the root of the gap, excludes 0. Columns that depend on each other have no
    intervals at any gap.
    """
    core, gap = result.problem.core, max(result.point.gap, result.point.uncertainty)
    with np.errstate(invalid="ignore"):
        room = (certificate.upper - certificate.x).reshape(result.problem.shape)
        away = core.sizes(room) * math.sqrt(gap / certificate.gap)
        expected = ~result.alive | (core.sizes(result.lifted) > away)
    return np.asarray(expected[certificate.undecided])
