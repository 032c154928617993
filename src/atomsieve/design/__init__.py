"""Designs: one file per kind of matrix. `as_design` is the only place that distinguishes the kinds."""

from typing import Any

import numpy as np
from array_api_compat import is_dask_array
from numpy.typing import NDArray
from scipy.sparse import issparse

from atomsieve.design.array import ArrayDesign
from atomsieve.design.base import ALL, Columns, Design, as_slice
from atomsieve.design.below import BelowDesign
from atomsieve.design.chunked import CHUNK, ChunkedDesign, HeldRows
from atomsieve.design.completion import Completion
from atomsieve.design.cumulated import CumulatedDesign
from atomsieve.design.dense import DenseDesign
from atomsieve.design.distributed import DaskDesign
from atomsieve.design.filed import FiledDesign
from atomsieve.design.files import File, MappedFile, StoredFile
from atomsieve.design.jumps import Jumps
from atomsieve.design.metered import Meter, Metered
from atomsieve.design.operator import OperatorDesign, is_operator
from atomsieve.design.parquet import Parquet, RowGroups
from atomsieve.design.product import ProductDesign
from atomsieve.design.repeated import RepeatedDesign
from atomsieve.design.selected import SelectedDesign
from atomsieve.design.shelf import FileRows
from atomsieve.design.sparse import SparseDesign
from atomsieve.design.stack import StackDesign
from atomsieve.design.steps import Steps
from atomsieve.design.tree import TreeSteps, spanning
from atomsieve.intake.arguments import as_numbers, require_known
from atomsieve.intake.columns import names_of, not_finite
from atomsieve.numerics.namespace import is_foreign

__all__ = [
    "ALL",
    "ArrayDesign",
    "BelowDesign",
    "ChunkedDesign",
    "Columns",
    "Completion",
    "CumulatedDesign",
    "DenseDesign",
    "Design",
    "FiledDesign",
    "Jumps",
    "Meter",
    "Metered",
    "OperatorDesign",
    "Parquet",
    "ProductDesign",
    "RepeatedDesign",
    "SelectedDesign",
    "SparseDesign",
    "StackDesign",
    "Steps",
    "TreeSteps",
    "as_design",
    "as_slice",
    "design_of_data",
    "file_of",
    "is_narrow",
    "is_stored",
    "require_entries",
    "spanning",
]


def require_entries(X: Any, name: str = "X") -> None:
    """Refuse an operator in plain words, where its entries are needed and not only its products."""
    if is_operator(X):
        raise TypeError(
            f"{name} is a {type(X).__name__}, and its entries are needed: pass an array or a sparse matrix, or "
            "Problem(A, y, gauge=Image(gauge, Q)) for a product A Q. Problem(X, y) takes operators, without proofs."
        )


def as_design(X: Any, name: str = "X") -> Design:
    """Return the design of a two-dimensional array, data frame or sparse matrix; refuse anything else."""
    if isinstance(X, Jumps):
        return X
    require_entries(X, name)
    X = X.tocsr() if isinstance(X, Completion) else X
    names = names_of(X)
    kept = issparse(X) or is_foreign(X) or is_stored(X) or isinstance(X, Parquet)
    X = X if kept else as_numbers(X, name)
    shape = X.shape
    if len(shape) != 2:
        raise ValueError(
            f"{name} must have two dimensions (samples x features), got shape {tuple(shape)}. "
            f"For a single feature pass {name}.reshape(-1, 1)."
        )
    if 0 in shape:
        raise ValueError(
            f"{name} is empty: its shape is {tuple(shape)}. At least one sample and one feature are needed."
        )
    design: Any = _design_of(X, name)
    if not design.is_finite():
        raise ValueError(not_finite(X, name, names))
    found: Design = design
    return found


def design_of_data(X: Any) -> Design:
    """Return the design of X in a problem, which may be an operator, too."""
    return OperatorDesign.of(X, "X") if is_operator(X) else as_design(X)


def _design_of(X: Any, name: str) -> Any:
    """Return the design of a matrix of two dimensions that is not empty."""
    if issparse(X):
        return SparseDesign.of(X, name)
    if is_foreign(X):
        require_known(X, name)
        return DaskDesign.of(X, name) if is_dask_array(X) else ArrayDesign.of(X, name)
    file = file_of(X)
    if file is not None:
        return FiledDesign(FileRows(file))
    return ChunkedDesign(HeldRows(X)) if is_narrow(X) else DenseDesign.of(X, name)


def file_of(X: Any) -> File | None:
    """Return the file that X is read from, piece by piece; None if X is in memory."""
    if isinstance(X, Parquet):
        return RowGroups(X)
    return StoredFile(X) if is_stored(X) else MappedFile.of(X)


def is_narrow(X: NDArray[Any]) -> bool:
    """Return whether numbers are narrower than doubles, and so many that they are widened chunk by chunk."""
    return X.dtype.itemsize < np.dtype(np.float64).itemsize and X.size > CHUNK


def is_stored(X: Any) -> bool:
    """Return whether X is a file of numbers that is read by rows (Zarr, HDF5)."""
    return type(X).__module__.partition(".")[0] in ("zarr", "h5py") and hasattr(X, "dtype") and X.dtype.kind in "fiub"
