"""Two ways to say what is minimised: by pieces, or by numbers as scikit-learn's Lasso and LogisticRegression do."""

from typing import Any, ClassVar

import numpy as np

from atomsieve.estimators.base import SparseModel
from atomsieve.estimators.columns import factors_of, mask_of, without_penalty
from atomsieve.estimators.strengths import CriticalFraction, StrengthRule
from atomsieve.estimators.study import Study
from atomsieve.gauges import L1, Gauge
from atomsieve.intake.arguments import is_number, require_piece, shown
from atomsieve.losses import Loss, Squared
from atomsieve.penalties import Linear, Penalty
from atomsieve.piece import Piece
from atomsieve.typing import Array


class ByPieces(SparseModel):
    """Loss, gauge and penalty are parameters; None stands for a default."""

    _defaults: ClassVar[dict[str, tuple[Piece, ...]]] = {
        "loss": (Squared(),),
        "gauge": (L1(),),
        "penalty": (CriticalFraction(), Linear()),
    }

    loss: Loss | None
    gauge: Gauge | None
    penalty: Penalty | StrengthRule | None
    unpenalized: Any

    def _given(self, name: str, kinds: tuple[type, ...]) -> Any:
        piece = getattr(self, name)
        piece = self._defaults[name][0] if piece is None else piece
        if not isinstance(piece, kinds):
            require_piece(name, piece, kinds[0])
        return piece

    def _loss(self, classes: Array | None) -> Loss:  # noqa: ARG002
        loss: Loss = self._given("loss", (Loss,))
        return loss

    def _gauge(self, count: int) -> Gauge:
        names = getattr(self, "feature_names_in_", None)
        return without_penalty(self._given("gauge", (Gauge,)), self.unpenalized, count, names)

    def _penalty(self, study: Study) -> Penalty | StrengthRule:  # noqa: ARG002
        penalty: Penalty | StrengthRule = self._given("penalty", (Penalty, StrengthRule))
        return penalty


class ByFactors(SparseModel):
    """The gauge is the l1 norm with one factor per feature, perhaps for positive coefficients only."""

    penalty_factors: Any
    positive: Any
    unpenalized: Any

    def _gauge(self, count: int) -> Gauge:
        names = getattr(self, "feature_names_in_", None)
        given = self.penalty_factors
        factors = None if given is None else factors_of(given, count, names, "penalty_factors")
        positive = mask_of(self.positive, count, names, "positive")
        gauge = L1(factors, positive=positive if positive.any() else None)
        return without_penalty(gauge, self.unpenalized, count, names)


def linear(strength: Any, name: str, per_unit: float | None = None) -> Penalty | StrengthRule:
    """Return the linear penalty of a strength: `strength` itself or, for an inverse like C, `per_unit / strength`."""
    if isinstance(strength, StrengthRule):
        return strength
    if not (is_number(strength) and 0 < strength < np.inf):
        raise ValueError(
            f"{name} must be a positive number, a CriticalFraction or a FeatureCount, got {shown(strength)}."
        )
    return Linear(float(strength) if per_unit is None else per_unit / float(strength))
