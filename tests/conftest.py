"""One thread for linear algebra, no deadlines, and which cells of a table the quick suite runs.

Problems are small, and tests run side by side. A test marked `thin(k)` has one cell in k of its table in the quick
suite: those where the places of the values in their lists add up to a multiple of k. With three lists or more of at
least k values each, every value still meets every value of another list. `make test-deep` runs the whole table.
"""

import os

import pytest
from hypothesis import settings

settings.register_profile("atomsieve", deadline=None)  # a busy machine breaks no law
settings.load_profile("atomsieve")

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")


def place(item, seen):
    """Return the sum of the places of a test's values in their lists; values given together have one place."""
    total = 0
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        values = tuple(id(item.callspec.params[name.strip()]) for name in names)
        listed = seen.setdefault((item.parent.nodeid, item.originalname, *names), {})
        total += listed.setdefault(values, len(listed))
    return total


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    seen = {}
    for item in items:
        thin = item.get_closest_marker("thin")
        if thin is not None and place(item, seen) % thin.args[0]:
            item.add_marker(pytest.mark.deep)
