"""Check what users pass: convert it to numbers and pieces, or refuse it in a sentence that names the argument."""

import os
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from array_api_compat import is_dask_array
from numpy.typing import NDArray
from scipy.sparse import issparse

from atomsieve.intake.columns import require_exact
from atomsieve.intake.whole import require_held
from atomsieve.numerics.namespace import is_foreign, on_host
from atomsieve.typing import Array, Mask

HOSTED = {"pandas", "polars", "pyarrow", "scipy", "numpy"}
"""Libraries whose tables and columns are in the memory of this process."""

COPIED = {
    "dask": "{0}.compute()",
    "torch": "{0}.numpy(force=True)",
    "cupy": "{0}.get()",
    "atomsieve": "pandas.read_parquet",
}
"""How an array of a library becomes one of NumPy, or a table in memory."""

EXAMPLES = {
    "Loss": " Write for example loss=Squared().",
    "Gauge": " Write for example gauge=L1().",
    "Penalty": " Write for example penalty=Square(0.1).",
    "Method": " Write for example solve(problem, Corrective()).",
    "Step": " Write for example GCG(LineSearch()).",
    "Problem": " Write solve(Problem(X, y, ...)).",
}


def as_array(value: Any, name: str) -> NDArray[Any]:
    """Return what is no array yet as an array."""
    if issparse(value):
        raise ValueError(f"{name} must be dense, not a sparse matrix: pass {name}.toarray().")
    if np.ma.is_masked(value):
        raise ValueError(f"{name} has masked (missing) entries. Impute or remove them first.")
    require_known(value, name)
    require_on_host(value, name)
    require_exact(value, name)
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a rectangular array of numbers: its rows differ in length.") from error


def require_read(X: Any) -> None:
    """Refuse the path of a file in the place of X, and a container of arrays: neither is an array."""
    if isinstance(X, (str, os.PathLike)):
        raise TypeError(
            f"X is the path {str(X)!r}, and not what the file holds: read it first, with np.load or pandas.read_csv "
            "for example."
        )
    if isinstance(X, Mapping) and not hasattr(X, "shape"):
        held = next(iter(X), "name")
        raise TypeError(f"X is a {type(X).__name__} of arrays, and not one of them: pass X[{held!r}].")


def library_of(value: Any) -> str:
    """Return the name of the library that a value comes from."""
    return type(value).__module__.partition(".")[0]


def is_lazy_frame(value: Any) -> bool:
    """Return whether a value is a data frame or a column of dask."""
    return library_of(value).startswith("dask") and hasattr(value, "to_dask_array")


def unframed(value: Any) -> Any:
    """Return the numbers of a data frame of dask as an array of dask, in its partitions; anything else as it is."""
    return value.to_dask_array(lengths=True) if is_lazy_frame(value) else value


def require_known(value: Any, name: str) -> None:
    """Refuse an array of a library that computes later, or that is not known, in plain words."""
    if library_of(value).startswith("dask") and not is_dask_array(value):
        raise TypeError(
            f"{name} is a dask {type(value).__name__}, which would be gathered into one array: pass its numbers as a "
            f"dask array, {name}.to_dask_array(lengths=True)."
        )


def require_on_host(value: Any, name: str) -> None:
    """Refuse arrays of other libraries, which would be copied without a word, and files of numbers."""
    library = library_of(value)
    whole = hasattr(value, "shape") and hasattr(value, "dtype") and not hasattr(value, "iloc")
    stored = whole and library not in HOSTED and not isinstance(value, (np.ndarray, np.generic))
    if is_foreign(value) or is_lazy_frame(value) or stored:
        copied = COPIED.get(library.partition("_")[0], "np.asarray({0})").format(name)
        beside = ", or pass X in the same library" if is_foreign(value) and name != "X" else ""
        raise TypeError(
            f"{name} is a {library} {type(value).__name__}, and would be copied into a NumPy array: do that yourself, "
            f"with {copied} where it fits into memory{beside}."
        )


def beside(value: Any, X: Any) -> Any:
    """Return what comes with the samples on the host, to be checked there: if it is in the library of X, or a list."""
    value = unframed(value) if is_dask_array(X) else value
    return on_host(value) if is_foreign(value) and is_foreign(X) and library_of(value) == library_of(X) else value


