"""The data of a fit, remembered without X being kept alive."""

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from atomsieve.estimators.elsewhere import at_hand

GONE = (
    "The data of fit are gone, and a certificate is proven from them. Call certify(X, y) with the same data, or pass "
    "keep_data=True before fit (in a pipeline, for instance, where X exists during fit only)."
)


@dataclass(frozen=True, eq=False)
class Source:
    """X by a weak reference, unless it is to be kept; y, weights and offset, which are small, as copies."""

    X: Callable[[], Any]
    y: Any
    sample_weight: Any
    offset: Any

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, offset: Any, *, keep: bool) -> "Source":
        """Remember the data."""
        weights, shift = (None if given is None else np.array(at_hand(given)) for given in (sample_weight, offset))
        return cls(KeptData(X) if keep else _weak(X), np.array(at_hand(y)), weights, shift)

    @classmethod
    def gone(cls) -> "Source":
        """Return the memory of nothing."""
        return cls(KeptData(None), None, None, None)

    @property
    def portable(self) -> "Source":
        """What may go into a pickle: the data where X is kept alive, else nothing."""
        return self if isinstance(self.X, KeptData) else self.gone()

    def recall(self) -> tuple[Any, Any, Any, Any]:
        """Return the data; raise where they are gone."""
        X = self.X()
        if X is None:
            raise AttributeError(GONE)
        return X, self.y, self.sample_weight, self.offset


@dataclass(frozen=True, eq=False)
class KeptData:
    """A reference that keeps its object alive."""

    value: Any

    def __call__(self) -> Any:
        return self.value


def _weak(value: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(value)
    except TypeError:  # lists and tuples cannot be referred to weakly; they are small
        return KeptData(value)
