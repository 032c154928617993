"""Which strengths cross-validation compares: of a penalty shape, or alphas as scikit-learn's LassoCV has them."""

from typing import Any, ClassVar

import numpy as np

from atomsieve.estimators.cross_validation import CrossValidated
from atomsieve.estimators.pieces import ByPieces
from atomsieve.estimators.study import Study
from atomsieve.penalties import Linear, Penalty
from atomsieve.piece import Piece
from atomsieve.typing import Array


class ChosenStrength(CrossValidated, ByPieces):
    """The penalty is a parameter, its strength is chosen."""

    _defaults: ClassVar[dict[str, tuple[Piece, ...]]] = ByPieces._defaults | {"penalty": (Linear(),)}

    strengths: Any
    ratio: float | None

    def _shape(self) -> Penalty:
        penalty: Penalty = self._given("penalty", (Penalty,))
        return penalty

    def _grid(self, study: Study) -> tuple[Any, Any]:  # noqa: ARG002
        return self.strengths, self.ratio

    @property
    def strengths_(self) -> Array:
        """The strengths that were compared, sparsest first."""
        return self._axis()[0]

    @property
    def strength_(self) -> float:
        """The strength that was chosen."""
        return float(self.strengths_[self.best_index_])

    def _axis(self) -> tuple[Array, str]:
        penalties = [p[0] if isinstance(p, list) else p for p in self.penalties_]
        name = "radius" if hasattr(penalties[0], "radius") else "strength"
        return np.array([getattr(p, name) for p in penalties]), f"{name} of {type(penalties[0]).__name__}"