def as_numbers(value: Any, name: str) -> NDArray[Any]:
    """Return real numbers as an array of a numeric type; such an array is not copied."""
    array = value if type(value) is np.ndarray else as_array(value, name)
    if array.dtype == object and all(isinstance(entry, (Real, np.bool_)) for entry in array.ravel()):
        try:
            array = array.astype(np.float64)
        except OverflowError as error:
            raise ValueError(f"{name} holds numbers beyond the range of double precision. Rescale it.") from error
    if array.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} must hold real numbers, got {_kind(array)}. Encode labels as numbers (np.where, or scikit-learn's "
            "LabelEncoder) and drop what is not a number."
        )
    return array


def as_floats(value: Any, name: str) -> Array:
    """Return real numbers in double precision; refuse numbers outside its range."""
    return in_doubles(as_numbers(value, name), name)


def in_doubles(array: NDArray[Any], name: str) -> Array:
    """Return an array of real numbers in double precision; refuse numbers that it does not hold."""
    require_held(array, name)
    if array.dtype == np.float64:  # which numbers are, too, whose byte order is stated, as those of Zarr
        return array if array.dtype.byteorder == "=" else array.view(np.float64)
    with np.errstate(over="ignore"):
        floats = array.astype(np.float64, copy=False)
    if array.dtype.itemsize > 8 and (np.isinf(floats) & np.isfinite(array)).any():
        raise ValueError(f"{name} holds numbers beyond the range of double precision. Rescale it.")
    return floats


def as_mask(value: Any, name: str) -> Mask:
    """Return a list of truth values; refuse numbers, because the user may mean them as positions."""
    if np.ma.is_masked(value):
        raise ValueError(f"{name} has masked (missing) entries. Impute or remove them first.")
    if isinstance(value, np.ndarray) and value.dtype == np.bool_ and value.ndim == 1:
        return value
    array = np.asarray(value, dtype=object)
    if array.ndim != 1 or not all(isinstance(entry, (bool, np.bool_)) for entry in array):
        raise ValueError(f"{name} must be a list of truth values, one True or False per coordinate.")
    return array.astype(np.bool_)


def is_number(value: Any) -> bool:
    """Return whether a value is a single real number in the range of double precision; a truth value is no number."""
    if not isinstance(value, (float, int, Real, np.integer, np.floating)) or isinstance(value, (bool, np.bool_)):
        return False
    try:
        held = float(value)
    except OverflowError:
        return False
    return bool(held == value) if held in (0.0, np.inf, -np.inf) else True


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number."""
    return is_number(value) and bool(np.isfinite(float(value))) and value == int(value)


def shown(value: Any) -> str:
    """Return the text of a value for a message; a very long text is shortened."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write more than a few thousand digits
        return "a number of thousands of digits"
    return text if len(text) <= 100 else f"{text[:40]}... ({len(text)} characters)"


def require_positive(owner: object, **values: Any) -> None:
    """Refuse parameters of a piece that are not positive finite numbers; store the others as Python numbers."""
    for name, value in values.items():
        if not (is_number(value) and 0 < value < np.inf):
            raise ValueError(f"{type(owner).__name__}: {name} must be a positive finite number, got {shown(value)}.")
        keep_plain(owner, name, value)


def require_count(owner: object, **values: Any) -> None:
    """Refuse parameters of a piece that are not positive whole numbers; store the others as Python numbers."""
    for name, value in values.items():
        if not (is_whole(value) and value > 0):
            raise ValueError(f"{type(owner).__name__}: {name} must be a positive whole number, got {shown(value)}.")
        object.__setattr__(owner, name, int(value))


def keep_plain(owner: object, name: str, value: Any) -> None:
    """Store a parameter of a frozen piece as a Python number; a NumPy float32 would compute in single precision."""
    if type(value) not in (int, float) or abs(value) > 2**53:  # larger whole numbers may not be doubles
        object.__setattr__(owner, name, float(value))


def require_piece(name: str, piece: Any, kind: type) -> None:
    """Refuse anything but a piece of the given kind; the usual mistake is a class instead of an instance."""
    if isinstance(piece, type):
        raise TypeError(f"{name} must be an instance, not a class: write {piece.__name__}(...).")
    if not isinstance(piece, kind):
        example = EXAMPLES.get(kind.__name__, "")
        raise TypeError(f"{name} must be an atomsieve {kind.__name__}, got {type(piece).__name__}.{example}")


def keep_copy(owner: object, name: str, array: NDArray[Any]) -> None:
    """Store a read-only copy of an array in a frozen piece, so nobody can change the piece from outside."""
    copy = np.array(array)
    copy.flags.writeable = False
    object.__setattr__(owner, name, copy)


def _kind(array: NDArray[Any]) -> str:
    odd = next((entry for entry in array.ravel() if not isinstance(entry, Real)), None)
    return f"values such as {odd!r}" if array.dtype == object else f"dtype {array.dtype}"
