"""How a law is stated: what must hold, and the sentence that is said where it does not."""

from typing import Any

import numpy as np


def law(holds: Any, sentence: str) -> None:
    """Raise AssertionError with a sentence unless all of it holds."""
    if not np.all(holds):
        raise AssertionError(sentence)


def close(a: Any, b: Any, relative: float = 1e-9, absolute: float = 1e-10) -> Any:
    """Return whether numbers agree."""
    return np.isclose(np.asarray(a, dtype=float), np.asarray(b, dtype=float), rtol=relative, atol=absolute)
