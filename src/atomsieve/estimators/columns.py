"""What a user knows of single features, by name, by position or by mask, as arrays; and features on a common scale."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import diags_array, issparse
from sklearn.preprocessing import StandardScaler

from atomsieve.gauges import L1, Gauge, Image
from atomsieve.gauges.coordinates import Coordinates
from atomsieve.intake.arguments import as_floats, is_number
from atomsieve.typing import Array, Index, Mask


def require_columns(X: Any) -> None:
    """Refuse a data frame without columns in plain words."""
    if hasattr(X, "columns") and len(X.columns) == 0:
        raise ValueError("X has no columns: a data frame with at least one feature is needed.")


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
    known = {} if names is None else {name: j for j, name in enumerate(names)}
    found = []
    for feature in chosen:
        if isinstance(feature, str):
            if feature not in known:
                hint = "X has no feature names; give positions" if names is None else "X has no feature of that name"
                raise ValueError(f"{parameter} names {feature!r}, but {hint}.")
            found.append(known[feature])
        elif isinstance(feature, (int, np.integer)) and -count <= feature < count:
            found.append(int(feature) % count)
        else:
            raise ValueError(f"{parameter} must hold feature names or positions below {count}, got {feature!r}.")
    return np.array(found, dtype=np.intp)


def without_penalty(gauge: Gauge, chosen: Any, count: int, names: Any) -> Gauge:
    """Return the gauge with some features left unpenalised."""
    mask = mask_of(chosen, count, names, "unpenalized")
    if not mask.any():
        return gauge
    if not isinstance(gauge, L1):
        raise TypeError(f"unpenalized features need gauge=L1(), got {gauge!r}.")
    weights = np.ones(count) if gauge.weights is None else gauge.weights
    return replace(gauge, weights=np.where(mask if weights.ndim == 1 else mask[:, None], 0.0, weights))


def scales_of(X: Any, weights: Array | None) -> Array:
    """Return the (weighted) standard deviation of each feature, 1 where it is constant."""
    whole: Any = X
    if issparse(X) and not whole.has_canonical_format:
        whole = whole.copy()
        whole.sum_duplicates()
    scales: Array = StandardScaler(with_mean=False).fit(whole, sample_weight=weights).scale_
    return scales


def rescaled(gauge: Gauge, scales: Array) -> Gauge:
    """Return the gauge that prices x as the given one prices `scales * x`, the coefficients of features of unit scale.

    No feature is touched: sparse data stay sparse and coefficients keep their own units. Centring is what the
    intercept does.
    """
    if not isinstance(gauge, Coordinates):
        return Image(gauge, diags_array(1.0 / scales, format="csc"))
    if gauge.weights is None:
        return replace(gauge, weights=scales)
    return replace(gauge, weights=gauge.weights * (scales if gauge.weights.ndim == 1 else scales[:, None]))
