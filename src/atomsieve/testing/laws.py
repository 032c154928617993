"""How a law is stated: a condition, and the error message if it fails."""

from typing import Any

import numpy as np


def law(holds: Any, sentence: str) -> None:
    """Raise AssertionError with a sentence unless the condition holds everywhere."""
    if not np.all(holds):
        raise AssertionError(sentence)


def close(a: Any, b: Any, relative: float = 1e-9, absolute: float = 1e-10) -> Any:
    """Return whether numbers agree up to the tolerances."""
    return np.isclose(np.asarray(a, dtype=float), np.asarray(b, dtype=float), rtol=relative, atol=absolute)
