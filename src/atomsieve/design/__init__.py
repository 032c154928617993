"""Designs: one file per kind of matrix. `as_design` is the only place that distinguishes the kinds."""

from typing import Any

from scipy.sparse import issparse

from atomsieve.design.base import ALL, Columns, Design, as_slice
from atomsieve.design.below import BelowDesign
from atomsieve.design.completion import Completion
from atomsieve.design.cumulated import CumulatedDesign
from atomsieve.design.dense import DenseDesign
from atomsieve.design.jumps import Jumps
from atomsieve.design.metered import Meter, Metered
from atomsieve.design.product import ProductDesign
from atomsieve.design.repeated import RepeatedDesign
from atomsieve.design.selected import SelectedDesign
from atomsieve.design.sparse import SparseDesign
from atomsieve.design.stack import StackDesign
from atomsieve.design.steps import Steps
from atomsieve.design.tree import TreeSteps, spanning
from atomsieve.intake.arguments import as_numbers

__all__ = [
    "ALL",
    "BelowDesign",
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
    sparse = issparse(X)
    X = X if sparse else as_numbers(X, name)
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
    design = SparseDesign.of(X, name) if sparse else DenseDesign.of(X, name)
    if not design.is_finite():
        raise ValueError(
            f"{name} contains NaN or infinite values. Impute or remove them first "
            "(for example with sklearn.impute.SimpleImputer)."
        )
    return design
