"""The law of screening rules: at no point of any run does a rule remove a block that is proven non-zero."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from atomsieve.gauges import L1, Gauge, Group
from atomsieve.losses import Logistic, Squared
from atomsieve.methods import GCG, Corrective, Method
from atomsieve.methods.steps import LineSearch
from atomsieve.penalties import Linear, Penalty, Square
from atomsieve.problem import Point, Problem
from atomsieve.run.solve import solve
from atomsieve.screening import Rule
from atomsieve.testing.laws import law
from atomsieve.typing import Mask


@dataclass(frozen=True)
class Watched:
    """A rule under observation: its answers are compared with the truth and then not followed."""

    rule: Rule
    nonzero: Mask

    def keep(self, point: Point) -> Mask:
        """Return that every block may carry weight, after a look at what the rule says."""
        kept = np.asarray(self.rule.keep(point))
        law(kept.dtype == bool and kept.shape == point.scores.shape, "keep must return one truth value for each block")
        law(kept[self.nonzero], "the rule removes a block that is not zero in the solution: it is not safe")
        return np.ones(len(kept), dtype=bool)


def check_rule(
    make: Callable[[], Rule],
    *,
    gauges: Sequence[Gauge] = (L1(), Group([0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 4, 4])),
    penalties: Sequence[type[Penalty]] = (Linear, Square),
    seeds: int = 3,
) -> None:
    """Check that a rule is safe on random problems of 20 samples and 12 features, at every point of several runs.

    `make` returns a new rule for each run. Gauges and penalties are those that the rule is meant for.

    >>> from atomsieve.screening.rules import PaperRule
    >>> check_rule(PaperRule, seeds=1)
    """
    for problem in _problems(gauges, penalties, seeds):
        nonzero = solve(problem, tol=1e-10, screening="off").certificate().nonzero
        methods: list[Method] = [Corrective()]
        if problem.penalty.superlinear:
            methods += [GCG(), GCG(LineSearch())]
        for method in methods:
            solve(problem, method, tol=1e-6, max_iter=200, screening=Watched(make(), nonzero))


def _problems(gauges: Sequence[Gauge], penalties: Sequence[type[Penalty]], seeds: int) -> Iterator[Problem]:
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((20, 12))
        y = X[:, :3].sum(axis=1) + rng.standard_normal(20)
        for loss in (Squared(), Logistic()):
            targets = np.where(y > 0, 1.0, -1.0) if loss.targets == "signs" else y
            for gauge in gauges:
                stated = Problem(X, targets, loss=loss, gauge=gauge, intercept=bool(seed % 2))
                for penalty, share in product(penalties, (0.3, 0.05)):
                    yield stated.at_penalty(penalty().at(share * stated.critical))
