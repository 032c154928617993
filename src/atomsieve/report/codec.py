"""Frozen dataclasses as JSON, and back: the annotations of the fields say what a file must hold.

Fields are text, truth values, whole numbers, finite numbers, None, tuples and dataclasses of these.
"""

import math
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")

WORDS = {str: "text", bool: "true or false", int: "a whole number", float: "a finite number", NoneType: "null"}


def encode(value: Any) -> Any:
    """Return a value as plain data for JSON."""
    if is_dataclass(value):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    return [encode(item) for item in value] if isinstance(value, tuple) else value


def decode(kind: type[T], plain: Any, where: str = "the file") -> T:
    """Return the value of a kind that plain data describe; raise ValueError where they describe none.

    >>> decode(tuple[int, ...], [1, 2])
    (1, 2)
    >>> decode(tuple[int, ...], [1, "two"])
    Traceback (most recent call last):
    ...
    ValueError: the file[1] must be a whole number, got 'two'.
    """
    value: Any
    if is_dataclass(kind):
        value = _decode_fields(kind, plain, where)
    elif isinstance(kind, UnionType):
        value = None if plain is None else decode(_held(kind), plain, where)
    elif get_origin(kind) is tuple:
        value = _decode_tuple(get_args(kind), plain, where)
    else:
        value = _decode_scalar(kind, plain, where)
    return value  # type: ignore[no-any-return]


def _held(kind: UnionType) -> Any:
    """Return what an optional field holds where it is not None."""
    return next(part for part in get_args(kind) if part is not NoneType)


def _decode_fields(kind: type, plain: Any, where: str) -> Any:
    names = {field.name for field in fields(kind)}
    if not isinstance(plain, dict) or set(plain) != names:
        got = ", ".join(sorted(map(str, plain))) if isinstance(plain, dict) else type(plain).__name__
        raise ValueError(f"{where} must hold {', '.join(sorted(names))}, got {got}.")
    hints = get_type_hints(kind)
    return kind(**{name: decode(hints[name], plain[name], f"{where}.{name}") for name in plain})


def _decode_tuple(kinds: tuple[Any, ...], plain: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(plain, list):
        raise ValueError(f"{where} must be a list, got {plain!r:.60}.")  # noqa: TRY004 -- a file, not an argument
    if kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(plain)
    if len(kinds) != len(plain):
        raise ValueError(f"{where} must hold {len(kinds)} items, got {len(plain)}.")
    return tuple(decode(kind, item, f"{where}[{k}]") for k, (kind, item) in enumerate(zip(kinds, plain, strict=True)))


def _decode_scalar(kind: Any, plain: Any, where: str) -> Any:
    if type(plain) is not kind or (kind is float and not math.isfinite(plain)):
        raise ValueError(f"{where} must be {WORDS[kind]}, got {plain!r:.60}.")
    return plain
