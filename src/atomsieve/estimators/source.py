"""The data of a fit, remembered without being kept alive."""

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

GONE = (
    "The data of fit are gone, and a certificate is proven from them. Call certify(X, y) with the same data, or pass "
    "keep_data=True before fit (in a pipeline, for instance, where X exists during fit only)."
)


@dataclass(frozen=True, eq=False)
class Source:
    """References to X, y and sample_weight as they were passed: weak ones, unless the data are to be kept."""

    parts: tuple[Callable[[], Any], ...]

    @classmethod
    def of(cls, *data: Any, keep: bool) -> "Source":
        """Remember the data."""
        return cls(tuple(Held(part) if keep or part is None else _weak(part) for part in data))

    def recall(self) -> list[Any]:
        """Return the data; raise where they are gone."""
        given = [part() for part in self.parts]
        lost = [found is None and not isinstance(part, Held) for part, found in zip(self.parts, given, strict=True)]
        if any(lost):
            raise AttributeError(GONE)
        return given


@dataclass(frozen=True, eq=False)
class Held:
    """A reference that keeps its object alive."""

    value: Any

    def __call__(self) -> Any:
        return self.value


def _weak(value: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(value)
    except TypeError:  # lists and tuples cannot be referred to weakly; they are small
        return Held(value)
