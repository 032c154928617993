"""Plain data, unusual forms of it, and what it means that two runs agree."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from atomsieve import (
    GCG,
    L1,
    L2,
    Atoms,
    Away,
    Ball,
    Corrective,
    Group,
    Huber,
    Image,
    LinearSquare,
    LineSearch,
    LInf,
    LogBarrier,
    Logistic,
    Multinomial,
    NonNegative,
    Pairwise,
    Power,
    Problem,
    Scaled,
    ShortStep,
    Simplex,
    Square,
    Squared,
    SquaredHinge,
    solve,
)

N, D = 24, 6
RNG = np.random.default_rng(1)
X = RNG.normal(size=(N, D))
SCORES = X @ np.array([1.0, -2.0, 0.0, 0.0, 0.5, 0.0]) + 0.5 * RNG.normal(size=N)
WHOLE = RNG.integers(0, 256, size=(N, D)).astype(float)
BITS = (RNG.random(size=(N, D)) < 0.4).astype(float)

TARGETS = {
    Squared(): SCORES,
    Huber(0.5): SCORES,
    Logistic(): np.where(SCORES + RNG.normal(size=N) > 0, 1.0, -1.0),
    SquaredHinge(): np.where(SCORES + RNG.normal(size=N) > 0, 1.0, -1.0),
    Multinomial(): np.digitize(SCORES + RNG.normal(size=N), [-1.0, 1.0]),
}
GAUGES = [
    L1(),
    L1([1.0, 2.0, 0.5, 1.0, 1.0, 3.0]),
    L1(positive=[True, False, True, False, False, True]),
    NonNegative(),
    Simplex(),
    Group([0, 0, 1, 1, 2, 2]),
    Group([0, 1, 0, 2, 1, 2], [1.0, 2.0, 0.5]),
    L2(),
    LInf(),
    Scaled(L1(), 3.0),
    Image(L1(), np.tril(np.ones((D, D)))),
    Atoms(np.hstack([np.eye(D), -np.eye(D), np.ones((D, 1))])),
]
PENALTIES = [Square(0.1), Power(0.1, 3.0), Power(0.1, np.inf), Ball(1.5), LogBarrier(1.5, 2.0), LinearSquare(0.05, 0.1)]
METHODS = [GCG(), GCG(LineSearch()), GCG(ShortStep()), Away(), Pairwise(), Corrective()]

every_loss = pytest.mark.parametrize("loss", TARGETS, ids=lambda loss: type(loss).__name__)
every_gauge = pytest.mark.parametrize("gauge", GAUGES, ids=lambda gauge: type(gauge).__name__)
every_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=lambda penalty: type(penalty).__name__)
every_method = pytest.mark.parametrize("method", METHODS, ids=repr)
every_walk = pytest.mark.parametrize("method", METHODS[:-1], ids=repr)  # Corrective is done after a step or two
dense_and_sparse = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
with_and_without_intercept = pytest.mark.parametrize("intercept", [False, True])


def answer(matrix, y=SCORES, **pieces):
    """Return the result of a problem, solved to high precision."""
    return solve(Problem(matrix, y, **{"penalty": Square(0.1), **pieces}), Pairwise(), tol=1e-10)


def quick_answer(matrix, y=SCORES, *, start=None, method=Pairwise(), **pieces):  # noqa: B008
    """Return the result of a problem, solved to the accuracy that every gauge and method reaches soon."""
    return solve(Problem(matrix, y, **{"penalty": Square(0.1), **pieces}), method, tol=0.002, start=start)


def assert_same(result, other, atol=1e-4):
    """Both runs found the optimum, and it is the same one."""
    assert result.converged
    assert other.converged
    np.testing.assert_allclose(result.objective, other.objective, rtol=1e-8)
    np.testing.assert_allclose(result.x, other.x, atol=atol)
    np.testing.assert_allclose(result.intercept, other.intercept, atol=atol)


def assert_same_value(result, other):
    """Both runs came close to the optimum, and their bounds of it agree."""
    for run in (result, other):
        assert run.gap <= 0.01 * run.problem.baseline
    slack = 1e-10 * result.problem.baseline
    assert result.dual <= other.objective + slack
    assert other.dual <= result.objective + slack


def assert_sound(result):
    """No number of a result is missing or beyond its bound."""
    assert np.isfinite(result.x).all()
    assert np.isfinite(result.intercept).all()
    assert np.isfinite(result.free).all()
    assert np.isfinite(result.objective)
    assert result.gap >= 0
    assert result.dual <= result.objective
    assert str(result.status).endswith(".")


def strided(matrix):
    wide = np.zeros((len(matrix), 2 * matrix.shape[1]))
    wide[:, ::2] = matrix
    return wide[:, ::2]


def read_only(matrix):
    frozen = matrix.copy()
    frozen.flags.writeable = False
    return frozen


def with_long_indices(matrix):
    longer = sparse.csr_array(matrix)
    return sparse.csr_array(
        (longer.data, longer.indices.astype(np.int64), longer.indptr.astype(np.int64)), longer.shape
    )


def with_unsorted_indices(matrix):
    """Store every row backwards."""
    rows = [np.flatnonzero(row)[::-1] for row in matrix]
    data = np.concatenate([row[index] for row, index in zip(matrix, rows, strict=True)])
    indptr = np.cumsum([0] + [len(index) for index in rows])
    return sparse.csr_array((data, np.concatenate(rows), indptr), matrix.shape)


def with_duplicates(matrix):
    """Store every entry as two halves."""
    entries = sparse.coo_array(matrix)
    halves = np.tile(entries.data / 2, 2)
    return sparse.coo_array((halves, (np.tile(entries.row, 2), np.tile(entries.col, 2))), matrix.shape)


def with_duplicates_in_rows(matrix):
    rows, columns = matrix.shape
    data = np.repeat(matrix.ravel() / 2, 2)
    return sparse.csr_array((data, np.tile(np.repeat(np.arange(columns), 2), rows), 2 * columns * np.arange(rows + 1)))


def with_explicit_zeros(matrix):
    rows, columns = matrix.shape
    return sparse.csr_array((matrix.ravel(), np.tile(np.arange(columns), rows), columns * np.arange(rows + 1)))


def frozen_sparse(matrix):
    frozen = with_unsorted_indices(matrix)
    for part in (frozen.data, frozen.indices, frozen.indptr):
        part.flags.writeable = False
    return frozen


FORMS = {
    "float32": lambda a: a.astype(np.float32),
    "float16": lambda a: a.astype(np.float16),
    "long double": lambda a: a.astype(np.longdouble),
    "big endian": lambda a: a.astype(">f8"),
    "int64": lambda a: a.astype(np.int64),
    "uint8": lambda a: a.astype(np.uint8),
    "Fortran order": np.asfortranarray,
    "strided columns": strided,
    "strided rows": lambda a: np.repeat(a, 2, axis=0)[::2],
    "rows backwards": lambda a: a[::-1].copy()[::-1],
    "columns backwards": lambda a: a[:, ::-1].copy()[:, ::-1],
    "transpose of a view": lambda a: strided(a.T).T,
    "slice of a cube": lambda a: np.stack([a, a], axis=2)[:, :, 1],
    "read-only": read_only,
    "list of lists": lambda a: a.tolist(),
    "tuple of tuples": lambda a: tuple(map(tuple, a)),
    "list of arrays": list,
    "data frame": lambda a: pd.DataFrame(a, index=np.arange(len(a))[::-1]),
    "data frame of float and int": lambda a: pd.DataFrame(a).astype({0: int}),
    "data frame of nullable int": lambda a: pd.DataFrame(a).astype("Int64"),
    "data frame of float and nullable int": lambda a: pd.DataFrame(a).astype({0: "Int64"}),
    "csr matrix": sparse.csr_matrix,
    "csr array": sparse.csr_array,
    "csc matrix": sparse.csc_matrix,
    "csc array": sparse.csc_array,
    "coo matrix": sparse.coo_matrix,
    "coo array": sparse.coo_array,
    "lil array": sparse.lil_array,
    "dok array": sparse.dok_array,
    "bsr array": sparse.bsr_array,
    "dia array": sparse.dia_array,
    "sparse float32": lambda a: sparse.csr_array(a.astype(np.float32)),
    "sparse uint8": lambda a: sparse.csc_array(a.astype(np.uint8)),
    "int64 indices": with_long_indices,
    "unsorted indices": with_unsorted_indices,
    "duplicate entries": with_duplicates,
    "duplicate entries in rows": with_duplicates_in_rows,
    "explicit zeros": with_explicit_zeros,
    "read-only sparse": frozen_sparse,
}
BOOLEAN_FORMS = {
    "bool": lambda a: a.astype(bool),
    "list of bool": lambda a: a.astype(bool).tolist(),
    "sparse bool": lambda a: sparse.csr_array(a.astype(bool)),
    "data frame of bool": lambda a: pd.DataFrame(a.astype(bool)),
    "data frame of float and bool": lambda a: pd.DataFrame(a).astype({0: bool}),
    "data frame of int and bool": lambda a: pd.DataFrame(a.astype(int)).astype({0: bool}),
    "data frame of nullable bool": lambda a: pd.DataFrame(a.astype(bool)).astype("boolean"),
}
VECTORS = {
    "float32": lambda v: v.astype(np.float32),
    "big endian": lambda v: v.astype(">f8"),
    "int8": lambda v: v.astype(np.int8),
    "strided": lambda v: np.repeat(v, 2)[::2],
    "backwards": lambda v: v[::-1].copy()[::-1],
    "read-only": read_only,
    "list": lambda v: v.tolist(),
    "tuple": tuple,
    "series": lambda v: pd.Series(v, index=np.arange(len(v))[::-1]),
    "series of nullable int": lambda v: pd.Series(v).astype("Int64"),
}
every_vector = pytest.mark.parametrize("form", VECTORS.values(), ids=VECTORS.keys())

HARD = Problem(RNG.normal(size=(60, 40)), RNG.normal(size=60), penalty=Square(0.01))
