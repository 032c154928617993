"""Two ways to say what is minimised: by pieces, or by numbers as scikit-learn's Lasso and LogisticRegression do."""

from typing import Any, ClassVar

import numpy as np

from atomsieve.checks import is_number, require_piece
from atomsieve.estimators.base import SparseModel
from atomsieve.estimators.columns import factors_of, mask_of, unpenalised
from atomsieve.estimators.strengths import Choice, CriticalFraction
from atomsieve.estimators.study import Study
from atomsieve.gauges import L1, Gauge
from atomsieve.losses import Logistic, Loss, Squared
from atomsieve.penalties import Linear, Penalty
from atomsieve.piece import Piece


class ByPieces(SparseModel):
    """Loss, gauge and penalty are parameters; None stands for a default."""

    _defaults: ClassVar[dict[str, tuple[Piece, ...]]] = {
        "loss": (Squared(),),
        "gauge": (L1(),),
        "penalty": (CriticalFraction(), Linear()),
    }

    loss: Loss | None
    gauge: Gauge | None
    penalty: Penalty | Choice | None
    unpenalised: Any

    def _given(self, name: str, kinds: tuple[type, ...]) -> Any:
        piece = getattr(self, name)
        piece = self._defaults[name][0] if piece is None else piece
        if not isinstance(piece, kinds):
            require_piece(name, piece, kinds[0])
        return piece

    def _loss(self) -> Loss:
        loss: Loss = self._given("loss", (Loss,))
        return loss

    def _gauge(self, count: int) -> Gauge:
        names = getattr(self, "feature_names_in_", None)
        return unpenalised(self._given("gauge", (Gauge,)), self.unpenalised, count, names)

    def _penalty(self, study: Study) -> Penalty | Choice:  # noqa: ARG002
        penalty: Penalty | Choice = self._given("penalty", (Penalty, Choice))
        return penalty


class ByClasses(ByPieces):
    """The same with a loss for classes."""

    _defaults: ClassVar[dict[str, tuple[Piece, ...]]] = ByPieces._defaults | {"loss": (Logistic(),)}


class ByFactors(SparseModel):
    """The gauge is the l1 norm with one factor per feature, perhaps for positive coefficients only."""

    weights: Any
    positive: Any
    unpenalised: Any

    def _gauge(self, count: int) -> Gauge:
        names = getattr(self, "feature_names_in_", None)
        weights = None if self.weights is None else factors_of(self.weights, count, names, "weights")
        positive = mask_of(self.positive, count, names, "positive")
        gauge = L1(weights, positive=positive) if positive.any() else L1(weights)
        return unpenalised(gauge, self.unpenalised, count, names)


def linear(strength: Any, name: str, per_unit: float | None = None) -> Penalty | Choice:
    """Return the linear penalty of a strength: `strength` itself or, for an inverse like C, `per_unit / strength`."""
    if isinstance(strength, Choice):
        return strength
    if not (is_number(strength) and 0 < strength < np.inf):
        raise ValueError(f"{name} must be a positive number, a CriticalFraction or a FeatureCount, got {strength!r}.")
    return Linear(float(strength) if per_unit is None else per_unit / float(strength))
