"""Small data files, and a way to call the command."""

import pytest
from patients import table
from typer.testing import CliRunner

from atomsieve.cli.app import app


@pytest.fixture
def call(monkeypatch, tmp_path):
    """Call the command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def data(tmp_path):
    """Write a file of numbers, a colour and a numeric outcome."""
    path = tmp_path / "data.csv"
    path.write_text(table())
    return path
