"""The function `verify`: it imports the independent checker, which needs python-flint, only when it is called."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import is_dask_array
from scipy.sparse import issparse, vstack

from atomsieve.design import Completion, Parquet, file_of, is_stored
from atomsieve.design.distributed import by_rows
from atomsieve.intake.arguments import beside, require_read, unframed
from atomsieve.intake.extras import install

if TYPE_CHECKING:
    from atomsieve.standalone.verify import Verification


def verify(
    certificate: Any, X: Any, y: Any, *, sample_weight: Any = None, free: Any = None, offset: Any = None
) -> "Verification":
    """Check a certificate or its file against the data.

    A folder that shares no code with the solver derives every claim again from the data: in balls (python-flint) where
    a claim is close, in doubles with bounds of their rounding elsewhere. The chunks of a dask array and the pieces of
    a file (Zarr, HDF5, `Parquet`) are written to a file in the folder for temporary files, from which the checker
    reads: X need not fit into memory.

    >>> import numpy as np
    >>> from atomsieve import Problem, solve, verify
    >>> X, y = np.eye(3), [3.0, 0.2, 0.1]
    >>> verify(solve(Problem(X, y)).certificate(), X, y).valid
    True
    """
    try:
        checker = import_module("atomsieve.standalone.verify")
    except ImportError as error:
        raise ImportError(install("verify computes in ball arithmetic, which needs", "flint")) from error
    require_read(X)
    X = X.tocsr() if isinstance(X, Completion) else unframed(X)
    given = {"y": y, "sample_weight": sample_weight, "free": free, "offset": offset}
    with ExitStack() as stack:
        if is_dask_array(X):
            given = {name: beside(value, X) for name, value in given.items()}
            X = stack.enter_context(at_hand(X))
        elif isinstance(X, Parquet) or is_stored(X):
            file: Any = file_of(X)
            X = stack.enter_context(written(X.shape, (piece.entries for piece in file.rows(1))))
        verdict: Verification = checker.verify(certificate, X, **given)
    return verdict


@contextmanager
def at_hand(X: Any) -> Iterator[Any]:
    """Write the chunks of a dask array one by one to a file, and map it: no more of it than a chunk is in memory."""
    X = by_rows(X.compute_chunk_sizes() if np.isnan(X.shape[0]) else X)
    if issparse(X._meta):
        yield vstack([block.compute() for block in X.blocks], format="csr")
        return
    with written(X.shape, (X.blocks[k].compute() for k in range(len(X.chunks[0])))) as rows:
        yield rows


@contextmanager
def written(shape: tuple[int, int], blocks: Iterable[Any]) -> Iterator[Any]:
    """Write blocks of rows one by one to a file, and map it."""
    with TemporaryDirectory(prefix="atomsieve-") as folder:
        rows = np.lib.format.open_memmap(Path(folder) / "X.npy", mode="w+", dtype=np.float64, shape=shape)
        start = 0
        for block in blocks:
            rows[start : start + len(block)] = block
            start += len(block)
        rows.flush()
        rows.flags.writeable = False
        yield rows
        del rows  # Windows removes no file that is mapped
