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
from atomsieve.design.jumps import Jumps
from atomsieve.design.metered import Meter, Metered
from atomsieve.design.product import ProductDesign
from atomsieve.design.repeated import RepeatedDesign
from atomsieve.design.selected import SelectedDesign
from atomsieve.design.sparse import SparseDesign
from atomsieve.design.stack import StackDesign
from atomsieve.design.steps import Steps
from atomsieve.design.tree import TreeSteps, spanning
from atomsieve.intake.arguments import as_numbers, require_known
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
    "Jumps",
    "Meter",
    "Metered",
    "ProductDesign",
    "RepeatedDesign",
    "SelectedDesign",
    "SparseDesign",
    "StackDesign",
    "Steps",
    "TreeSteps",
    "as_design",
    "as_slice",
    "is_narrow",
    "require_entries",
    "spanning",
]


def require_entries(X: Any, name: str = "X") -> None:
    """Refuse an operator in plain words: proofs need the entries of X, not only its products."""
    if callable(getattr(X, "matvec", None)) and not hasattr(X, "__array__"):
        raise TypeError(
            f"{name} is a {type(X).__name__}, and its entries are needed: pass an array or a sparse matrix, or "
            "Problem(A, y, gauge=Image(gauge, Q)) for a product A Q."
        )


def as_design(X: Any, name: str = "X") -> Design:
    """Return the design of a two-dimensional array, data frame or sparse matrix; refuse anything else."""
    if isinstance(X, Jumps):
        return X
    require_entries(X, name)
    X = X.tocsr() if isinstance(X, Completion) else X
    kept = issparse(X) or is_foreign(X) or is_stored(X)
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
        raise ValueError(
            f"{name} contains NaN or infinite values. Impute or remove them first "
            "(for example with sklearn.impute.SimpleImputer)."
        )
    found: Design = design
    return found


def _design_of(X: Any, name: str) -> Any:
    """Return the design of a matrix of two dimensions that is not empty."""
    if issparse(X):
        return SparseDesign.of(X, name)
    if is_foreign(X):
        require_known(X, name)
        return DaskDesign.of(X, name) if is_dask_array(X) else ArrayDesign.of(X, name)
    return ChunkedDesign(HeldRows(X)) if is_stored(X) or is_narrow(X) else DenseDesign.of(X, name)


def is_narrow(X: NDArray[Any]) -> bool:
    """Return whether numbers are narrower than doubles, and so many that they are widened chunk by chunk."""
    return X.dtype.itemsize < np.dtype(np.float64).itemsize and X.size > CHUNK


def is_stored(X: Any) -> bool:
    """Return whether X is a file of numbers that is read by rows (Zarr, HDF5)."""
    return type(X).__module__.partition(".")[0] in ("zarr", "h5py") and hasattr(X, "dtype") and X.dtype.kind in "fiub"
