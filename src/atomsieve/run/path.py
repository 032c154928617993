"""The path of solutions over the slope of the penalty: one path answers for every penalty shape.

If x solves the problem for phi, then x also solves it for `Linear(alpha)`, where alpha is the slope of phi at the size
of x. So the solutions for `Linear` at all slopes include those for every phi; phi only selects one of them.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from atomsieve.certificate.critical import critical_bound
from atomsieve.core.clock import deadline
from atomsieve.display.numbers import column
from atomsieve.display.table import Column, Section, Summary
from atomsieve.intake.arguments import as_floats, is_number, is_whole, require_piece, shown
from atomsieve.intake.names import entries, pandas_for
from atomsieve.methods import Corrective, Method
from atomsieve.methods.base import Stepper
from atomsieve.numerics.namespace import array_namespace, like
from atomsieve.numerics.threads import one_thread
from atomsieve.penalties import Linear, Penalty
from atomsieve.problem import Point, Problem
from atomsieve.run.cover import Cover, cover
from atomsieve.run.limits import Limits
from atomsieve.run.progress import watcher
from atomsieve.run.result import Result
from atomsieve.run.solve import Callback, Spent, check_callbacks, run, solve
from atomsieve.run.status import Status
from atomsieve.run.trace import Progress
from atomsieve.screening import Rule, rules_for
from atomsieve.typing import Array, Index

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


BATCH_NUMBERS = 1 << 25
"""Numbers that a batch may hold (256 MB), five for each slope and sample; two slopes it has in any case.

