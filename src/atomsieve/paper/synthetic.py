"""The paper's synthetic problem: logistic regression on Gaussian data with all labels 1, and its solution."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from atomsieve import L1, Logistic, Power, Problem, Trace, solve
from atomsieve.paper.experiment import Settings
from atomsieve.paper.numbers import short
from atomsieve.paper.pictures import spaced
from atomsieve.typing import Array, Mask

DATA: Settings = {"n": 100, "d": 50, "seed": 0}
"""`numpy.random.default_rng(seed).standard_normal((n, d))`."""


def gaussian(settings: Settings) -> Array:
    """Return the data."""
    return np.random.default_rng(settings["seed"]).standard_normal((settings["n"], settings["d"]))


def stated(settings: Settings, strength: float, p: float = 2.0, design: Array | None = None) -> Problem:
    """Return the problem with the penalty `strength s^p / p` of the l1 norm; p = inf is the unit ball."""
    design = gaussian(settings) if design is None else design
    return Problem(design, np.ones(len(design)), loss=Logistic(), gauge=L1(), penalty=Power(strength, p))


@dataclass(frozen=True, eq=False)
class Optimum:
    """The solution of a problem, found by the corrective method, with every coefficient decided by its certificate."""

    value: float
    x: Array
    z: Array
    decided: bool
    rounds: int

    @classmethod
    def of(cls, problem: Problem) -> "Optimum":
        """Solve a problem as far as doubles allow."""
        best = solve(problem, tol=1e-14, until="decided")
        point = problem.at(problem.state(best.x))
        return cls(best.dual, best.x, point.z, not best.certificate().undecided.any(), best.n_iter)

    @property
    def support(self) -> Mask:
        """True where a coefficient is not zero."""
        return np.asarray(self.x != 0)

    @property
    def delta(self) -> float:
        """How far the best score outside the support stays below those within; infinite if nothing is outside."""
        scores = np.abs(self.z)
        return float(scores.max() - scores[~self.support].max()) if not self.support.all() else math.inf


def steps_of(trace: Trace, iterations: int) -> pd.DataFrame:
    """Return the points from which steps 1, ..., iterations were taken."""
    frame = trace.to_frame().rename(columns={"iteration": "t"})
    return frame[frame.t <= iterations]


def fitted_slope(t: "pd.Series[int]", values: "pd.Series[float]", first: int = 100) -> float:
    """Return the exponent of the power of t that fits positive values best, from t = first on, at equal ratios of t.

    >>> t = pd.Series(range(1, 1001))
    >>> round(fitted_slope(t, 3.0 / t**2), 6)
    -2.0
    """
    frame = spaced(pd.DataFrame({"t": t, "value": values}))
    frame = frame[(frame.t >= first) & (frame.value > 0)]
    if len(frame) < 3:
        return math.nan
    return float(np.polyfit(np.log(frame.t), np.log(frame.value), 1)[0])


def listed(items: Sequence[object]) -> str:
    """Return items as words: `1.2, 1.4 and 1.5`.

    >>> listed(["1.2", "1.4", "1.5"]), listed([2]), listed([])
    ('1.2, 1.4 and 1.5', '2', 'none')
    """
    words = [short(item) if isinstance(item, float) else str(item) for item in items]
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "none"
