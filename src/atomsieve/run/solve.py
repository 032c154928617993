"""The only loop: look at the point, sieve the atoms, stop or step."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np

from atomsieve.intake.arguments import as_floats, require_piece
from atomsieve.methods import Corrective, Method
from atomsieve.methods.base import Stepper
from atomsieve.numerics.clock import TimeUp, deadline
from atomsieve.numerics.threads import one_thread
from atomsieve.problem import Point, Problem
from atomsieve.problem.state import State
from atomsieve.run.decide import decide
from atomsieve.run.limits import Limits
from atomsieve.run.progress import ProgressLine
from atomsieve.run.result import Result
from atomsieve.run.status import Status
from atomsieve.run.trace import Progress, Trace
from atomsieve.screening import Rule, Sieve, rules_for
from atomsieve.typing import Index

GRACE = 0.1
"""Seconds beyond the time limit in which a step that was cut short may be looked at."""

Callback = Callable[[Progress], Any]


@one_thread()
def solve(
    problem: Problem,
    method: Method | None = None,
    *,
    tol: float = 1e-6,
    max_iter: int | None = None,
    time_limit: float | None = None,
    screening: str | Rule = "auto",
    start: Any = None,
    callbacks: Iterable[Callback] = (),
    trace: bool = False,
    until: str | None = None,
) -> Result:
    """Solve a problem and return its best point, with the blocks of atoms that were not ruled out.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    method : Method, optional
        `Corrective()` (the default), `Pairwise()`, `Away()`, or `GCG()`, the paper's.
    tol : float
        Relative: the run ends when `gap <= tol * objective at x = 0` (unpenalised coefficients at their best).
    max_iter : int, optional
        Number of steps; the method's own limit by default.
    time_limit : float, optional
        Seconds.
    screening : "auto", "paper", "off" or Rule
        The strongest safe rule, the paper's, none, or an object with `keep(point)`, which returns the blocks that may
        still carry weight.
    start : array or Result, optional
        Where to start: coefficients, or the result of a similar problem.
    callbacks : callables
        Each is called with a `Progress` at every iteration; returning False ends the run.
    trace : bool
        Whether to record every iteration in `Result.trace`.
    until : "decided", optional
        Go on from `tol` to ever smaller gaps until the certificate decides every coefficient, or says why it cannot.

    Examples
    --------
    >>> import numpy as np
    >>> from atomsieve import Problem, solve, Square
    >>> problem = Problem(np.eye(3), [3.0, 0.2, 0.1], penalty=Square(0.1))
    >>> result = solve(problem, tol=1e-12)
    >>> result.x.round(6), result.alive
    (array([2.307692, 0.      , 0.      ]), array([ True, False, False]))
    """
    method = Corrective() if method is None else method
    require_piece("problem", problem, Problem)
    require_piece("method", method, Method)
    method.check(problem)
    limits = Limits.of(problem, tol, method.max_iter if max_iter is None else max_iter, time_limit)
    new_rule = rules_for(screening)
    callbacks = check_callbacks(callbacks)
    if until not in (None, "decided"):
        raise ValueError(f'until must be None or "decided", got {until!r}.')
    with deadline(limits.ends):
        try:
            first = first_point(problem, start)
        except TimeUp:
            first = problem.origin

    def go(first: Point, limits: Limits) -> Result:
        stepper = method.begin(problem, limits)
        return run(problem, stepper, limits, new_rule(), first, callbacks=callbacks, trace=trace)

    return go(first, limits) if until is None else decide(go, first, limits)


@one_thread()
def run(
    problem: Problem,
    stepper: Stepper,
    limits: Limits,
    rule: Rule,
    first: Point,
    *,
    callbacks: Sequence[Callback] = (),
    trace: bool = False,
    relay: bool = False,
) -> Result:
    """Go from a point until a limit is reached.

    In a `relay` the next run takes over the last point: products are then taken with all columns, also with those that
    are ruled out in this run.
    """
    sieve, history, passes = Sieve(problem, rule), Trace(), problem.meter.passes
    best, status, t, idle, fresh = None, Status.INTERRUPTED, 0, 0, first
    with ProgressLine() as line, deadline(limits.ends + GRACE):
        try:
            for t in count(1):
                sieve.room = 0.0 if relay else stepper.room
                point = sieve.look(fresh)
                best, before = Best.of(best, point, sieve), best
                idle = 0 if best is not before else idle + 1
                progress = Progress(t, limits.elapsed, point, sieve.count)
                line.show(progress, limits.gap)
                if trace:
                    history.record(progress)
                stopped = [_says_stop(callback(progress)) for callback in callbacks]
                ended = limits.status(progress) or (Status.STOPPED if any(stopped) else None)
                ended = ended or (limits.without_headway(best.point) if idle > stepper.patience else None)
                if ended is Status.STALLED and point.state.drift > 0:  # predictions computed afresh may tell more
                    fresh = sieve.at(sieve.problem.state(point.state.x, point.state.coordinates))
                    continue
                if ended:
                    status = ended
                    break
                with deadline(limits.ends):
                    state, length = stepper.advance(point, t)
                fresh = sieve.at(state)
                if trace:
                    history.step[-1] = length
        except TimeUp:
            status = Status.TIME_LIMIT
        except KeyboardInterrupt:
            if best is None:
                raise
    if best is None:  # no time for a single look
        best = Best(first, sieve.held.columns)
    result = best.result(sieve, status, n_iter=max(t - 1, 0), time=limits.elapsed, trace=history)
    return replace(result, passes=problem.meter.passes - passes)


@dataclass(frozen=True, eq=False)
class Best:
    """The point with the least gap, and the columns of the full problem that it speaks of."""

    point: Point
    columns: Index

    @classmethod
    def of(cls, best: "Best | None", point: Point, sieve: Sieve) -> "Best":
        """Return the better of two."""
        return cls(point, sieve.held.columns) if best is None or point.gap < best.point.gap else best

    def result(self, sieve: Sieve, status: Status, *, n_iter: int, time: float, trace: Trace) -> Result:
        """Return the result in terms of the full problem."""
        problem, alive, point = sieve.full, sieve.alive, self.point
        lifted = point.state.x
        if len(self.columns) < problem.shape[0]:
            lifted = np.zeros(problem.shape)
            lifted[self.columns] = point.state.x
        kept = problem.core.keep(lifted, alive)
        if not np.array_equal(kept, lifted):  # atoms were ruled out after this point was seen
            point = problem.at(problem.state(kept, point.state.coordinates), alive & problem.eligible)
        return Result(problem, kept, point, alive, status, n_iter, time, np.nan, trace)


def _says_stop(answer: Any) -> bool:
    return isinstance(answer, (bool, np.bool_)) and not answer


def check_callbacks(callbacks: Any) -> list[Callback]:
    """Return the callbacks as a list; refuse what cannot be called."""
    if callable(callbacks) or not isinstance(callbacks, Iterable):
        raise TypeError("callbacks must be a list of callables: write callbacks=[...].")
    found = list(callbacks)
    if not all(callable(callback) and not isinstance(callback, type) for callback in found):
        raise TypeError("callbacks must be a list of callables; one of them cannot be called.")
    return found


def first_point(problem: Problem, start: Any) -> Point:
    """Return the point of coefficients or of an earlier result; x = 0 by default."""
    return problem.origin if start is None else problem.at(first_state(problem, start), problem.eligible)


def first_state(problem: Problem, start: Any) -> State:
    """Return the state of coefficients or of an earlier result."""
    if isinstance(start, Result) and start.problem.design is problem.design:
        state = start.point.state
        if state.x.shape == problem.shape:  # the same data: what x predicts is known
            return problem.inside(state.x, state.image, state.coordinates, state.drift)
    x = start.lifted if isinstance(start, Result) else as_floats(start, "start")
    if x.shape != problem.shape:
        raise ValueError(
            f"start must have shape {problem.shape}, got {x.shape}. For an Image or Atoms gauge pass the coefficients "
            "of the preimage, or the Result of an earlier run."
        )
    if not np.isfinite(x).all():
        raise ValueError("start contains NaN or infinite values.")
    alive = problem.eligible
    state = problem.state(problem.core.keep(x, alive))
    if not np.isfinite(state.mass):
        raise ValueError("start lies outside the cone of the atoms (negative where the gauge allows none).")
    return state