The solutions of a batch are seen by one product with A'.
"""

HAIR = 1e-9
"""A path begins above the critical slope by this fraction of it."""

SHOWN = 15
"""Number of slopes that are printed."""

NO_HAIR = 1e-3
"""Beyond this relative excess the scores are hardly known, and no slope near the critical one could be proven."""


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """Solutions for `Linear` at falling slopes."""

    problem: Problem
    """The problem as it was stated; its penalty is not used."""

    slopes: Array
    """The slopes, largest first."""

    results: list[Result]
    """One result for each slope."""

    tol: float
    """The tolerance of every result."""

    @cached_property
    def coefs(self) -> Array:
        """Coefficients, one row for each slope."""
        return np.stack([result.x for result in self.results])

    @cached_property
    def intercepts(self) -> Array:
        """Intercepts, one for each slope."""
        return np.array([result.intercept for result in self.results])

    @cached_property
    def sizes(self) -> Array:
        """The gauge of x, one number for each slope; it never decreases along the path."""
        return np.array([result.point.state.mass for result in self.results])

    @cached_property
    def deviance_explained(self) -> Array:
        """The part of the deviance that each solution explains: 0 at x = 0, and 1 if no loss could be smaller."""
        return explained([self.problem], np.array([result.point.measured.value for result in self.results]))

    @cached_property
    def features(self) -> Index:
        """How many features carry weight, one number for each slope."""
        rows = self.coefs.reshape(len(self.slopes), self.coefs.shape[1], -1)
        return np.asarray(np.count_nonzero(rows.any(axis=2), axis=1))

    def at(self, penalty: Penalty, *, tol: float | None = None) -> Result:
        """Return the solution for any penalty: find the place of its slope on the path, and solve from there.

        >>> import numpy as np
        >>> from atomsieve import Ball, Problem, path
        >>> found = path(Problem(np.eye(3), [3.0, 2.0, 0.1]), n=20)
        >>> found.at(Ball(1.0), tol=1e-12).x.round(6)
        array([1., 0., 0.])
        """
        require_piece("penalty", penalty, Penalty)
        charged = np.array([penalty.slope(size) for size in self.sizes])
        beyond = np.flatnonzero(charged >= self.slopes)
        place = max(int(beyond[0]) - 1, 0) if len(beyond) else len(self.slopes) - 1
        problem = self.problem.at_penalty(penalty)
        return solve(problem, tol=self.tol if tol is None else tol, start=self.results[place])

    def certificates(self) -> Cover:
        """Cover all strengths of the path with as few certificates as possible, and enclose where features come and go.

        Every certificate decides all blocks for a whole range of strengths, not only for those of the path. For gauges
        with blocks (L1, groups). Where L1 leaves a feature in all classes of Multinomial nothing is decided, and such
        strengths are left out. Ctrl-C ends it with the certificates found until then.

        >>> import numpy as np
        >>> from atomsieve import Problem, path
        >>> found = path(Problem(np.eye(3), [3.0, 2.0, 0.1]), n=5, ratio=0.1).certificates()
        >>> [(event.enters, round(event.upper, 4)) for event in found.events]
        [(['x0'], 1.0), (['x1'], 0.6667)]
        """
        return cover(self.problem, float(self.slopes[-1]), float(self.slopes[0]), self.results[0])

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row per slope: features, size, deviance explained, objective, gap, status."""
        frame: pd.DataFrame = pandas_for("Path.to_frame()").DataFrame(self._table())
        return frame

    def coef_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row per slope, and one column per feature (or per feature and output)."""
        pandas = pandas_for("Path.coef_frame()")
        names = entries(self.problem.data.names, self.coefs.shape[1:])
        columns = names["feature"] if len(names) == 1 else pandas.MultiIndex.from_frame(pandas.DataFrame(names))
        flat = self.coefs.reshape(len(self.slopes), -1)
        frame: pd.DataFrame = pandas.DataFrame(flat, index=pandas.Index(self.slopes, name="slope"), columns=columns)
        return frame

    def _table(self) -> dict[str, Any]:
        return {
            "slope": self.slopes,
            "features": self.features,
            "size": self.sizes,
            "deviance": self.deviance_explained,
            "objective": np.array([result.objective for result in self.results]),
            "gap": np.array([result.gap for result in self.results]),
            "iterations": np.array([result.n_iter for result in self.results]),
            "status": [result.status.name for result in self.results],
        }

    def plot(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Plot all coefficients that are non-zero at some slope (needs matplotlib).

        Options are those of `PathDisplay.from_path`: `x="strength"`, `"norm"` or `"deviance"`; `per="unit"` or `"sd"`.
        """
        from atomsieve.display import PathDisplay  # noqa: PLC0415 -- optional

        return PathDisplay.from_path(self, ax=ax, **options).ax_

    def __repr__(self) -> str:
        return (
            f"Path({len(self.results)} slopes from {self.slopes[0]:.4g} to {self.slopes[-1]:.4g}, "
            f"{sum(result.converged for result in self.results)} converged)"
        )

    def __str__(self) -> str:
        return str(self._summary())

    def _repr_html_(self) -> str:
        return self._summary()._repr_html_()

    def _summary(self) -> Summary:
        """Return a row for some of the slopes, evenly spread."""
        rows = np.unique(np.linspace(0, len(self.slopes) - 1, SHOWN).round().astype(int))
        columns = [
            Column("slope", column(self.slopes[rows]), right=True),
            Column("features", [f"{n:,}" for n in self.features[rows]], right=True),
            Column("deviance explained", [f"{100 * part:.1f}%" for part in self.deviance_explained[rows]], right=True),
            Column("size", column(self.sizes[rows]), right=True),
            Column("gap", column((self.results[k].gap for k in rows), 2), right=True),
        ]
        hidden = len(self.slopes) - len(rows)
        notes = [f"  and {hidden:,} more: to_frame(). The coefficients: coef_frame()."] if hidden else []
        return Summary([repr(self), repr(self.problem)], [Section(columns, notes=notes)])


