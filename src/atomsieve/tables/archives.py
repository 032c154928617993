"""Formats that hold numbers, not text: Parquet, svmlight, NPZ."""

import re
from dataclasses import replace
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from atomsieve.intake.extras import install
from atomsieve.intake.whole import beyond, rounded_in
from atomsieve.tables.errors import TableError, exclusion, listed
from atomsieve.tables.missing import missing_in, require_complete, require_finite, require_whole
from atomsieve.tables.table import Selection, Table


def read_parquet(path: str, selection: Selection) -> Table:
    """Read the columns of a Parquet file."""
    try:
        import pyarrow as pa  # noqa: PLC0415 -- optional
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError:
        raise TableError(install(f"{path} is a Parquet file, which needs", "pyarrow")) from None
    try:
        names = parquet.read_schema(path).names
        selection = selection.among(path, names)
        read = parquet.read_table(path, columns=[name for name in names if selection.takes(name)])
    except pa.ArrowInvalid as error:
        raise TableError(f"{path} is no Parquet file: {error}") from None
    null = {name: read.column(name).null_count for name in read.column_names}
    columns = {name: _arrow_column(path, name, read.column(name), selection) for name in read.column_names}
    texts = {name: column for name, column in columns.items() if column.dtype.kind == "U"}
    last = [name for name in selection.last if name in columns and name not in texts]
    numbers = [name for name in columns if name not in texts and name not in last] + last
    matrix = np.empty((read.num_rows, len(numbers)), order="F")
    for j, name in enumerate(numbers):
        matrix[:, j] = columns.pop(name)
    require_complete(path, null | missing_in(matrix, numbers), read.num_rows, selection)
    require_finite(path, matrix, numbers)
    unread = tuple(name for name in names if not selection.takes(name))
    return Table(path, matrix, tuple(numbers), texts, unread=unread)


def _arrow_column(path: str, name: str, column: Any, selection: Selection) -> NDArray[Any]:
    """Return a column as numbers or text."""
    import pyarrow as pa  # noqa: PLC0415 -- optional

    if selection.verbatim:
        return np.asarray(["" if value is None else str(value) for value in column.to_pylist()], dtype=str)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_temporal(kind) and not selection.as_text(name):
        raise TableError(dates(path, name))
    if (
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
    ):
        if not selection.as_text(name):
            if pa.types.is_integer(kind):
                require_whole(path, name, rounded_in(column.cast(kind).drop_null().to_numpy()), selection)
            return np.asarray(column.cast(pa.int8() if pa.types.is_boolean(kind) else pa.float64(), safe=False))
    elif not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_temporal(kind)):
        raise TableError(f"Column {name!r} of {path} holds {kind}, neither numbers nor text: {exclusion([name])}.")
    return np.asarray(column.cast(pa.string()).to_pylist(), dtype=str)


def dates(path: str, name: str) -> str:
    """Return what to say about a column of dates."""
    return (
        f"Column {name!r} of {path} holds dates, which are no numbers. Turn them into what matters (days since a date, "
        f"month, weekday), or leave the column out: {exclusion([name])}."
    )


def read_svmlight(path: str, selection: Selection) -> Table:
    """Read sparse features and their targets; features are named by their number in the file, x1, x2, ..."""
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415 -- slow to import

    try:
        matrix, y = load_svmlight_file(path, zero_based=True)
    except (ValueError, OverflowError) as error:
        raise TableError(f"{path} is no svmlight file: {error}.") from None
    _require_rows(path, matrix)
    first = 0 if matrix[:, [0]].nnz or "x0" in (selection.only or ()) else 1
    matrix = _widened(matrix, selection)[:, first:]
    names = tuple(f"x{j}" for j in range(first, first + matrix.shape[1]))
    return _chosen(Table(path, matrix, names, {"y": y}, "y"), selection)


