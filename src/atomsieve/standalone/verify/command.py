"""The command line, and the files that it reads."""

import argparse
from typing import Any

import numpy as np

from .verification import verify


def _dense(archive: Any) -> np.ndarray:
    """Return a sparse matrix from a file of SciPy as a dense array; duplicate entries are added up."""
    if "indptr" in archive:
        inner, outer = archive["indices"], np.repeat(np.arange(len(archive["indptr"]) - 1), np.diff(archive["indptr"]))
        by_rows = bytes(archive["format"]).decode() == "csr"
        rows, columns = (outer, inner) if by_rows else (inner, outer)
    else:
        rows, columns = archive["row"], archive["col"]
    dense = np.zeros(tuple(archive["shape"]))
    np.add.at(dense, (rows, columns), archive["data"])
    return dense


def load(path: str) -> Any:
    """Read an array: .npy, .npz (one array, or a sparse matrix as SciPy stores it), or numbers in text."""
    if path.endswith(".npy"):
        return np.load(path, allow_pickle=False)
    if path.endswith(".npz"):
        archive = np.load(path, allow_pickle=False)
        if "shape" not in archive:
            return archive[archive.files[0]]
        return _dense(archive)
    return _text(path)


def _text(path: str) -> np.ndarray:
    """Return numbers in text, with commas or space between them; a first line that is no numbers names the columns."""
    with np.lib.npyio.DataSource().open(path, "rt", encoding="utf-8-sig") as file:
        first, line = next(((k, row) for k, row in enumerate(file, 1) if row.split("#")[0].strip()), (0, ""))
    comma = "," if "," in line else None
    named = not any(_is_number(field) for field in line.split(comma))
    try:
        return np.loadtxt(path, delimiter=comma, skiprows=first if named else 0, encoding="utf-8-sig")
    except ValueError as error:
        raise SystemExit(f"{path} holds something else than numbers: {error}") from None


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def main() -> int:
    """Check from the command line; the exit status is 0 for a valid certificate."""
    parser = argparse.ArgumentParser(prog="verify", description="Check a certificate against the data.")
    parser.add_argument("certificate", help="the JSON file")
    parser.add_argument("X", help="the design: .npy, .npz, or numbers in text")
    parser.add_argument("y", help="the targets")
    parser.add_argument("--weights", help="sample weights, if there were any")
    parser.add_argument("--free", help="unpenalised columns, if there were any")
    parser.add_argument("--offset", help="what was added to the predictions, if anything")
    given = parser.parse_args()
    weights, free, offset = (load(path) if path else None for path in (given.weights, given.free, given.offset))
    X = load(given.X)
    X = X[:, None] if X.ndim == 1 else X
    verdict = verify(given.certificate, X, load(given.y), sample_weight=weights, free=free, offset=offset)
    print(verdict)
    return 0 if verdict.valid else 1
