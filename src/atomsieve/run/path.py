"""The path of solutions over the slope of the penalty: one path answers for every penalty shape.

If x solves the problem for phi, then it solves it for `Linear(alpha)` with the slope alpha that phi has at the size of
x. So the solutions for `Linear` at all slopes hold those of every phi; phi only says which of them is meant.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from atomsieve.intake.arguments import as_floats, is_number, is_whole, require_piece, shown
from atomsieve.intake.names import entries, pandas_for
from atomsieve.methods import Corrective, Method
from atomsieve.numerics.threads import one_thread
from atomsieve.penalties import Linear, Penalty
from atomsieve.problem import Problem
from atomsieve.run.limits import Limits
from atomsieve.run.result import Result
from atomsieve.run.solve import Callback, check_callbacks, run, solve
from atomsieve.run.status import Status
from atomsieve.screening import Rule, rules_for
from atomsieve.typing import Array

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


HAIR = 1e-9
"""Part of the critical slope by which a path begins above it."""

LEGIBLE = 12
"""Lines up to which a picture names them."""

NO_HAIR = 1e-3
"""What is no hair any more: scores are hardly known, and no slope near the critical one could be proven."""


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """Solutions for `Linear` at falling slopes."""

    problem: Problem
    """The problem that was stated; its penalty plays no part."""

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
        """The gauge of x, one number for each slope; it does not fall along the path."""
        return np.array([result.point.state.mass for result in self.results])

    def at(self, penalty: Penalty, *, tol: float | None = None) -> Result:
        """Return the solution for any penalty: the place on the path where its slope is meant, refined by a solve.

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

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with a row for each slope and a column for each feature, or feature and output."""
        pandas = pandas_for("Path.to_frame()")
        names = entries(self.problem.data.names, self.coefs.shape[1:])
        columns = names["feature"] if len(names) == 1 else pandas.MultiIndex.from_frame(pandas.DataFrame(names))
        flat = self.coefs.reshape(len(self.slopes), -1)
        frame: pd.DataFrame = pandas.DataFrame(flat, index=pandas.Index(self.slopes, name="slope"), columns=columns)
        return frame

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw every coefficient that is ever non-zero against the slope (needs matplotlib)."""
        import matplotlib.pyplot as plt  # noqa: PLC0415 -- optional

        ax = plt.subplots(layout="constrained")[1] if ax is None else ax
        flat = self.coefs.reshape(len(self.slopes), -1)
        drawn = np.flatnonzero(np.any(flat != 0, axis=0))
        lines = ax.plot(self.slopes, flat[:, drawn], linewidth=1)
        if self.problem.data.names is not None and 0 < len(drawn) <= LEGIBLE:
            features = entries(self.problem.data.names, self.coefs.shape[1:])["feature"]
            ax.legend(lines, [features[j] for j in drawn], fontsize="small")
        ax.axhline(0, color="0.7", linewidth=0.8, zorder=0)
        ax.set_xscale("log")
        ax.invert_xaxis()
        ax.set_xlabel("slope of the penalty (falls to the right)")
        ax.set_ylabel("coefficient")
        return ax

    def __repr__(self) -> str:
        return (
            f"Path({len(self.results)} slopes from {self.slopes[0]:.4g} to {self.slopes[-1]:.4g}, "
            f"{sum(result.converged for result in self.results)} converged)"
        )


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
    """Solve a problem for `Linear` at many slopes, each from the solution before it.

    Parameters
    ----------
    problem : Problem
        Data, loss and gauge; its penalty plays no part.
    slopes : array, optional
        Strengths of `Linear`. By default n of them, in geometric progression from the critical slope, at which x = 0
        just about solves the problem, down to `ratio` times that; the first is a hair above it (about 1e-9 of it), so
        that a certificate proves every coefficient zero there.
    method : Method, optional
        `Corrective()` by default; it must be able to solve `Linear`.
    n : int
        Number of slopes, where none are given.
    ratio : float, optional
        Last slope over first; 0.001 by default where there are more samples than coefficients, else 0.01.
    tol, max_iter, screening, callbacks
        As for `solve`, at every slope.
    time_limit : float, optional
        Seconds for the whole path; slopes that were not reached are left out.

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
    falling = _slopes(problem, problem.origin.sigma, slopes, n, ratio)
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
    """Yield the results along a path one by one, so that nobody need keep them all; end early where a run does."""
    new_rule, point = rules_for(screening), problem.origin
    stepper = method.begin(problem, limits)
    for slope in slopes:
        here = problem.at_penalty(Linear(float(slope)))
        result = run(here, stepper, limits, new_rule(), point.under(here), callbacks=callbacks, relay=True)
        point = result.point
        yield result
        if result.status in (Status.TIME_LIMIT, Status.STOPPED, Status.INTERRUPTED):
            break


def _slopes(problem: Problem, critical: float, slopes: Any, n: Any, ratio: float | None) -> Array:
    """Return falling slopes; refuse others in a sentence."""
    if slopes is not None:
        given = np.sort(np.atleast_1d(as_floats(slopes, "slopes")).ravel())[::-1]
        if not (len(given) and np.isfinite(given).all() and given[-1] > 0):
            raise ValueError("slopes must be positive finite numbers, the strengths of Linear.")
        return given
    if not critical > 0:
        raise ValueError("x = 0 solves the problem whatever the slope: no atom lowers the loss. Pass slopes yourself.")
    return geometric_slopes([problem], critical, n, ratio)


def above_critical(problem: Problem) -> float:
    """Return a slope a hair above the critical one, so that x = 0 is proven to be the solution.

    At the critical slope itself the best score is tied with the slope, and scores are rounded. So the path begins above
    the certificate's own upper bound of the best score at x = 0, by as much again, and by a billionth at least. The
    bound is 1e-14 to 1e-12 above the score in ordinary data, and more where columns or targets are far from zero
    beside their spread. Where it is of no use (no proof, or no more than rounding to prove) a billionth is all.
    """
    from atomsieve.certificate.critical import critical_bound  # noqa: PLC0415 -- it looks at problems from outside

    sigma = problem.origin.sigma
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

    The first is lifted by a hair, so that x = 0 is not only a solution there but is proven to be. Errors speak of the
    two numbers by the names that the caller knows them by.
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
