import pytest
from kinds import ELSEWHERE, KINDS, X


def way(kind):
    put = KINDS[kind]
    put(X)  # skips a library that is not installed
    return put


@pytest.fixture(params=KINDS)
def put(request):
    """The way from NumPy to a kind of array."""
    return way(request.param)


@pytest.fixture(params=ELSEWHERE)
def put_elsewhere(request):
    """The way from NumPy to an array of another library."""
    return way(request.param)