def _widened(matrix: Any, selection: Selection) -> Any:
    """Return a matrix with all features that are asked for: those beyond the last one in a file are zero."""
    asked = [int(name[1:]) + 1 for name in selection.only or () if re.fullmatch(r"x\d+", name)]
    if max(asked, default=0) <= matrix.shape[1]:
        return matrix
    wider = matrix.copy()
    wider.resize((matrix.shape[0], max(asked)))
    return wider


def read_npz(path: str, selection: Selection) -> Table:
    """Read X and y (with `names`, `offset`, `weights` if there are any), or a sparse matrix of SciPy and y."""
    try:
        archive = np.load(path, allow_pickle=False)
        arrays = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, BadZipFile, EOFError) as error:
        raise TableError(f"{path} is no archive of NumPy arrays: {error}") from None
    if "format" in arrays and "shape" in arrays:
        from scipy.sparse import load_npz  # noqa: PLC0415 -- slow to import

        stored: Any = load_npz(path)
        matrix: Any = stored.tocsr()
        arrays = {name: arrays[name] for name in ("y", "names", "offset", "weights") if name in arrays}
    elif "X" in arrays:
        matrix = arrays.pop("X")
    else:
        raise TableError(f"{path} holds {listed(arrays)}: it must hold X, or be a sparse matrix as SciPy saves it.")
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise TableError(f"X in {path} must be a matrix of numbers, got shape {matrix.shape} and type {matrix.dtype}.")
    _require_rows(path, matrix)
    names = tuple(str(name) for name in arrays.pop("names", [f"x{j}" for j in range(matrix.shape[1])]))
    if len(names) != matrix.shape[1] or len(set(names)) < len(names):
        raise TableError(f"names in {path} must be {matrix.shape[1]} different names, one for each column of X.")
    matrix = _in_doubles(path, "X", matrix)
    beside = {name: _vector(path, name, array, matrix.shape[0]) for name, array in arrays.items()}
    return _chosen(Table(path, matrix, names, beside, "y" if "y" in beside else None), selection)


def _vector(path: str, name: str, array: NDArray[Any], rows: int) -> NDArray[Any]:
    if array.shape != (rows,) or array.dtype.kind not in "fiubU":
        raise TableError(f"{name} in {path} must be {rows} numbers or texts, one for each row of X, got {array.shape}.")
    if array.dtype.kind == "U":
        return array
    return np.asarray(_in_doubles(path, name, array))


def _in_doubles(path: str, name: str, stored: Any) -> Any:
    """Return an array or a sparse matrix in doubles; refuse whole numbers that they do not hold."""
    odd = rounded_in(stored if isinstance(stored, np.ndarray) else stored.data)
    if odd is not None:
        raise TableError(f"{name} in {path} holds {beyond(odd)} Subtract a constant before saving {name}.")
    return stored.astype(np.float64, copy=False)


def _require_rows(path: str, matrix: Any) -> None:
    if 0 in matrix.shape:
        raise TableError(f"{path} holds no numbers: its matrix has shape {matrix.shape}.")


def _chosen(table: Table, selection: Selection) -> Table:
    """Return the columns that are chosen, if no number is missing; a matrix of which all are chosen is not copied."""
    selection = selection.among(table.path, table.columns)
    chosen = [j for j, name in enumerate(table.names) if selection.takes(name)]
    if len(chosen) < len(table.names):
        names = tuple(table.names[j] for j in chosen)
        unread = tuple(name for name in table.names if not selection.takes(name))
        table = replace(table, matrix=table.matrix[:, chosen], names=names, unread=unread)
    apart = [(column[:, None], (name,)) for name, column in table.beside.items() if column.dtype.kind == "f"]
    parts = [(table.matrix, table.names), *apart]
    missing = {name: count for part in parts for name, count in missing_in(*part).items()}
    told = selection if table.target is None else replace(selection, last=(*selection.last, table.target))
    require_complete(table.path, missing, table.rows, told)
    for matrix, names in parts:
        require_finite(table.path, matrix, names)
    return table
