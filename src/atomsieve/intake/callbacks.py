"""What stands in for scikit-learn's callbacks where the installed version has none: nothing at all."""

from collections.abc import Callable
from typing import Any


class CallbackSupportMixin:
    """An estimator that takes no callbacks."""


def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method as it is."""
    return method
