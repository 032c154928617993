"""The functions for an array, a float or an enclosure, and the way between the host and where the data are.

The most common types are recognised without a search. `on_host` is the only way by which numbers leave a device.
"""

from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from atomsieve.numerics import balls, scalars
from atomsieve.numerics.enclosures import Enclosure


def array_namespace(array: Any) -> Any:
    """Return the namespace of an array (array API standard), of a float, or of an enclosure.

    >>> array_namespace(0.5).log1p(0.0), array_namespace(Enclosure.exact(0.5)).__name__
    (0.0, 'atomsieve.numerics.balls')
    """
    kind = type(array)
    if kind is np.ndarray:
        return np
    if kind is float or isinstance(array, (float, int)):
        return scalars
    return balls if kind is Enclosure else array_api_compat.array_namespace(array)


def is_foreign(value: Any) -> bool:
    """Return whether a value is an array of another library than NumPy."""
    return not isinstance(value, (np.ndarray, np.generic)) and bool(array_api_compat.is_array_api_obj(value))


def on_host(array: Any) -> NDArray[Any]:
    """Return an array of any library as a NumPy array that may be changed; one of NumPy is not copied."""
    if isinstance(array, np.ndarray):
        return array
    if array_api_compat.is_torch_array(array):
        moved = array.detach().cpu()
        return np.asarray(
            (moved.float() if "bfloat16" in str(moved.dtype) else moved).numpy()
        )  # NumPy has no such type
    if array_api_compat.is_cupy_array(array):
        return np.asarray(array.get())
    if array_api_compat.is_dask_array(array):
        return np.asarray(array.compute())
    try:
        return np.require(array, requirements="W")
    except RuntimeError:  # it is on a device that NumPy cannot read
        info = array_namespace(array).__array_namespace_info__()
        return np.asarray(array_api_compat.to_device(array, info.default_device()))


def like(numbers: Any, array: Any) -> Any:
    """Return numbers of the host as doubles in the library and on the device of an array."""
    if type(array) is np.ndarray:
        return np.asarray(numbers, dtype=np.float64)
    xp: Any = array_namespace(array)
    given = np.ascontiguousarray(numbers, dtype=np.float64).reshape(np.shape(numbers))
    if array_api_compat.is_dask_array(array):
        return _in_chunks(given, array)
    return xp.asarray(given, dtype=xp.float64, device=array_api_compat.device(array), copy=True)


def places_in(index: NDArray[np.intp], array: Any) -> Any:
    """Return positions in the library and on the device of an array."""
    xp: Any = array_namespace(array)
    given = np.ascontiguousarray(index, dtype=np.int64)
    return xp.asarray(given, dtype=xp.int64, device=array_api_compat.device(array), copy=True)


def held(array: Any) -> Any:
    """Return an array whose numbers are there: those of dask are computed on its workers, and stay."""
    return array if type(array) is np.ndarray or not array_api_compat.is_dask_array(array) else array.persist()


def _in_chunks(numbers: NDArray[np.float64], array: Any) -> Any:
    """Return numbers as a dask array: in the chunks of another one if they are as long as that, or in one chunk."""
    import dask.array as da  # noqa: PLC0415 -- who has a dask array has dask

    if not (numbers.ndim and numbers.shape[0] == array.shape[0]):
        return da.from_array(numbers, chunks=numbers.shape)
    return da.from_array(numbers, chunks=(array.chunks[0], *numbers.shape[1:])).persist()
