"""What one pass over the data shows at a state, and how atoms score there."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from atomsieve.design.seminorm import inner
from atomsieve.numerics.cached import cached_property
from atomsieve.numerics.krylov import as_dense
from atomsieve.problem.smooth import Told
from atomsieve.problem.state import State
from atomsieve.typing import Array, Mask, Samples

if TYPE_CHECKING:
    from atomsieve.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class View:
    """What the data show at a state, for any penalty: predictions, loss'(u), theta and `z = -A' theta`.

    A part of loss'(u) is removed to make `B' theta = 0`, and `stray` is its norm. It is the slope of the loss along B,
    and it measures how far the free coefficients are from the best ones.
    """

    state: State
    u: Samples
    slopes: Samples
    theta: Samples
    pulled: Any
    """z, or the table of its entries where samples see single entries of a matrix (`Lifted.seen_places`); None before
    the product with A' is made."""
    stray: float
    told: Told | None = None
    """What the trip to the workers that made these arrays told of them."""

    @cached_property
    def table(self) -> Any:
        """The table of the entries of z where few are not 0, and x is held by its factors; None elsewhere."""
        return self.pulled if issparse(self.pulled) and self.state.factors is not None else None

    @cached_property
    def z(self) -> Array:
        """`-A' theta`, which is formed if it is held by a table."""
        return as_dense(self.pulled).ravel() if issparse(self.pulled) else np.asarray(self.pulled)


def across(problem: "Problem", view: View) -> tuple[float, Callable[[], float]]:
    """Return the product of the image, less its part in the span of B, with theta; and what returns its norm."""
    state, told = view.state, view.told
    if told is not None:
        return told.pull, lambda: told.length
    # the part of the image in the span of B is orthogonal to theta; without it less cancels
    centred = problem.seminorm.project(state.image)
    pull = inner(centred, view.theta)
    return pull, lambda: state.length if centred is state.image else problem.seminorm.plain_norm(centred)


def pulls_of(problem: "Problem", view: View) -> Array:
    """Return minus the gradient of loss and ridge in x."""
    if problem.shrinkage is None:
        return view.z
    pulls, support = view.z.copy(), view.state.support
    pulls.ravel()[support] -= problem.shrinkage.drag(view.state.x, support)
    return pulls


def scores_at(problem: "Problem", view: View, alive: Mask | None) -> Array:
    """Return the scores of all blocks by minus the gradient, -inf for those that are not alive."""
    if problem.shrinkage is None and view.table is not None:
        core: Any = problem.core
        return _among(core.scores_at(view.table, view.state.factors), alive)
    if problem.limits is None:
        return scores_of(problem, pulls_of(problem, view), alive)
    scores = problem.limits.open_scores(view.z, view.state.x)
    return scores if alive is None else np.where(alive, scores, -np.inf)


def scores_of(problem: "Problem", z: Array, alive: Mask | None) -> Array:
    """Return the scores of all blocks, -inf for those that are not alive."""
    return _among(problem.core.scores(z), alive)


def _among(scores: Array, alive: Mask | None) -> Array:
    """Return scores, -inf for blocks that are not alive; they are written where the others are."""
    if alive is not None and not alive.all():
        np.copyto(scores, -np.inf, where=~alive)
    return scores
