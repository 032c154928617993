"""Parquet files as X: a row group at a time, and only the columns that are asked for."""

import numpy as np
import pytest
from kinds import library

from atomsieve import Linear, Logistic, Parquet, Problem, solve
from atomsieve.design import ALL, FiledDesign, as_design

N, D = 700, 30
RNG = np.random.default_rng(5)
X = RNG.standard_normal((N, D)).astype(np.float32)
Y = np.where(X[:, :3].sum(axis=1) + RNG.standard_normal(N) > 0, 1.0, -1.0)
NAMES = [f"gene {j}" for j in range(D)]


@pytest.fixture
def folder(tmp_path):
    pa, pq = library("pyarrow"), library("pyarrow.parquet")
    for part, rows in enumerate((slice(0, 400), slice(400, N))):
        table = pa.table({"y": Y[rows], **dict(zip(NAMES, X[rows].T, strict=True))})
        pq.write_table(table, tmp_path / f"part-{part}.parquet", row_group_size=150)
    return tmp_path


def test_solutions_and_proofs(folder):
    table = Parquet(folder, leave_out=["y"])
    assert repr(table) == "Parquet(700 x 30, 5 row groups)"
    found = solve(Problem(table, table.column("y"), loss=Logistic(), penalty=Linear(0.05), intercept=True), tol=1e-12)
    expected = solve(Problem(X.astype(float), Y, loss=Logistic(), penalty=Linear(0.05), intercept=True), tol=1e-12)
    assert isinstance(found.problem.data.design, FiledDesign)
    assert np.abs(found.x - expected.x).max() <= 1e-9
    certificate = found.certificate()
    assert np.array_equal(certificate.zero, expected.certificate().zero)
    assert certificate.digest == expected.certificate().digest
    assert found.problem.data.names == tuple(NAMES)


def test_columns_are_read_alone(folder):
    design = as_design(Parquet(sorted(folder.glob("*.parquet")), leave_out=["y"]))
    traffic, each = design.file.traffic, X.itemsize * N
    assert design.file.dtype == np.float32
    traffic.bytes = 0
    assert np.array_equal(design.columns(np.array([3, 20])), X[:, [3, 20]])
    assert traffic.bytes == 2 * each
    assert np.array_equal(design.columns(ALL), X)
    rows, part = design.sample(100)
    assert 50 <= len(rows) <= 200
    assert np.array_equal(part.columns(ALL), X[rows])


def test_mistakes(folder):
    pa, pq = library("pyarrow"), library("pyarrow.parquet")
    with pytest.raises(TypeError, match="leave_out must be a list of names of columns"):
        Parquet(folder, leave_out="y")
    with pytest.raises(ValueError, match=r"leave_out names 'gen 3', which is no column. Did you mean 'gene 3'\?"):
        Parquet(folder, leave_out=["gen 3"])
    with pytest.raises(ValueError, match=r"column\(\) is asked for 'z', which is no column"):
        Parquet(folder).column("z")
    (folder / "text.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"text.csv is no Parquet file"):
        Parquet(folder / "text.csv")
    with pytest.raises(ValueError, match="source names no Parquet file"):
        Parquet([])
    pq.write_table(pa.table({"a": ["x"], "b": [1.0]}), folder / "text.parquet")
    with pytest.raises(ValueError, match="Column 'a' is of the type string"):
        Parquet(folder / "text.parquet")
    with pytest.raises(ValueError, match="different columns"):
        Parquet(folder)
    for name, values in {"whole": [1, None], "real": [1.0, None]}.items():
        pq.write_table(pa.table({"a": values}), folder / f"{name}.parquet")
        with pytest.raises(ValueError, match=r"missing values|NaN or infinite"):
            Problem(Parquet(folder / f"{name}.parquet"), [1.0, 2.0])


def test_types_and_the_order_of_columns_may_differ_from_file_to_file(tmp_path):
    pa, pq = library("pyarrow"), library("pyarrow.parquet")
    pq.write_table(pa.table({"a": [1, 2], "b": [1.5, 0.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"b": [7, 8], "a": [0.25, 0.5]}), tmp_path / "2.parquet")
    design = as_design(Parquet(tmp_path))
    assert design.columns(ALL).tolist() == [[1.0, 1.5], [2.0, 0.0], [0.25, 7.0], [0.5, 8.0]]
    pq.write_table(pa.table({"a": ["x"], "b": ["y"]}), tmp_path / "3.parquet")
    with pytest.raises(ValueError, match="Column 'a' is of the type string"):
        Parquet(tmp_path)


def test_whole_numbers_that_no_double_holds_are_refused(tmp_path):
    pa, pq = library("pyarrow"), library("pyarrow.parquet")
    large = [2**53 + 1, 5]
    for name, others in {"whole": [1, 2], "real": [1.5, 2.5]}.items():
        pq.write_table(pa.table({"a": large, "b": others}), tmp_path / f"{name}.parquet")
        with pytest.raises(
            ValueError, match="Column 'a' holds the whole number 9007199254740993, which would be rounde"
        ):
            Problem(Parquet(tmp_path / f"{name}.parquet"), [1.0, 2.0])
        with pytest.raises(ValueError, match="y holds the whole number 9007199254740993"):
            Problem([[1.0], [2.0]], Parquet(tmp_path / f"{name}.parquet").column("a"))
