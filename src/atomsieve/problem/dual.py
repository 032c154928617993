"""The dual point of a state: theta as it is, or scaled into the domain of the conjugate of the penalty."""

import math
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from atomsieve.numerics.rounding import EPS, noise_level
from atomsieve.problem.limits import CoefficientLimits
from atomsieve.problem.shrinkage import ProximalShrinkage, Shrinkage
from atomsieve.problem.smooth import Measured
from atomsieve.problem.view import View
from atomsieve.typing import Array

if TYPE_CHECKING:
    from atomsieve.problem.problem import Problem


class Dual(NamedTuple):
    """The dual point of a state: the scale of theta, and the terms of the gap beside `scale * u . theta`."""

    scale: float
    charge: float
    """What penalty and ridge charge for x."""
    answer: float
    """What their conjugate says of the dual point, with the Fenchel-Young gap of the loss if it is scaled."""
    measured: Measured

    @classmethod
    def of(cls, problem: "Problem", view: View, sigma: float) -> Self:
        """Scale theta into the domain of phi*, if necessary."""
        penalty = problem.penalty
        charge, answer = penalty.value(view.state.mass), penalty.conjugate(sigma)
        if penalty.superlinear or answer < math.inf:
            return cls(1.0, charge, answer, problem.smooth.measure(view.u, view.slopes, 1.0, view.told))
        scale = penalty.slope(0.0) / sigma
        measured = problem.smooth.measure(view.u, view.slopes, scale, view.told)
        return cls(scale, charge, measured.apart, measured)

    @classmethod
    def limited(cls, problem: "Problem", limits: CoefficientLimits, view: View, scores: Array, pull: float) -> Self:
        """Take theta as it is, for a problem with limits; or scaled, for `Linear`, where that makes a smaller gap.

        A limit that is far away makes a large gap of a score that is slightly too high, and no limit an infinite one.
        """
        penalty, alive = problem.penalty, scores > -np.inf
        charge = penalty.value(view.state.mass)
        measured = problem.smooth.measure(view.u, view.slopes, 1.0, view.told)
        whole = cls(1.0, charge, limits.conjugate(penalty, view.z, alive).value, measured)
        highest = float(scores.max())
        if penalty.superlinear or not penalty.slope(0.0) < highest < math.inf:
            return whole
        scale = penalty.slope(0.0) / highest * (1 - 4 * EPS)  # in spite of rounding no score is higher than the slope
        measured = problem.smooth.measure(view.u, view.slopes, scale, view.told)
        answer = limits.conjugate(penalty, scale * view.z, alive).value
        scaled = cls(scale, charge, answer + measured.apart, measured)
        return cls._better(whole, scaled, pull, noise_level(view.u.shape[0]) * charge)

    @classmethod
    def _better(cls, whole: Self, scaled: Self, pull: float, noise: float) -> Self:
        """Return the dual point with the smaller radius: that of a scaled one grows by sqrt(2)."""
        gaps = [dual.charge + dual.answer + dual.scale * pull for dual in (whole, scaled)]
        return whole if gaps[0] <= 2 * gaps[1] + noise else scaled

    @classmethod
    def beside(cls, problem: "Problem", shrinkage: ProximalShrinkage, view: View, sigma: float) -> Self:
        """Take theta as it is, for a ridge beside a gauge with a prox; sigma is that of `-A' theta - ridge x`."""
        penalty, state = problem.penalty, view.state
        charge = penalty.value(state.mass) + shrinkage.value(state.x, state.support)
        measured = problem.smooth.measure(view.u, view.slopes, 1.0, view.told)
        return cls(1.0, charge, shrinkage.answer(penalty, view.z, sigma), measured)

    @classmethod
    def eliminated(cls, problem: "Problem", shrinkage: Shrinkage, view: View, scores: Array, pull: float) -> Self:
        """Take theta as it is, for a problem with a ridge; or scaled, for `Linear`, where that makes a smaller gap.

        A ridge so small that it hardly holds anything back makes a large gap of scores that are slightly too high.
        """
        penalty, state = problem.penalty, view.state
        charge = penalty.value(state.mass) + shrinkage.value(state.x, state.support)
        measured = problem.smooth.measure(view.u, view.slopes, 1.0, view.told)
        whole = cls(1.0, charge, shrinkage.conjugate(penalty, scores).value, measured)
        if penalty.superlinear:
            return whole
        scale = shrinkage.fitting_scale(penalty.slope(0.0), scores, problem.core.sizes(state.x))
        if not 0 < scale < 1:
            return whole
        measured = problem.smooth.measure(view.u, view.slopes, scale, view.told)
        scaled = cls(scale, charge, shrinkage.conjugate(penalty, scale * scores).value + measured.apart, measured)
        return cls._better(whole, scaled, pull, noise_level(view.u.shape[0]) * charge)
