"""Forms: what a value in a file must be, and one walk that refuses what does not fit."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .verdict import Refused, Unknown


@dataclass(frozen=True)
class Leaf:
    """A value that is not an object: its description in words, and a test for it."""

    words: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True)
class OrNull:
    """A form, or null."""

    form: Any


@dataclass(frozen=True)
class Optional:
    """The form of a key that may be left out."""

    form: Any


@dataclass(frozen=True)
class Kinds:
    """An object whose `type` says which parameters it has."""

    role: str
    kinds: dict[str, dict[str, Any]]


def check_form(value: Any, form: Any, place: str) -> None:
    """Refuse a value that does not fit a form, and say where the fault is.

    A form is a leaf, a list of one form (for lists of any length) or a dictionary of forms (for objects with exactly
    these keys).
    """
    form = _stands_for(value, form, place)
    if isinstance(form, Leaf):
        if not form.fits(value):
            raise Refused(f"the file is malformed: {place} must be {form.words}, not {shown(value)}")
    elif isinstance(form, list):
        _check_list(value, form[0], place)
    else:
        _check_keys(value, form, place)
        for key in value:
            check_form(value[key], form[key], f"{place}.{key}" if place else key)


def _stands_for(value: Any, form: Any, place: str) -> Any:
    """Return the leaf, list or dictionary that a form means for this value."""
    if isinstance(form, Optional):
        form = form.form
    if callable(form):
        form = form(value)
    if isinstance(form, OrNull):
        form = NULL if value is None else form.form
    return _kind(value, form, place) if isinstance(form, Kinds) else form


def _check_list(value: Any, form: Any, place: str) -> None:
    if not isinstance(value, list):
        raise Refused(f"the file is malformed: {place} must be a list")
    if isinstance(form, Leaf) and all(map(form.fits, value)):
        return
    for k, part in enumerate(value):
        check_form(part, form, f"{place}[{k}]")


def _check_keys(value: Any, form: dict[str, Any], place: str) -> None:
    where = place or "the file"
    if not isinstance(value, dict):
        raise Refused(f"the file is malformed: {where} must be an object")
    for key, part in form.items():
        if key not in value and not isinstance(part, Optional):
            raise Refused(f"the file is malformed: {where} lacks {key!r}")
    for key in value:
        if key not in form:
            raise Refused(f"the file is malformed: {where} has {shown(key)}, which is not known to this checker")


def _kind(value: Any, form: Kinds, place: str) -> dict[str, Any]:
    """Return the form of a piece."""
    if not isinstance(value, dict) or type(value.get("type")) is not str:
        raise Refused(f"the file is malformed: {place} has no type")
    if value["type"] not in form.kinds:
        raise Unknown(f"the {form.role} {value['type'][:40]} is not known to this checker")
    return {"type": TEXT} | form.kinds[value["type"]]


def shown(value: Any) -> str:
    """Return a short text of a value, for messages."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _is_whole(value: Any) -> bool:
    return type(value) is int and abs(value) <= 2**53


def _is_number(value: Any) -> bool:
    return (type(value) is float and math.isfinite(value)) or _is_whole(value)


def _is_increasing(value: Any) -> bool:
    whole = isinstance(value, list) and all(_is_whole(v) for v in value)
    return whole and all(a < b for a, b in zip([-1, *value], value))


TEXT = Leaf("a text", lambda v: type(v) is str)
TRUTH = Leaf("true or false", lambda v: type(v) is bool)
WHOLE = Leaf("a whole number", _is_whole)
COUNT = Leaf("a whole number that is not negative", lambda v: _is_whole(v) and v >= 0)
NUMBER = Leaf("a number", _is_number)
BOUND = Leaf("a number or null", lambda v: v is None or _is_number(v))
POSITIVE = Leaf("a positive number", lambda v: _is_number(v) and v > 0)
PRICE = Leaf('a number that is not negative, or "inf"', lambda v: v == "inf" or (_is_number(v) and v >= 0))
EXPONENT = Leaf('a number greater than 1, or "inf"', lambda v: v == "inf" or (_is_number(v) and v > 1))
ERROR = Leaf("a finite number that is not negative", lambda v: _is_number(v) and v >= 0)
NULL = Leaf("null", lambda v: v is None)
NON_NEGATIVE = Leaf('"NonNegative"', lambda v: v == "NonNegative")
INDICES = Leaf("increasing whole numbers", _is_increasing)
SIGN = Leaf("1 or -1", lambda v: type(v) is int and v in (1, -1))
CLASSES = Leaf("a whole number, 2 or more", lambda v: _is_whole(v) and v >= 2)
