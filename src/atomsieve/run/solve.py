"""The only loop: look at the point, screen the atoms, stop or step."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from atomsieve.core.clock import TimeUp, deadline
from atomsieve.gauges.found import Combination
from atomsieve.intake.arguments import as_floats, require_piece
from atomsieve.methods import Corrective, Method
from atomsieve.methods.base import Stepper
from atomsieve.numerics.threads import one_thread
from atomsieve.problem import Point, Problem
from atomsieve.problem.state import State
from atomsieve.run.limits import Limits
from atomsieve.run.progress import ProgressLine
from atomsieve.run.result import Result
from atomsieve.run.sample import is_far, sampled
from atomsieve.run.status import Status
from atomsieve.run.trace import Progress, Trace
from atomsieve.screening import Rule, Sieve, built_in, rules_for
from atomsieve.typing import Index, Mask

GRACE = 0.1
"""Seconds after the time limit in which the state of an interrupted step may still be evaluated."""

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
    """Solve a problem and return the best point, with the blocks of atoms that are not ruled out.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    method : Method, optional
        `Corrective()` (the default), `Pairwise()`, `Away()`, or `GCG()`, the paper's.
    tol : float
        Relative tolerance: the run ends when `gap <= tol * objective at x = 0` (with the best free coefficients).
    max_iter : int, optional
        Largest number of steps; each method has its own default.
    time_limit : float, optional
        Largest number of seconds.
    screening : "auto", "paper", "off" or Rule
        The strongest safe rule, the paper's rule, no rule, or an object with a method `keep(point)` that returns which
        blocks may still carry weight.
    start : array, Result or "sample", optional
        Where to start: coefficients, the result of a similar problem, or the solution for a sample of the rows, on the
        columns that matter there. That takes fewer passes over the data where samples are many; it is the default
        where X is in a file.
    callbacks : callables
        Each is called with a `Progress` at every iteration; the run ends if one returns False. `Printer()` prints a
        table. A method `end`, if a callback has one, is called when the run is over.
    trace : bool
        Whether to record every iteration in `Result.trace`.
    until : "decided", optional
        After `tol`, continue to smaller gaps until the certificate decides every coefficient or says why it cannot.

    Examples
    --------
    >>> import numpy as np
    >>> from atomsieve import Problem, solve, Square
    >>> problem = Problem(np.eye(3), [3.0, 0.2, 0.1], penalty=Square(0.1))
    >>> result = solve(problem, tol=1e-12)
    >>> result.x.round(6), result.alive
    (array([2.307692, 0.      , 0.      ]), array([ True, False, False]))
    """
    require_piece("problem", problem, Problem)
    if method is None:
        method = Corrective()
    else:
        require_piece("method", method, Method)
    method.check(problem)
    limits = Limits.of(problem, tol, method.max_iter if max_iter is None else max_iter, time_limit)
    new_rule = rules_for(screening)
    callbacks = check_callbacks(callbacks)
    if until not in (None, "decided"):
        raise ValueError(f'until must be None or "decided", got {until!r}.')
    with deadline(limits.ends):
        try:
            first = first_point(problem, start, limits)
        except TimeUp:
            first = problem.origin

    def go(first: Point, limits: Limits) -> Result:
        stepper = method.begin(problem, limits)
        return run(problem, stepper, limits, new_rule(), first, callbacks=callbacks, trace=trace)

    if until is None:
        return go(first, limits)
    from atomsieve.run.decide import decide  # noqa: PLC0415 -- imports what proofs need, a seventh of a first fit

    return decide(go, first, limits)


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
    """Run from a point until a limit is reached.

    With `relay`, the next run continues from the last point. Products then use all columns, including those that are
    ruled out in this run.
    """
    sieve = Sieve(problem, rule, resting=not (stepper.sifts or trace or callbacks) and built_in(rule))
    history = Trace()
    passes = problem.meter.passes
    best: Best | None = None
    status = Status.INTERRUPTED
    t = 0
    fresh = first
    with ProgressLine(callbacks=callbacks) as line, deadline(limits.ends + GRACE):
        try:
            for t in count(1):
                point = sieve.look(fresh, 0.0 if relay else stepper.room)
                best = Best.of(best, point, sieve, t)
                progress = Progress(t, limits.elapsed, point, sieve.count)
                line.show(progress, limits.gap)
                if trace:
                    history.record(progress)
                stopped = [_says_stop(callback(progress)) for callback in callbacks]
                ended = limits.status(progress) or (Status.STOPPED if any(stopped) else None)
                ended = ended or (limits.without_headway(best.point) if t - best.seen_at > stepper.patience else None)
                blurred = ended is Status.STALLED or (ended is None and point.gap <= limits.gap)
                if blurred and point.state.drift > 0:  # with new predictions the gap is known better
                    fresh = sieve.at(sieve.problem.renewed(point.state))
                    continue
                if ended:
                    status = ended
                    break
                with deadline(limits.ends):
                    state, length = stepper.advance(point, t)
                fresh = sieve.at(state)
                if trace:
                    history.stepped(length)
        except TimeUp:
            status = Status.TIME_LIMIT
        except KeyboardInterrupt:
            if best is None:
                raise
    if best is None:  # the time was up before the first look
        best = Best(first, sieve.held.columns, t)
    spent = Spent(max(t - 1, 0), limits.elapsed, problem.meter.passes - passes)
    return best.result(sieve, status, spent, history)


@dataclass(frozen=True)
class Spent:
    """What a run cost."""

    n_iter: int
    time: float
    passes: float

    def result(self, problem: Problem, point: Point, screened: Mask | Rule, status: Status) -> Result:
        """Return the result that a single point is."""
        return Result(problem, None, point, screened, status, self.n_iter, self.time, self.passes, Trace())


@dataclass(frozen=True, eq=False)
class Best:
    """The point with the smallest gap, its columns in the full problem, and the iteration in which it was seen."""

    point: Point
    columns: Index | None
    seen_at: int

    @classmethod
    def of(cls, best: "Best | None", point: Point, sieve: Sieve, t: int) -> "Best":
        """Return the better of the best point so far and the point of iteration t."""
        return cls(point, sieve.held.columns, t) if best is None or point.gap < best.point.gap else best

    def result(self, sieve: Sieve, status: Status, spent: Spent, trace: Trace) -> Result:
        """Return the result for the full problem."""
        problem = sieve.full
        if sieve.resting:
            return spent.result(problem, self.point, sieve.rule, status)
        alive = sieve.alive
        point = self.point
        if point.state.factors is not None and alive.all():  # nothing was left out, and x need not be formed
            return Result(problem, None, point, alive, status, spent.n_iter, spent.time, spent.passes, trace)
        lifted = point.state.x
        if self.columns is not None:
            lifted = np.zeros(problem.shape)
            lifted[self.columns] = point.state.x
        kept = problem.core.keep(lifted, alive)
        if not np.array_equal(kept, lifted):  # atoms were ruled out after this point was seen
            point = problem.at(problem.state(kept, point.state.coordinates), alive & problem.eligible)
        return Result(problem, kept, point, alive, status, spent.n_iter, spent.time, spent.passes, trace)


def _says_stop(answer: Any) -> bool:
    return isinstance(answer, (bool, np.bool_)) and not answer


def check_callbacks(callbacks: Any) -> list[Callback]:
    """Return the callbacks as a list; raise TypeError if one cannot be called."""
    if callable(callbacks) or not isinstance(callbacks, Iterable):
        raise TypeError("callbacks must be a list of callables: write callbacks=[...].")
    found = list(callbacks)
    if not all(callable(callback) and not isinstance(callback, type) for callback in found):
        raise TypeError("callbacks must be a list of callables; one of them cannot be called.")
    return found


def first_point(problem: Problem, start: Any, limits: Limits) -> Point:
    """Return the point for given coefficients, an earlier result or a sample; the default is x = 0."""
    state = None
    if isinstance(start, str) and start != "sample":
        raise ValueError(f'start must be coefficients, a Result or "sample", got {start!r}.')
    if isinstance(start, str) or (start is None and is_far(problem)):
        state = sampled(problem, limits, _quietly)
    elif start is not None:
        state = first_state(problem, start)
    return problem.origin if state is None else problem.at(state, problem.eligible)


def _quietly(problem: Problem, first: Point, limits: Limits) -> Result:
    """Run the default method from a point, without callbacks; Ctrl-C ends what this run is a beginning of."""
    method = Corrective()
    found = run(problem, method.begin(problem, limits), limits, rules_for("auto")(), first)
    if found.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return found


def first_state(problem: Problem, start: Any) -> State:
    """Return the state for given coefficients or an earlier result."""
    if isinstance(start, Result) and start.problem.design is problem.design:
        state = start.point.state
        if start.point.problem.shape == problem.shape:  # the same data: the predictions of x are known
            return problem.admitted(state)
    parts = start.point.state.parts if isinstance(start, Result) else start
    if isinstance(parts, Combination) and problem.core.listed:
        return problem.made_of(parts)
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
