"""The core as it is built for every machine; `module.c` says what its functions read."""

from collections.abc import Mapping
from typing import Any

from atomsieve.typing import Array, Index, Mask

def take_blas(blas: Mapping[str, Any], lapack: Mapping[str, Any], /) -> None: ...
def store() -> Any: ...
def restricted(
    store: Any,
    columns: tuple[Any, ...],
    ids: Index,
    blocks: tuple[Any, ...],
    loss: tuple[int, float],
    samples: tuple[Any, ...],
    x: tuple[Array, Array, Array],
    line: tuple[float, float],
    target: float,
    caution: float,
    seconds: float,
    respond: bool,
    /,
) -> tuple[float, float, float, int, float]: ...
def quadratic(
    hessian: Array,
    z: Array,
    x: Array,
    blocks: tuple[Any, ...],
    line: tuple[float, float],
    value: float,
    target: float,
    seconds: float,
    respond: bool,
    /,
) -> tuple[float, float]: ...
def best(scores: Array, count: int, chosen: Mask, /) -> None: ...
def kept(
    scores: Array, spread: Array, lengths: Array, radius: float, doubt: float, floor: float, marks: Mask, /
) -> None: ...
def wide_vectors() -> bool: ...
