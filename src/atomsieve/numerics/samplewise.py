"""Formulas over all samples, evaluated where these are: by chunks on the workers of dask, as they stand elsewhere.

A formula takes arrays of samples and returns what it makes of them: arrays of samples, sums and maxima over samples. An
expression of dask costs a millisecond for each operation before anything is computed; this costs one task for each
chunk, in NumPy, and the sums come back together.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import array_api_compat
import numpy as np

from atomsieve.numerics.enclosures import Enclosure
from atomsieve.numerics.namespace import on_host
from atomsieve.typing import Array, Samples

FAN_IN = 8
"""Partial results that one task joins."""


class Made(NamedTuple):
    """What a formula makes of samples."""

    arrays: tuple[Samples, ...] = ()
    """As long as the samples, and where they are."""

    sums: tuple[Any, ...] = ()
    """To be added up over all samples; on the host in the end."""

    maxima: tuple[Any, ...] = ()
    """The largest of all samples; on the host in the end."""


def totals(formula: Callable[..., Made], *samples: Samples) -> tuple[Any, ...]:
    """Return the sums that a formula makes of all samples."""
    if not _in_chunks(samples[0]):
        return evaluate(formula, *samples).sums
    import dask  # noqa: PLC0415

    run = dask.delayed(_summed, pure=False)
    made = [run(formula, *chunk) for chunk in zip(*map(chunks_of, samples), strict=True)]
    found: tuple[Any, ...] = joined(made, _added).compute().sums
    return found


def evaluate(formula: Callable[..., Made], *samples: Samples) -> Made:
    """Return what a formula makes of all samples."""
    if _in_chunks(samples[0]):
        return _by_chunks(formula, samples)
    arrays, sums, maxima = formula(*samples)
    return Made(arrays, tuple(map(on_host, sums)), tuple(float(value) for value in maxima))


def _in_chunks(array: Any) -> bool:
    """Return whether an array is one of dask; NumPy arrays, the most common ones, are recognised without a search."""
    return type(array) is not np.ndarray and bool(array_api_compat.is_dask_array(array))


def chunks_of(array: Any) -> list[Any]:
    """Return the chunks of an array of dask, each with all its columns."""
    whole = array.rechunk({1: -1}) if array.ndim > 1 and len(array.chunks[1]) > 1 else array
    return list(whole.to_delayed().ravel())


def received(value: Any) -> Any:
    """Return what came from another process with arrays that the core can read: messages may begin at any byte."""
    if isinstance(value, np.ndarray):
        return np.require(value, requirements=("ALIGNED",))
    if isinstance(value, Enclosure):
        return Enclosure(received(value.mid), received(value.rad))
    if isinstance(value, partial):
        return partial(value.func, *map(received, value.args), **{k: received(v) for k, v in value.keywords.items()})
    return tuple(map(received, value)) if type(value) is tuple else value


def joined(tasks: list[Any], join: Callable[[list[Any]], Any]) -> Any:
    """Return one task that joins the results of many, in a tree."""
    import dask  # noqa: PLC0415 -- who has an array of dask has dask

    step = dask.delayed(join, pure=False)
    while len(tasks) > 1:
        tasks = [step(tasks[start : start + FAN_IN]) for start in range(0, len(tasks), FAN_IN)]
    return tasks[0]


def _by_chunks(formula: Callable[..., Made], samples: tuple[Any, ...]) -> Made:
    import dask  # noqa: PLC0415
    import dask.array as da  # noqa: PLC0415

    run = dask.delayed(_host_made, pure=False)
    made = [run(formula, *chunk) for chunk in zip(*map(chunks_of, samples), strict=True)]
    whole = joined([dask.delayed(_totals, pure=False)(part) for part in made], _added)
    *kept, whole = dask.persist(*made, whole)
    arrays, sums, maxima = whole.compute()
    heights = samples[0].chunks[0]
    found = []
    for k, widths in enumerate(arrays):
        rows = [dask.delayed(_array, pure=False)(part, k) for part in kept]
        blocks = [
            da.from_delayed(row, (height, *widths), dtype=np.float64) for row, height in zip(rows, heights, strict=True)
        ]
        found.append(da.concatenate(blocks, axis=0))
    return Made(tuple(found), sums, maxima)


def _host_made(formula: Callable[..., Made], *chunk: Array) -> Made:
    with np.errstate(all="ignore"):
        made: Made = received(formula)(*map(received, chunk))
        return made


def _summed(formula: Callable[..., Made], *chunk: Array) -> Made:
    return _totals(_host_made(formula, *chunk))


def _array(made: Made, k: int) -> Array:
    return np.asarray(made.arrays[k])


def _totals(made: Made) -> Made:
    """Return sums and maxima, and in the place of arrays their widths."""
    maxima = tuple(float(value) for value in made.maxima)
    return Made(tuple(array.shape[1:] for array in made.arrays), tuple(map(np.asarray, made.sums)), maxima)


def _added(parts: list[Made]) -> Made:
    sums = tuple(sum(values) for values in zip(*(part.sums for part in parts), strict=True))
    maxima = tuple(float(np.max(values)) for values in zip(*(part.maxima for part in parts), strict=True))
    return Made(parts[0].arrays, tuple(map(np.asarray, sums)), maxima)
