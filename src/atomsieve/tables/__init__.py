"""Data files as numbers: CSV, TSV, Parquet, svmlight and NPZ; how columns become features is a record of its own."""

from atomsieve.tables.errors import TableError, closest
from atomsieve.tables.files import read_table
from atomsieve.tables.plan import Roles, plan
from atomsieve.tables.reading import Category, Reading, Samples
from atomsieve.tables.table import Selection, Table, named

__all__ = [
    "Category",
    "Reading",
    "Roles",
    "Samples",
    "Selection",
    "Table",
    "TableError",
    "closest",
    "named",
    "plan",
    "read_table",
]
