"""What may stand beside the penalty: a ridge, and limits of the coefficients."""

from typing import Any, NamedTuple

from atomsieve.gauges import Gauge
from atomsieve.intake.arguments import is_lazy_frame, library_of
from atomsieve.numerics.namespace import is_foreign
from atomsieve.problem.data import Data
from atomsieve.problem.lifted import Lifted
from atomsieve.problem.limits import Pair
from atomsieve.problem.shrinkage import Ridge


class Beside(NamedTuple):
    """What stands beside the penalty: a ridge, and limits of the coefficients of the full lifted design."""

    ridge: Ridge
    limits: Pair | None = None


def is_eliminated(gauge: Gauge, lifted: Lifted) -> bool:
    """Return whether a ridge is eliminated from gap and certificate: the gauge is one of x, with prices or a prox."""
    return not gauge.mapped and (lifted.charges is not None or lifted.core.proximal)


def require_samples(gauge: Gauge, lifted: Lifted, data: Data, X: Any) -> None:
    """Refuse a ridge that cannot be joined to the samples."""
    if is_foreign(X) or is_lazy_frame(X):
        raise ValueError(
            f"A ridge beside limits or {gauge!r} is for NumPy arrays and SciPy matrices, and X is a {library_of(X)} "
            f"{type(X).__name__}. Leave out the limits, or the ridge."
        )
    if lifted.smooth.outputs:
        raise ValueError(
            f"A ridge beside limits or {gauge!r} is for losses of one prediction for each target, and "
            f"{type(lifted.smooth.loss).__name__} has one for each class. Leave out the limits, or the ridge."
        )
    if data.tasks > 1 and not gauge.mapped and len(lifted.core.unpenalised()):
        raise ValueError(
            "A ridge beside limits is not for several outputs with coefficients of weight 0. Fit the outputs one by "
            "one, or leave out the limits."
        )
