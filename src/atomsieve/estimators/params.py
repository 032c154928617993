"""Pieces as parameters: immutable values that searches replace, where scikit-learn's estimators would be changed."""

from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from atomsieve.piece import Piece


class PieceParams(BaseEstimator):
    """An estimator some of whose parameters are pieces: `set_params(penalty__strength=0.1)` puts a new one in place."""

    _defaults: ClassVar[dict[str, tuple[Piece, ...]]] = {}
    """What None stands for; where a nested parameter is set, the first piece that has it."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; those of a piece as `penalty__strength`, of a piece within it by another `__`."""
        nested: dict[str, dict[str, Any]] = {}
        plain: dict[str, Any] = {}
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if inner and self._holds_piece(name, params):
                nested.setdefault(name, {})[inner] = value
            else:
                plain[key] = value
        super().set_params(**plain)
        for name, changes in nested.items():
            setattr(self, name, self._piece(name, changes).with_params(**changes))
        return self

    def _holds_piece(self, name: str, params: dict[str, Any]) -> bool:
        value = params.get(name, getattr(self, name, None))
        return isinstance(value, Piece) or (value is None and name in self._defaults)

    def _piece(self, name: str, changes: dict[str, Any]) -> Piece:
        """Return the piece to be changed: the one in place or, for None, a default that has such parameters."""
        value = getattr(self, name)
        if isinstance(value, Piece):
            return value
        choices = self._defaults[name]
        wanted = {key.partition("__")[0] for key in changes}
        return next((piece for piece in choices if wanted <= set(piece.get_params(deep=False))), choices[0])
