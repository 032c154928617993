"""Columns of the data beside predictions."""

import csv

import numpy as np
import pytest
from patients import table


@pytest.fixture(autouse=True)
def _fitted(call, tmp_path):
    ids = [f"p{k}" if k else "" for k in range(60)]
    (tmp_path / "data.csv").write_text(table(**{"id": ids, '"size, cm"': np.arange(60) / 2}))
    answer = call("fit", "data.csv", "-t", "outcome", "--exclude", "id,colour", "--fraction", "0.3", "-q")
    assert answer.exit_code == 0, answer.output


def rows(text):
    return list(csv.reader(text.splitlines()))


def test_named_columns_stand_before_them_as_they_are_written(call, tmp_path):
    plain, kept = (
        rows(call("predict", "fitted", "data.csv").stdout),
        call("predict", "fitted", "data.csv", "--keep", "id,x0"),
    )
    found, source = rows(kept.stdout), rows((tmp_path / "data.csv").read_text())
    assert found[0] == ["x0", "id", "prediction"]
    assert [row[:2] for row in found[1:]] == [[row[0], row[source[0].index("id")]] for row in source[1:]]
    assert [row[2:] for row in found] == plain


def test_all_columns(call, tmp_path):
    found = rows(call("predict", "fitted", "data.csv", "--keep", "all").stdout)
    assert [row[:-1] for row in found] == rows((tmp_path / "data.csv").read_text())


def test_parquet_and_what_is_missing_there(call, tmp_path):
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    pandas.read_csv(tmp_path / "data.csv").to_parquet(tmp_path / "data.parquet")
    found = rows(call("predict", "fitted", "data.parquet", "--keep", "id").stdout)
    assert [row[0] for row in found[:3]] == ["id", "", "p1"]


def test_what_cannot_be_kept(call, tmp_path):
    answer = call("predict", "fitted", "data.csv", "--keep", "idd")
    assert answer.exit_code == 2
    assert "no column 'idd' (--keep). Did you mean 'id'?" in answer.stderr
    (tmp_path / "twice.csv").write_text((tmp_path / "data.csv").read_text().replace("colour", "prediction", 1))
    answer = call("predict", "fitted", "twice.csv", "--keep", "prediction")
    assert answer.exit_code == 2
    assert "has a column 'prediction' of its own" in answer.stderr
