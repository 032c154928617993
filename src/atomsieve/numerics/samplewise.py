"""Formulas over all samples, evaluated where these are: by chunks on the workers of dask, as they stand elsewhere.

A formula takes arrays of samples and returns what it makes of them: arrays of samples, sums and maxima over samples. On
the workers that is one task for each chunk, in NumPy, and all sums come back in one trip.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import array_api_compat
import numpy as np
from scipy.sparse import issparse

from atomsieve.numerics.namespace import on_host
from atomsieve.numerics.tasks import AT_ONCE, Errand, Trip, in_parts, made_anew, received, rows_of
from atomsieve.typing import Array, Samples


class Made(NamedTuple):
    """What a formula makes of samples."""

    arrays: tuple[Samples, ...] = ()
    """As long as the samples, and where they are."""

    sums: tuple[Any, ...] = ()
    """To be added up over all samples; on the host in the end."""

    maxima: tuple[Any, ...] = ()
    """The largest of all samples; on the host in the end."""


class Then(Protocol):
    """What follows in the same trip on what a formula makes."""

    found: list[Any]
    """What came back."""

    def follow(self, trip: Trip, made: list[Any], whole: Any) -> list[Any]:
        """Add its tasks; return nodes of what comes back. Given are the nodes of each `Made`, and that of the sums."""


def totals(formula: Callable[..., Made], *samples: Samples) -> tuple[Any, ...]:
    """Return the sums that a formula makes of all samples."""
    return numbers(formula, *samples).sums


def numbers(formula: Callable[..., Made], *samples: Samples, errand: Errand | None = None) -> Made:
    """Return the sums and maxima that a formula makes of all samples; a trip to the workers runs an errand as well."""
    if not in_chunks(samples[0]):
        return evaluate(formula, *samples)
    trip = Trip()
    asked = [sums_of(trip, formula, *map(trip.chunks, samples))]
    asked += [] if errand is None else [errand.start(trip)]
    (found, *brought), _ = trip.fetch(asked)
    if errand is not None:
        errand.found = brought[0]
    return Made((), found.sums, found.maxima)


def evaluate(formula: Callable[..., Made], *samples: Samples, then: Then | None = None) -> Made:
    """Return what a formula makes of all samples; on workers something may follow in the same trip."""
    if in_chunks(samples[0]):
        return _by_chunks(formula, samples, then)
    arrays, sums, maxima = formula(*samples)
    return Made(arrays, tuple(map(on_host, sums)), tuple(float(value) for value in maxima))


def lazily(formula: Callable[..., Samples], *samples: Samples) -> Samples:
    """Return the array of samples that a formula makes; on workers whoever reads it makes it anew."""
    return made_anew(formula, samples) if in_chunks(samples[0]) else formula(*samples)


def in_chunks(array: Any) -> bool:
    """Return whether an array is one of dask; NumPy arrays, the most common ones, are recognised without a search."""
    return type(array) is not np.ndarray and bool(array_api_compat.is_dask_array(array))


def sums_of(trip: Trip, formula: Callable[..., Made], *columns: Sequence[Any], given: Sequence[Any] = ()) -> Any:
    """Return the node of the sums and maxima that a formula makes of all chunks, in a trip that is being prepared.

    Its first arguments are what the nodes that are given make.
    """
    count = len(columns[0])
    task = partial(_summed, formula, len(given))
    return trip.joined(trip.each(task, *([node] * count for node in given), *columns), _added)


def arrays_of(made: Sequence[Any], k: int) -> list[Any]:
    """Return nodes for the chunks of an array that a formula makes in a trip that is being prepared."""
    from dask._task_spec import Task  # noqa: PLC0415

    return [Task(None, partial(_array, k=k), node) for node in made]


def _by_chunks(formula: Callable[..., Made], samples: tuple[Any, ...], then: Then | None) -> Made:
    trip = Trip()
    made = trip.each(partial(_host_made, formula), *map(trip.chunks, samples))
    whole = trip.joined(trip.each(_totals, made), _added)
    more = [] if then is None else then.follow(trip, made, whole)
    ((widths, sums, maxima), *found), kept = trip.fetch([whole, *more], made)
    if then is not None:
        then.found = found
    heights = samples[0].chunks[0]
    arrays = (in_parts(kept, partial(_array, k=k), heights, width) for k, width in enumerate(widths))
    return Made(tuple(arrays), sums, maxima)


def _host_made(formula: Callable[..., Made], *chunk: Array) -> Made:
    formula, chunk = received(formula), tuple(map(rows_of, chunk))
    with np.errstate(all="ignore"):
        parts = [formula(*part) for part in _in_blocks(chunk)]
    if len(parts) == 1:
        made: Made = parts[0]
        return made
    arrays = tuple(map(np.concatenate, zip(*(part.arrays for part in parts), strict=True)))
    return _added(parts)._replace(arrays=arrays)


def _in_blocks(chunk: tuple[Any, ...]) -> Iterator[tuple[Array, ...]]:
    """Yield some samples of a chunk at a time; sparse ones are not cut."""
    if issparse(chunk[0]):
        yield tuple(map(received, chunk))
        return
    count = len(chunk[0])
    for start in range(0, max(count, 1), AT_ONCE):
        yield tuple(part[start : start + AT_ONCE] for part in chunk)


def _summed(formula: Callable[..., Made], count: int, *chunk: Any) -> Made:
    return _totals(_host_made(partial(formula, *chunk[:count]), *chunk[count:]))


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