@one_thread()
def path(
    problem: Problem,
    slopes: Any = None,
    *,
    method: Method | None = None,
    n: int = 100,
    ratio: float | None = None,
    tol: float = 1e-6,
    max_iter: int | None = None,
    time_limit: float | None = None,
    screening: str | Rule = "auto",
    callbacks: Iterable[Callback] = (),
) -> Path:
    """Solve a problem for `Linear` at many slopes, each from the solution at the slope before.

    Parameters
    ----------
    problem : Problem
        Data, loss and gauge; its penalty is not used.
    slopes : array, optional
        Strengths of `Linear`. The default is a geometric progression of n slopes, from the critical slope (the least
        one for which x = 0 solves the problem) down to `ratio` times that. The first slope is slightly higher (by about
        1e-9 of it): there a certificate can prove that every coefficient is zero.
    method : Method, optional
        `Corrective()` by default; it must be able to solve `Linear`.
    n : int
        Number of slopes, if none are given.
    ratio : float, optional
        Last slope divided by the first; by default 0.001 if there are more samples than coefficients, else 0.01.
    tol, max_iter, screening, callbacks
        As for `solve`, at every slope.
    time_limit : float, optional
        Seconds for the whole path; slopes that are not reached in time are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from atomsieve import Problem, path
    >>> found = path(Problem(np.eye(3), [3.0, 2.0, 0.1]), n=3, ratio=0.25)
    >>> found.slopes, found.coefs.round(6)
    (array([1.  , 0.5 , 0.25]), array([[0.  , 0.  , 0.  ],
           [1.5 , 0.5 , 0.  ],
           [2.25, 1.25, 0.  ]]))
    """
    require_piece("problem", problem, Problem)
    callbacks, method = check_callbacks(callbacks), Corrective() if method is None else method
    require_piece("method", method, Method)
    method.check(problem.at_penalty(Linear(1.0)))
    falling = _slopes(problem, problem.critical, slopes, n, ratio)
    limits = Limits.of(problem, tol, method.max_iter if max_iter is None else max_iter, time_limit)
    results = list(walk(problem, falling, limits, method=method, screening=screening, callbacks=callbacks))
    return Path(problem, falling[: len(results)], results, tol)


