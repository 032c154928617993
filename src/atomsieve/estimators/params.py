"""What parameters say, as parts of a task: pieces, a gauge with what is known of single features, a strength.

Pieces are immutable values that searches replace, where scikit-learn's estimators would be changed. `_defaults` of an
estimator are what None stands for; where a nested parameter is set, the first piece that has it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from atomsieve.estimators.strengths import StrengthRule
from atomsieve.estimators.task import TrainingData
from atomsieve.gauges import L1, Gauge
from atomsieve.intake.arguments import as_floats, is_number, require_piece, shown
from atomsieve.intake.names import position
from atomsieve.losses import Loss
from atomsieve.penalties import Linear, Penalty
from atomsieve.piece import Piece
from atomsieve.typing import Array, Index, Mask

Defaults = Mapping[str, Sequence[Piece]]


def given(model: Any, name: str, *kinds: type) -> Any:
    """Return the piece that a parameter holds, or its default; refuse what is of no kind that is allowed."""
    piece = getattr(model, name)
    piece = model._defaults[name][0] if piece is None else piece
    if not isinstance(piece, kinds):
        require_piece(name, piece, kinds[0])
    return piece


def piece_gauge(model: Any, data: TrainingData) -> Gauge:
    """Return the gauge that is a parameter, with some features left unpenalised."""
    return without_penalty(given(model, "gauge", Gauge), model.unpenalized, data.X.shape[1], data.names)


def factor_gauge(model: Any, data: TrainingData) -> Gauge:
    """Return the l1 norm with one factor per feature, perhaps for positive coefficients only."""
    count, names = data.X.shape[1], data.names
    factors = model.penalty_factors
    factors = None if factors is None else factors_of(factors, count, names, "penalty_factors")
    positive = mask_of(model.positive, count, names, "positive")
    gauge = L1(factors, positive=positive if positive.any() else None)
    return without_penalty(gauge, model.unpenalized, count, names)


def linear(strength: Any, name: str, per_unit: float | None = None) -> Penalty | StrengthRule:
    """Return the linear penalty of a strength: `strength` itself or, for an inverse like C, `per_unit / strength`."""
    if isinstance(strength, StrengthRule):
        return strength
    if not (is_number(strength) and 0 < strength < np.inf):
        raise ValueError(
            f"{name} must be a positive number, a CriticalFraction or a FeatureCount, got {shown(strength)}."
        )
    return Linear(float(strength) if per_unit is None else per_unit / float(strength))


def offset_of(model: Any, offset: Any, exposure: Any) -> Any:
    """Return the offset: as it is given, or the logarithm of an exposure."""
    if exposure is None:
        return offset
    if offset is not None:
        raise ValueError("Give exposure or offset, not both: exposure=e means offset=np.log(e).")
    loss = given(model, "loss", Loss)
    if loss.inverse_link != "exp":
        raise TypeError(f"exposure is for counts: take loss=Poisson(), or offset= for {loss!r}.")
    values = as_floats(exposure, "exposure")
    if not ((values > 0) & (values < np.inf)).all():
        raise ValueError("exposure must be positive finite numbers. Leave out samples without exposure.")
    return np.log(values)


def ridge_of(ridge: Any) -> float:
    """Return the strength of a ridge; refuse what is none."""
    if not (is_number(ridge) and 0 <= ridge < np.inf):
        raise ValueError(f"ridge must be a finite number that is not negative, got {shown(ridge)}.")
    return float(ridge)


def mask_of(chosen: Any, count: int, names: Any, parameter: str) -> Mask:
    """Return which features are meant: None, True or False for all of them, a mask, or a list of names or positions."""
    mask = np.zeros(count, dtype=bool)
    if chosen is None or isinstance(chosen, (bool, np.bool_)):
        return mask | bool(chosen)
    if isinstance(chosen, str) or is_number(chosen):
        raise TypeError(f"{parameter} must be a list of features: write {parameter}=[{chosen!r}].")
    if getattr(chosen, "ndim", 1) != 1:
        raise TypeError(
            f"{parameter} must be one list of features, got {type(chosen).__name__} of shape {chosen.shape}."
        )
    if _by_name(chosen):
        chosen = [name for name, meant in chosen.items() if meant]
    given = list(chosen)
    if given and all(isinstance(entry, (bool, np.bool_)) for entry in given):
        if len(given) != count:
            raise ValueError(f"{parameter} must have one truth value per feature, {count} in all, got {len(given)}.")
        return np.array(given, dtype=bool)
    mask[_positions(given, count, names, parameter)] = True
    return mask


def factors_of(factors: Any, count: int, names: Any, parameter: str) -> Array:
    """Return one penalty factor per feature, from an array or from a mapping of some features to factors."""
    if isinstance(factors, Mapping) or _by_name(factors):
        weights = np.ones(count)
        features, values = zip(*factors.items(), strict=True) if len(factors) else ((), ())
        weights[_positions(list(features), count, names, parameter)] = as_floats(list(values), parameter)
    else:
        weights = as_floats(factors, parameter)
        if weights.shape != (count,):
            raise ValueError(
                f"{parameter} must have one number per feature, {count} in all, got shape {weights.shape}."
            )
    if np.isnan(weights).any() or (weights < 0).any():
        raise ValueError(f"{parameter} must be numbers that are not negative (0: unpenalised, inf: left out).")
    return weights


def _by_name(given: Any) -> bool:
    """Return whether these are values by feature name, as a dict or a pandas Series has them."""
    return hasattr(given, "items") and all(isinstance(name, str) for name, _ in given.items())


def _positions(chosen: list[Any], count: int, names: Any, parameter: str) -> Index:
    """Return the positions of features given by name or position."""
    places = None if names is None else {name: j for j, name in enumerate(names)}
    return np.array([position(feature, count, places, parameter) for feature in chosen], dtype=np.intp)


def without_penalty(gauge: Gauge, chosen: Any, count: int, names: Any) -> Gauge:
    """Return the gauge with some features left unpenalised."""
    mask = mask_of(chosen, count, names, "unpenalized")
    if not mask.any():
        return gauge
    if not isinstance(gauge, L1):
        raise TypeError(f"unpenalized features need gauge=L1(), got {gauge!r}.")
    weights = np.ones(count) if gauge.weights is None else gauge.weights
    return replace(gauge, weights=np.where(mask if weights.ndim == 1 else mask[:, None], 0.0, weights))


def parted(model: Any, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return plain parameters apart from those of pieces, such as `penalty__strength`, by the name of the piece."""
    plain: dict[str, Any] = {}
    nested: dict[str, dict[str, Any]] = {}
    for key, value in params.items():
        name, _, inner = key.partition("__")
        held = params.get(name, getattr(model, name, None))
        if inner and (isinstance(held, Piece) or (held is None and name in model._defaults)):
            nested.setdefault(name, {})[inner] = value
        else:
            plain[key] = value
    return plain, nested


def changed(value: Piece | None, choices: Sequence[Piece], changes: dict[str, Any]) -> Piece:
    """Return a piece with other parameters; for None, the first of the choices that has such parameters."""
    if value is None:
        wanted = {key.partition("__")[0] for key in changes}
        value = next((piece for piece in choices if wanted <= set(piece.get_params(deep=False))), choices[0])
    return value.with_params(**changes)