def walk(
    problem: Problem,
    slopes: Iterable[float],
    limits: Limits,
    *,
    method: Method,
    screening: str | Rule = "auto",
    callbacks: Sequence[Callback] = (),
) -> Iterator[Result]:
    """Yield the results along a path one by one, to save memory; stop early if a run is stopped."""
    new_rule = rules_for(screening)
    point, passes = problem.origin, problem.meter.passes
    stepper = method.begin(problem, limits)
    watched = bool(callbacks) or not isinstance(screening, str)
    steps = [problem.at_penalty(Linear(float(slope))) for slope in slopes]
    most = max(2, BATCH_NUMBERS // (5 * math.prod(problem.origin.u.shape)))
    while steps:
        pressed = False
        try:
            known = [] if watched or not limits.max_iter else ahead(point, steps[:most], stepper, limits)
        except KeyboardInterrupt:
            known, pressed = [], True
        count = max(len(known), 1)
        batch, steps = steps[:count], steps[count:]
        for here in batch:
            first = known.pop(0) if known else None  # each is held no longer than it is needed
            if first is not None and limits.reached(first):
                spent = Spent(1, limits.elapsed, problem.meter.passes - passes)
                result = spent.result(here, first, new_rule(), Status.CONVERGED)
                show(result, limits)
            elif pressed:
                result = Spent(0, limits.elapsed, 0.0).result(here, point.under(here), new_rule(), Status.INTERRUPTED)
            else:
                begin = point.under(here) if first is None else first
                result = run(here, stepper, limits, new_rule(), begin, callbacks=callbacks, relay=True)
            point, passes = result.point, problem.meter.passes
            yield result
            if result.status in (Status.TIME_LIMIT, Status.STOPPED, Status.INTERRUPTED):
                return


def show(result: Result, limits: Limits) -> None:
    """Show a result that needed no run of its own to the watcher, if there is one."""
    somebody = watcher()
    if somebody is not None:
        somebody.see(Progress(1, limits.elapsed, result.point, int(np.count_nonzero(result.alive))), limits.gap)


def ahead(point: Point, batch: Sequence[Problem], stepper: Stepper, limits: Limits) -> list[Point]:
    """Return points for the first of the next problems down the path, as many as the method follows at once.

    All are seen by one product with A'. There are fewer if time is up.
    """
    follow = getattr(stepper, "follow", None)
    if follow is None or len(batch) < 2:
        return []
    with deadline(limits.ends):
        states = follow(point, batch)
    views = point.problem.lifted.views(states)
    return [Point.of(here, view, here.eligible) for here, view in zip(batch, views, strict=False)]


def explained(problems: Sequence[Problem], losses: Array) -> Array:
    """Return the part of the deviance that models explain, from their weighted mean losses, summed over problems."""
    null, least = sum(problem.baseline for problem in problems), sum(map(_least_loss, problems))
    return np.asarray((null - losses) / (null - least)) if null > least else np.zeros(len(losses))


def _least_loss(problem: Problem) -> float:
    """Return the infimum of the loss over all predictions: minus its conjugate at slope 0."""
    slopes = like(np.zeros((problem.y.shape[0], *problem.outputs)), problem.y)
    return -float(array_namespace(slopes).sum(problem.weights * problem.loss.conjugate(slopes, problem.y)))


def _slopes(problem: Problem, critical: float, slopes: Any, n: Any, ratio: float | None) -> Array:
    """Return the slopes in falling order; raise ValueError for invalid ones."""
    if slopes is not None:
        given = np.sort(np.atleast_1d(as_floats(slopes, "slopes")).ravel())[::-1]
        if not (len(given) and np.isfinite(given).all() and given[-1] > 0):
            raise ValueError("slopes must be positive finite numbers, the strengths of Linear.")
        return given
    if not critical > 0:
        raise ValueError("x = 0 solves the problem whatever the slope: no atom lowers the loss. Pass slopes yourself.")
    return geometric_slopes([problem], critical, n, ratio)


def above_critical(problem: Problem) -> float:
    """Return a slope slightly above the critical one, at which x = 0 can be proven to be the solution.

    At the critical slope itself the best score is tied with the slope, and scores are rounded. The certificate has an
    upper bound of the best score at x = 0. The path begins above the score by twice the distance of that bound, plus a
    billionth of the score. For ordinary data the bound is 1e-14 to 1e-12 above the score; it is further away if columns
    or targets are far from zero compared with their spread. If there is no useful bound (no proof, or only rounding to
    prove), the path begins a billionth above the score.
    """
    sigma = problem.critical
    excess = critical_bound(problem) / sigma - 1 if sigma > 0 else 0.0
    return sigma * (1 + HAIR + (2 * max(excess, 0.0) if excess < NO_HAIR else 0.0))


def geometric_slopes(
    problems: Sequence[Problem],
    critical: float,
    n: Any,
    ratio: float | None = None,
    names: tuple[str, str] = ("n", "ratio"),
) -> Array:
    """Return n slopes in geometric progression from the critical one down to `ratio` times that.

    The first is slightly higher: there x = 0 can be proven to be the solution. `names` are the caller's names for the
    two numbers; error messages use them.
    """
    if not (is_whole(n) and n >= 1):
        raise ValueError(f"{names[0]} must be a positive whole number of slopes, got {shown(n)}.")
    samples, size = problems[0].design.shape[0], math.prod(problems[0].shape)
    ratio = (1e-3 if samples > size else 1e-2) if ratio is None else ratio
    if not (is_number(ratio) and 0 < ratio < 1):
        raise ValueError(f"{names[1]} must lie between 0 and 1, got {ratio!r}.")
    slopes = np.asarray(critical * ratio ** (np.arange(int(n)) / max(int(n) - 1, 1)))
    slopes[0] = max(critical, *map(above_critical, problems))
    return slopes
